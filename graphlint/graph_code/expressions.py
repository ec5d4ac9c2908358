"""Evaluates expressions of graph code to abstract values."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Callable, List, Optional

from graphlint.graph_code import numbers, tensors
from graphlint.graph_code import values as v
from graphlint.graph_code.displays import Displays
from graphlint.graph_code.frames import Args, Closure, Conflict, Frame, Instance, local_names
from graphlint.graph_code.shadows import content_differs
from graphlint.graph_code.texts import applied, graph_python, graph_written, written
from graphlint.graph_code.values import (
    NOCONST,
    Ref,
    Value,
    element_of,
    join,
    number,
    sequence,
    string,
    to_python,
)
from graphlint.project import FunctionInfo

_BUILTINS = frozenset(dir(builtins))
_UNSEEN = (ast.Constant,)


class Expressions(Displays):
    """The expression half of the interpreter; each value is recorded for the rules."""

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        if not self.spend(frame):
            return v.unknown
        handler: Optional[Callable[[Any, Frame], Value]] = getattr(self, "eval_" + type(node).__name__, None)
        value = handler(node, frame) if handler is not None else v.unknown
        if not frame.graph and value.graph is not NOCONST:
            value = value.but(graph=NOCONST)
        if frame.graph and frame.trace is not None and not isinstance(node, _UNSEEN):
            frame.trace.record(node, value)
        return value

    def eval_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        return v.from_python(node.value)

    # -- names

    def eval_Name(self, node: ast.Name, frame: Frame) -> Value:
        value = self.lookup(node.id, node, frame)
        if frame.graph and value.stale is not None:
            self.made_stale(value.stale)
        if frame.graph and value.conflict is not None and not value.conflict.returned_only:
            self.conflict(value.conflict, frame)
        return value

    def lookup(self, name: str, node: ast.AST, frame: Frame) -> Value:
        env = frame.env or {}
        if name in env and name not in frame.globals_:
            return env[name]
        if (
            name not in frame.globals_
            and frame.closure is not None
            and name not in local_names(frame.info.node)
        ):
            found = self._closed_over(name, node, frame)
            if found is not None:
                return found
        symbol = frame.module.lookup(name)
        if symbol is not None:
            written = self.globals_written.get((frame.module.name, name))
            return written if written is not None else self.symbol_value(symbol, frame)
        if name in _BUILTINS:
            return Value(v.EXTERNAL, target=f"builtins.{name}")
        return v.unknown

    def _closed_over(self, name: str, node: ast.AST, frame: Frame) -> Optional[Value]:
        """A name of an enclosing function: the graph sees it as it stood at the definition, Python as it is now."""
        closure = frame.closure
        assert closure is not None
        home = closure.home
        now = home.env.get(name) if home is not None and home.env is not None else None
        then = closure.captured.get(name)
        if home is None:
            return None
        if then is None and now is not None and frame.graph and name in local_names(home.info.node):
            recursive = isinstance(now.target, Closure) and now.target.info is frame.info
            if recursive and not isinstance(frame.info.node, ast.Lambda):
                return now
            self.event(frame, "closed_over_later", frame.info.node, name=name, use=node)
            return now
        if then is not None and now is not None and then is not now and frame.graph:
            where = home.assigned_at.get(name)
            if where is not None and not _same_value(then, now):
                self.event(frame, "late_binding", where, name=name, how="rebound")
        if now is None and then is None and home.closure is not None:
            return self._closed_over(name, node, home)
        return now if now is not None else then

    # -- operators

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        return self.operate(node.op, self.eval(node.left, frame), self.eval(node.right, frame), node, frame)

    def operate(self, op: ast.operator, a: Value, b: Value, node: ast.AST, frame: Frame) -> Value:
        """What `a op b` is."""
        if a.kind == v.TENSOR or b.kind == v.TENSOR:
            if isinstance(op, ast.MatMult):
                return v.tensor(tensors.promote(a, b), sure=a.sure or b.sure)
            return tensors.elementwise(a, b, isinstance(op, ast.Div)).but(ref=_sum_with_zero(op, a, b))
        if a.kind == v.NUMBER and b.kind == v.NUMBER:
            return numbers.fold(op, a, b)
        if a.kind == v.STR and isinstance(op, ast.Mod):
            inline = isinstance(node, ast.BinOp) and isinstance(node.right, ast.BinOp)
            return self._string_op(op, a, b.but(graph=NOCONST) if inline else b)
        if a.kind in v.SEQUENCES or b.kind in v.SEQUENCES:
            return self._sequence_op(op, a, b)
        if a.kind == v.STR:
            return self._string_op(op, a, b)
        if a.kind == v.OBJECT and isinstance(a.target, Instance):
            found = a.target.cls.find(_DUNDER.get(type(op), ""))
            if found is not None:
                return self.call_closure(Closure(found, cls=found.owner), Args([b]), node, frame, a)
        if v.INPUT in (a.kind, b.kind):
            return Value(v.INPUT, variable=None, sure=False, ref=Ref())
        if a.kind == v.EXTERNAL or b.kind == v.EXTERNAL:
            origin = "numpy" if "numpy" in (a.origin, b.origin) else ""
            return Value(
                v.EXTERNAL, variable=a.variable or b.variable, origin=origin, dtype=a.dtype, shape=a.shape
            )
        return v.unknown.but(variable=True if True in (a.variable, b.variable) else None)

    def _sequence_op(self, op: ast.operator, a: Value, b: Value) -> Value:
        if isinstance(op, ast.Add) and a.kind == b.kind:
            if a.items is not None and b.items is not None:
                return sequence(a.kind, [*a.items, *b.items])
            elements = [element_of(x) for x in (a, b) if x.items or x.element is not None]
            element = None if not elements else elements[0] if len(elements) == 1 else join(*elements)
            return Value(a.kind, element=element, ref=Ref())
        if isinstance(op, ast.Mult):
            held, count = (a, b) if a.kind in v.SEQUENCES else (b, a)
            if held.items is not None and isinstance(count.const, int) and 0 <= count.const <= 256:
                return sequence(held.kind, list(held.items) * count.const)
            return Value(held.kind, element=element_of(held), ref=Ref(), dynamic=count.dynamic)
        return v.unknown

    def _string_op(self, op: ast.operator, a: Value, b: Value) -> Value:
        made = (
            applied(numbers._OPS[type(op)], a, b) if type(op) in numbers._OPS and not _long(op, b) else None
        )
        if made is not None:
            return made
        return string(variable=True if b.runtime or a.variable else b.variable, shape_derived=b.shape_derived)

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        x = self.eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            truth, how = self.truth(x, node.operand, frame)
            if truth is not None:
                graph = NOCONST if x.graph is NOCONST or x.kind != v.NUMBER else not x.graph
                return number(not truth, graph=graph, shape_derived=x.shape_derived)
            return _bool(how, x)
        if x.kind == v.TENSOR:
            return v.tensor(x.dtype, x.shape, x.rank, x.sure)
        if x.kind == v.NUMBER and isinstance(node.op, ast.USub):
            return numbers.negate(x)
        if x.kind == v.NUMBER and isinstance(node.op, ast.Invert) and isinstance(x.const, int):
            return number(~int(x.const))
        if x.kind == v.OBJECT:
            return v.unknown
        return x.but(ref=Ref()) if x.ref is not None else x

    def eval_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        is_and = isinstance(node.op, ast.And)
        found: Optional[Value] = None
        hows: List[str] = []
        tensor_before = number_before = False
        for part in node.values:
            x = self.eval(part, frame)
            if tensor_before and x.sure and x.kind not in (v.TENSOR, v.UNKNOWN, v.INPUT, v.EXTERNAL, v.BOUND):
                self.event(frame, "mixed_bool", node, part=part, value=x)
            elif number_before and x.sure and x.kind == v.TENSOR:
                self.event(frame, "mixed_bool", node, part=node.values[0], value=x)
            tensor_before = tensor_before or (x.kind == v.TENSOR and x.sure)
            number_before = number_before or (x.kind == v.NUMBER and x.variable is True)
            truth, how = self.truth(x, part, frame)
            hows.append(how)
            if truth is not None and truth is not is_and:
                if found is None:
                    return x
                break
            if truth is None or part is node.values[-1]:
                found = x if found is None else join(found, x)
        if found is None:
            return number(is_and)
        if "tensor" in hows:
            return v.tensor("bool") if found.kind == v.TENSOR else number(pytype="bool", variable=True)
        if len(hows) > 1 and found.kind not in (v.NUMBER, v.STR, v.NONE):
            return found.but(sure=False, const=NOCONST) if found.kind != v.UNKNOWN else found
        return found.but(const=NOCONST, graph=NOCONST) if None in [_known(h) for h in hows] else found

    def eval_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        found: Optional[Value] = None
        for op, right_node in zip(node.ops, node.comparators):
            right = self.eval(right_node, frame)
            if frame.graph:
                self._compares_changed(op, left, right)
            one = self._compare(op, left, right)
            if found is None:
                found = one
            elif found.kind == v.NUMBER and found.known and not found.const:
                return found
            elif one.kind == v.NUMBER and one.known and not one.const:
                found = one
            elif not (one.kind == v.NUMBER and one.known):
                found = one if found.known else join(found, one)
            left = right
        return found if found is not None else v.unknown

    def _compares_changed(self, op: ast.cmpop, a: Value, b: Value) -> None:
        if isinstance(op, (ast.In, ast.NotIn)) and b.shadow is not None and a.known:
            held = b.shadow.held
            if held is None or self._membership(op, a, b).const is not self._membership(op, a, held).const:
                self.lost_change(b.shadow)
        elif isinstance(op, (ast.Eq, ast.NotEq)):
            for side in (a, b):
                if side.shadow is not None and content_differs(side):
                    self.lost_change(side.shadow)

    def _compare(self, op: ast.cmpop, a: Value, b: Value) -> Value:
        if isinstance(op, (ast.Is, ast.IsNot)):
            return self._identity(op, a, b)
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._membership(op, a, b)
        if a.kind == v.TENSOR or b.kind == v.TENSOR:
            return tensors.elementwise(a, b, comparison=True)
        if a.kind == b.kind == v.NUMBER or a.kind == b.kind == v.STR:
            return numbers.compare(op, a, b)
        if isinstance(op, (ast.Eq, ast.NotEq)):
            x, y = to_python(a), to_python(b)
            if x is not NOCONST and y is not NOCONST:
                return number(
                    (x == y) is isinstance(op, ast.Eq), shape_derived=a.shape_derived or b.shape_derived
                )
            if v.NONE in (a.kind, b.kind) and a.sure and b.sure and v.UNKNOWN not in (a.kind, b.kind):
                if a.kind != b.kind and v.INPUT not in (a.kind, b.kind):
                    return number(isinstance(op, ast.NotEq))
        if v.INPUT in (a.kind, b.kind) and v.STR not in (a.kind, b.kind):
            return Value(v.UNKNOWN, variable=None, sure=False)
        variable = (
            True if True in (a.variable, b.variable) else None if None in (a.variable, b.variable) else False
        )
        shape = a.shape_derived or b.shape_derived
        return number(pytype="bool", variable=variable, shape_derived=shape, dynamic=a.dynamic or b.dynamic)

    def _identity(self, op: ast.cmpop, a: Value, b: Value) -> Value:
        positive = isinstance(op, ast.Is)
        if v.NONE in (a.kind, b.kind):
            other = b if a.kind == v.NONE else a
            if other.kind == v.NONE:
                return number(positive)
            if other.kind not in (v.UNKNOWN, v.INPUT, v.BOUND) and other.sure:
                return number(not positive)
            return number(pytype="bool")
        if a.known and b.known and a.kind in (v.NUMBER, v.STR, v.DTYPE) and b.kind == a.kind:
            return number((a.const == b.const) is positive)
        return number(pytype="bool")

    def _membership(self, op: ast.cmpop, a: Value, b: Value) -> Value:
        x, held = to_python(a), to_python(b)
        if b.kind == v.DICT and b.keys is not None:
            held = b.keys
        if x is not NOCONST and held is not NOCONST:
            try:
                found = (x in held) is isinstance(op, ast.In)
                other = (graph_python(a) in (held if b.kind == v.DICT else graph_python(b))) is isinstance(
                    op, ast.In
                )
                return number(
                    found, graph=NOCONST if other is found else other, shape_derived=a.shape_derived
                )
            except TypeError:
                return v.unknown
        variable = True if a.runtime or b.kind == v.TENSOR else a.variable
        return number(pytype="bool", variable=variable, shape_derived=a.shape_derived)

    def eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        deferred = self.deferred is node
        self.remember_branch(node.test, frame)
        truth, how = self.truth(self.eval(node.test, frame), node.test, frame)
        if truth is not None:
            return self.eval(node.body if truth else node.orelse, frame)
        made: List[Value] = []
        self.branch(node, how, frame, lambda: made.append(self.eval(node.body, frame)),
                    lambda: made.append(self.eval(node.orelse, frame)))  # fmt: skip
        if how == "tensor":
            from graphlint.graph_code.joins import unlike

            reason = unlike(made[0], made[1], self.target)
            if reason is not None and not reason.returned_only:
                conflict = Conflict(node, reason.text, "", (made[0], made[1]), reason.outcome)
                if deferred:
                    return join(made[0], made[1]).but(conflict=conflict)
                self.conflict(conflict, frame)
        return join(made[0], made[1])

    def branch(
        self, node: ast.AST, how: str, frame: Frame, then: Callable[[], Any], other: Callable[[], Any]
    ) -> None:
        raise NotImplementedError

    def eval_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        frame.set(node.target.id, value, node)
        return value

    # -- strings, attributes, items, functions

    def eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        """The text, as Python writes it and as the graph does; one that holds None or a Tensor is made at run time."""
        held: List[Value] = []
        texts: List[Optional[str]] = []
        graph: List[Optional[str]] = []
        for piece in node.values:
            value = self.eval(piece.value if isinstance(piece, ast.FormattedValue) else piece, frame)
            held.append(value)
            spec, conversion = "", -1
            if isinstance(piece, ast.FormattedValue):
                conversion = piece.conversion
                spec = self.eval(piece.format_spec, frame).const if piece.format_spec is not None else ""
            texts.append(written(value, conversion, spec) if isinstance(spec, str) else None)
            graph.append(graph_written(value))
        shape = any(x.shape_derived for value in held for x in value.walk(1))
        if any(value.kind == v.NONE or value.holds(lambda x: x.kind == v.TENSOR) for value in held):
            dynamic = any(value.holds(lambda x: x.dynamic) for value in held)
            return string(
                variable=True, shape_derived=shape, dynamic=dynamic, target=node, origin="runtime_text"
            )
        if any(t is None for t in texts) or any(value.variable is not False for value in held):
            variable = True if any(value.runtime for value in held) else None
            dynamic = any(value.holds(lambda x: x.dynamic) for value in held)
            return string(variable=variable, shape_derived=shape, dynamic=dynamic)
        made = "".join(t for t in texts if t is not None)
        other = NOCONST if any(g is None for g in graph) else "".join(g for g in graph if g is not None)
        return string(made, graph=NOCONST if other == made else other, shape_derived=shape)

    def eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self.load_attribute(self.eval(node.value, frame), node.attr, node, frame)

    def eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        found = self.load_item(self.eval(node.value, frame), self.eval(node.slice, frame), node, frame)
        if frame.graph and found.conflict is not None and not found.conflict.returned_only:
            self.conflict(found.conflict, frame)
        return found

    def eval_Index(self, node: Any, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def eval_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        parts = [None if p is None else self.eval(p, frame) for p in (node.lower, node.upper, node.step)]
        known = [None if p is None else p.const for p in parts]
        if all(k is None or isinstance(k, int) for k in known):
            return Value(v.SLICE, const=slice(*known))
        return Value(v.SLICE, variable=any(p is not None and p.runtime for p in parts),
                     dynamic=any(p is not None and p.dynamic for p in parts))  # fmt: skip

    def eval_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.function_value(FunctionInfo(node, frame.module, f"{frame.info.qualname}.<lambda>"), frame)

    def eval_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def eval_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        if node.value is not None:
            self.eval(node.value, frame)
        return v.unknown

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        raise NotImplementedError


_DUNDER = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
}


def _long(op: ast.operator, count: Value) -> bool:
    return isinstance(op, ast.Mult) and not (isinstance(count.const, int) and count.const < 256)


def _sum_with_zero(op: ast.operator, a: Value, b: Value) -> Ref:
    """The graph folds `x + 0` and `0 + x` to `x` itself, so that a write in place reaches `x`."""
    if isinstance(op, ast.Add):
        for one, other in ((a, b), (b, a)):
            if one.kind == v.NUMBER and one.const == 0 and one.dtype != "bool" and not other.parameter:
                return Ref(base=other.ref, link="fold")
    return Ref()


def _bool(how: str, x: Value) -> Value:
    if how == "tensor":
        return number(pytype="bool", variable=True) if x.kind != v.TENSOR else v.tensor("bool", ())
    if how == "unknown":
        return Value(v.UNKNOWN, variable=None, sure=False)
    return number(pytype="bool", shape_derived=x.shape_derived, dynamic=x.dynamic)


def _known(how: str) -> Optional[bool]:
    return True if how == "const" else None


def _same_value(a: Value, b: Value) -> bool:
    """True where rebinding changed nothing that could be told apart."""
    if a.known and b.known and a.kind == b.kind:
        return bool(a.const == b.const)
    return a.ref is not None and a.ref is b.ref and a.stale is b.stale and a.items is b.items
