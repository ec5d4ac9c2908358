"""Whether code was ported from PyTorch: what in the project says so."""

from __future__ import annotations

import os
import re
from typing import Optional, Tuple

from graphlint.checkers.base import ModuleContext
from graphlint.checkers.uses import uses
from graphlint.lang import Text
from graphlint.project import Module, Project

_IMPORT = rb"^[ \t]*(?:import|from)[ \t]+(?:torch|torchvision|timm)\b"
_SAYS = re.compile(
    r"\b(port(ed)?|convert(ed)?|translated|migrated|adapted|from)\b[^\n]{0,60}\b(py)?torch\b|torch[^\n]{0,20}(移植|迁移)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"#[^\n]*")
_CHECKPOINT = re.compile(r"""["'][^"'\n]*\.(pth|pth\.tar|pt|safetensors)["']""")
_TORCH_BASES = ("mindspore.nn.Module", "torch.nn.Module")

IMPORTS = Text("this module imports torch", "本模块导入了 torch")
ELSEWHERE = Text("`{path}` of this project imports torch", "本项目的 `{path}` 导入了 torch")
COMMENT = Text("a comment names PyTorch", "注释中提到了 PyTorch")
CHECKPOINT = Text("it loads a PyTorch checkpoint", "本模块加载 PyTorch 权重")
FORWARD = Text("this module defines `forward`", "本模块定义了 `forward`")
MODULE = Text("its classes are `nn.Module`s", "其中的类继承自 `nn.Module`")


class Why:
    """What says that a module was ported, in both languages."""

    def __init__(self, text: Text, **values: str) -> None:
        self.en, self.zh = text.in_("en", **values), text.in_("zh", **values)


def heritage(ctx: ModuleContext) -> Optional[Why]:
    """What says that this module was ported from PyTorch; None where nothing does."""
    return ctx.once(_heritage)


def _heritage(ctx: ModuleContext) -> Optional[Why]:
    text = ctx.source.text
    if uses(ctx).owners & {"torch", "torchvision"}:
        return Why(IMPORTS)
    for cls in ctx.module.classes.values():
        if any(base in _TORCH_BASES for base in cls.external_bases):
            return Why(MODULE)
        if cls.looks_like_cell and "forward" in cls.methods:
            return Why(FORWARD)
    if any(_SAYS.search(comment) for comment in _COMMENT.findall(text) if "orch" in comment):
        return Why(COMMENT)
    if ".pt" in text and "load" in text and _CHECKPOINT.search(text):
        return Why(CHECKPOINT)
    path = _elsewhere(ctx.module)
    return Why(ELSEWHERE, path=path) if path else None


def _elsewhere(module: Module) -> str:
    """The file that imports torch and stands in the module's folder or above, or imports the module."""
    project = module.project
    for name in project.mentions(_IMPORT):
        path = project.path(name)
        folder, here = os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.abspath(module.path))
        if here == folder or here.startswith(os.path.join(folder, "")) or _imports(name, module, project):
            return os.path.basename(path)
    return ""


def _imports(name: str, module: Module, project: Project) -> bool:
    """True where the module called `name` imports `module`, or the package that it stands in."""
    other = project.module(name)
    if other is None:
        return False
    wanted: Tuple[str, ...] = (module.name, *(() if module.is_package else (module.name.rpartition(".")[0],)))
    return any(
        part in wanted
        for dotted in (*other.imports.values(), *other.stars)
        for part in (dotted, dotted.rpartition(".")[0])
        if part
    )
