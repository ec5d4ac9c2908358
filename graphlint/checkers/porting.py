"""GL6xx: habits from PyTorch that mean something else in MindSpore."""

from __future__ import annotations

import ast
import re
from typing import Dict, Iterator, List, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, When, always
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.project import Module

CONVOLUTIONS: Dict[str, Tuple[str, ...]] = {
    f"mindspore.nn.Conv{n}d{kind}": (
        "in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding",
        *(("dilation", "group", "has_bias") if not kind or n != 3
          else ("dilation", "group", "output_padding", "has_bias")),
    )
    for n in (1, 2, 3)
    for kind in ("", "Transpose")
}  # fmt: skip
"""The convolutions of mindspore.nn with the order of their parameters (read from 2.7.0 and 2.10.0)."""

_NORMS = re.compile(r"(BatchNorm|LayerNorm|GroupNorm|InstanceNorm|SyncBatchNorm|^BN$|^LN$|[Nn]orm)")
_NORM_ATTRIBUTE = re.compile(r"(^|_)(bn|norm|ln|gn|in)\d*($|_)|norm", re.IGNORECASE)
_TORCH_IMPORT = re.compile(r"^\s*(import|from)\s+(torch|torchvision|timm)\b", re.MULTILINE)
_TORCH_COMMENT = re.compile(r"#[^\n]*\b(port(ed)?|convert(ed)?|from)\b[^\n]*\b(py)?torch\b", re.IGNORECASE)


