"""GL51x, GL53x: text in the graph: f-strings, formatting and methods of strings."""

from __future__ import annotations

import ast
from typing import Any, ClassVar, Dict, Iterator, Optional, Tuple

from graphlint.checkers.base import Context, Findings, Rule, When, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.numbers import differs
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.tree import walk


class FormatTensor(Rule):
    """
    What
        A Tensor, or a number that is known at run time only, formatted into a string.

    Why
        Lax formats it through the interpreter; strict writes the operator's own text or refuses it.

    Example
        print(f"x={x}")

    Instead
        print("x=", x)

    Fix safety
        Unsafe: the printed text changes by a space.
    """

    code = "GL303"
    name = "format-tensor"
    effects = (
        When(Effect.FALLBACK),
        When(Effect.SIDE_EFFECT, level="strict", case="printed"),
        When(Effect.DIVERGES, level="strict", case="fstring"),
        When(Effect.COMPILE_ERROR, level="strict", case="format"),
        When(Effect.DIVERGES, before="2.6", case="fstring"),
        When(Effect.COMPILE_ERROR, before="2.6", case="format"),
    )
    message = Text(
        "a Tensor is formatted into text: the interpreter does it at run time",
        "Tensor 被格式化为文本：运行时由 Python 解释器完成",
    )
    strict = Text(
        "strict can't format a Tensor as PyNative does", "strict 级别无法像 PyNative 那样格式化 Tensor"
    )
    help = Text("pass the Tensor to `print` as an argument of its own", "把 Tensor 作为 `print` 的单独参数")

    def _found(self, node: ast.AST, case: str) -> Findings:
        yield self.at(node, case=case, message=self.strict if self.target.strict else self.message)

    def _late(self, value: Value) -> bool:
        return _at_run_time(value) if self.target.since("2.6") else _formatted_at_run_time(value)

    def visit_JoinedStr(self, node: ast.JoinedStr, ctx: Context) -> Findings:
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue) and self._late(ctx.value(piece.value)):
                how = use_of(node, ctx)
                if how:
                    yield from self._found(node, "printed" if how == "printed" else "fstring")
                return

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            if ctx.value(node.func.value).kind == v.STR and any(
                _formatted_at_run_time(ctx.value(a)) for a in given
            ):
                yield from self._found(node, "format")
            return
        if ctx.callee(node) in ("builtins.str", "builtins.repr", "builtins.format"):
            late = any(_formatted_at_run_time(ctx.value(a)) for a in given)
            yield from self._found(node, "format") if late else ()

    def visit_BinOp(self, node: ast.BinOp, ctx: Context) -> Findings:
        if isinstance(node.op, ast.Mod) and ctx.value(node.left).kind == v.STR:
            right = ctx.value(node.right)
            if _formatted_at_run_time(right) or names_tensor(node.right, ctx):
                yield from self._found(node, "format")


def _at_run_time(value: Value) -> bool:
    return value.kind == v.NONE or _formatted_at_run_time(value)


def names_tensor(node: ast.AST, ctx: Context) -> bool:
    """True where the source of the expression names a Tensor, which the interpreter would have to get."""
    return any(isinstance(part, ast.Name) and ctx.value(part).kind == v.TENSOR for part in ast.walk(node))


def _formatted_at_run_time(value: Value) -> bool:
    return (
        value.kind in (v.TENSOR, v.NUMBER, *v.SEQUENCES)
        and value.sure
        and not value.parameter
        and value.runtime
    )


def use_of(node: ast.AST, ctx: Context) -> str:
    """Where a text arrives: `printed` only, nowhere that counts (empty), or `used`."""
    hows = {_use(one, ctx) for one in _uses(node, ctx)}
    hows.discard("")
    return "" if not hows else "printed" if hows == {"printed"} else "used"


def _uses(node: ast.AST, ctx: Context) -> Iterator[ast.AST]:
    """The expression itself, or each read of the name that it is bound to."""
    parent = ctx.parent(node)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        name = parent.targets[0].id
        for other in walk(ctx.node):
            if isinstance(other, ast.Name) and other.id == name and isinstance(other.ctx, ast.Load):
                yield other
        return
    yield node


