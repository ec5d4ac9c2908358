"""What the graph code of a project tells code outside of it: which functions it holds, what it reads as constants.

A rule about host code may depend on graph code of any other module. It says so by a condition, and the finding
stands where the facts of the whole project fulfil it; so each module can be analysed on its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance, local_names
from graphlint.graph_code.trace import FunctionTrace
from graphlint.project import Assigned
from graphlint.tree import walk

Place = Tuple[int, int]
HOST_CALLS = frozenset({"asnumpy", "numpy", "tolist"})
_HELD = frozenset({v.LIST, v.DICT, v.SET, v.CELL, v.EXTERNAL})


class Read(NamedTuple):
    """A place in graph code that takes an attribute or a module's variable as a constant."""

    chain: Tuple[str, ...]
    path: str
    line: int
    module: str
    reader: str
    via: Tuple[Tuple[str, int], ...]
    kind: str
    parameter: bool

    @property
    def rank(self) -> Tuple[int, Tuple[str, ...], str, int]:
        return len(self.chain), self.chain, self.path, self.line


class Leave(NamedTuple):
    """A place in graph code that leaves a Tensor's content to the Python interpreter."""

    line: int
    text: str


@dataclass
class GraphFacts:
    """Functions held, by path; reads by attribute and by (module, variable); leaves by the top of their graph."""

    functions: Dict[str, FrozenSet[Place]] = field(default_factory=dict)
    attributes: Dict[str, List[Read]] = field(default_factory=dict)
    variables: Dict[str, List[Read]] = field(default_factory=dict)
    leaves: Dict[str, Leave] = field(default_factory=dict)

    def add(self, other: GraphFacts) -> None:
        """Takes in what another part of the graph code tells."""
        for path, places in other.functions.items():
            self.functions[path] = self.functions.get(path, frozenset()) | places
        for mine, theirs in ((self.attributes, other.attributes), (self.variables, other.variables)):
            for name, reads in theirs.items():
                mine.setdefault(name, []).extend(reads)
        for top, leave in other.leaves.items():
            self.leaves[top] = min(leave, self.leaves.get(top, leave))


@dataclass(frozen=True)
class Outside:
    """No graph code holds any of these functions of the finding's file."""

    functions: Tuple[Place, ...]


@dataclass(frozen=True)
class ReadInGraph:
    """Graph code reads one of these variables, or an attribute in module `own` or else in one of `others`.

    `held` asks for a value that is changed without being replaced; `parameter` counts Parameters too.
    """

    variables: Tuple[str, ...]
    attribute: str = ""
    own: str = ""
    others: Tuple[str, ...] = ()
    held: bool = False
    parameter: bool = False


@dataclass(frozen=True)
class LeavesToPython:
    """The graph with this top (see `top`) leaves something to the Python interpreter."""

    top: str


Condition = Union[Outside, ReadInGraph, LeavesToPython]


class Told(NamedTuple):
    """What a fulfilled condition adds to the finding: words of its message, and how the place is reached."""

    words: Mapping[str, str]
    chain: Tuple[str, ...] = ()
    via: Tuple[Tuple[str, int], ...] = ()


def later(word: str) -> str:
    """Stands in a message for a word that a condition will tell."""
    return f"\ue000{word}\ue000"


def top(path: str, name: str) -> str:
    """Names the graph that begins at `name` (`Net.construct`) of the file."""
    return f"{path}:{name}"


def variable(module: str, name: str) -> str:
    """Names a module's variable."""
    return f"{module}:{name}"


def fulfilled(condition: Condition, path: str, facts: GraphFacts) -> Optional[Told]:
    """What the condition tells of a finding in `path`; None where it isn't fulfilled."""
    if isinstance(condition, Outside):
        held = facts.functions.get(path, frozenset())
        return None if any(place in held for place in condition.functions) else Told({})
    if isinstance(condition, LeavesToPython):
        leave = facts.leaves.get(condition.top)
        return Told({"line": str(leave.line), "text": leave.text}) if leave is not None else None
    read = _read(condition, facts)
    if read is None or (
        read.kind not in _HELD if condition.held else read.parameter and not condition.parameter
    ):
        return None
    return Told({"reader": read.reader}, read.chain, (*read.via, (read.path, read.line)))


def _read(condition: ReadInGraph, facts: GraphFacts) -> Optional[Read]:
    for name in condition.variables:
        if name in facts.variables:
            return min(facts.variables[name], key=lambda read: read.rank)
    found = facts.attributes.get(condition.attribute, [])
    for modules in ((condition.own,), condition.others):
        near = [read for read in found if read.module in modules]
        if near:
            return min(near, key=lambda read: read.rank)
    return None


def gather(traces: Iterable[FunctionTrace]) -> GraphFacts:
    """What these functions of graph code tell; of several reads alike, one for each module."""
    facts = GraphFacts()
    functions: Dict[str, List[Place]] = {}
    reads: Tuple[Dict[Tuple[str, str], Read], Dict[Tuple[str, str], Read]] = ({}, {})
    for trace in traces:
        node = trace.info.node
        path = trace.info.module.path
        functions.setdefault(path, []).append((node.lineno, node.col_offset))
        own = local_names(node)
        for inner in walk(node):
            if inner in trace.values and isinstance(inner, (ast.Attribute, ast.Name)):
                if isinstance(inner.ctx, ast.Load):
                    _note(inner, trace, own, reads)
                    _note_leave(inner, trace, facts)
    facts.functions = {path: frozenset(places) for path, places in functions.items()}
    for kept, table in zip(reads, (facts.attributes, facts.variables)):
        for (name, _), read in kept.items():
            table.setdefault(name, []).append(read)
    return facts


def _note(
    node: Union[ast.Attribute, ast.Name],
    trace: FunctionTrace,
    own: FrozenSet[str],
    reads: Tuple[Dict[Tuple[str, str], Read], Dict[Tuple[str, str], Read]],
) -> None:
    name, table = "", reads[1]
    if isinstance(node, ast.Attribute):
        base = trace.values.get(node.value, v.unknown)
        if isinstance(base.target, Instance) or base.kind == v.CLASS:
            name, table = node.attr, reads[0]
        elif base.kind == v.MODULE:
            name = variable(base.target.name, node.attr)
    elif node.id not in own:
        symbol = trace.info.module.lookup(node.id)
        if isinstance(symbol, Assigned):
            name = variable(symbol.module.name, symbol.name)
    if name:
        value, module = trace.values[node], trace.info.module
        read = Read(
            trace.chain, module.path, node.lineno, module.name, trace.info.qualname, trace.via,
            value.kind, value.parameter,
        )  # fmt: skip
        known = table.get((name, module.name))
        if known is None or read.rank < known.rank:
            table[name, module.name] = read


def _note_leave(node: ast.expr, trace: FunctionTrace, facts: GraphFacts) -> None:
    if isinstance(node, ast.Attribute) and node.attr in HOST_CALLS and trace.chain:
        base = trace.values.get(node.value, v.unknown)
        if base.kind == v.TENSOR and base.sure:
            path = trace.via[0][0] if trace.via else trace.info.module.path
            leave = Leave(node.lineno, ast.unparse(node)[-40:])
            key = top(path, trace.chain[0])
            facts.leaves[key] = min(leave, facts.leaves.get(key, leave))
