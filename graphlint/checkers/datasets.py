"""GL80x: datasets that feed the graph."""

from __future__ import annotations

import ast
import re
from typing import Iterator

from graphlint.checkers.base import Findings, ModuleContext, Rule, When, always
from graphlint.checkers.uses import bindings, class_made, constant, keyword, made_by, uses
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.project import FunctionInfo, Module

_DATASET = "mindspore.dataset."
_NAME = re.compile(r"(^|_)(ds|dataset|data|loader)\d*$", re.IGNORECASE)
_CORES = frozenset({"os.cpu_count", "multiprocessing.cpu_count", "psutil.cpu_count"})


class DatasetItem(Rule):
    """
    What
        A source of `GeneratorDataset` whose `__getitem__` returns a Python list or float, or a PIL image.

    Why
        Each is made an array of its own type: lists of floats and floats become float64, which float32
        weights refuse or which changes the graph's types; a PIL image becomes uint8, height by width by
        channel. Measured on 2.7.0 and 2.10.0.

    Example
        def __getitem__(self, i):
            return [0.5, 1.0], self.labels[i]

    Instead
        def __getitem__(self, i):
            return np.array([0.5, 1.0], np.float32), self.labels[i]

    Fix safety
        No fix.
    """

    code = "GL801"
    name = "dataset-item"
    effects = (When(Effect.PORTING), When(Effect.NONE, case="image"))
    message = Text(
        "a {kind} from `__getitem__` reaches the network as float64",
        "`__getitem__` 返回的 {kind} 会以 float64 进入网络",
    )
    image = Text(
        "a PIL image from `__getitem__` reaches the network as uint8, height × width × channel",
        "`__getitem__` 返回的 PIL 图像会以 uint8、高 × 宽 × 通道的形式进入网络",
    )
    help = Text("return a NumPy array of the type that the network takes", "请返回网络所需类型的 NumPy 数组")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name != _DATASET + "GeneratorDataset" or use.call is None:
                continue
            source = keyword(use.call, "source") or next(iter(use.call.args), None)
            cls = class_made(source, ctx.module) if source is not None else None
            method = cls.find("__getitem__") if cls is not None else None
            if method is None or method.module is not ctx.module:
                continue
            for item in _returned(method):
                kind = _kind(item, ctx.module)
                if kind == "image":
                    yield self.at(item, case="image", message=self.image)
                elif kind:
                    yield self.at(item, kind=kind)


def _returned(method: FunctionInfo) -> Iterator[ast.expr]:
    for node in ast.walk(method.node):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]


def _kind(item: ast.expr, module: Module) -> str:
    """`list`, `float` or `image`; empty for anything else."""
    if isinstance(item, ast.Name):
        values = bindings(item.id, item, module)
        if len(values) != 1:
            return ""
        item = values[0]
    if isinstance(item, ast.List):
        return "list" if any(isinstance(constant(element), float) for element in item.elts) else ""
    if isinstance(constant(item), float):
        return "float"
    made = made_by(item, module)
    return "image" if made in ("PIL.Image.open", "PIL.Image.new", "PIL.Image.fromarray") else ""


class DatasetWorkers(Rule):
    """
    What
        `num_parallel_workers` set to all cores.

    Why
        The workers then stand in the way of the process that feeds the device: one half to two thirds of
        the cores is a good start. A hint, not a measurement of this machine.

    Example
        ds = ds.map(augment, num_parallel_workers=os.cpu_count())

    Instead
        ds = ds.map(augment, num_parallel_workers=os.cpu_count() // 2)

    Fix safety
        No fix.
    """

    code = "GL802"
    name = "dataset-workers"
    effects = always(Effect.SLOW)
    message = Text("this takes every core for one step of the dataset", "数据处理的这一步会占用全部核")
    help = Text("take one half to two thirds of the cores", "请取核数的一半到三分之二")

    def check_module(self, ctx: ModuleContext) -> Findings:
        if "mindspore" not in uses(ctx).owners:
            return
        for node in ctx.module.nodes:
            if isinstance(node, ast.keyword) and node.arg == "num_parallel_workers":
                value = node.value
                if isinstance(value, ast.Call) and ctx.module.dotted(value.func) in _CORES:
                    yield self.at(value)


