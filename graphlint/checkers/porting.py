"""GL60x: convolutions and pooling that mean something else than in PyTorch."""

from __future__ import annotations

import ast
import re
from typing import Dict, Iterator, List, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, When, always
from graphlint.checkers.heritage import Why, heritage
from graphlint.checkers.uses import constant, has_stars, keyword, uses
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.project import Module
from graphlint.tree import walk

_POOLING = ("kernel_size", "stride", "pad_mode", "padding")
_MAX = ("dilation", "return_indices", "ceil_mode")
LAYERS: Dict[str, Tuple[str, ...]] = {
    **{
        f"mindspore.nn.Conv{n}d{kind}": (
            "in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding",
            *(("output_padding",) if kind and n == 2 else ()), "dilation", "group",
            *(("output_padding",) if kind and n == 3 else ()), "has_bias",
        )
        for n in (1, 2, 3)
        for kind in ("", "Transpose")
    },
    **{f"mindspore.nn.MaxPool{n}d": (*_POOLING, *_MAX) for n in (1, 2, 3)},
    **{f"mindspore.nn.AvgPool{n}d": (*_POOLING, "ceil_mode", "count_include_pad") for n in (1, 2, 3)},
}  # fmt: skip
"""Convolutions and pooling of mindspore.nn with the order of their parameters, from 2.0.0 to 2.10.0."""

_NORMS = re.compile(r"([Nn]orm|^BN$|^LN$|^GN$)")
_NORM_ATTRIBUTE = re.compile(r"(^|_)(bn|norm|ln|gn|in)\d*($|_)|norm", re.IGNORECASE)
_PADDING = Text("padding is given as PyTorch does", "像 PyTorch 那样给出了 padding")