def _use(node: ast.AST, ctx: Context) -> str:
    parent: Optional[ast.AST] = ctx.parent(node)
    if isinstance(parent, ast.Compare):
        found = ctx.value(parent)
        if found.known and not differs(found):
            return ""
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Call) and ctx.callee(parent) == "builtins.print":
            return "printed"
        parent = ctx.parent(parent)
    return "" if isinstance(parent, (ast.Raise, ast.Assert, ast.Expr)) else "used"


class FstringText(Rule):
    """
    What
        An f-string that the graph writes otherwise than Python.

    Why
        The graph makes the text itself: it ignores conversions and specifications (`f"{k:02d}"` is `3`),
        writes bools as `true`, a tuple of one as `(2)`, strings in a list without quotes, floats with six
        digits (`2.0` as `2`), and a Cell as `DeadNode`.

    Example
        getattr(self, f"layer{k:02d}")

    Instead
        self.layers[k]

    Fix safety
        No fix.
    """

    code = "GL511"
    name = "fstring-text"
    effects = (When(Effect.DIVERGES), When(Effect.SIDE_EFFECT, case="printed"))
    message = Text(
        "the graph writes `{graph}` here, Python `{python}`", "此处图中得到 `{graph}`，Python 得到 `{python}`"
    )
    ignored = Text("the graph ignores `{spec}` in an f-string", "图会忽略 f-string 中的 `{spec}`")
    unnamed = Text(
        "the graph can't write {kind} in an f-string: its text differs",
        "图无法在 f-string 中写出{kind_zh}，得到的文本不同",
    )
    help = Text(
        "make the text in `__init__`, or with `str()` or `.format()`",
        "在 `__init__` 中生成该文本，或使用 `str()`、`.format()`",
    )
    kinds: ClassVar[Dict[str, Tuple[str, str]]] = {
        v.CELL: ("a Cell", " Cell"),
        v.FUNCTION: ("a function", "函数"),
        v.CLASS: ("a class", "类"),
        v.TENSOR: ("a Parameter", " Parameter"),
    }

    def visit_JoinedStr(self, node: ast.JoinedStr, ctx: Context) -> Findings:
        value = ctx.value(node)
        if value.known and not differs(value):
            return
        how = use_of(node, ctx)
        if not how:
            return
        case = "printed" if how == "printed" else ""
        if value.known:
            yield self.at(node, case=case, python=str(value.const)[:60], graph=str(value.graph)[:60])
            return
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                held = ctx.value(piece.value)
                spec = _spec(piece)
                if held.kind == v.NUMBER and held.dtype == "bool" and not held.variable:
                    yield self.at(node, case=case, python="True", graph="true")
                    return
                if held.sure and (held.kind in self.kinds and (held.kind != v.TENSOR or held.parameter)):
                    kind, kind_zh = self.kinds[held.kind]
                    yield self.at(node, case=case, message=self.unnamed, kind=kind, kind_zh=kind_zh)
                    return
                if spec and held.kind in (v.NUMBER, v.STR, v.UNKNOWN):
                    confidence = Confidence.HIGH if held.variable is True else Confidence.MEDIUM
                    yield self.at(node, case=case, message=self.ignored, confidence=confidence, spec=spec)
                    return


def _spec(piece: ast.FormattedValue) -> str:
    if piece.format_spec is not None:
        parts = getattr(piece.format_spec, "values", ())
        text = "".join(p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str))
        return f":{text}" if text not in ("", "d", "s") else ""
    return "!" + chr(piece.conversion) if piece.conversion in (ord("r"), ord("a")) else ""


class DynamicFormat(Rule):
    """
    What
        An f-string of a dimension that `set_inputs` leaves open.

    Why
        The dimension isn't a constant then, and the graph has no text of it.

    Example
        if f"{x.shape[0]}" == "2":

    Instead
        if x.shape[0] == 2:

    Fix safety
        No fix.
    """

    code = "GL512"
    name = "dynamic-format"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "an f-string of a dimension that `set_inputs` leaves open can't be compiled",
        "图编译器不支持格式化 `set_inputs` 中未确定的维度",
    )
    help = Text("compare the number itself", "直接比较数值")

    def visit_JoinedStr(self, node: ast.JoinedStr, ctx: Context) -> Findings:
        if any(isinstance(p, ast.FormattedValue) and ctx.value(p.value).dynamic for p in node.values):
            yield self.at(node)


