"""GL61x: arguments of layers, losses and optimizers that PyTorch calls, orders or defaults another way."""

from __future__ import annotations

import ast
import re
from typing import ClassVar, Dict, Iterator, List, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, When, always
from graphlint.checkers.heritage import heritage
from graphlint.checkers.uses import Use, bindings, constant, function_of, has_stars, keyword, uses
from graphlint.finding import Confidence, Effect
from graphlint.knowledge import ApiEntry, api
from graphlint.lang import Text
from graphlint.target import Target, version_key

_DROP = re.compile(r"(^|_)(drop|p$|prob$|rate$)", re.IGNORECASE)
_KEEP = re.compile(r"keep", re.IGNORECASE)
_RENAMED = {
    "dim": ("axis",), "keepdim": ("keepdims", "keep_dims"), "eps": ("epsilon",), "bias": ("has_bias",),
    "groups": ("group",), "lr": ("learning_rate",), "negative_slope": ("alpha",), "inplace": (),
}  # fmt: skip
"""PyTorch's keywords and their names in MindSpore; a function is only told of one that it really has."""


class TorchKeyword(Rule):
    """
    What
        A keyword argument that PyTorch's layer or function takes and MindSpore's doesn't: `bias=`,
        `groups=`, `inplace=`, `dim=`, `keepdim=`, `eps=`, `lr=`, `betas=`, `num_embeddings=`.

    Why
        The constructor raises TypeError ("got an unexpected keyword argument"), `nn.Adam` KeyError
        (measured on 2.7.0 and 2.10.0). Which names a function takes is looked up for the target version.

    Example
        self.conv = nn.Conv2d(3, 16, 3, bias=False)

    Instead
        self.conv = nn.Conv2d(3, 16, 3, has_bias=False)

    Fix safety
        No fix.
    """

    code = "GL610"
    name = "torch-keyword"
    effects = always(Effect.PORTING)
    message = Text(
        "`{layer}` has no parameter `{given}`: this raises an error",
        "`{layer}` 没有参数 `{given}`，此处会报错",
    )
    renamed = Text("MindSpore calls it `{here}`", "MindSpore 中的参数名为 `{here}`")
    dropped = Text("leave it out: MindSpore has nothing like it", "删去即可：MindSpore 没有对应的参数")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            for given in call.keywords if call is not None else ():
                here = given.arg and torch_keyword(self.target, use.name, given.arg)
                if here is None or not given.arg:
                    continue
                help = self.renamed if here else self.dropped
                yield self.at(given.value, help=help, layer=use.short, given=given.arg, here=here)


def torch_keyword(target: Target, name: str, given: str) -> Optional[str]:
    """What PyTorch's keyword is called in MindSpore, empty where it has no equal; None where all is well."""
    from graphlint.knowledge.torch_names import by_mindspore

    row = by_mindspore().get(name)
    if given not in _RENAMED and (row is None or given not in row.keywords):
        return None
    entry = api(target.mindspore).get(name)
    if entry is None or not entry.signatures or entry.param(given) is not None or given in entry.keywords:
        return None
    if row is not None and given in row.keywords:
        return row.keywords[given]
    here = next((n for n in _RENAMED[given] if entry.param(n) is not None or n in entry.keywords), None)
    return here if here is not None else "" if given == "inplace" and entry.closed else None


