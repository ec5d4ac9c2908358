"""The work spread over processes; what comes back is the same for every number of them."""

from __future__ import annotations

import os
import sys
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from graphlint.config import Settings
from graphlint.engine.sources import Sources
from graphlint.engine.unit import Analyst, Job, Unit
from graphlint.layout import Layout

Mentions = Callable[[bytes], Tuple[str, ...]]
Progress = Optional[Callable[[int, int], None]]

WORTH = 400_000
"""Bytes of source from which on another process pays: some 0.4 s of work."""
_BATCH = 150_000
_analyst: Optional[Analyst] = None


def work(
    jobs: Sequence[Job],
    layout: Layout,
    settings: Settings,
    sources: Sources,
    mentions: Mentions,
    progress: Progress,
    processes: int,
) -> Iterator[Unit]:
    """The units of all jobs, in no fixed order; tells `progress` how many are done."""
    if not jobs:
        return
    count = processes or _cores()
    analyst = Analyst(layout, settings, sources, mentions)
    done = 0
    if count > 1 and len(jobs) > 1 and sys.platform == "linux":
        batches = _batches(jobs)
        if sum(size for size, _ in batches) >= WORTH:
            for units in _spread([batch for _, batch in batches], analyst, count):
                done += len(units)
                if progress is not None:
                    progress(done, len(jobs))
                yield from units
            return
    for done, job in enumerate(jobs):
        if progress is not None:
            progress(done, len(jobs))
        yield analyst.unit(job)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(jobs: Sequence[Job]) -> List[Tuple[int, List[Job]]]:
    """Neighbours stay together, since they read the same files; the size of a batch in bytes comes first."""
    batches: List[Tuple[int, List[Job]]] = []
    for job in jobs:
        try:
            size = os.path.getsize(job.path) if job.whole else os.path.getsize(job.path) // 8
        except OSError:
            size = 0
        if batches and batches[-1][0] + size <= _BATCH:
            batches[-1] = (batches[-1][0] + size, [*batches[-1][1], job])
        else:
            batches.append((size, [job]))
    return batches


def _spread(batches: List[List[Job]], analyst: Analyst, count: int) -> Iterator[List[Unit]]:
    """Forked processes inherit the analyst, and with it all that it was given."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    global _analyst
    _analyst = analyst
    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(min(count, len(batches)), mp_context=context) as pool:
            for future in as_completed([pool.submit(_do, batch) for batch in batches]):
                yield future.result()
    finally:
        _analyst = None


def _do(batch: List[Job]) -> List[Unit]:
    assert _analyst is not None
    return [_analyst.unit(job) for job in batch]
