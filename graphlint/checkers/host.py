"""GL5xx: the host inside the graph: NumPy, Python objects and conversions that only the interpreter can do."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, When, always, confidence_of
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance
from graphlint.graph_code.values import Value
from graphlint.knowledge import compiler
from graphlint.lang import Text
from graphlint.tree import walk

INTERPRETED = (When(Effect.FALLBACK), When(Effect.COMPILE_ERROR, level="strict"))
"""Python's interpreter does it at run time (lax); strict refuses it."""


class HostConversion(Rule):
    """
    What
        `asnumpy`, `numpy` or `tolist` of a Tensor in graph code.

    Why
        The value leaves the graph: the interpreter takes over at run time (lax; slow, not exportable), strict
        refuses it.

    Example
        order = np.argsort(x.asnumpy())

    Instead
        order = ops.argsort(x)

    Fix safety
        Unsafe: operators may differ from NumPy in dtype.
    """

    code = "GL501"
    name = "host-conversion"
    effects = (*INTERPRETED, When(Effect.FALLBACK, before="2.6"))
    message = Text(
        "`.{name}()` takes the Tensor out of the graph: the Python interpreter runs it",
        "`.{name}()` 会把 Tensor 移出图，由 Python 解释器执行",
    )
    help = Text("stay with operators", "改用算子")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("asnumpy", "numpy", "tolist"):
            receiver = ctx.value(node.func.value)
            if receiver.kind == v.TENSOR and not receiver.parameter:
                yield self.at(node, name=node.func.attr, confidence=confidence_of(receiver))


class ForeignCall(Rule):
    """
    What
        A function of NumPy, math or another library called on what is only known when the graph runs.

    Why
        The compiler can't look into it: the interpreter calls it at run time (lax), strict refuses it.

    Example
        return x * math.sqrt(x.sum())

    Instead
        return x * ops.sqrt(x.sum())

    Fix safety
        Unsafe: operators may differ in dtype.
    """

    code = "GL502"
    name = "foreign-call"
    effects = (*INTERPRETED, When(Effect.FALLBACK, before="2.6"))
    message = Text(
        "`{name}` is called on a Tensor: the Python interpreter runs it",
        "对 Tensor 调用了 `{name}`：由 Python 解释器执行",
    )
    files = Text(
        "`{name}` works on files or text: the Python interpreter runs it",
        "`{name}` 处理文件或文本：由 Python 解释器执行",
    )
    help = Text("use the operator of MindSpore that does it", "改用 MindSpore 中对应的算子")

    def _touches_files(self, callee: str) -> bool:
        """True for a function on the compiler's list of those with side effects (`json.dumps`), left to the interpreter."""
        module, _, name = callee.partition(".")
        return self.target.since("2.8") and name in compiler(
            self.target.mindspore
        ).third_party_side_effects.get(module, ())

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if self._touches_files(callee):
            yield self.at(node, message=self.files, name=ast.unparse(node.func)[:40])
            return
        if not callee or callee.startswith(
            ("mindspore.", "builtins.", "functools.", "operator.", "logging.")
        ):
            return
        given = [ctx.value(a) for a in [*node.args, *(k.value for k in node.keywords)]]
        runtime = [
            g
            for g in given
            if g.holds(lambda x: x.kind == v.TENSOR or (x.kind == v.NUMBER and x.variable is True))
        ]
        if runtime and callee.partition(".")[0] in (
            "numpy",
            "math",
            "json",
            "copy",
            "scipy",
            "random",
            "statistics",
        ):
            yield self.at(node, name=ast.unparse(node.func)[:40], confidence=confidence_of(*runtime))


class NumpyInGraph(Rule):
    """
    What
        A NumPy array made a Tensor in graph code by `from_numpy`.

    Why
        An array that comes from a Tensor is known when the graph runs: the interpreter makes the new one (lax),
        strict refuses it, and 2.0 takes other data without a word. One made of constants folds away.

    Example
        return x + Tensor.from_numpy(np.sort(x.asnumpy()))

    Instead
        return x + ops.sort(x)[0]

    Fix safety
        Unsafe: the default dtype of NumPy is float64.
    """

    code = "GL503"
    name = "numpy-in-graph"
    effects = (*INTERPRETED, When(Effect.DIVERGES, before="2.6"))
    message = Text(
        "`{name}` takes a NumPy array in the graph: the Python interpreter runs it",
        "`{name}` 在图中使用 NumPy 数组：由 Python 解释器执行",
    )
    help = Text(
        "make the Tensor in `__init__`, or with an operator", "在 `__init__` 中创建 Tensor，或改用算子"
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) in ("mindspore.Tensor.from_numpy", "mindspore.from_numpy"):
            yield self.at(node, name=ast.unparse(node.func)[:40])


