"""GL63x: methods of Tensors that mean something else than in PyTorch, or aren't there."""

from __future__ import annotations

import ast

from graphlint.checkers.base import Context, Findings, Found, ModuleContext, Rule, always, confidence_of
from graphlint.checkers.uses import constant, uses
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.facts import Condition
from graphlint.knowledge import api
from graphlint.lang import Text

HOST_NAMES = ("detach", "cpu", "cuda", "detach_", "retain_grad", "is_leaf")
"""Methods of PyTorch's tensors that their names alone give away, where a module uses MindSpore alone."""


class TensorMethod(Rule):
    """
    What
        A method or attribute of PyTorch's tensors that MindSpore's don't have: `detach()`, `cpu()`,
        `cuda()`, `to("cuda")`, `requires_grad`, `grad`, `is_cuda`, `data` before 2.8.

    Why
        AttributeError, in PyNative and in the graph; `to("cuda")` is ValueError on 2.10.0, TypeError on
        2.7.0. Looked up for the target version: `Tensor.data` is missing in 2.7 and exists from 2.8 on.
        Said of Tensors in graph code, and of unmistakable names in modules that use MindSpore and not
        torch.

    Example
        y = x.detach()

    Instead
        y = ops.stop_gradient(x)

    Fix safety
        No fix.
    """

    code = "GL630"
    name = "tensor-method"
    effects = always(Effect.PORTING)
    message = Text(
        "a Tensor has no `{name}`: this raises AttributeError",
        "Tensor 没有 `{name}`，此处会抛出 AttributeError",
    )
    device = Text(
        '`to("{given}")` raises an error: MindSpore has no such device',
        '`to("{given}")` 会报错：MindSpore 没有该设备',
    )
    help = Text("use `{instead}`: {trap}", "请用 `{instead}`：{trap_zh}")
    nothing = Text("{trap}", "{trap_zh}")
    leave_out = Text("leave it out: Tensors follow the program's device", "删去即可：Tensor 使用程序的设备")
    in_graph = (*HOST_NAMES, "requires_grad", "grad", "is_cuda", "data")

    def visit_Attribute(self, node: ast.Attribute, ctx: Context) -> Findings:
        if node.attr not in self.in_graph or not isinstance(node.ctx, ast.Load):
            return
        base = ctx.value(node.value)
        if base.kind == v.TENSOR and not base.parameter and self._lacks(node.attr):
            yield self._found(node, node.attr, confidence_of(base))

    def check_module(self, ctx: ModuleContext) -> Findings:
        found = uses(ctx)
        if "mindspore" not in found.owners or "torch" in found.owners:
            return
        for name in HOST_NAMES:
            for call in found.methods.get(name, ()):
                if not call.args and not call.keywords and name != "cuda" and self._lacks(name):
                    yield self._found(call, name, Confidence.MEDIUM, ctx.outside(call))
        for call in found.methods.get("to", ()):
            given = constant(call.args[0]) if call.args else None
            if isinstance(given, str) and given.startswith("cuda"):
                yield self.at(call, message=self.device, help=self.leave_out, given=given)

    def _lacks(self, name: str) -> bool:
        return api(self.target.mindspore).tensor_method(name) is None

    def _found(self, node: ast.expr, name: str, confidence: Confidence, *when: Condition) -> Found:
        from graphlint.knowledge.torch_names import by_torch

        row = (
            by_torch().get(f"Tensor.{name}")
            or by_torch()["Tensor.detach" if "detach" in name else "Tensor.requires_grad"]
        )
        short = row.mindspore[len("mindspore.") :]
        help = self.help if row.mindspore and not row.mindspore.endswith(f".{name}") else self.nothing
        return self.at(
            node,
            confidence=confidence,
            when=when,
            help=help,
            name=name,
            instead=short,
            trap=row.text.en,
            trap_zh=row.text.zh,
        )


