"""GL81x: the training step, compilation and export around the graph."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, always
from graphlint.checkers.uses import (
    Use,
    class_made,
    class_of,
    constant,
    function_of,
    has_stars,
    keyword,
    loop_of,
    made_by,
    short,
    uses,
)  # fmt: skip
from graphlint.finding import Confidence, Effect
from graphlint.graph_code.facts import LeavesToPython, later, top
from graphlint.lang import Text
from graphlint.project import FunctionInfo, Module

GRADIENTS = frozenset(
    {"mindspore.value_and_grad", "mindspore.grad", "mindspore.ops.value_and_grad", "mindspore.ops.grad"}
)
_MODES = ("Dropout", "BatchNorm", "SyncBatchNorm", "DropPath", "Dropout2d")


class GradWithoutWeights(Rule):
    """
    What
        `value_and_grad` without weights whose gradients go to an optimizer, or with neither position nor
        weights.

    Why
        By default the gradient is that of the first argument, not of the weights: the optimizer refuses it.
        With None for both it is ValueError ("`grad_position` and `weight` can not be None at the same
        time"). Measured on 2.7.0 and 2.10.0.

    Example
        grad_fn = ms.value_and_grad(forward)
        loss, grads = grad_fn(x, y)
        optimizer(grads)

    Instead
        grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    Fix safety
        No fix.
    """

    code = "GL810"
    name = "grad-without-weights"
    effects = always(Effect.PORTING)
    message = Text(
        "this is the gradient of the first argument, not of the weights that the optimizer needs",
        "这是对第一个输入的梯度，而不是优化器所需的权重梯度",
    )
    nothing = Text(
        "with neither a position nor weights, this raises ValueError",
        "位置和权重都为 None，此处会抛出 ValueError",
    )
    help = Text(
        "give the weights: `{name}({fn}, None, optimizer.parameters)`",
        "请给出权重：`{name}({fn}, None, optimizer.parameters)`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            if use.name not in GRADIENTS or call is None or has_stars(call) or not call.args:
                continue
            position = keyword(call, "grad_position") or (call.args[1] if len(call.args) > 1 else None)
            weights = keyword(call, "weights") or (call.args[2] if len(call.args) > 2 else None)
            words: Dict[str, Any] = {"name": short(use.name), "fn": ast.unparse(call.args[0])[:40]}
            if weights is not None and constant(weights) is not None:
                continue
            if position is not None and constant(position) is None:
                yield self.at(call, message=self.nothing, **words)
            elif _feeds_optimizer(call, use, ctx.module):
                yield self.at(call, **words)


def _feeds_optimizer(call: ast.Call, use: Use, module: Module) -> bool:
    """True where what the gradient function returns is handed to an optimizer of the same function."""
    stmt = module.parents.get(call)
    if not (isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)):
        return False
    name, scope = stmt.targets[0].id, function_of(stmt, module) or module.tree
    grads = set()
    nodes = list(ast.walk(scope))
    for node in nodes:
        called = node.value if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and isinstance(called, ast.Call)
            and getattr(called.func, "id", "") == name
        ):
            target = node.targets[0]
            last = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else target
            grads.add(getattr(last, "id", ""))
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in grads
        ):
            text = ast.unparse(node.func).rpartition(".")[2].lower()
            if "opt" in text or _is_optimizer(node.func, module):
                return True
    return False


def _is_optimizer(func: ast.expr, module: Module) -> bool:
    return (
        made_by(func, module).startswith(("mindspore.nn.", "mindspore.mint.optim."))
        if isinstance(func, ast.Name)
        else False
    )


class GradInLoop(Rule):
    """
    What
        `grad` or `value_and_grad` made anew in every round of a loop.

    Why
        In graph mode each new gradient function is compiled anew: four rounds took 1.6, 1.4, 1.5 and 1.7 s,
        and 1.9, 0.02, 0.01 and 0.02 s with one made before the loop (2.10.0, CPU; the same on 2.7.0). In
        PyNative nothing is compiled, unless the function is under jit.

    Example
        for x, y in data:
            loss, grads = ms.value_and_grad(forward, None, weights)(x, y)

    Instead
        grad_fn = ms.value_and_grad(forward, None, weights)
        for x, y in data:
            loss, grads = grad_fn(x, y)

    Fix safety
        No fix.
    """

    code = "GL811"
    name = "grad-in-loop"
    effects = always(Effect.RECOMPILES)
    message = Text(
        "a new gradient function each round: in graph mode each is compiled anew",
        "每轮循环都新建梯度函数：图模式下每次都会重新编译",
    )
    help = Text("make it once, before the loop", "请在循环之前创建一次")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name not in GRADIENTS or use.call is None:
                continue
            if loop_of(use.call, ctx.module) is not None:
                yield self.at(use.call, when=(ctx.outside(use.call),))


class JitInLoop(Rule):
    """
    What
        `jit` applied in every round of a loop.

    Why
        Each application is compiled anew, also of the same function: four rounds took 0.46, 0.22, 0.22 and
        0.22 s, and 0.15, 0.03, 0.02 and 0.00 s with one made before the loop (2.10.0, CPU; the same on
        2.7.0).

    Example
        for x in data:
            y = ms.jit(step)(x)

    Instead
        fast = ms.jit(step)
        for x in data:
            y = fast(x)

    Fix safety
        No fix.
    """

    code = "GL812"
    name = "jit-in-loop"
    effects = always(Effect.RECOMPILES)
    message = Text(
        "each round compiles anew: `jit` is applied within the loop", "循环内使用 `jit`，每轮都会重新编译"
    )
    help = Text("apply it once, before the loop", "请在循环之前使用一次")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).names:
            if use.name not in ("mindspore.jit", "mindspore.ms_function") or isinstance(use.node, ast.stmt):
                continue
            node = use.call or use.node
            if (use.call is not None or _is_decorator(use.node, ctx.module)) and loop_of(
                node, ctx.module
            ) is not None:
                yield self.at(node)


def _is_decorator(node: ast.AST, module: Module) -> bool:
    return node in getattr(module.parents.get(node), "decorator_list", ())


class MissingHasAux(Rule):
    """
    What
        `value_and_grad` without `has_aux=True` of a function that returns several values.

    Why
        The gradient is then that of the sum of all that is returned, the logits included. Measured on 2.7.0
        and 2.10.0: the gradients of `return loss, logits` with and without `has_aux=True` differ, and no
        error is raised.

    Example
        def forward(x, y):
            logits = net(x)
            return loss_fn(logits, y), logits
        grad_fn = ms.value_and_grad(forward, None, weights)

    Instead
        grad_fn = ms.value_and_grad(forward, None, weights, has_aux=True)

    Fix safety
        No fix.
    """

    code = "GL813"
    name = "missing-has-aux"
    effects = always(Effect.PORTING)
    message = Text(
        "`{fn}` returns {count} values: without `has_aux=True` the gradient is that of their sum",
        "`{fn}` 返回 {count} 个值：不写 `has_aux=True` 时求的是它们之和的梯度",
    )
    help = Text(
        "write `has_aux=True` where only the first is the loss", "只有第一个是损失时，请写 `has_aux=True`"
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            if use.name not in GRADIENTS or call is None or has_stars(call) or not call.args:
                continue
            if len(call.args) > 3 or keyword(call, "has_aux") is not None:
                continue
            counts = _returns(call.args[0], ctx.module)
            if counts and min(counts) > 1:
                yield self.at(call, fn=ast.unparse(call.args[0])[:40], count=str(counts[0]))


def _returns(expr: ast.expr, module: Module) -> List[int]:
    """How many values each `return` of the function gives; empty where the function isn't to be seen."""
    function: Optional[ast.AST] = None
    symbol = module.resolve(expr)
    if isinstance(symbol, FunctionInfo):
        function = symbol.node
    elif isinstance(expr, ast.Name):
        around = function_of(expr, module)
        while around is not None and function is None:
            inner = (n for n in ast.walk(around) if isinstance(n, ast.FunctionDef) and n.name == expr.id)
            function = next(inner, None)
            above = module.parents.get(around)
            around = function_of(above, module) if above is not None else None
    if function is None or isinstance(function, ast.Lambda):
        return []
    return [
        len(node.value.elts) if isinstance(node.value, ast.Tuple) else 1
        for node in _own(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions within it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own(child)


class SetTrainNever(Rule):
    """
    What
        A training step by `value_and_grad` in a project with Dropout or BatchNorm that never calls
        `set_train`.

    Why
        A new Cell is in evaluation mode (`training` is False, measured on 2.0.0, 2.7.0 and 2.10.0),
        PyTorch's modules in training mode: Dropout does nothing and BatchNorm's statistics never move.
        `Model.train` calls it itself.

    Example
        grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    Instead
        net.set_train()
        grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    Fix safety
        No fix.
    """

    code = "GL814"
    name = "set-train-never"
    effects = always(Effect.PORTING)
    message = Text(
        "nothing calls `set_train`: Dropout and BatchNorm stay in evaluation mode while training",
        "没有任何地方调用 `set_train`：训练时 Dropout 与 BatchNorm 仍处于推理模式",
    )
    help = Text("call `net.set_train()` before training", "请在训练前调用 `net.set_train()`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if (
                use.name not in GRADIENTS
                or use.call is None
                or len(use.call.args) + len(use.call.keywords) < 3
            ):
                continue
            project = ctx.module.project
            modes = rb"\b(" + b"|".join(mode.encode() for mode in _MODES) + rb")\w*\("
            if project.mentions(rb"\bset_train\b|\bmodel\.train\(|\bModel\(") or not project.mentions(modes):
                return
            yield self.at(use.call, confidence=Confidence.MEDIUM)


class ConstructCalled(Rule):
    """
    What
        `net.construct(x)` called from outside the graph.

    Why
        It runs in Python as it stands: nothing is compiled in graph mode, and hooks, mixed precision and
        `set_inputs` are passed by. Within graph code and through `super()` it is right.

    Example
        out = net.construct(x)

    Instead
        out = net(x)

    Fix safety
        No fix.
    """

    code = "GL815"
    name = "construct-called"
    effects = always(Effect.PORTING)
    message = Text(
        "`construct` called directly isn't compiled, and passes hooks and mixed precision by",
        "直接调用 `construct` 不会被编译，也会绕过钩子和混合精度",
    )
    help = Text("call the Cell itself: `{cell}(…)`", "请直接调用该 Cell：`{cell}(…)`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call in uses(ctx).methods.get("construct", ()):
            receiver = call.func.value  # type: ignore[attr-defined]
            if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
                continue
            cell = class_made(receiver, ctx.module)
            if cell is not None and cell.looks_like_cell:
                yield self.at(call, when=(ctx.outside(call),), cell=ast.unparse(receiver))


class SetInputsArity(Rule):
    """
    What
        `set_inputs` with more or fewer arguments than `construct` takes.

    Why
        The graph is refused: TypeError ("For 'Cell', the function construct requires 1 positional argument
        … but got 2"); PyNative doesn't look. Measured on 2.7.0 and 2.10.0.

    Example
        net.set_inputs(dynamic, dynamic)  # def construct(self, x)

    Instead
        net.set_inputs(dynamic)

    Fix safety
        No fix.
    """

    code = "GL816"
    name = "set-inputs-arity"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`set_inputs` is given {given} inputs, but `{cls}.construct` takes {wanted}: the graph is refused",
        "`set_inputs` 给出了 {given} 个输入，而 `{cls}.construct` 需要 {wanted} 个：图会被拒绝",
    )
    help = Text("give one input for each parameter of `construct`", "`construct` 的每个参数对应一个输入")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call in uses(ctx).methods.get("set_inputs", ()):
            receiver = call.func.value  # type: ignore[attr-defined]
            own = getattr(receiver, "id", "") == "self"
            cls = class_of(call, ctx.module) if own else class_made(receiver, ctx.module)
            method = cls.find("construct") if cls is not None else None
            if cls is None or method is None or has_stars(call) or call.keywords:
                continue
            least, most = _arity(method)
            if most is not None and not least <= len(call.args) <= most:
                wanted = str(least) if least == most else f"{least}-{most}"
                yield self.at(call, cls=cls.name, given=str(len(call.args)), wanted=wanted)


def _arity(method: FunctionInfo) -> Tuple[int, Optional[int]]:
    """(how many inputs construct needs, how many it takes; None for any)."""
    args = method.node.args
    most = len(args.posonlyargs) + len(args.args) - 1
    return most - len(args.defaults), None if args.vararg or args.kwonlyargs else most


class ExportFallback(Rule):
    """
    What
        `export` of a Cell whose graph code holds `asnumpy()`, `numpy()` or `tolist()` of a Tensor.

    Why
        Export compiles strictly: what lax leaves to the Python interpreter is refused ("In JIT strict mode,
        cannot get attributes asnumpy"). Measured on 2.7.0 and 2.10.0.

    Example
        ms.export(net, x, file_name="net", file_format="MINDIR")

    Instead
        y = ops.relu(x)  # in construct, instead of a round trip through NumPy

    Fix safety
        No fix.
    """

    code = "GL817"
    name = "export-fallback"
    effects = always(Effect.FALLBACK)
    message = Text(
        "`{cls}` can't be exported: line {line} of its graph code leaves `{text}` to the Python interpreter",
        "`{cls}` 无法导出：其图代码第 {line} 行的 `{text}` 交给了 Python 解释器",
    )
    help = Text("write it with MindSpore's operators", "请改用 MindSpore 的算子")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            if use.name.rpartition(".")[2] != "export" or call is None or not call.args:
                continue
            cls = class_made(call.args[0], ctx.module)
            if cls is not None:
                graph = top(cls.module.path, f"{cls.qualname}.construct")
                yield self.at(
                    call, when=(LeavesToPython(graph),), cls=cls.name, line=later("line"), text=later("text")
                )