class MissingHasBias(Rule):
    """
    What
        `nn.Conv1d`, `nn.Conv2d`, `nn.Conv3d` or one of their transposes without `has_bias`.

    Why
        MindSpore's default is no bias, PyTorch's is one: a ported layer silently loses it. Measured on 2.7.0 and
        2.10.0: the built layer's `bias` is None unless `has_bias=True` is given. `nn.Dense` and the layers of
        mindspore.mint.nn have one by default. Nothing is said where a normalization follows, which makes a bias
        redundant.

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
    help = Text("say `has_bias=True`, or `has_bias=False` where none is meant", "需要偏置时写 `has_bias=True`，不需要时写 `has_bias=False`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        heritage = _heritage(ctx)
        for call, layer in _convolutions(ctx.module):
            if _given(call, layer, "has_bias") or any(k.arg is None for k in call.keywords):
                continue
            if any(isinstance(a, ast.Starred) for a in call.args) or normalized(call, ctx.module):
                continue
            why = heritage
            if why is None and _given(call, layer, "padding"):
                why = ("padding is given as PyTorch does", "像 PyTorch 那样给出了 padding")
            if why is not None:
                yield self.at(call, case="torch", message=self.torch, layer=layer.rsplit(".", 1)[-1], why=why[0], why_zh=why[1])
            else:
                yield self.at(call, layer=layer.rsplit(".", 1)[-1])


class PaddingWithoutMode(Rule):
    """
    What
        `padding` of a convolution without `pad_mode="pad"`.

    Why
        MindSpore's default is `pad_mode="same"`, which takes no padding: the constructor raises ValueError (measured
        on 2.7.0 and 2.10.0, all six classes). A fifth positional argument is `pad_mode`, not padding.

    Example
        nn.Conv2d(3, 16, 3, padding=1)

    Instead
        nn.Conv2d(3, 16, 3, pad_mode="pad", padding=1)

    Fix safety
        Safe: the call fails as it stands, and this is what it means in PyTorch.
    """

    code = "GL602"
    name = "padding-without-pad-mode"
    effects = always(Effect.PORTING)
    message = Text(
        "`padding` needs `pad_mode=\"pad\"`: `{layer}` raises ValueError here",
        "给出 `padding` 时必须同时写 `pad_mode=\"pad\"`，否则 `{layer}` 会抛出 ValueError",
    )
    positional = Text(
        "the fifth argument of `{layer}` is `pad_mode`, not padding: this raises an error",
        "`{layer}` 的第五个位置参数是 `pad_mode` 而不是 padding，此处会报错",
    )
    help = Text('add `pad_mode="pad"`', '加上 `pad_mode="pad"`')

    def check_module(self, ctx: ModuleContext) -> Findings:
        for call, layer in _convolutions(ctx.module):
            short = layer.rsplit(".", 1)[-1]
            if len(call.args) > 4 and isinstance(call.args[4], ast.Constant) and isinstance(call.args[4].value, int):
                yield self.at(call, message=self.positional, layer=short)
                continue
            padding = _argument(call, layer, "padding")
            if padding is None or isinstance(padding, ast.Constant) and padding.value == 0:
                continue
            if not _given(call, layer, "pad_mode") and not any(k.arg is None for k in call.keywords):
                yield self.at(call, layer=short)


def _convolutions(module: Module) -> Iterator[Tuple[ast.Call, str]]:
    for node in module.nodes:
        if isinstance(node, ast.Call):
            name = module.dotted(node.func)
            if name in CONVOLUTIONS:
                yield node, name


def _argument(call: ast.Call, layer: str, name: str) -> Optional[ast.expr]:
    place = CONVOLUTIONS[layer].index(name)
    if place < len(call.args):
        return call.args[place]
    return next((k.value for k in call.keywords if k.arg == name), None)


def _given(call: ast.Call, layer: str, name: str) -> bool:
    return _argument(call, layer, name) is not None


def _heritage(ctx: ModuleContext) -> Optional[Tuple[str, str]]:
    """Why the module looks ported from PyTorch, in both languages; None where nothing says so."""
    text = ctx.source.text
    if _TORCH_IMPORT.search(text):
        return "this module imports torch", "本模块导入了 torch"
    if _TORCH_COMMENT.search(text):
        return "a comment names PyTorch", "注释中提到了 PyTorch"
    for cls in ctx.module.classes.values():
        if cls.is_cell and "forward" in cls.methods:
            return "this module defines `forward`", "本模块定义了 `forward`"
    return None


def normalized(call: ast.Call, module: Module) -> bool:
    """True where a normalization follows the layer: next in its list, or next to be called on its result."""
    parents = module.parents
    around = parents.get(call)
    if isinstance(around, (ast.List, ast.Tuple)):
        later = around.elts[around.elts.index(call) + 1 :]
        return bool(later) and _is_norm(later[0])
    if isinstance(around, ast.Call) and call in around.args:
        later = around.args[around.args.index(call) + 1 :]
        if later:
            return _is_norm(later[0])
        return isinstance(around.func, ast.Attribute) and around.func.attr == "append" and _appended_norm(around, parents)
    if isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Attribute):
        return _called_before_norm(around.targets[0].attr, around, parents)
    return isinstance(around, ast.Return) or _statement_after_is_norm(call, parents)


def _is_norm(node: ast.expr) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return bool(_NORMS.search(name))


def _appended_norm(append: ast.Call, parents: Dict[ast.AST, ast.AST]) -> bool:
    return _statement_after_is_norm(append, parents)


def _statement_after_is_norm(node: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    stmt: Optional[ast.AST] = node
    while stmt is not None and not isinstance(stmt, ast.stmt):
        stmt = parents.get(stmt)
    body = getattr(parents.get(stmt), "body", None) if stmt is not None else None
    if not isinstance(body, list) or stmt not in body:
        return False
    later: List[ast.stmt] = body[body.index(stmt) + 1 : body.index(stmt) + 3]
    return any(isinstance(c, ast.Call) and _is_norm(c) for s in later for c in ast.walk(s))


def _called_before_norm(attr: str, stmt: ast.AST, parents: Dict[ast.AST, ast.AST]) -> bool:
    """True where the Cell calls a normalization right after `self.<attr>`, or makes one right after it."""
    cls: Optional[ast.AST] = stmt
    while cls is not None and not isinstance(cls, ast.ClassDef):
        cls = parents.get(cls)
    for method in getattr(cls, "body", ()):
        if isinstance(method, ast.FunctionDef) and method.name == "construct":
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
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
                found.append(node.func.attr)

    visit(method)
    return found

