"""What the interpretation leaves behind for the rules: per function its values, its live code and its events."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set, Tuple

from graphlint.graph_code.values import Value, join
from graphlint.project import FunctionInfo


@dataclass(eq=False)
class Event:
    """Something that no single node tells: branches that don't join, a write that is lost, a name bound too late.

    `kind` names the handler of a rule (`on_<kind>`), `node` is the place to report, `data` what the rule may want.
    """

    kind: str
    node: ast.AST
    data: Dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class FunctionTrace:
    """One function of graph code, joined over all the ways it is reached.

    `chain` is the shortest way to it, `via` the (path, line) of each call on that way.
    """

    info: FunctionInfo
    chain: Tuple[str, ...]
    via: Tuple[Tuple[str, int], ...] = ()
    values: Dict[ast.AST, Value] = field(default_factory=dict)
    live: Set[ast.AST] = field(default_factory=set)
    parsed: Set[ast.AST] = field(default_factory=set)
    in_tensor_branch: Set[ast.AST] = field(default_factory=set)
    in_loop: Set[ast.AST] = field(default_factory=set)
    events: List[Event] = field(default_factory=list)
    decided: Dict[ast.AST, Any] = field(default_factory=dict)
    gave_up: bool = False
    _seen: Set[Tuple[str, ast.AST]] = field(default_factory=set)

    def record(self, node: ast.AST, value: Value) -> None:
        """Joins `value` into what is known of the expression."""
        known = self.values.get(node)
        self.values[node] = value if known is None or known is value else join(known, value)

    def add(self, kind: str, node: ast.AST, **data: Any) -> None:
        """Notes an event once for each kind and place."""
        if (kind, node) not in self._seen:
            self._seen.add((kind, node))
            self.events.append(Event(kind, node, data))


class Recorder:
    """The traces of all functions, by definition; keeps the shortest chain to each."""

    def __init__(self) -> None:
        self.traces: Dict[ast.AST, FunctionTrace] = {}

    def enter(
        self, info: FunctionInfo, chain: Tuple[str, ...], via: Tuple[Tuple[str, int], ...]
    ) -> FunctionTrace:
        trace = self.traces.get(info.node)
        if trace is None:
            trace = self.traces[info.node] = FunctionTrace(info, chain, via)
        elif (len(chain), chain) < (len(trace.chain), trace.chain):
            trace.chain, trace.via = chain, via
        return trace

    def get(self, node: ast.AST) -> Optional[FunctionTrace]:
        return self.traces.get(node)
