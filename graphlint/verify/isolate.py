"""Rewrites a file so that chosen findings are set aside, for leave-one-in. Line numbers never change.

The neutral form of a finding is made at the statement that holds it:

    an expression statement, assert, del, global, import     `pass` (an import moves to the end of the module)
    T = E, return E                                          the value of E that PyNative recorded
    T += E                                                   T = T + (E), or the recorded value of E
    T[i] = E, T.a = E                                        `pass`: the write is what is at stake
    if … elif … else                                         the branch that PyNative took, alone
    for … in ITER                                            the recorded sequence
    while TEST                                               a for over the recorded number of rounds
    try, with                                                their bodies alone
    for/while … else                                         the else's body, after the loop
    a decorator                                              none

`plan` says how one finding would be set aside (None: no form known); `rewrite` applies some of them to the
text.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, List, Optional, Sequence, Set, Tuple

Position = Tuple[int, int]


@dataclass(frozen=True)
class Change:
    """Replace from `start` up to `end` (line from 1, column in characters from 0) by `text`; line breaks
    are kept."""

    start: Position
    end: Position
    text: str


@dataclass
class Neutral:
    """How to set one finding aside. `record`: the changes that make PyNative write the value down first
    (may be empty); `changes`: the neutral form; `append`: lines for the end of the module."""

    index: int
    changes: List[Change]
    record: List[Change] = field(default_factory=list)
    append: List[str] = field(default_factory=list)


class Rewriter:
    """For one file's text. Raises SyntaxError where it doesn't parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.reached: Set[int] = set()
        """The lines that PyNative executed: an `if` keeps the branch that was taken."""
        self.lines = text.split("\n")
        self.tree = ast.parse(text)

    # -- positions

    def column(self, line: int, offset: int) -> int:
        """ast counts bytes; here characters count."""
        return len(self.lines[line - 1].encode()[:offset].decode("utf-8", "ignore"))

    def start(self, node: Any) -> Position:
        return node.lineno, self.column(node.lineno, node.col_offset)

    def end(self, node: Any) -> Position:
        return node.end_lineno, self.column(node.end_lineno, node.end_col_offset)

    # -- plans

    def plan(self, index: int, line: int, column: int, end_line: int, end_column: int) -> Optional[Neutral]:
        """For a finding's range (columns from 1, end exclusive). `index` names the recorded value."""
        found = self._statement((line, column - 1), (end_line, max(end_column - 1, 0)))
        if found is None:
            return None
        statement, decorator = found
        if decorator is not None:
            return self._blank(index, decorator)
        if self.reached and isinstance(statement, _SIMPLE) and not self._reached([statement]):
            return self._whole(index, statement)
        form = getattr(self, "_" + type(statement).__name__.lower(), None)
        return None if form is None else form(index, statement, (line, column - 1))

    def _statement(self, start: Position, end: Position) -> Optional[Tuple[Any, Any]]:
        """The innermost statement that holds the range, and the decorator that does, if one."""
        best: Any = None
        decorator: Any = None
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for item in node.decorator_list:
                    if item.lineno <= start[0] <= (item.end_lineno or item.lineno):
                        decorator = item
            if not (isinstance(node, ast.stmt) and self.start(node) <= start and end <= self.end(node)):
                continue
            if best is None or (self.start(node) >= self.start(best) and self.end(node) <= self.end(best)):
                best = node
        return None if best is None and decorator is None else (best, decorator)

    # -- forms, by the statement's type

    def _whole(self, index: int, node: Any, text: str = "pass", append: Sequence[str] = ()) -> Neutral:
        return Neutral(index, [Change(self.start(node), self.end(node), text)], append=list(append))

    def _expr(self, index: int, node: ast.Expr, at: Position) -> Neutral:
        return self._whole(index, node)

    def _assert(self, index: int, node: Any, at: Position) -> Neutral:
        return self._whole(index, node)

    _raise = _delete = _global = _nonlocal = _assert

    def _import(self, index: int, node: Any, at: Position) -> Neutral:
        return self._whole(index, node, append=[ast.unparse(node)])

    _importfrom = _import

    def _classdef(self, index: int, node: Any, at: Position) -> Neutral:
        return self._whole(index, node, append=ast.unparse(node).split("\n"))

    def _value(self, index: int, node: Any) -> Neutral:
        """The expression becomes what PyNative recorded for it."""
        start, end = self.start(node), self.end(node)
        record = [Change(start, start, f"_graphlint_record({index}, ("), Change(end, end, "))")]
        return Neutral(index, [Change(start, end, f"_graphlint_value_{index}")], record)

    def _assign(self, index: int, node: ast.Assign, at: Position) -> Neutral:
        writes = any(isinstance(target, (ast.Subscript, ast.Attribute)) for target in node.targets)
        if writes and at < self.start(node.value):
            return self._whole(index, node)
        return self._value(index, node.value)

    def _annassign(self, index: int, node: ast.AnnAssign, at: Position) -> Optional[Neutral]:
        return None if node.value is None else self._value(index, node.value)

    def _return(self, index: int, node: ast.Return, at: Position) -> Optional[Neutral]:
        return None if node.value is None else self._value(index, node.value)

    def _augassign(self, index: int, node: ast.AugAssign, at: Position) -> Neutral:
        if at >= self.start(node.value):
            return self._value(index, node.value)
        if isinstance(node.target, (ast.Subscript, ast.Attribute)):
            return self._whole(index, node)
        target, sign = ast.unparse(node.target), _SIGNS[type(node.op).__name__]
        start, end = self.end(node.target), self.start(node.value)
        close = self.end(node.value)
        return Neutral(index, [Change(start, end, f" = {target} {sign} ("), Change(close, close, ")")])

    def _if(self, index: int, node: Any, at: Position) -> Optional[Neutral]:
        """Only the branch that PyNative took, without its header; after several, the recorded test."""
        outer = self._outermost(node)
        blocks, chain = [], outer
        while True:
            blocks.append(chain.body)
            if len(chain.orelse) == 1 and self._is_elif(chain.orelse[0]):
                chain = chain.orelse[0]
                continue
            if chain.orelse:
                blocks.append(chain.orelse)
            break
        taken = [block for block in blocks if self._reached(block)]
        if len(taken) <= 1:
            return Neutral(index, self._only(outer, taken))
        start, end = self.start(node.test), self.end(node.test)
        record = [Change(start, start, f"_graphlint_record({index}, bool("), Change(end, end, "))")]
        return Neutral(index, [Change(start, end, f"_graphlint_value_{index}")], record)

    def _outermost(self, node: Any) -> Any:
        """The `if` to whose chain of `elif`s the node belongs."""
        for other in ast.walk(self.tree):
            if isinstance(other, ast.If) and other.orelse == [node] and self._is_elif(node):
                return self._outermost(other)
        return node

    def _is_elif(self, node: Any) -> bool:
        return isinstance(node, ast.If) and self.lines[node.lineno - 1][self.start(node)[1] :].startswith(
            "elif"
        )

    def _reached(self, block: Sequence[Any]) -> bool:
        return any(block[0].lineno <= line <= (block[-1].end_lineno or 0) for line in self.reached)

    def _only(self, node: Any, blocks: Sequence[Sequence[Any]]) -> List[Change]:
        """`pass` in place of the statement's header, the blocks moved out to its indentation, the rest
        blank."""
        first, column = self.start(node)
        kept: dict = {}
        for block in blocks:
            for line in range(block[0].lineno, (block[-1].end_lineno or 0) + 1):
                kept[line] = self.start(block[0])[1]
        heads = {block[0].lineno for block in blocks}
        changes = []
        if first in kept:  # all on one line: the header goes, the block stays
            changes.append(Change(self.start(node), (first, kept[first]), ""))
        else:
            changes.append(Change((first, column), (first, len(self.lines[first - 1])), "pass"))
        for line in range(first + 1, (node.end_lineno or first) + 1):
            text = self.lines[line - 1]
            if line not in kept:
                changes.append(Change((line, 0), (line, len(text)), ""))
            elif line in heads or not text[column : kept[line]].strip():
                changes.append(Change((line, min(column, len(text))), (line, min(kept[line], len(text))), ""))
        return changes

    def _while(self, index: int, node: Any, at: Position) -> Optional[Neutral]:
        if node.orelse:
            return self._loop_else(index, node)
        start, end = self.start(node.test), self.end(node.test)
        record = [Change(start, start, f"_graphlint_count({index}, bool("), Change(end, end, "))")]
        text = f"for _graphlint_round in range(_graphlint_value_{index})"
        return Neutral(index, [Change(self.start(node), end, text)], record)

    def _for(self, index: int, node: Any, at: Position) -> Optional[Neutral]:
        if node.orelse:
            return self._loop_else(index, node)
        start, end = self.start(node.iter), self.end(node.iter)
        record = [Change(start, start, f"_graphlint_record({index}, list("), Change(end, end, "))")]
        return Neutral(index, [Change(start, end, f"_graphlint_value_{index}")], record)

    def _loop_else(self, index: int, node: Any) -> Optional[Neutral]:
        """The else's body after the loop."""
        first = node.orelse[0]
        for line in range(first.lineno, (node.body[-1].end_lineno or 0) - 1, -1):
            text = self.lines[line - 1]
            if text.strip().startswith("else"):
                column = text.index("else")
                if line == first.lineno:
                    return Neutral(index, [Change((line, column), self.start(first), "")])
                changes = [Change((line, 0), (line, len(text)), "")]
                inner = self.start(first)[1]
                for number in range(first.lineno, (node.orelse[-1].end_lineno or 0) + 1):
                    if not self.lines[number - 1][column:inner].strip():
                        size = len(self.lines[number - 1])
                        changes.append(Change((number, min(column, size)), (number, min(inner, size)), ""))
                return Neutral(index, changes)
        return None

    def _with(self, index: int, node: Any, at: Position) -> Neutral:
        return Neutral(index, self._only(node, [node.body]))

    def _try(self, index: int, node: Any, at: Position) -> Neutral:
        return Neutral(
            index, self._only(node, [block for block in (node.body, node.orelse, node.finalbody) if block])
        )

    _trystar = _try

    def _blank(self, index: int, node: Any) -> Neutral:
        start = self.start(node)
        return Neutral(index, [Change((start[0], self.lines[start[0] - 1].index("@")), self.end(node), "")])

    # -- the text

    def rewrite(self, neutrals: Sequence[Neutral], record: bool = False, values: str = "") -> str:
        """The whole file with these findings set aside; or, with `record`, with their values written to
        `values`."""
        changes: List[Change] = []
        append: List[str] = []
        for neutral in neutrals:
            wanted = neutral.record if record else neutral.changes
            if not any(_overlap(change, other) for change in wanted for other in changes):
                changes.extend(wanted)
                append.extend([] if record else neutral.append)
        lines = list(self.lines)
        for change in sorted(changes, key=lambda change: (change.start, change.end), reverse=True):
            self._apply(lines, change)
        tail = [*append]
        if record:
            tail.append(
                "from graphlint.verify.worker.recorded import count_of, record_of\n"
                f"_graphlint_record = record_of({values!r})"
            )
            tail.append(f"_graphlint_count = count_of({values!r})")
        elif any(neutral.record for neutral in neutrals):
            tail.append("from graphlint.verify.worker.recorded import value_of")
            for neutral in neutrals:
                if neutral.record:
                    tail.append(f"_graphlint_value_{neutral.index} = value_of({values!r}, {neutral.index})")
        return "\n".join([*lines, *tail]) + ("\n" if tail else "")

    @staticmethod
    def _apply(lines: List[str], change: Change) -> None:
        (first, left), (last, right) = change.start, change.end
        before, after = lines[first - 1][:left], lines[last - 1][right:]
        if first == last:
            lines[first - 1] = before + change.text + after
            return
        lines[first - 1] = before + change.text
        for number in range(first + 1, last):
            lines[number - 1] = ""
        if after.strip():
            lines[first - 1] += after
        lines[last - 1] = ""


_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise)
"""Statements that are simply left out where PyNative never came by: there is no value to put in their
place."""
_SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
    "MatMult": "@",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
}


def _overlap(first: Change, second: Change) -> bool:
    if first.start == first.end or second.start == second.end:
        return False
    return first.start < second.end and second.start < first.end