class TensorFromTensors(Rule):
    """
    What
        `Tensor([...])` over a list that holds Tensors.

    Why
        The constructor needs constants: the interpreter runs it (lax), strict refuses it.

    Example
        t = Tensor([x.sum(), 2.0])

    Instead
        t = ops.stack([x.sum(), ops.full((), 2.0)])

    Fix safety
        Unsafe: dtypes of the parts must agree.
    """

    code = "GL504"
    name = "tensor-from-tensors"
    effects = INTERPRETED
    message = Text(
        "a Tensor is made from Tensors by its constructor: the Python interpreter runs it",
        "用构造函数由 Tensor 列表创建 Tensor：由 Python 解释器执行",
    )
    help = Text("use `ops.stack`", "改用 `ops.stack`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if (
            ctx.callee(node) in ("mindspore.Tensor", "mindspore.tensor", "mindspore.common.Tensor")
            and node.args
        ):
            first = ctx.value(node.args[0])
            if first.kind in (*v.SEQUENCES, v.TENSOR, v.NUMBER) and first.holds(_runs_later):
                yield self.at(node, confidence=confidence_of(first))


def _runs_later(value: Value) -> bool:
    return value.kind == v.TENSOR and not value.parameter or value.kind == v.NUMBER and value.variable is True


class TensorIndexIntoList(Rule):
    """
    What
        A list or tuple indexed by a Tensor.

    Why
        The interpreter picks the item at run time (lax); strict refuses it.

    Example
        return branches[i]  # i is a Tensor

    Instead
        return ops.stack(branches)[i]

    Fix safety
        Unsafe: the items must be Tensors of one shape.
    """

    code = "GL505"
    name = "tensor-index-into-list"
    effects = (*INTERPRETED, When(Effect.COMPILE_ERROR, before="2.6"))
    message = Text(
        "a {kind} is indexed by a Tensor: the Python interpreter picks the item",
        "用 Tensor 索引 {kind}：由 Python 解释器取元素",
    )
    help = Text("stack the items and index the Tensor", "先用 `ops.stack` 合并，再索引")

    def visit_Subscript(self, node: ast.Subscript, ctx: Context) -> Findings:
        base, key = ctx.value(node.value), ctx.value(node.slice)
        if base.kind in (*v.SEQUENCES, v.STR) and key.kind == v.TENSOR and isinstance(node.ctx, ast.Load):
            yield self.at(node, kind=base.kind, confidence=confidence_of(base, key))


_TYPE_TESTS = ("builtins.type", "builtins.id")


