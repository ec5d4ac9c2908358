"""GL64x: PyTorch's training loop, where MindSpore's gradients are returned by a function."""

from __future__ import annotations

import ast
import re
from typing import ClassVar, Dict, Optional

from graphlint.checkers.base import Findings, ModuleContext, Rule, always
from graphlint.checkers.uses import class_made, constant, made_by, short, uses
from graphlint.finding import Confidence, Effect
from graphlint.knowledge import api
from graphlint.lang import Text

_OPTIMIZER = re.compile(r"(optim|optimizer|opt|sgd|adam\w*)(_?\w)?$", re.IGNORECASE)


class TorchStep(Rule):
    """
    What
        `loss.backward()`, `optimizer.step()` or `optimizer.zero_grad()` in a module that uses MindSpore and
        not torch.

    Why
        Tensors have no `backward`, optimizers neither `step` nor `zero_grad`: AttributeError (measured on
        2.7.0 and 2.10.0). `value_and_grad` makes a function that returns the loss and the gradients; the
        optimizer is called with them. They aren't kept, so that nothing has to be cleared.

    Example
        loss.backward()
        optimizer.step()

    Instead
        loss, grads = grad_fn(x, y)  # grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
        optimizer(grads)

    Fix safety
        No fix.
    """

    code = "GL640"
    name = "torch-step"
    effects = always(Effect.PORTING)
    message = Text(
        "MindSpore has no `{name}()`: this raises AttributeError",
        "MindSpore 没有 `{name}()`，此处会抛出 AttributeError",
    )
    help = Text("{trap}", "{trap_zh}")
    rows: ClassVar[Dict[str, str]] = {
        "backward": "Tensor.backward",
        "step": "Optimizer.step",
        "zero_grad": "Optimizer.zero_grad",
    }

    def check_module(self, ctx: ModuleContext) -> Findings:
        from graphlint.knowledge.torch_names import by_torch

        found = uses(ctx)
        if "mindspore" not in found.owners:
            return
        for name, row in self.rows.items():
            for call in found.methods.get(name, ()):
                confidence = self._torch(call, name, ctx)
                if confidence is not None:
                    text = by_torch()[row].text
                    yield self.at(call, confidence=confidence, name=name, trap=text.en, trap_zh=text.zh)

    def _torch(self, call: ast.Call, name: str, ctx: ModuleContext) -> Optional[Confidence]:
        """How sure it is that the object is a Tensor or an optimizer of MindSpore's; None where it isn't."""
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        maker = made_by(receiver, ctx.module)
        if maker.startswith("mindspore."):
            entry = api(self.target.mindspore).get(maker)
            return Confidence.HIGH if entry is not None and entry.kind == "optimizer" else None
        if class_made(receiver, ctx.module) is not None or "torch" in uses(ctx).owners or call.args:
            return None
        if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls", "super"):
            return None
        own = {method for cls in ctx.module.classes.values() for method in cls.methods}
        if name in own:
            return None
        last = ast.unparse(receiver).rpartition(".")[2]
        if name == "backward" or _OPTIMIZER.search(last):
            return Confidence.MEDIUM
        return None


class TorchCheckpoint(Rule):
    """
    What
        `load_checkpoint` or `load_param_into_net` given a file of PyTorch's (`.pth`, `.pt`).

    Why
        ValueError: only `.ckpt` is read (measured on 2.0.0, 2.7.0 and 2.10.0). The weights have other names
        and, for BatchNorm and Embedding, other attributes, so that the file must be converted.

    Example
        params = ms.load_checkpoint("resnet50.pth")

    Instead
        params = ms.load_checkpoint("resnet50.ckpt")

    Fix safety
        No fix.
    """

    code = "GL641"
    name = "torch-checkpoint"
    effects = always(Effect.PORTING)
    message = Text(
        "`{name}` doesn't read PyTorch's files: this raises ValueError",
        "`{name}` 不能读取 PyTorch 的文件，此处会抛出 ValueError",
    )
    help = Text("convert the file to .ckpt first, mapping the names", "先把文件转换为 .ckpt，并对应好参数名")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.call is None or use.name.rpartition(".")[2] != "load_checkpoint" or not use.call.args:
                continue
            given = constant(use.call.args[0])
            if isinstance(given, str) and given.endswith((".pth", ".pt", ".pth.tar")):
                yield self.at(use.call, name=short(use.name))
