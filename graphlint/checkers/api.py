"""GL70x: MindSpore's own functions, methods and attributes that graph code may not use."""

from __future__ import annotations

import ast
from typing import Any, FrozenSet, Optional

from graphlint.checkers.base import Context, Findings, Rule, When, always, confidence_of
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.knowledge import CompilerTables, api, compiler, graph_calls
from graphlint.lang import Text
from graphlint.project import canonical
from graphlint.target import Target

HOST_MODULES = ("mindspore.hal.", "mindspore.runtime.", "mindspore.log.", "mindspore.communication.get_")
HOST = frozenset(
    "mindspore.context.get_context mindspore.context.set_context mindspore.save_checkpoint mindspore.load_checkpoint "
    "mindspore.set_seed mindspore.manual_seed mindspore.export "
    "mindspore.load mindspore.load_param_into_net mindspore.dtype_to_nptype mindspore.dtype_to_pytype "
    "mindspore.pytype_to_dtype mindspore.get_py_obj_dtype mindspore.set_device mindspore.run_check "
    "mindspore.async_ckpt_thread_status mindspore.amp.auto_mixed_precision".split()
)
"""Functions that the compiler enters and gives up in: their own code is for the host (measured on 2.7 and 2.10)."""

CELL_METHODS = frozenset(
    "cells_and_names parameters_and_names parameters_dict name_cells cells insert_child_to_cell insert_param_to_cell "
    "init_parameters_data update_cell_prefix recompute set_inputs register_forward_hook register_forward_pre_hook "
    "register_backward_hook register_backward_pre_hook parameters_broadcast_dict children modules named_parameters "
    "parameters named_modules named_children trainable_params untrainable_params get_parameters state_dict buffers "
    "register_buffer load_state_dict".split()
)
LIST_METHODS = frozenset({"append", "insert"})
_IN_BOTH = frozenset({"data", "value", "copy", "T", "shape", "dtype", "ndim", "size", "itemsize", "nbytes"})
_WRITE_FIRST = frozenset({"clone", "unique"})


def tables(target: Target) -> CompilerTables:
    """The compiler's own lists for the target, those of the newest version where its own weren't read."""
    try:
        return compiler(target.mindspore)
    except FileNotFoundError:
        return compiler("2.10")


class ForbiddenInGraph(Rule):
    """
    What
        A function or method of MindSpore that the compiler forbids inside a graph, or that only the host can run.

    Why
        It keeps a list of them ("Failed to compile in GRAPH_MODE because the method or function … is not supported
        in 'construct' or function with @jit decorator"); others call what stands on that list.

    Example
        self.p.set_data(x)

    Instead
        ops.assign(self.p, x)

    Fix safety
        Safe for `set_data` (`ops.assign`) where shape and dtype agree; else no fix.
    """

    code = "GL701"
    name = "forbidden-in-graph"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`{name}` can't be called in the graph: the compiler forbids it", "编译器禁止在图中调用 `{name}`"
    )
    help = Text("{how}", "{how_zh}")

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._known: Optional[FrozenSet[str]] = None

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee.startswith("mindspore."):
            if callee in HOST or callee.startswith(HOST_MODULES) or callee in self._forbidden(callee):
                yield self._found(node)
            return
        if not isinstance(node.func, ast.Attribute):
            return
        receiver = ctx.value(node.func.value)
        method = node.func.attr
        if ctx.value(node.func).kind != v.BOUND:
            return
        if receiver.kind == v.CELL and (
            method in CELL_METHODS
            or f"mindspore.nn.Cell.{method}" in self._forbidden("")
            or method in LIST_METHODS
            and str(receiver.target).endswith(("CellList", "SequentialCell"))
        ):
            yield self._found(node)
        elif receiver.kind == v.TENSOR and not receiver.parameter:
            if f"mindspore.Tensor.{method}" in self._forbidden(""):
                yield self._found(node)

    def _forbidden(self, callee: str) -> FrozenSet[str]:
        if self._known is None:
            names = api(self.target.mindspore).forbidden_names()
            self._known = frozenset({*names, *(canonical(name) for name in names)})
        return self._known

    def _found(self, node: Any) -> Any:
        assign = isinstance(node.func, ast.Attribute) and node.func.attr in ("set_data", "assign_value")
        how = "use `ops.assign(p, x)`" if assign else "call it before, outside the graph"
        how_zh = "改用 `ops.assign(p, x)`" if assign else "在图之外提前调用"
        return self.at(node, name=ast.unparse(node.func)[:50], how=how, how_zh=how_zh)