class TorchDefault(Rule):
    """
    What
        A layer, loss, optimizer or function whose default isn't PyTorch's, called without that argument in
        a module that was ported from PyTorch.

    Why
        It runs and computes something else: `nn.GELU` approximates, `nn.LeakyReLU` has slope 0.2 instead of
        0.01, `nn.SmoothL1Loss` reduces nothing, `ops.std` divides by n, `ops.flatten` starts at dimension
        1, the table of `nn.Embedding` starts a hundred times smaller. Each default was read and each result
        measured on 2.0.0, 2.7.0 and 2.10.0, and on torch 2.13.0. Nothing is said of code that shows no sign
        of PyTorch.

    Example
        self.act = nn.GELU()  # converted from PyTorch

    Instead
        self.act = nn.GELU(approximate=False)

    Fix safety
        No fix.
    """

    code = "GL611"
    name = "torch-default"
    effects = always(Effect.PORTING)
    message = Text(
        "`{layer}` differs from PyTorch by default: {what}", "`{layer}` 的默认行为与 PyTorch 不同：{what_zh}"
    )
    help = Text(
        "write `{parameter}={torch}` for PyTorch's result", "要得到 PyTorch 的结果，写 `{parameter}={torch}`"
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        from graphlint.knowledge.torch_names import by_mindspore

        for use in uses(ctx).calls():
            row = by_mindspore().get(use.name)
            if row is None or not row.differs or use.call is None or has_stars(use.call):
                continue
            if heritage(ctx) is None:
                return
            entry = api(self.target.mindspore).get(use.name)
            for differs in row.differs:
                if differs.before is not None and self.target.key >= version_key(differs.before):
                    continue
                if entry is None or self._given(use.call, entry, differs.parameter):
                    continue
                parameter = entry.param(differs.parameter)
                if parameter is None or parameter.default == differs.torch:
                    continue
                yield self.at(
                    use.call,
                    layer=use.short,
                    what=differs.text.en,
                    what_zh=differs.text.zh,
                    parameter=differs.parameter,
                    torch=differs.torch,
                )
                break

    @staticmethod
    def _given(call: ast.Call, entry: ApiEntry, parameter: str) -> bool:
        names = [p.name for p in entry.params if p.kind.startswith("positional")]
        return parameter in names[: len(call.args)] or keyword(call, parameter) is not None


class DropoutKeepProb(Rule):
    """
    What
        `nn.Dropout` with its probability by position.

    Why
        MindSpore's first parameter is keep_prob, PyTorch's is p. Measured on 2.7.0 and 2.10.0:
        `nn.Dropout(0.1)` zeroes 91 % of the elements when training. Said of a constant below 0.5, of a name
        that says drop, and of any other value but 0.5 in a module ported from PyTorch.

    Example
        self.drop = nn.Dropout(0.1)

    Instead
        self.drop = nn.Dropout(p=0.1)

    Fix safety
        No fix.
    """

    code = "GL612"
    name = "dropout-keep-prob"
    effects = always(Effect.PORTING)
    message = Text(
        "the first argument of `nn.Dropout` is the probability to keep: `{given}` drops the rest",
        "`nn.Dropout` 的第一个参数是保留概率：`{given}` 会丢弃其余部分",
    )
    help = Text("write `nn.Dropout(p={given})`", "改写为 `nn.Dropout(p={given})`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name != "mindspore.nn.Dropout" or use.call is None or len(use.call.args) != 1:
                continue
            given = use.call.args[0]
            if isinstance(given, ast.Starred) or keyword(use.call, "p") is not None:
                continue
            value = constant(given)
            if isinstance(value, (int, float)):
                wrong = value < 0.5 or (value > 0.5 and heritage(ctx) is not None)
            else:
                text = ast.unparse(given)
                wrong = not _KEEP.search(text) and bool(_DROP.search(text) or heritage(ctx))
            if wrong:
                yield self.at(use.call, given=ast.unparse(given))


class NormMomentum(Rule):
    """
    What
        `nn.BatchNorm1d/2d/3d` or `nn.SyncBatchNorm` with a momentum of 0.5 or less.

    Why
        MindSpore's momentum is the weight of the old statistic, PyTorch's that of the new one: 0.9 here is
        0.1 there. Measured on 2.7.0 and 2.10.0: after one step on a constant 10, `momentum=0.1` gives a
        moving mean of 9, the default and PyTorch's 0.1 give 1. `nn.InstanceNorm`, `ops.batch_norm` and
        mindspore.mint follow PyTorch.

    Example
        self.bn = nn.BatchNorm2d(64, momentum=0.1)

    Instead
        self.bn = nn.BatchNorm2d(64, momentum=0.9)

    Fix safety
        No fix.
    """

    code = "GL613"
    name = "norm-momentum"
    effects = always(Effect.PORTING)
    message = Text(
        "`momentum={given}` keeps only {percent} % of the old statistic: it is 1 minus PyTorch's momentum",
        "`momentum={given}` 只保留旧统计量的 {percent}%：它等于 1 减去 PyTorch 的 momentum",
    )
    help = Text("write `momentum={instead}`", "改写为 `momentum={instead}`")
    layers = frozenset(
        f"mindspore.nn.{n}" for n in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name not in self.layers or use.call is None:
                continue
            given = keyword(use.call, "momentum") or (use.call.args[2] if len(use.call.args) > 2 else None)
            value = constant(given)
            if given is not None and isinstance(value, float) and value <= 0.5:
                percent, instead = f"{100 * value:g}", f"{1 - value:g}"
                yield self.at(given, given=ast.unparse(given), percent=percent, instead=instead)


class LayerNormShape(Rule):
    """
    What
        `nn.LayerNorm` with an int for the shape, or a float for its second argument.

    Why
        normalized_shape must be a tuple or a list: an int is TypeError at construction. The second argument
        is begin_norm_axis, not eps: a float there is TypeError at the first call. Measured on 2.7.0 and
        2.10.0.

    Example
        self.norm = nn.LayerNorm(768)

    Instead
        self.norm = nn.LayerNorm((768,))

    Fix safety
        No fix.
    """

    code = "GL614"
    name = "layer-norm-shape"
    effects = always(Effect.PORTING)
    message = Text(
        "normalized_shape of `nn.LayerNorm` must be a tuple or a list: an int raises TypeError",
        "`nn.LayerNorm` 的 normalized_shape 须为元组或列表，整数会抛出 TypeError",
    )
    help = Text("write `({given},)`", "改写为 `({given},)`")
    second = Text(
        "the second argument of `nn.LayerNorm` is begin_norm_axis, not eps: a float raises TypeError",
        "`nn.LayerNorm` 的第二个参数是 begin_norm_axis 而不是 eps，浮点数会在首次调用时抛出 TypeError",
    )
    second_help = Text("write `epsilon={given}`", "改写为 `epsilon={given}`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name != "mindspore.nn.LayerNorm" or use.call is None:
                continue
            shape = keyword(use.call, "normalized_shape") or next(iter(use.call.args), None)
            if shape is not None and self._is_int(shape, ctx):
                yield self.at(shape, given=ast.unparse(shape))
            second = use.call.args[1] if len(use.call.args) > 1 else None
            if second is not None and isinstance(constant(second), float):
                yield self.at(second, message=self.second, help=self.second_help, given=ast.unparse(second))

    @staticmethod
    def _is_int(shape: ast.expr, ctx: ModuleContext) -> bool:
        """True for an int, and for a parameter that is annotated or preset as one."""
        if type(constant(shape)) is int:
            return True
        if not isinstance(shape, ast.Name) or bindings(shape.id, shape, ctx.module):
            return False
        function = function_of(shape, ctx.module)
        for arg, default in _parameters(function) if function is not None else ():
            if arg.arg == shape.id:
                annotation = getattr(arg.annotation, "id", "")
                return annotation == "int" or (not annotation and type(constant(default)) is int)
        return False


def _parameters(function: ast.AST) -> Iterator[Tuple[ast.arg, Optional[ast.expr]]]:
    args: ast.arguments = function.args  # type: ignore[attr-defined]
    positional = [*args.posonlyargs, *args.args]
    missing: List[Optional[ast.expr]] = [None] * (len(positional) - len(args.defaults))
    yield from zip(positional, [*missing, *args.defaults])
    yield from zip(args.kwonlyargs, args.kw_defaults)


class TorchPosition(Rule):
    """
    What
        An argument at a place where PyTorch's parameter has another meaning: `nn.Dense(3, 4, False)`,
        `nn.Embedding(10, 3, 0)`, `nn.ReLU(True)`, `nn.Adam(params, 1e-3, (0.9, 0.99))`, `ops.zeros(2, 3)`.

    Why
        Measured on 2.7.0 and 2.10.0: the third argument of `nn.Dense` is weight_init, and False there keeps
        the bias without a word; the third of `nn.Embedding` is use_one_hot, that of `nn.Adam` is beta1
        (TypeError); `nn.ReLU` takes none (TypeError); the second of `ops.zeros` and `ops.ones` is dtype
        (TypeError).

    Example
        self.fc = nn.Dense(512, 10, False)

    Instead
        self.fc = nn.Dense(512, 10, has_bias=False)

    Fix safety
        No fix.
    """

    code = "GL615"
    name = "torch-position"
    effects = always(Effect.PORTING)
    message = Text(
        "argument {place} of `{layer}` is `{here}`, not PyTorch's `{torch}`",
        "`{layer}` 的第 {place} 个位置参数是 `{here}`，而不是 PyTorch 的 `{torch}`",
    )
    help = Text("give it by name: `{instead}`", "请按名称给出：`{instead}`")
    too_many = Text(
        "`{layer}` takes {here} positional arguments: PyTorch's `{torch}` raises TypeError",
        "`{layer}` 只接受 {here} 个位置参数：PyTorch 的 `{torch}` 会抛出 TypeError",
    )
    drop = Text("leave it out", "删去即可")
    shapes = Text(
        "the second argument of `{layer}` is `dtype`: this raises TypeError",
        "`{layer}` 的第二个参数是 `dtype`，此处会抛出 TypeError",
    )
    shape_help = Text("give the shape as one tuple: `({instead})`", "形状写成一个元组：`({instead})`")
    places: ClassVar[Dict[str, Tuple[int, Tuple[type, ...], str, str, str]]] = {
        "mindspore.nn.Dense": (2, (bool,), "weight_init", "bias", "has_bias"),
        "mindspore.nn.Embedding": (2, (int,), "use_one_hot", "padding_idx", "padding_idx"),
        "mindspore.nn.Adam": (2, (tuple,), "beta1", "betas", ""),
        "mindspore.nn.AdamWeightDecay": (2, (tuple,), "beta1", "betas", ""),
        "mindspore.nn.BCEWithLogitsLoss": (0, (tuple,), "reduction", "weight", "weight"),
    }
    without_inplace: ClassVar[Dict[str, int]] = {
        "ReLU": 0,
        "ReLU6": 0,
        "SiLU": 0,
        "HSwish": 0,
        "HSigmoid": 0,
        "ELU": 1,
        "LeakyReLU": 1,
    }

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            if call is None or has_stars(call) or not call.args:
                continue
            if use.name in self.places:
                yield from self._place(use, call)
            elif use.name in ("mindspore.ops.zeros", "mindspore.ops.ones"):
                if len(call.args) > 1 and all(type(constant(a)) is int for a in call.args):
                    shape = ", ".join(ast.unparse(a) for a in call.args)
                    yield self.at(
                        call, message=self.shapes, help=self.shape_help, layer=use.short, instead=shape
                    )
            else:
                count = self.without_inplace.get(use.name[len("mindspore.nn.") :], -1)
                over = (
                    call.args[count]
                    if use.name.startswith("mindspore.nn.") and 0 <= count < len(call.args)
                    else None
                )
                if over is not None and isinstance(constant(over), bool):
                    yield self.at(
                        over,
                        message=self.too_many,
                        help=self.drop,
                        layer=use.short,
                        here=str(count),
                        torch="inplace",
                    )

    def _place(self, use: Use, call: ast.Call) -> Findings:
        place, kinds, here, torch, name = self.places[use.name]
        given = call.args[place] if len(call.args) > place else None
        is_tuple = isinstance(given, ast.Tuple)
        if given is None or not (type(constant(given)) in kinds or (tuple in kinds and is_tuple)):
            return
        text = ast.unparse(given)
        pair = ", ".join(f"beta{i}={ast.unparse(e)}" for i, e in enumerate(getattr(given, "elts", ()), 1))
        instead = f"{name}={text}" if name else pair
        yield self.at(given, layer=use.short, place=str(place + 1), here=here, torch=torch, instead=instead)


class WholeScaleFactor(Rule):
    """
    What
        `scale_factor` of `nn.Upsample` or `ops.interpolate` as an int.

    Why
        It must be a float: TypeError at the first call ("the 'scale_factor' must be float, but got 'int'"),
        measured on 2.7.0 and 2.10.0. With mode "nearest" on a 4-D Tensor a scale factor also needs
        `recompute_scale_factor=True` (ValueError).

    Example
        self.up = nn.Upsample(scale_factor=2)

    Instead
        self.up = nn.Upsample(scale_factor=2.0, recompute_scale_factor=True)

    Fix safety
        No fix.
    """

    code = "GL616"
    name = "whole-scale-factor"
    effects = always(Effect.PORTING)
    message = Text(
        "`scale_factor` of `{layer}` must be a float: an int raises TypeError at the first call",
        "`{layer}` 的 `scale_factor` 须为浮点数，整数会在首次调用时抛出 TypeError",
    )
    help = Text("write `scale_factor={given}.0`", "改写为 `scale_factor={given}.0`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name in ("mindspore.nn.Upsample", "mindspore.ops.interpolate") and use.call is not None:
                given = keyword(use.call, "scale_factor")
                if given is not None and type(constant(given)) is int:
                    yield self.at(given, layer=use.short, given=ast.unparse(given))


class SoftmaxCrossEntropy(Rule):
    """
    What
        `nn.SoftmaxCrossEntropyWithLogits` without `reduction`, used in place of PyTorch's
        `nn.CrossEntropyLoss`.

    Why
        Unless told, it expects one-hot labels (integer labels are TypeError) and reduces nothing: the loss
        is a vector, and its gradient that of the sum. Measured on 2.7.0 and 2.10.0. A warning where the
        module shows signs of PyTorch, else a note.

    Example
        loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True)

    Instead
        loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    Fix safety
        No fix.
    """

    code = "GL617"
    name = "softmax-cross-entropy"
    effects = (When(Effect.NONE), When(Effect.PORTING, case="torch"))
    message = Text(
        "`nn.SoftmaxCrossEntropyWithLogits` without `reduction` gives a vector of losses",
        "`nn.SoftmaxCrossEntropyWithLogits` 不给 `reduction` 时不做归约，损失是向量",
    )
    onehot = Text(
        "`nn.SoftmaxCrossEntropyWithLogits()` expects one-hot labels and reduces nothing",
        "`nn.SoftmaxCrossEntropyWithLogits()` 默认要求 one-hot 标签，且不做归约",
    )
    help = Text(
        'write `sparse=True, reduction="mean"`, or use `nn.CrossEntropyLoss`',
        '写 `sparse=True, reduction="mean"`，或改用 `nn.CrossEntropyLoss`',
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            call = use.call
            if use.name != "mindspore.nn.SoftmaxCrossEntropyWithLogits" or call is None or has_stars(call):
                continue
            if len(call.args) > 1 or keyword(call, "reduction") is not None:
                continue
            sparse = call.args or keyword(call, "sparse") is not None
            case = "torch" if heritage(ctx) is not None else ""
            message = self.message if sparse else self.onehot
            yield self.at(call, case=case, message=message, confidence=Confidence.MEDIUM)