class MissingHasBias(Rule):
    """
    What
        `nn.Conv1d`, `nn.Conv2d`, `nn.Conv3d` or one of their transposes without `has_bias`.

    Why
        MindSpore's default is no bias, PyTorch's is one: a ported layer silently loses it. Measured on
        2.0.0, 2.7.0 and 2.10.0: the built layer's `bias` is None unless `has_bias=True` is given; torch
        2.13.0 gives a `bias` to the same call. `nn.Dense` and the layers of mindspore.mint.nn have one by
        default. Nothing is said where a normalization follows, which makes a bias redundant.

    Example
        self.head = nn.Conv2d(64, 10, 1)

    Instead
        self.head = nn.Conv2d(64, 10, 1, has_bias=True)

    Fix safety
        Unsafe: adds a Parameter, so that existing MindSpore checkpoints lack it.
    """

    code = "GL601"
    name = "missing-has-bias"
    effects = (When(Effect.NONE), When(Effect.PORTING, case="torch"))
    message = Text(
        "`{layer}` has no bias unless `has_bias=True` is given, and no normalization follows",
        "`{layer}` 默认没有偏置（需显式 `has_bias=True`），其后也没有归一化层",
    )
    torch = Text(
        "`{layer}` has no bias here; PyTorch's has one by default ({why})",
        "此处的 `{layer}` 没有偏置，而 PyTorch 默认有（{why_zh}）",
    )
    help = Text(
        "say `has_bias=True`, or `has_bias=False` where none is meant",
        "需要偏置时写 `has_bias=True`，不需要时写 `has_bias=False`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in layers(ctx, "Conv"):
            if given(call, layer, "has_bias") or keyword(call, "bias") is not None or _hidden(call, ctx):
                continue
            if normalized(call, ctx.module):
                continue
            why = heritage(ctx) or (Why(_PADDING) if given(call, layer, "padding") else None)
            if why is not None:
                yield self.at(
                    call, case="torch", message=self.torch, layer=_short(layer), why=why.en, why_zh=why.zh
                )
            else:
                yield self.at(call, layer=_short(layer))


class PaddingWithoutMode(Rule):
    """
    What
        `padding` of a convolution or a pooling layer without `pad_mode="pad"`; for max pooling also
        `ceil_mode`, `dilation` and `return_indices`.

    Why
        The default is `pad_mode="same"` for convolutions and `"valid"` for pooling, and neither takes
        padding: the constructor raises ValueError (measured on 2.0.0, 2.7.0 and 2.10.0, all classes). What
        stands where PyTorch has padding (the fifth argument of a convolution, the third of a pooling layer)
        is `pad_mode`: TypeError.

    Example
        nn.Conv2d(3, 16, 3, padding=1)

    Instead
        nn.Conv2d(3, 16, 3, pad_mode="pad", padding=1)

    Fix safety
        Unsafe: the call fails as it stands, and this is what it means in PyTorch.
    """

    code = "GL602"
    name = "padding-without-pad-mode"
    effects = always(Effect.PORTING)
    message = Text(
        '`{parameter}` needs `pad_mode="pad"`: `{layer}` raises ValueError here',
        '给出 `{parameter}` 时必须同时写 `pad_mode="pad"`，否则 `{layer}` 会抛出 ValueError',
    )
    positional = Text(
        "argument {place} of `{layer}` is `pad_mode`, not padding: this raises TypeError",
        "`{layer}` 的第 {place} 个位置参数是 `pad_mode` 而不是 padding，此处会抛出 TypeError",
    )
    help = Text(
        'add `pad_mode="pad"` and give `padding` by its name',
        '加上 `pad_mode="pad"`，并用关键字给出 `padding`',
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in layers(ctx, "Conv", "MaxPool", "AvgPool"):
            place = LAYERS[layer].index("pad_mode")
            if len(call.args) > place and _is_padding(call.args[place]):
                yield self.at(call, message=self.positional, layer=_short(layer), place=str(place + 1))
                continue
            if given(call, layer, "pad_mode") or _hidden(call, ctx):
                continue
            names = (
                ("padding", "ceil_mode", "dilation", "return_indices") if "MaxPool" in layer else ("padding",)
            )
            for name in names:
                value = argument(call, layer, name)
                if value is not None and not _is_default(name, value):
                    yield self.at(call, layer=_short(layer), parameter=name)
                    break


class PaddingPair(Rule):
    """
    What
        `padding` of a convolution as a tuple of one number a dimension: `padding=(1, 2)` of `nn.Conv2d`.

    Why
        PyTorch takes one number a dimension; MindSpore wants both sides of each: four numbers for
        `nn.Conv2d`, six for `nn.Conv3d`, and only an int for `nn.Conv1d`. Measured on 2.7.0 and 2.10.0:
        ValueError ("the 'pad size' must be int and must = 4"), TypeError for `nn.Conv1d`.

    Example
        nn.Conv2d(3, 16, (3, 5), pad_mode="pad", padding=(1, 2))

    Instead
        nn.Conv2d(3, 16, (3, 5), pad_mode="pad", padding=(1, 1, 2, 2))

    Fix safety
        Safe: the call fails as it stands.
    """

    code = "GL603"
    name = "padding-pair"
    effects = always(Effect.PORTING)
    message = Text(
        "`padding` of `{layer}` must be {wanted}; a tuple of {count} raises an error",
        "`{layer}` 的 `padding` 应为 {wanted_zh}，{count} 元组会报错",
    )
    help = Text("write `padding={instead}`", "改写为 `padding={instead}`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in layers(ctx, "Conv"):
            padding = argument(call, layer, "padding")
            dims = int(layer[len("mindspore.nn.Conv")])
            if not isinstance(padding, (ast.Tuple, ast.List)) or len(padding.elts) != dims:
                continue
            each = [ast.unparse(item) for item in padding.elts]
            both = ", ".join(f"{item}, {item}" for item in each)
            yield self.at(
                padding,
                layer=_short(layer),
                wanted="an int" if dims == 1 else f"an int or {2 * dims} numbers, two a dimension",
                wanted_zh="整数" if dims == 1 else f"整数或 {2 * dims} 个数（每个维度两个）",
                count=str(dims),
                instead=each[0] if dims == 1 else f"({both})",
            )


class DefaultPadMode(Rule):
    """
    What
        A convolution ported from PyTorch with neither `pad_mode` nor `padding`, and a kernel larger than 1.

    Why
        MindSpore's default `pad_mode="same"` keeps the size; PyTorch pads nothing by default. Measured on
        2.0.0, 2.7.0 and 2.10.0: `nn.Conv2d(3, 4, 3)` gives 8×8 from 8×8 where torch 2.13.0 gives 6×6, and
        `nn.Conv2dTranspose(3, 4, 3)` gives 8×8 where torch gives 10×10. Nothing is said of code that shows
        no sign of PyTorch, nor of a kernel of 1, where the modes agree.

    Example
        self.conv = nn.Conv2d(3, 16, 3)  # converted from PyTorch

    Instead
        self.conv = nn.Conv2d(3, 16, 3, pad_mode="valid")

    Fix safety
        Unsafe: changes the output's size to what PyTorch gives.
    """

    code = "GL604"
    name = "default-pad-mode"
    effects = always(Effect.PORTING)
    message = Text(
        '`{layer}` pads by default (`pad_mode="same"`); PyTorch\'s pads nothing ({why})',
        '`{layer}` 默认会填充（`pad_mode="same"`），而 PyTorch 默认不填充（{why_zh}）',
    )
    help = Text(
        'write `pad_mode="valid"` for PyTorch\'s result, `pad_mode="same"` where that is meant',
        '要得到 PyTorch 的结果，写 `pad_mode="valid"`；确实需要时写 `pad_mode="same"`',
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in layers(ctx, "Conv"):
            padding = argument(call, layer, "padding")
            if given(call, layer, "pad_mode") or _hidden(call, ctx):
                continue
            if padding is not None and constant(padding) != 0:
                continue
            kernel = argument(call, layer, "kernel_size")
            if (kernel is None and not has_stars(call)) or (kernel is not None and _is_one(kernel)):
                continue
            why = heritage(ctx)
            if why is not None:
                yield self.at(call, layer=_short(layer), why=why.en, why_zh=why.zh)


class PoolingStride(Rule):
    """
    What
        `nn.MaxPool1d/2d/3d` or `nn.AvgPool1d/2d/3d` with a kernel and no `stride`.

    Why
        MindSpore's stride is 1 unless given, PyTorch's is the kernel's size. Measured on 2.0.0, 2.7.0 and
        2.10.0: `nn.MaxPool2d(2)` gives 7×7 from 8×8, torch 2.13.0 gives 4×4. A warning where the module
        shows signs of PyTorch, else a note; nothing is said where `pad_mode` is given, which PyTorch
        doesn't have.

    Example
        self.pool = nn.MaxPool2d(2)

    Instead
        self.pool = nn.MaxPool2d(2, stride=2)

    Fix safety
        Unsafe: changes the output's size to what PyTorch gives.
    """

    code = "GL605"
    name = "pooling-stride"
    effects = (When(Effect.NONE), When(Effect.PORTING, case="torch"))
    message = Text(
        "`{layer}` moves by 1 unless `stride` is given; PyTorch's moves by the kernel's size",
        "`{layer}` 未给出 `stride` 时步长为 1，而 PyTorch 的步长等于核的大小",
    )
    help = Text(
        "write `stride={kernel}`, or `stride=1` where that is meant",
        "写 `stride={kernel}`；确实需要时写 `stride=1`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in layers(ctx, "MaxPool", "AvgPool"):
            kernel = argument(call, layer, "kernel_size")
            if kernel is None or _is_one(kernel) or has_stars(call):
                continue
            stride = argument(call, layer, "stride")
            if (stride is not None and constant(stride) is not None) or given(call, layer, "pad_mode"):
                continue
            case = "torch" if heritage(ctx) is not None else ""
            yield self.at(call, case=case, layer=_short(layer), kernel=ast.unparse(kernel))


def layers(ctx: ModuleContext, *kinds: str) -> Iterator[Tuple[ast.Call, str]]:
    """The calls that make a convolution or a pooling layer of mindspore.nn, with the layer's full name."""
    starts = tuple(f"mindspore.nn.{kind}" for kind in kinds)
    for use in uses(ctx).calls():
        if use.name in LAYERS and use.name.startswith(starts) and use.call is not None:
            yield use.call, use.name


def _short(layer: str) -> str:
    return layer[len("mindspore.") :]


def argument(call: ast.Call, layer: str, name: str) -> Optional[ast.expr]:
    """The argument for the parameter `name`, given by place or by name."""
    place = LAYERS[layer].index(name) if name in LAYERS[layer] else len(call.args)
    if place < len(call.args):
        return call.args[place]
    return next((k.value for k in call.keywords if k.arg == name), None)


def given(call: ast.Call, layer: str, name: str) -> bool:
    return argument(call, layer, name) is not None


def _hidden(call: ast.Call, ctx: ModuleContext) -> bool:
    """True where `**options` may hold what is looked for: in ported code they hold PyTorch's options."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return True
    return any(k.arg is None for k in call.keywords) and heritage(ctx) is None


def _is_padding(node: ast.expr) -> bool:
    """True for an int, a tuple, and a name that says padding, at the place of pad_mode."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node).rpartition(".")[2].lower()
        return "pad" in name and "mode" not in name and "mod" not in name
    return type(constant(node)) is int or isinstance(node, ast.Tuple)


def _is_default(name: str, value: ast.expr) -> bool:
    """True for a written default: `padding=0`, `padding=(0, 0)`, `dilation=1`, `ceil_mode=False`."""
    default = 1 if name == "dilation" else 0
    if isinstance(value, (ast.Tuple, ast.List)):
        return all(constant(item) == default for item in value.elts)
    return constant(value) == default


def _is_one(kernel: ast.expr) -> bool:
    if isinstance(kernel, (ast.Tuple, ast.List)):
        return all(constant(item) == 1 for item in kernel.elts)
    return constant(kernel) == 1


def normalized(layer: ast.expr, module: Module) -> bool:
    """True where a normalization follows the layer: next in its list, or next to be called on its result."""
    parents = module.parents
    around = parents.get(layer)
    if isinstance(around, (ast.List, ast.Tuple)):
        later = around.elts[around.elts.index(layer) + 1 :]
        return _is_norm(later[0]) if later else normalized(around, module)
    if isinstance(around, ast.Call) and layer in around.args:
        later = around.args[around.args.index(layer) + 1 :]
        if later:
            return _is_norm(later[0])
        if isinstance(around.func, ast.Attribute) and around.func.attr == "append":
            return _statement_after_is_norm(around, parents)
        return normalized(around, module)
    if isinstance(around, ast.Assign):
        target = around.targets[0]
        if isinstance(target, ast.Attribute):
            return _called_before_norm(target.attr, around, parents)
        if isinstance(target, ast.Name) and _listed_before_norm(target.id, around, parents):
            return True
    return isinstance(around, ast.Return) or _statement_after_is_norm(layer, parents)


def _is_norm(node: ast.expr) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return bool(_NORMS.search(name) or _NORM_ATTRIBUTE.search(name))


def _statement_after_is_norm(node: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    stmt: Optional[ast.AST] = node
    while stmt is not None and not isinstance(stmt, ast.stmt):
        stmt = parents.get(stmt)
    body = getattr(parents.get(stmt), "body", None) if stmt is not None else None
    if not isinstance(body, list) or stmt not in body:
        return False
    later: List[ast.stmt] = body[body.index(stmt) + 1 : body.index(stmt) + 2]
    return any(_makes_norm(s) for s in later)


def _makes_norm(stmt: ast.stmt) -> bool:
    """True for `self.bn = BatchNorm2d(…)`, `x = BatchNorm2d(…)(x)` and `layers.append(BatchNorm2d(…))`."""
    value = getattr(stmt, "value", None)
    if not isinstance(value, ast.Call):
        return False
    inner = [value, value.func, *value.args[:1]]
    inner += [item for a in value.args[:1] if isinstance(a, (ast.List, ast.Tuple)) for item in a.elts[:1]]
    return any(isinstance(c, ast.Call) and _is_norm(c) for c in inner)


def _listed_before_norm(name: str, stmt: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    """True where a list of the same block holds the local name right before a normalization."""
    for node in (n for later in getattr(parents.get(stmt), "body", ()) for n in walk(later)):
        if isinstance(node, (ast.List, ast.Tuple)):
            for first, second in zip(node.elts, node.elts[1:]):
                if isinstance(first, ast.Name) and first.id == name and _is_norm(second):
                    return True
    return False


def _called_before_norm(attr: str, stmt: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    """True where the Cell calls a normalization right after `self.<attr>`, or makes one right after it."""
    cls: Optional[ast.AST] = stmt
    while cls is not None and not isinstance(cls, ast.ClassDef):
        cls = parents.get(cls)
    for method in getattr(cls, "body", ()):
        if isinstance(method, ast.FunctionDef) and method.name != "__init__":
            order = _self_calls(method)
            for first, second in zip(order, order[1:]):
                if first == attr:
                    return bool(_NORM_ATTRIBUTE.search(second))
    return _statement_after_is_norm(stmt, parents)


def _self_calls(method: ast.FunctionDef) -> List[str]:
    """The attributes of self that are called, in the order in which they run."""
    found: List[str] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            visit(child)
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
            found.append(func.attr)

    visit(method)
    return found
