"""GL70x: MindSpore's own functions that graph code may not call, or not in this way."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, always
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.lang import Text

FORBIDDEN_MODULES = ("mindspore.context.", "mindspore.log.", "mindspore.common.initializer.")
FORBIDDEN = frozenset(
    "mindspore.set_context mindspore.get_context mindspore.save_checkpoint mindspore.load_checkpoint "
    "mindspore.set_seed mindspore.get_seed mindspore.export mindspore.load mindspore.set_auto_parallel_context "
    "mindspore.get_auto_parallel_context mindspore.reset_auto_parallel_context mindspore.load_param_into_net "
    "mindspore.dtype_to_nptype mindspore.set_device".split()
)
CELL_METHODS = frozenset(
    "trainable_params untrainable_params get_parameters parameters_dict state_dict buffers register_buffer "
    "cells_and_names parameters_and_names name_cells cells insert_child_to_cell insert_param_to_cell "
    "init_parameters_data update_cell_prefix recompute set_inputs register_forward_hook register_forward_pre_hook "
    "register_backward_hook register_backward_pre_hook parameters_broadcast_dict load_state_dict children modules "
    "named_parameters parameters named_modules named_children".split()
)
PARAMETER_METHODS = frozenset("set_data init_data clone asnumpy assign_value set_dtype".split())


class ForbiddenInGraph(Rule):
    """
    What
        A function or method of MindSpore that the compiler forbids inside a graph.

    Why
        It keeps a list of them ("Failed to compile in GRAPH_MODE because the method or function … is not supported
        in 'construct' or function with @jit decorator").

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
    message = Text("`{name}` can't be called in the graph: the compiler forbids it", "编译器禁止在图中调用 `{name}`")
    help = Text("{how}", "{how_zh}")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee in FORBIDDEN or callee.startswith(FORBIDDEN_MODULES) and not callee.endswith("Initializer"):
            yield self._found(node)
            return
        if not isinstance(node.func, ast.Attribute):
            return
        receiver = ctx.value(node.func.value)
        method = node.func.attr
        if receiver.kind == v.CELL and method in CELL_METHODS and ctx.value(node.func).kind == v.BOUND:
            yield self._found(node)
        elif receiver.kind == v.TENSOR and receiver.parameter and method in PARAMETER_METHODS:
            yield self._found(node)

    def _found(self, node: Any) -> Any:
        assign = isinstance(node.func, ast.Attribute) and node.func.attr in ("set_data", "assign_value")
        how = "use `ops.assign(p, x)`" if assign else "call it before, outside the graph"
        how_zh = "改用 `ops.assign(p, x)`" if assign else "在图之外提前调用"
        return self.at(node, name=ast.unparse(node.func)[:50], how=how, how_zh=how_zh)