class RuntimeTextCompared(Rule):
    """
    What
        A text with None or a Tensor in it compared with another text.

    Why
        The graph makes such a text at run time only, and can't compare it.

    Example
        if f"{self.mode}" == "None":

    Instead
        if self.mode is None:

    Fix safety
        No fix.
    """

    code = "GL513"
    name = "runtime-text-compared"
    effects = (When(Effect.COMPILE_ERROR), When(Effect.NONE, before="2.6"))
    message = Text(
        "this text is made at run time, since it holds None or a Tensor: the graph can't compare it",
        "该文本含有 None 或 Tensor，运行时才生成：图无法比较它",
    )
    help = Text("compare the value itself", "直接比较该值")

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        if self.effect() is Effect.NONE:
            return
        sides = [ctx.value(side) for side in (node.left, *node.comparators)]
        if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)) or any(side.kind != v.STR for side in sides):
            return
        for side in sides:
            if side.origin == "runtime_text":
                own = side.target is not None and ctx.reached(side.target)
                yield self.at(side.target if own else node)
                return


class StrictStrings(Rule):
    """
    What
        Methods of strings under the strict level, `upper`, `lower` and `format` apart.

    Why
        Strict has no methods of strings and doesn't iterate over one; lax computes them when compiling.

    Example
        parts = self.mode.split(",")

    Instead
        self.parts = self.mode.split(",")  # in __init__

    Fix safety
        No fix.
    """

    code = "GL530"
    name = "strict-strings"
    effects = (
        When(Effect.NONE),
        When(Effect.COMPILE_ERROR, level="strict"),
        When(Effect.COMPILE_ERROR, before="2.6"),
    )
    message = Text(
        "the graph's strings have no `{name}` at the strict level", "strict 级别下图中的字符串不支持 `{name}`"
    )
    help = Text("compute it in `__init__`", "在 `__init__` 中计算")
    old = Text("the graph's strings have no `{name}`", "图中的字符串不支持 `{name}`")
    kept = frozenset(["upper", "lower", "format"])
    iterating = frozenset(["list", "tuple", "sorted", "iter", "enumerate", "reversed"])

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if self.effect() is Effect.NONE:
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr not in self.kept:
            held = ctx.value(node.func.value)
            if held.kind == v.STR or (held.kind == v.NUMBER and not held.variable):
                yield self.at(node, message=self._message(), name=node.func.attr)
        elif (
            self.target.strict
            and ctx.callee(node)[9:] in (*self.iterating, "len")
            and node.args
            and ctx.value(node.args[0]).kind == v.STR
        ):
            yield self.at(node, name=ctx.callee(node)[9:])

    def _message(self) -> Text:
        return self.message if self.target.since("2.6") else self.old

    def visit_For(self, node: Any, ctx: Context) -> Findings:
        if self.target.strict and ctx.value(node.iter).kind == v.STR:
            yield self.at(node.iter, name="for")

    visit_comprehension = visit_For


class BytesAsText(Rule):
    """
    What
        `encode` of a string, or `bytes(…)`, in graph code.

    Why
        The graph has no bytes: what comes out is a string.

    Example
        key = self.name.encode()

    Instead
        self.key = self.name.encode()  # in __init__

    Fix safety
        No fix.
    """

    code = "GL514"
    name = "bytes-as-text"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.NONE, before="2.10"),
        When(Effect.COMPILE_ERROR, case="encode", level="strict"),
        When(Effect.COMPILE_ERROR, before="2.6"),
    )
    message = Text(
        "the graph has no bytes: `{name}` gives a string", "图中没有 bytes 类型：`{name}` 得到的是字符串"
    )
    help = Text("make it in `__init__`", "在 `__init__` 中生成")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
            held = ctx.value(node.func.value)
            if held.kind == v.STR and not self.target.strict and self.effect("encode") is not Effect.NONE:
                yield self.at(node, case="encode", name="encode")
        elif ctx.callee(node) == "builtins.bytes" and self.effect() is not Effect.NONE:
            yield self.at(node, name="bytes")
