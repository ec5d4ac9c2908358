"""GL405: Tensor methods and functions that write in place, by device and version."""

from __future__ import annotations

import ast
from typing import Optional, Tuple

from graphlint.checkers.base import Context, Findings, Rule, When
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.lang import Text

NO_CPU_KERNEL = frozenset(
    "addmm_ clamp_ erfinv_ exp_ exponential_ fill_ fill_diagonal_ floor_ index_add_ index_copy_ index_fill_ index_put_ "
    "log_ masked_fill_ masked_scatter_ normal_ random_ scatter_add_ sigmoid_ sign_ tanh_ uniform_ zero_ relu_ elu_ "
    "silu_ hardtanh_ threshold_ put_ bernoulli_".split()
)
"""Refused when compiling for a CPU on 2.6 to 2.10, while PyNative runs them there (measured)."""

ONLY_THE_GRAPH_WRITES = frozenset("add_ mul_ div_ floor_divide_ remainder_ scatter_".split())
"""On a CPU from 2.8 on the graph writes and PyNative doesn't (measured)."""

WRITING = (
    NO_CPU_KERNEL | ONLY_THE_GRAPH_WRITES | frozenset({"sub_", "copy_", "clip_", "pow_", "neg_", "abs_"})
)
_HAVE_INPLACE = frozenset(
    "relu elu silu hardtanh threshold leaky_relu relu6 hardsigmoid hardswish mish selu celu".split()
)


class InplaceMethod(Rule):
    """
    What
        A Tensor method that writes in place (`add_`, `copy_`, …), or a function with `inplace=True`.

    Why
        On Ascend it writes, in the graph as in PyNative. A CPU has no kernel for most of them in the graph ("Kernel
        select failed"), and its PyNative ignores `add_`, `mul_`, `div_`, so only Ascend can tell whether both agree.

    Example
        y.zero_()

    Instead
        y = ops.zeros_like(y)

    Fix safety
        Unsafe: other names for the tensor then keep the old data.
    """

    code = "GL405"
    name = "inplace-method"
    effects = (
        When(Effect.PLATFORM),
        When(Effect.COMPILE_ERROR, case="no-kernel", device="CPU"),
        When(Effect.NONE, case="half", device="CPU"),
        When(Effect.DIVERGES, case="half", device="CPU", since="2.8"),
        When(Effect.NONE, case="both", device="CPU"),
    )
    message = Text(
        "`{name}` writes in place; measure it on Ascend: a CPU can't tell",
        "`{name}` 为就地写入，请在 Ascend 上实测，CPU 无法判断",
    )
    no_kernel = Text(
        "`{name}` writes in place and has no kernel for a graph on a CPU",
        "`{name}` 为就地写入，CPU 图模式没有对应的算子",
    )
    half = Text(
        "`{name}` writes in place in a CPU's graph; a CPU's PyNative ignores it",
        "`{name}` 在 CPU 图模式中就地写入，而 CPU 的 PyNative 会忽略它",
    )
    help = Text(
        "use the form that returns a new tensor, and bind its result",
        "改用返回新 Tensor 的形式并接收其返回值",
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        name, sure = _written(node, ctx) or ("", False)
        if name in NO_CPU_KERNEL:
            case, message = "no-kernel", self.no_kernel
        elif name in ONLY_THE_GRAPH_WRITES:
            case, message = "half", self.half
        else:
            case, message = "both", self.message
        if name not in WRITING or self.effect(case) is Effect.NONE:
            return
        if case == "half" and self.target.device == "CPU" and _agrees(node, ctx):
            return
        high = sure and case == "no-kernel" and self.target.device == "CPU"
        yield self.at(
            node, case=case, message=message if self.target.device == "CPU" else self.message,
            name=ast.unparse(node.func)[:40], confidence=Confidence.HIGH if high else Confidence.MEDIUM,
        )  # fmt: skip


def _agrees(node: ast.Call, ctx: Context) -> bool:
    """True where a CPU's PyNative gives the graph's result: the call's own value is used, or it writes into a view."""
    receiver = ctx.value(node.func.value) if isinstance(node.func, ast.Attribute) else v.unknown
    return (
        not isinstance(ctx.parent(node), ast.Expr)
        or receiver.ref is not None
        and receiver.ref.base is not None
    )


def _written(node: ast.Call, ctx: Context) -> Optional[Tuple[str, bool]]:
    """The in-place operation that a call is, and whether it is one for sure."""
    callee = ctx.callee(node)
    tail = callee.rsplit(".", 1)[-1]
    if callee.startswith(("mindspore.ops.", "mindspore.mint.")):
        if tail.endswith("_"):
            return tail, True
        asked = any(
            k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True
            for k in node.keywords
        )
        return (f"{tail}_", True) if asked and tail in _HAVE_INPLACE else None
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr.endswith("_")
        and not node.func.attr.startswith("_")
    ):
        receiver = ctx.value(node.func.value)
        return (node.func.attr, receiver.sure) if receiver.kind == v.TENSOR else None
    return None