class TypeOfTensor(Rule):
    """
    What
        `type(x)` or `id(x)` of a Tensor.

    Why
        The interpreter answers at run time (lax); strict refuses it.

    Example
        if type(x) == Tensor:

    Instead
        if isinstance(x, Tensor):

    Fix safety
        Safe for a comparison with Tensor itself.
    """

    code = "GL506"
    name = "type-of-tensor"
    effects = (*INTERPRETED, When(Effect.DIVERGES, before="2.6"))
    message = Text(
        "`{name}` of a Tensor: the Python interpreter answers at run time",
        "对 Tensor 使用 `{name}`：运行时由 Python 解释器处理",
    )
    help = Text("use `isinstance`", "改用 `isinstance`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee in _TYPE_TESTS and node.args and ctx.value(node.args[0]).kind == v.TENSOR:
            yield self.at(node, name=callee[9:])


class HasattrOfTensor(Rule):
    """
    What
        `hasattr` of a Tensor for a method that only PyNative has.

    Why
        The graph answers False for methods that it has no form of (`asnumpy`), PyNative True.

    Example
        if hasattr(x, "asnumpy"):

    Instead
        if isinstance(x, Tensor):

    Fix safety
        No fix.
    """

    code = "GL507"
    name = "hasattr-of-tensor"
    effects = always(Effect.DIVERGES)
    message = Text(
        "`hasattr({text})` is False in the graph and True in PyNative",
        "`hasattr({text})` 在图中为 False，在 PyNative 中为 True",
    )
    help = Text("use `isinstance`", "改用 `isinstance`")
    only_host = frozenset(
        "asnumpy numpy tolist from_numpy set_data assign_value init_data register_hook".split()
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) != "builtins.hasattr" or len(node.args) != 2:
            return
        x, name = ctx.value(node.args[0]), node.args[1]
        if not isinstance(name, ast.Constant):
            return
        text = ", ".join(ast.unparse(a) for a in node.args)
        if (
            x.kind == v.TENSOR
            and (name.value in self.only_host or (x.parameter and name.value == "name"))
            or x.kind == v.NUMBER
            and not x.variable
            and name.value in ("real", "imag", "conjugate", "bit_length")
        ):
            yield self.at(node, text=text)


class IdentityComparison(Rule):
    """
    What
        `is` between anything but None, True, False, dtypes and constants.

    Why
        The graph has no identity: Tensors compare as different objects, lists, Enum members and other objects are
        refused.

    Example
        if y is x:

    Instead
        if self.same:  # a flag

    Fix safety
        Safe for Enum members (`==`); else no fix.
    """

    code = "GL508"
    name = "identity-comparison"
    effects = (
        When(Effect.DIVERGES, case="tensor"),
        When(Effect.COMPILE_ERROR, case="tensor", level="strict"),
        When(Effect.COMPILE_ERROR, case="tensor", before="2.6"),
        When(Effect.COMPILE_ERROR, case="object"),
    )
    message = Text("`is` between Tensors is never true in the graph", "图中 Tensor 之间的 `is` 永远为假")
    object_ = Text(
        "`is` with {what} can't be compiled: the graph compares None and bools alone",
        "图只支持与 None、bool 的 `is` 比较，这里是{what_zh}，编译会失败",
    )
    help = Text("compare with `==`, or keep a flag", "改用 `==`，或使用标志变量")

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            if isinstance(op, (ast.Is, ast.IsNot)):
                a, b = ctx.value(left), ctx.value(right)
                if v.NONE not in (a.kind, b.kind):
                    if a.kind == v.TENSOR and b.kind == v.TENSOR:
                        if isinstance(op, ast.Is) or self.target.strict:
                            yield self.at(node, case="tensor")
                    elif (
                        b.kind in _KINDS and b.origin != "enum" or b.origin == "enum" and not _is_int_enum(b)
                    ):
                        what, what_zh = (
                            ("an Enum member", "枚举成员") if b.origin == "enum" else _KINDS[b.kind]
                        )
                        yield self.at(node, case="object", message=self.object_, what=what, what_zh=what_zh)
            left = right


_KINDS = {
    v.LIST: ("a list", "列表"), v.TUPLE: ("a tuple", "元组"), v.DICT: ("a dict", "字典"), v.SET: ("a set", "集合"),
    v.OBJECT: ("an object", "普通对象"),
}  # fmt: skip


def _is_int_enum(value: Value) -> bool:
    bases = getattr(value.target, "external_bases", ())
    return value.origin == "enum" and any(base in ("enum.IntEnum", "enum.IntFlag") for base in bases)


class ShapeBranch(Rule):
    """
    What
        A branch on the shape of a Tensor.

    Why
        It compiles and is decided when compiling: each new shape compiles the graph anew, with the branch or
        without it. Where the shape depends on data (`unique`, `nonzero`, a mask), it runs as one graph.

    Example
        if x.shape[0] > 10:

    Instead
        if x.shape[0] > 10:

    Fix safety
        Nothing to fix.
    """

    code = "GL520"
    name = "shape-branch"
    effects = (When(Effect.RECOMPILES),)
    message = Text(
        "this branch on a shape is decided when compiling, once for each shape",
        "该形状分支在编译期确定，每种形状各编译一次",
    )
    dynamic = Text(
        "this branch is on a shape that depends on data: it runs inside one graph",
        "该分支依赖数据相关的形状，在同一个图中执行",
    )
    help = Text("pad inputs to a few shapes if they vary", "若输入形状多变，可填充到少数几种形状")

    def visit_If(self, node: Any, ctx: Context) -> Findings:
        for part in walk(node.test):
            value = (
                ctx.value(part)
                if isinstance(part, (ast.Attribute, ast.Subscript, ast.Name, ast.Call))
                else None
            )
            if value is not None and value.shape_derived and value.kind in (v.NUMBER, v.TUPLE):
                yield self.at(node.test, message=self.dynamic if value.dynamic else self.message)
                return

    visit_While = visit_IfExp = visit_If


class PlainObjectWithTensor(Rule):
    """
    What
        An object of a plain class, a dataclass or a namedtuple made around a Tensor in graph code.

    Why
        The interpreter makes it at run time (lax); strict refuses it.

    Example
        p = Point(x, x + 1)

    Instead
        p = (x, x + 1)

    Fix safety
        No fix.
    """

    code = "GL532"
    name = "plain-object-with-tensor"
    effects = (*INTERPRETED, When(Effect.COMPILE_ERROR, before="2.6"))
    message = Text(
        "`{name}(…)` is made around a Tensor: the Python interpreter makes it",
        "`{name}(...)` 持有 Tensor：由 Python 解释器创建",
    )
    help = Text("use a tuple or a dict", "改用元组或字典")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        made = ctx.value(node)
        func = ctx.value(node.func)
        is_class = func.kind == v.CLASS and not isinstance(func.target, str) or made.origin == "namedtuple"
        if (
            made.kind == v.OBJECT
            and is_class
            and (isinstance(made.target, Instance) or made.origin == "namedtuple")
        ):
            if any(ctx.value(a).runtime for a in [*node.args, *(k.value for k in node.keywords)]):
                yield self.at(node, name=ast.unparse(node.func)[:40])
        elif func.origin == "namedtuple" and any(ctx.value(a).runtime for a in node.args):
            yield self.at(node, name=ast.unparse(node.func)[:40])
