"""Which modules a run must analyse to know all about the files that it shows."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, Mapping, Protocol, Sequence, Set

from graphlint.engine.glance import Glance
from graphlint.engine.unit import Job
from graphlint.layout import Layout, absolute


class Glances(Protocol):
    def glance(self, path: str) -> Glance: ...


def plan(shown: Sequence[str], layout: Layout, glances: Glances) -> List[Job]:
    """A job for each module that may hold graph code and that the shown files have to do with, by name.

    Those are the modules that a shown one imports, directly or not (their graph code may read what it changes), and
    those that import a shown one (their graph code may run through it). A shown file without graph code is parsed.
    """
    looks = {name: glances.glance(path) for name, path in layout.files.items()}
    relevant = _relevant(looks)
    wanted = {layout.names[path] for path in shown}
    if len(wanted) < len(looks):
        imports = {name: set(_imported(name, look, layout)) for name, look in looks.items()}
        importers: Dict[str, Set[str]] = {}
        for name, targets in imports.items():
            for target in targets:
                importers.setdefault(target, set()).add(name)
        near = _reachable(wanted, imports) | _reachable(wanted, importers)
    else:
        near = wanted
    return [
        Job(name, layout.files[name], name in relevant)
        for name in sorted(near)
        if name in relevant or name in wanted
    ]


def _relevant(looks: Mapping[str, Glance]) -> Set[str]:
    """Modules whose words speak of graph code, and those whose classes derive from a class of such a module."""
    found = {name for name, look in looks.items() if look.relevant}
    rest = {name: look for name, look in looks.items() if name not in found and look.bases}
    classes = {cls for name in found for cls in looks[name].classes}
    fresh = set(found)
    while fresh:
        fresh = {name for name, look in rest.items() if not classes.isdisjoint(look.bases)}
        for name in fresh:
            classes.update(rest.pop(name).classes)
        found |= fresh
    return found


def _imported(name: str, look: Glance, layout: Layout) -> Iterator[str]:
    """The project's modules that an import statement of the module may read."""
    for dotted in look.imports:
        tail = dotted.lstrip(".")
        parts = absolute(tail, len(dotted) - len(tail), name, layout.is_package(name)).split(".")
        for cut in range(len(parts), 0, -1):
            found = layout.find(".".join(parts[:cut]), name)
            if found is not None:
                yield found


def _reachable(start: Iterable[str], edges: Mapping[str, Set[str]]) -> Set[str]:
    found = set(start)
    todo = list(found)
    while todo:
        for name in edges.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return found