class SizeCall(Rule):
    """
    What
        `x.size()` or `x.size(0)` of a Tensor.

    Why
        `size` is a number in MindSpore (how many elements), not a method: TypeError ("'int' object is not
        callable"), measured on 2.7.0 and 2.10.0.

    Example
        x.view(x.size(0), -1)

    Instead
        x.view(x.shape[0], -1)

    Fix safety
        No fix.
    """

    code = "GL631"
    name = "size-call"
    effects = always(Effect.PORTING)
    message = Text(
        "`size` of a Tensor is a number here: calling it raises TypeError",
        "此处 Tensor 的 `size` 是数值，调用它会抛出 TypeError",
    )
    help = Text("write `{instead}`", "改写为 `{instead}`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "size" and ctx.value(func.value).kind == v.TENSOR:
            tensor = ast.unparse(func.value)
            instead = f"{tensor}.shape[{ast.unparse(node.args[0])}]" if node.args else f"{tensor}.shape"
            yield self.at(node, confidence=confidence_of(ctx.value(func.value)), instead=instead)


class ResultDropped(Rule):
    """
    What
        A method of a Tensor that returns a new one, called as a statement: its result is dropped.

    Why
        PyTorch's `masked_fill_` changes the tensor, `masked_fill` returns another. Where the first was
        ported to the second, the line does nothing, in PyNative and in the graph. Measured on 2.7.0 and
        2.10.0.

    Example
        scores.masked_fill(mask, -1e9)

    Instead
        scores = scores.masked_fill(mask, -1e9)

    Fix safety
        No fix.
    """

    code = "GL632"
    name = "result-dropped"
    effects = always(Effect.PORTING)
    message = Text(
        "`{name}` returns a new Tensor, which is dropped here", "`{name}` 返回新的 Tensor，其结果在此被丢弃"
    )
    help = Text("write `{tensor} = {tensor}.{name}(…)`", "改写为 `{tensor} = {tensor}.{name}(…)`")
    names = frozenset(
        [
            "masked_fill",
            "reshape",
            "view",
            "transpose",
            "permute",
            "squeeze",
            "unsqueeze",
            "expand_dims",
            "flatten",
            "clamp",
            "clip",
            "tile",
            "repeat",
            "astype",
            "float",
            "half",
            "to",
            "type",
            "int",
            "long",
            "bool",
            "index_fill",
            "swapaxes",
            "expand",
            "broadcast_to",
            "abs",
            "exp",
            "log",
            "sqrt",
            "sigmoid",
            "tanh",
        ]
    )

    def visit_Expr(self, node: ast.Expr, ctx: Context) -> Findings:
        call = node.value
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Attribute)
            or call.func.attr not in self.names
        ):
            return
        base = ctx.value(call.func.value)
        if base.kind == v.TENSOR:
            yield self.at(
                call, confidence=confidence_of(base), name=call.func.attr, tensor=ast.unparse(call.func.value)
            )


class MaxWithIndex(Rule):
    """
    What
        `ops.max(x)` or `ops.min(x)` without an axis, whose result is used as if it were the value.

    Why
        MindSpore's returns (value, index) in any case; PyTorch's `torch.max(x)` returns the value alone.
        Measured on 2.0.0, 2.7.0 and 2.10.0. The methods `x.max()` and `x.min()` return the value.

    Example
        x / ops.max(x)

    Instead
        x / x.max()

    Fix safety
        No fix.
    """

    code = "GL633"
    name = "max-with-index"
    effects = always(Effect.PORTING)
    message = Text(
        "`{name}` returns (value, index), also without an axis", "即使不给 axis，`{name}` 也返回 (值, 下标)"
    )
    help = Text(
        "write `{tensor}.{method}()`, or `{name}({tensor})[0]`",
        "改写为 `{tensor}.{method}()` 或 `{name}({tensor})[0]`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name not in ("mindspore.ops.max", "mindspore.ops.min") or use.call is None:
                continue
            call, around = use.call, ctx.module.parents.get(use.call)
            method = use.name.rpartition(".")[2]
            if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
                continue
            if isinstance(around, (ast.BinOp, ast.Compare, ast.UnaryOp)) or (
                isinstance(around, ast.Attribute) and around.attr not in ("index", "count")
            ):
                yield self.at(call, name=use.short, tensor=ast.unparse(call.args[0]), method=method)
