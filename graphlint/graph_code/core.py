"""The interpreter's bookkeeping: its budget, its events, and what its halves ask of each other."""

from __future__ import annotations

import ast
from typing import Any, Dict, Optional, Tuple

from graphlint.graph_code.frames import Args, Closure, Conflict, Frame, Stale
from graphlint.graph_code.registration import Reached
from graphlint.graph_code.trace import Recorder
from graphlint.graph_code.values import Value
from graphlint.project import FunctionInfo, Project, Symbol
from graphlint.target import Target

BUDGET = 60_000
"""Steps (statements and expressions) that one root may take before the analysis gives up on it and says so."""


class Core:
    """State shared by one interpretation: what is being compiled, for which target, and what was seen."""

    def __init__(self, project: Project, target: Target) -> None:
        self.project = project
        self.target = target
        self.recorder = Recorder()
        self.steps = 0
        self.uncertain = 0
        self.exhausted = False
        self.reached = Reached()
        self.deferred: Optional[ast.expr] = None
        self.memo: Dict[Any, Value] = {}
        self.globals: Dict[Tuple[str, str], Value] = {}
        self.globals_written: Dict[Tuple[str, str], Value] = {}

    def spend(self, frame: Frame) -> bool:
        """Takes one step from the budget; False once it is spent."""
        self.steps += 1
        if self.steps <= BUDGET:
            return True
        if not self.exhausted:
            self.exhausted = True
            if frame.trace is not None:
                frame.trace.gave_up = True
        return False

    def event(self, frame: Frame, kind: str, node: ast.AST, **data: Any) -> None:
        """Notes something for the rules where graph code is being interpreted."""
        if frame.graph and frame.trace is not None:
            data.setdefault("certain", self.uncertain == 0)
            frame.trace.add(kind, node, **data)

    def conflict(self, conflict: Conflict, frame: Frame) -> None:
        """Reports a name that was read though its paths left it unlike."""
        self.event(
            frame,
            "unlike_branches",
            conflict.node,
            name=conflict.name,
            reason=conflict.reason,
            values=conflict.values,
            outcome=conflict.outcome,
            end=conflict.end,
        )

    def consume(self, value: Value, frame: Frame, use: Optional[ast.AST] = None) -> None:
        """Counts the uses of a generator: in the graph it is a list, so that a second use gives its items again."""
        if value.origin == "generator" and value.ref is not None and frame.graph and value.items != ():
            value.ref.consumed += 1
            if value.ref.consumed > 1 and value.ref.made is not None:
                self.event(frame, "generator_reuse", value.ref.made, use=use)

    def made_stale(self, stale: Stale) -> None:
        """Reports a write that this read should have seen and won't in the graph."""
        self.event(
            stale.frame, "alias_write", stale.node, how=stale.how, through=stale.through, tensor=stale.tensor
        )

    def lost_change(self, shadow: Any, whole: bool = False) -> None:
        """Reports a change of a list or dict that this read sees and that the graph loses, or makes twice.

        `whole` where the object itself arrives: an item may still be the one that was worked out when compiling.
        """
        self.event(
            shadow.frame, "lost_change_whole" if whole else "lost_change", shadow.node, method=shadow.method
        )

    # What one half asks of another.

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        raise NotImplementedError

    def exec_block(self, body: Any, frame: Frame) -> None:
        raise NotImplementedError

    def call_value(self, func: Value, args: Args, node: ast.AST, frame: Frame) -> Value:
        raise NotImplementedError

    def call_closure(
        self, closure: Closure, args: Args, node: ast.AST, frame: Frame, receiver: Optional[Value] = None
    ) -> Value:
        raise NotImplementedError

    def symbol_value(self, symbol: Optional[Symbol], frame: Frame) -> Value:
        raise NotImplementedError

    def result_of(self, frame: Frame) -> Value:
        raise NotImplementedError

    def bare_expression(self, stmt: ast.Expr, frame: Frame) -> None:
        raise NotImplementedError

    def augment(self, stmt: ast.AugAssign, frame: Frame) -> None:
        raise NotImplementedError

    def endless_loop(self, stmt: ast.While, frame: Frame) -> None:
        raise NotImplementedError

    def entered(self, context: Value) -> Value:
        raise NotImplementedError

    def function_value(self, info: FunctionInfo, frame: Frame) -> Value:
        raise NotImplementedError
