"""Runs statements of graph code on abstract values, the way MindSpore's front end unrolls, prunes and joins them."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.expressions import Expressions
from graphlint.graph_code.frames import Closure, Conflict, Env, Frame, Loop, Return
from graphlint.graph_code.joins import grows, unlike
from graphlint.graph_code.pruning import EITHER, Decided, decided_by_parser
from graphlint.graph_code.shadows import content_differs
from graphlint.graph_code.values import Value, join
from graphlint.project import FunctionInfo
from graphlint.tree import facts, walk

MAX_UNROLL = 40
MAX_WHILE = 64
_END = (ast.Return, ast.Break, ast.Continue)


class Statements(Expressions):
    """The statement half of the interpreter; `exec_block` leaves `frame.env` None where no path goes on."""

    def exec_block(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        for i, stmt in enumerate(body):
            if frame.env is None:
                if not _ends(body[i - 1], frame):
                    self.parse_only(body[i:], frame)
                return
            self.exec(stmt, frame)

    def exec(self, stmt: ast.stmt, frame: Frame) -> None:
        if not self.spend(frame):
            return
        trace = frame.trace
        if trace is not None:
            trace.live.add(stmt)
            if frame.stack:
                trace.in_tensor_branch.add(stmt)
            if frame.loop_depth:
                trace.in_loop.add(stmt)
        handler = getattr(self, "do_" + type(stmt).__name__, None)
        if handler is not None:
            handler(stmt, frame)

    def parse_only(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """Marks code that is compiled away but parsed: the parser refuses unknown syntax there all the same."""
        if frame.trace is not None:
            for stmt in body:
                frame.trace.parsed.add(stmt)
                for name in ("body", "orelse", "finalbody"):
                    inner = getattr(stmt, name, None)
                    if isinstance(inner, list) and not isinstance(stmt, ast.ClassDef):
                        self.parse_only(inner, frame)
                if _ends(stmt, frame):
                    return

    # -- simple statements

    def do_Expr(self, stmt: ast.Expr, frame: Frame) -> None:
        self.bare_expression(stmt, frame)

    def do_Assign(self, stmt: ast.Assign, frame: Frame) -> None:
        self.deferred = stmt.value if isinstance(stmt.value, ast.IfExp) else None
        value = self.eval(stmt.value, frame)
        for target in stmt.targets:
            self.assign(target, value, frame, stmt)

    def do_AnnAssign(self, stmt: ast.AnnAssign, frame: Frame) -> None:
        if stmt.value is not None:
            self.assign(stmt.target, self.eval(stmt.value, frame), frame, stmt)

    def do_AugAssign(self, stmt: ast.AugAssign, frame: Frame) -> None:
        self.augment(stmt, frame)

    def do_NamedExpr(self, stmt: ast.NamedExpr, frame: Frame) -> None:
        self.eval(stmt, frame)

    def do_Return(self, stmt: ast.Return, frame: Frame) -> None:
        value = v.none if stmt.value is None else self.eval(stmt.value, frame)
        if value.origin == "generator" and value.ref is not None and frame.graph and frame.caller is None:
            self.event(frame, "generator_returned", value.ref.made or stmt, use=stmt)
        for part in value.walk() if frame.graph and frame.caller is None else ():
            if part.shadow is not None and content_differs(part):
                self.lost_change(part.shadow, whole=True)
        if frame.graph and frame.caller is None and value.kind in (v.DICT, v.TUPLE):
            self.event(frame, "top_return", stmt, value=value)
        for part in (value, *(value.items or ())) if frame.graph and frame.caller is None else ():
            if part.conflict is not None and part.conflict.returned_only:
                self.conflict(part.conflict, frame)
        frame.returns.append(Return(value, stmt, tuple(frame.stack)))
        frame.env = None

    def do_Raise(self, stmt: ast.Raise, frame: Frame) -> None:
        if stmt.exc is not None:
            self.eval(stmt.exc, frame)
        frame.env = None

    def do_Assert(self, stmt: ast.Assert, frame: Frame) -> None:
        self.eval(stmt.test, frame)
        if stmt.msg is not None:
            self.eval(stmt.msg, frame)

    def do_Delete(self, stmt: ast.Delete, frame: Frame) -> None:
        for target in stmt.targets:
            if isinstance(target, ast.Name) and frame.env is not None:
                frame.env.pop(target.id, None)

    def do_Global(self, stmt: ast.Global, frame: Frame) -> None:
        frame.globals_.update(stmt.names)

    def do_Nonlocal(self, stmt: ast.Nonlocal, frame: Frame) -> None:
        frame.nonlocals.update(stmt.names)

    def do_Import(self, stmt: ast.Import, frame: Frame) -> None:
        for alias in stmt.names:
            dotted = alias.name if alias.asname else alias.name.split(".")[0]
            found = self.project.resolve_dotted(dotted, frame.module)
            frame.set((alias.asname or alias.name).split(".")[0], self.symbol_value(found, frame), stmt)

    def do_ImportFrom(self, stmt: ast.ImportFrom, frame: Frame) -> None:
        base = frame.module.absolute(stmt.module or "", stmt.level)
        for alias in stmt.names:
            found = self.project.resolve_dotted(f"{base}.{alias.name}", frame.module)
            frame.set(alias.asname or alias.name, self.symbol_value(found, frame), stmt)

    def do_FunctionDef(self, stmt: ast.FunctionDef, frame: Frame) -> None:
        qualname = f"{frame.info.qualname}.{stmt.name}"
        frame.set(stmt.name, self.function_value(FunctionInfo(stmt, frame.module, qualname), frame), stmt)

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, stmt: ast.ClassDef, frame: Frame) -> None:
        info = frame.module.nested_class(stmt, f"{frame.info.qualname}.{stmt.name}")
        frame.set(stmt.name, Value(v.CLASS, target=info), stmt)

    # -- branches

    def do_If(self, stmt: ast.If, frame: Frame) -> None:
        self.remember_branch(stmt.test, frame)
        test = self.eval(stmt.test, frame)
        truth, how = self.truth(test, stmt.test, frame)
        decided = self.decided(stmt, frame)
        if isinstance(decided, bool) and truth is None:
            truth = decided
        if truth is not None:
            taken, dead = (stmt.body, stmt.orelse) if truth else (stmt.orelse, stmt.body)
            if decided is None:
                self.parse_only(dead, frame)
            self.exec_block(taken, frame)
            return
        self.branch(
            stmt,
            how,
            frame,
            lambda: self.exec_block(stmt.body, frame),
            lambda: self.exec_block(stmt.orelse, frame),
        )

    def decided(self, stmt: ast.If, frame: Frame) -> Decided:
        """What the parser itself makes of the condition; noted for the rules about names."""
        found = decided_by_parser(stmt.test, frame)
        if frame.trace is not None:
            known = frame.trace.decided.setdefault(stmt.test, found)
            if known != found:
                frame.trace.decided[stmt.test] = EITHER if None not in (known, found) else None
        return found

    def branch(
        self, node: ast.AST, how: str, frame: Frame, then: Callable[[], Any], other: Callable[[], Any]
    ) -> None:
        """Runs both sides of a choice from the same state and joins what they leave."""
        before = frame.env or {}
        left = self._side(node, 0, how, frame, dict(before), then)
        right = self._side(node, 1, how, frame, dict(before), other)
        frame.env = self.merge(left, right, node, how, before)

    def _side(
        self, node: ast.AST, which: int, how: str, frame: Frame, env: Env, run: Callable[[], Any]
    ) -> Optional[Env]:
        frame.env = env
        if how == "tensor":
            frame.stack.append((node, which))
        self.uncertain += how != "tensor"
        run()
        self.uncertain -= how != "tensor"
        if how == "tensor":
            frame.stack.pop()
        return frame.env

    def merge(
        self, left: Optional[Env], right: Optional[Env], node: ast.AST, how: str, before: Optional[Env] = None
    ) -> Optional[Env]:
        """One state from two; a name that can't be read afterwards carries the Conflict that says why."""
        if left is None or right is None:
            return right if left is None else left
        merged: Env = {}
        for name in {**left, **right}:
            a, b = left.get(name), right.get(name)
            if a is not None and b is not None:
                old = (before or {}).get(name)
                merged[name] = a if a is b else self._join_named(name, a, b, node, how, old)
            else:
                one = a if a is not None else b
                assert one is not None
                merged[name] = one if how == "tensor" else one.but(sure=False)
        return merged

    def _join_named(
        self, name: str, a: Value, b: Value, node: ast.AST, how: str, old: Optional[Value] = None
    ) -> Value:
        conflict = a.conflict or b.conflict
        if how == "tensor" and conflict is None:
            reason = unlike(a, b, self.target)
            if reason is not None:
                conflict = Conflict(node, reason.text, name, (a, b), reason.outcome, reason.returned_only)
        joined = join(a, b).but(conflict=conflict, stale=a.stale or b.stale)
        if how == "tensor" and old is not None and a.kind == b.kind == v.LIST and joined.items is not None:
            return joined.but(items=self._one_sided(name, a, b, joined.items, old, node))
        return joined

    def _one_sided(
        self, name: str, a: Value, b: Value, joined: Tuple[Value, ...], old: Value, node: ast.AST
    ) -> Tuple[Value, ...]:
        """Items of a list that one path alone assigned: strict joins them where they are alike; lax refuses
        numbers, and with Tensors the process aborts in some runs and not in others."""
        if old.items is None or len(old.items) != len(joined):
            return joined
        marked: List[Value] = []
        for x, y, item, was in zip(a.items or (), b.items or (), joined, old.items):
            if x is not y and (x is was) != (y is was):
                text = f"an item of '{name}' is assigned on one path only"
                if not self.target.strict or unlike(x, y, self.target) is not None:
                    item = item.but(conflict=Conflict(node, text, name))
            marked.append(item)
        return tuple(marked)

    # -- loops

    def do_For(self, stmt: ast.For, frame: Frame) -> None:
        iterable = self.eval(stmt.iter, frame)
        items = self.iterate(iterable, stmt.iter, frame)
        if items is not None and len(items) <= MAX_UNROLL:
            self._unroll(stmt, items, frame)
        else:
            element = self.loop_element(iterable, items)
            self._repeat(stmt, frame, lambda: self.assign(stmt.target, element, frame, stmt))
        if stmt.orelse and frame.env is not None:
            self.exec_block(stmt.orelse, frame)

    do_AsyncFor = do_For

    def _unroll(self, stmt: ast.For, items: List[Value], frame: Frame) -> None:
        loop = self._enter(frame)
        if not items:
            self.parse_only(stmt.body, frame)
        for item in items:
            if frame.env is None:
                break
            self.assign(stmt.target, item, frame, stmt)
            self.exec_block(stmt.body, frame)
            self._continue(loop, frame, stmt)
        self._leave(loop, frame, stmt)

    def _repeat(self, stmt: Any, frame: Frame, bind: Callable[[], Any], how: str = "static") -> None:
        """A loop whose number of rounds isn't known here: what holds after none, one or more of them."""
        before = dict(frame.env or {})
        loop = self._enter(frame)
        self.uncertain += 1
        for _ in range(2):
            if frame.env is None:
                break
            bind()
            self.exec_block(stmt.body, frame)
            self._continue(loop, frame, stmt)
            frame.env = self._soft(before, frame.env)
        self.uncertain -= 1
        self._leave(loop, frame, stmt)
        if frame.env is None:
            frame.env = before

    def _soft(self, before: Env, after: Optional[Env]) -> Env:
        if after is None:
            return dict(before)
        merged = self.merge(before, after, ast.Pass(), "static")
        return merged if merged is not None else dict(before)

    def _enter(self, frame: Frame) -> Loop:
        loop = Loop(len(frame.stack))
        frame.loops.append(loop)
        frame.loop_depth += 1
        return loop

    def _continue(self, loop: Loop, frame: Frame, stmt: ast.stmt) -> None:
        how = "tensor" if loop.tensor_exit else "static"
        for env in loop.continues:
            frame.env = self.merge(frame.env, env, stmt, how)
        loop.continues.clear()

    def _leave(self, loop: Loop, frame: Frame, stmt: ast.stmt) -> None:
        frame.loops.pop()
        frame.loop_depth -= 1
        how = "tensor" if loop.tensor_exit else "static"
        for env in loop.breaks:
            frame.env = self.merge(frame.env, env, stmt, how)

    def do_Break(self, stmt: ast.Break, frame: Frame) -> None:
        self._jump(frame, "breaks")

    def do_Continue(self, stmt: ast.Continue, frame: Frame) -> None:
        self._jump(frame, "continues")

    def _jump(self, frame: Frame, where: str) -> None:
        if frame.loops and frame.env is not None:
            loop = frame.loops[-1]
            getattr(loop, where).append(frame.env)
            loop.tensor_exit = loop.tensor_exit or len(frame.stack) > loop.depth
        frame.env = None

    def do_While(self, stmt: ast.While, frame: Frame) -> None:
        loop = self._enter(frame)
        self.parse_only(stmt.body, frame)
        for _ in range(MAX_WHILE):
            if frame.env is None:
                break
            self.remember_branch(stmt.test, frame)
            test = self.eval(stmt.test, frame)
            truth, how = self.truth(test, stmt.test, frame)
            if truth is False:
                break
            if truth is None:
                self._while_on(stmt, how, frame)
                break
            self.exec_block(stmt.body, frame)
            self._continue(loop, frame, stmt)
        else:
            self.endless_loop(stmt, frame)
        self._leave(loop, frame, stmt)
        if stmt.orelse and frame.env is not None:
            self.exec_block(stmt.orelse, frame)

    def _while_on(self, stmt: ast.While, how: str, frame: Frame) -> None:
        """A loop whose condition isn't a constant: one round decides what the loop carries."""
        before = dict(frame.env or {})
        if how == "tensor":
            frame.stack.append((stmt, 0))
        self.uncertain += how != "tensor"
        self.exec_block(stmt.body, frame)
        if frame.loops:
            self._continue(frame.loops[-1], frame, stmt)
        self.uncertain -= how != "tensor"
        if how == "tensor":
            frame.stack.pop()
        if frame.env is not None and how == "tensor":
            self._carried(stmt, before, frame)
            self._second_round(stmt, frame)
        frame.env = self._loop_merge(before, frame.env, stmt, how)
        self.eval(stmt.test, frame)

    def _second_round(self, stmt: ast.While, frame: Frame) -> None:
        """Runs the body once more: what changes its size again grows without end."""
        first = dict(frame.env or {})
        frame.stack.append((stmt, 0))
        self.exec_block(stmt.body, frame)
        frame.stack.pop()
        for name, new in (frame.env or {}).items():
            old = first.get(name)
            if (
                old is not None
                and old is not new
                and name in facts(frame.info.node).reads
                and grows(old, new)
            ):
                self.event(frame, "growing_loop", stmt, name=name, values=(old, new))
        frame.env = first

    def _loop_merge(self, before: Env, after: Optional[Env], stmt: ast.While, how: str) -> Env:
        if after is None:
            return before
        merged: Env = {}
        for name in {**before, **after}:
            a, b = before.get(name), after.get(name)
            if a is not None and b is not None:
                merged[name] = a if a is b else join(a, b)
                if how == "tensor" and merged[name].kind == v.NUMBER and a is not b:
                    merged[name] = merged[name].but(variable=True, const=v.NOCONST, graph=v.NOCONST)
            elif a is not None:
                merged[name] = a
            elif b is not None:
                merged[name] = b.but(sure=False)
        return merged

    def _carried(self, stmt: ast.While, before: Env, frame: Frame) -> None:
        """Notes what a Tensor-driven loop changes from round to round in a way that no graph can hold."""
        after = frame.env or {}
        read = facts(frame.info.node).reads
        for name, old in before.items():
            new = after.get(name)
            if new is None or new is old or name not in read:
                continue
            reason = unlike(old, new, self.target)
            if old.kind == new.kind == v.LIST:
                continue
            if reason is not None and reason.outcome == "error" and not reason.returned_only:
                self.event(frame, "loop_carried", stmt, name=name, reason=reason.text, values=(old, new))

    # -- with, try, match: refused or special, yet run for what follows

    def do_With(self, stmt: ast.With, frame: Frame) -> None:
        for item in stmt.items:
            context = self.eval(item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, self.entered(context), frame, stmt)
        self.exec_block(stmt.body, frame)

    do_AsyncWith = do_With

    def do_Try(self, stmt: ast.Try, frame: Frame) -> None:
        before = dict(frame.env or {})
        self.uncertain += 1
        self.exec_block(stmt.body, frame)
        if frame.env is not None:
            self.exec_block(stmt.orelse, frame)
        after = frame.env
        for handler in stmt.handlers:
            frame.env = dict(before)
            if handler.name:
                frame.set(handler.name, v.unknown)
            self.exec_block(handler.body, frame)
            after = self.merge(after, frame.env, stmt, "static")
        self.uncertain -= 1
        frame.env = after
        if frame.env is not None:
            self.exec_block(stmt.finalbody, frame)
        elif stmt.finalbody:
            frame.env = dict(before)
            self.exec_block(stmt.finalbody, frame)
            frame.env = None

    do_TryStar = do_Try

    def do_Match(self, stmt: Any, frame: Frame) -> None:
        self.eval(stmt.subject, frame)
        before = dict(frame.env or {})
        after: Optional[Env] = dict(before)
        self.uncertain += 1
        for case in stmt.cases:
            frame.env = dict(before)
            for node in walk(case.pattern):
                bound = getattr(node, "name", None)
                if isinstance(bound, str):
                    frame.set(bound, v.unknown)
            self.exec_block(case.body, frame)
            after = self.merge(after, frame.env, stmt, "static")
        self.uncertain -= 1
        frame.env = after

    # -- what a function gives back

    def result_of(self, frame: Frame) -> Value:
        """Joins a function's returns; those that a Tensor chooses between must be alike."""
        returns = list(frame.returns)
        if frame.env is not None and any(r.stack for r in returns) or frame.env is not None or not returns:
            returns.append(Return(v.none, frame.info.node, ()))
        if frame.trace is not None and frame.graph:
            self._compare_returns(returns, frame)
        value = returns[0].value
        for other in returns[1:]:
            value = join(value, other.value)
        return value

    def _compare_returns(self, returns: List[Return], frame: Frame) -> None:
        for i, first in enumerate(returns):
            for second in returns[i + 1 :]:
                node = _parting(first.stack, second.stack)
                if node is None:
                    continue
                reason = unlike(first.value, second.value, self.target, returned=frame.caller is None)
                if reason is not None and not (frame.caller is not None and reason.returned_only):
                    values = (first.value, second.value)
                    self.conflict(
                        Conflict(node, reason.text, "", values, reason.outcome, end=second.node), frame
                    )

    def function_value(self, info: FunctionInfo, frame: Frame) -> Value:
        """The value of a nested function or lambda, with the names around it as they stand now."""
        captured: Dict[str, Value] = {}
        if frame.closure is not None:
            captured.update(frame.closure.captured)
        captured.update(frame.env or {})
        return Value(v.FUNCTION, target=Closure(info, frame, captured, frame.cls), ref=v.Ref())


def _ends(stmt: ast.stmt, frame: Frame) -> bool:
    """True for a statement after which the parser reads nothing more of the block."""
    if isinstance(stmt, _END):
        return True
    if isinstance(stmt, ast.If):
        decided = frame.trace.decided.get(stmt.test) if frame.trace is not None else None
        if isinstance(decided, bool):
            return _closed(stmt.body if decided else stmt.orelse, frame)
        return _closed(stmt.body, frame) and _closed(stmt.orelse, frame)
    return False


def _closed(body: Sequence[ast.stmt], frame: Frame) -> bool:
    return any(_ends(stmt, frame) for stmt in body)


def _parting(
    first: Tuple[Tuple[ast.AST, int], ...], second: Tuple[Tuple[ast.AST, int], ...]
) -> Optional[ast.AST]:
    """The Tensor choice at which two paths of one function part, if any."""
    for i, step in enumerate(first):
        if i >= len(second) or second[i] != step:
            return step[0]
    return None