class DropRemainder(Rule):
    """
    What
        `batch` of a dataset without `drop_remainder`, in a module that compiles a graph.

    Why
        The last batch is smaller unless the batch size divides the number of samples (measured: batches of
        2, 2 and 1 from 5 samples), and a graph is compiled for each shape: one more compilation, at the end
        of the first epoch.

    Example
        ds = ds.batch(32)

    Instead
        ds = ds.batch(32, drop_remainder=True)

    Fix safety
        No fix.
    """

    code = "GL803"
    name = "drop-remainder"
    effects = always(Effect.RECOMPILES)
    message = Text(
        "the last batch may be smaller: the graph is then compiled once more",
        "最后一个批次可能较小，图会因此再编译一次",
    )
    help = Text(
        "write `drop_remainder=True` for training, `drop_remainder=False` where every sample counts",
        "训练时写 `drop_remainder=True`；每个样本都需要时写 `drop_remainder=False`",
    )
    compilers = ("mindspore.jit", "mindspore.GRAPH_MODE", "mindspore.context.GRAPH_MODE", "mindspore.Model",
                 "mindspore.train.Model", "mindspore.amp.build_train_network")  # fmt: skip

    def check_module(self, ctx: ModuleContext) -> Findings:
        found = uses(ctx)
        batches = found.methods.get("batch", ())
        if not batches or not any(use.name in self.compilers for use in found.names):
            return
        for call in batches:
            if len(call.args) > 1 or not (call.args or keyword(call, "batch_size")):
                continue
            if keyword(call, "drop_remainder") is None and _is_dataset(call, ctx.module):
                yield self.at(call)


def _is_dataset(call: ast.Call, module: Module) -> bool:
    """True where the method's object is a dataset of MindSpore's, or is called like one."""
    assert isinstance(call.func, ast.Attribute)
    receiver = call.func.value
    inner = receiver
    while isinstance(inner, ast.Call):
        if (module.dotted(inner.func) or "").startswith(_DATASET):
            return True
        inner = inner.func.value if isinstance(inner.func, ast.Attribute) else inner.func
    if isinstance(inner, ast.Name):
        values = bindings(inner.id, inner, module)
        made = [v for v in values if isinstance(v, ast.Call)]
        if any((module.dotted(v.func) or "").startswith(_DATASET) for v in made):
            return True
    return bool(_NAME.search(ast.unparse(inner).rpartition(".")[2]))


class PythonMap(Rule):
    """
    What
        `map` of a dataset over a Python function, with one worker.

    Why
        The function runs once a sample in one Python process unless `num_parallel_workers` (and, for work
        that holds the interpreter, `python_multiprocessing=True`) says otherwise; MindSpore's own
        transforms run in C++ threads.

    Example
        ds = ds.map(lambda x: (x - mean) / std, ["image"])

    Instead
        ds = ds.map(vision.Normalize(mean, std), ["image"])

    Fix safety
        No fix.
    """

    code = "GL804"
    name = "python-map"
    effects = always(Effect.SLOW)
    message = Text("a Python function runs here for each sample", "此处对每个样本运行一个 Python 函数")
    help = Text(
        "use MindSpore's own transforms, or give `num_parallel_workers` and `python_multiprocessing=True`",
        "请使用 MindSpore 自带的变换，或给出 `num_parallel_workers` 和 `python_multiprocessing=True`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        found = uses(ctx)
        if not any(use.name.startswith(_DATASET[:-1]) for use in found.names):
            return
        for call in found.methods.get("map", ()):
            given = keyword(call, "operations") or next(iter(call.args), None)
            if given is None or keyword(call, "num_parallel_workers") is not None:
                continue
            if keyword(call, "python_multiprocessing") is None and _is_dataset(call, ctx.module):
                operations = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
                if any(_is_python(operation, ctx.module) for operation in operations):
                    yield self.at(call)


def _is_python(operation: ast.expr, module: Module) -> bool:
    return isinstance(operation, ast.Lambda) or isinstance(module.resolve(operation), FunctionInfo)


class NextOfDataset(Rule):
    """
    What
        `next(dataset)`.

    Why
        A dataset is iterable, not an iterator: TypeError ("object is not an iterator"). A `for` loop over
        it works. Measured on 2.7.0 and 2.10.0.

    Example
        batch = next(dataset)

    Instead
        batch = next(dataset.create_tuple_iterator())

    Fix safety
        No fix.
    """

    code = "GL805"
    name = "next-of-dataset"
    effects = always(Effect.PORTING)
    message = Text(
        "a dataset is not an iterator: `next` raises TypeError", "数据集不是迭代器，`next` 会抛出 TypeError"
    )
    help = Text(
        "write `next({dataset}.create_tuple_iterator())`", "改写为 `next({dataset}.create_tuple_iterator())`"
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        if not any(use.name.startswith(_DATASET) for use in uses(ctx).names):
            return
        for node in ctx.module.nodes:
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "next" or not node.args:
                continue
            if made_by(node.args[0], ctx.module).startswith(_DATASET):
                yield self.at(node, dataset=ast.unparse(node.args[0]))