class ParameterInHost(Rule):
    """
    What
        An attribute or method of a Parameter that a Tensor of the graph doesn't have (`requires_grad`, `name`,
        `set_data`, `asnumpy`).

    Why
        In the graph a Parameter is a Tensor; what belongs to the Python object is refused ("the 'Parameter' object's
        method … is not supported").

    Example
        if self.weight.requires_grad:

    Instead
        if self.trains_weight:  # set in __init__

    Fix safety
        No fix; `set_data` becomes `ops.assign` safely where shape and dtype agree.
    """

    code = "GL702"
    name = "parameter-in-host"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`.{name}` of a Parameter can't be used in the graph", "图中不能使用 Parameter 的 `.{name}`"
    )
    help = Text(
        "read it in `__init__`; to write, use `ops.assign`", "在 `__init__` 中读取；写入请用 `ops.assign`"
    )

    def visit_Attribute(self, node: ast.Attribute, ctx: Context) -> Findings:
        base = ctx.value(node.value)
        if not (base.parameter and base.kind == v.TENSOR and isinstance(node.ctx, ast.Load)):
            return
        if node.attr.startswith("__"):
            return
        if node.attr in _IN_BOTH:
            measured = graph_calls(self.target.mindspore, self.target.level)
            if measured.get(f"Parameter.{node.attr}") == "error":
                yield self.at(node, confidence=confidence_of(base), name=node.attr)
            return
        graph = tables(self.target).tensor_attributes
        if node.attr not in graph and not node.attr.endswith("_"):
            yield self.at(node, confidence=confidence_of(base), name=node.attr)


class HostAttribute(Rule):
    """
    What
        An attribute or method of a Tensor that the graph has no form of (`stride`, `set_dtype`, `is_contiguous`), or
        one that no Tensor has.

    Why
        Lax asks the Python object at run time; strict refuses it ("cannot get attributes"). A name that isn't a
        Tensor's own, such as one set by hand, is lost in the graph.

    Example
        if x.is_contiguous():

    Instead
        x = x.contiguous()

    Fix safety
        No fix.
    """

    code = "GL703"
    name = "host-attribute"
    effects = (
        When(Effect.FALLBACK),
        When(Effect.COMPILE_ERROR, level="strict"),
        When(Effect.COMPILE_ERROR, case="missing"),
    )
    message = Text(
        "`.{name}` of a Tensor is left to the Python interpreter", "Tensor 的 `.{name}` 由 Python 解释器处理"
    )
    missing = Text("a Tensor of the graph has no `{name}`", "图中的 Tensor 没有 `{name}`")
    help = Text("use an operator, or read it outside the graph", "改用算子，或在图之外读取")
    _told_elsewhere = frozenset(
        "asnumpy numpy tolist item from_numpy device detach detach_ cpu cuda retain_grad is_leaf requires_grad grad "
        "is_cuda data".split()
    )
    """By GL501 and its neighbours, and by GL630."""

    def visit_Attribute(self, node: ast.Attribute, ctx: Context) -> Findings:
        base = ctx.value(node.value)
        if base.kind != v.TENSOR or base.parameter or not base.sure or not isinstance(node.ctx, ast.Load):
            return
        known = tables(self.target)
        name = node.attr
        if name.startswith("_") or name in known.tensor_attributes or name in self._told_elsewhere:
            return
        if name in known.tensor_fallback:
            yield self.at(node, name=name)
        elif not api(self.target.mindspore).has(f"mindspore.Tensor.{name}"):
            yield self.at(node, case="missing", message=self.missing, name=name)
