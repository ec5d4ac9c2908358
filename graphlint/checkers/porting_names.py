"""GL62x: names and methods of PyTorch's that MindSpore calls otherwise or doesn't have."""

from __future__ import annotations

import ast
import difflib
import re
from typing import Optional

from graphlint.checkers.base import Findings, ModuleContext, Rule, always
from graphlint.checkers.missing import missing
from graphlint.checkers.uses import class_made, class_of, made_by, uses
from graphlint.finding import Confidence, Effect
from graphlint.knowledge import api
from graphlint.lang import Text
from graphlint.project import ClassInfo, External, is_cell_name

_NETWORK = re.compile(
    r"(net|model|network|backbone|encoder|decoder|generator|discriminator)\d*$", re.IGNORECASE
)
HARMLESS = (
    "torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.enable_grad", "torch.cuda",
    "torch.device", "torch.backends", "torch.manual_seed", "torch.autograd.set_detect_anomaly",
)  # fmt: skip
"""Of torch's names those that only steer it: around MindSpore code they do nothing."""


class TorchName(Rule):
    """
    What
        A name of PyTorch's that the target's MindSpore doesn't have: `nn.Module`, `nn.Sequential`,
        `nn.functional`, `ops.no_grad`.

    Why
        It is AttributeError or ImportError. Names are looked up in the tables of the target version, never
        known by heart: `nn.Linear` is missing in 2.0 and there in 2.6. `graphlint rule --torch NAME` shows
        what takes a name's place.

    Example
        class Net(nn.Module):

    Instead
        class Net(nn.Cell):

    Fix safety
        No fix.
    """

    code = "GL620"
    name = "torch-name"
    effects = always(Effect.PORTING)
    message = Text("MindSpore {version} has no `{name}`", "MindSpore {version} 没有 `{name}`")
    help = Text("use `{instead}`: {trap}", "请用 `{instead}`：{trap_zh}")
    nothing = Text("{trap}", "{trap_zh}")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for lack in missing(ctx):
            row = lack.torch
            if row is None:
                continue
            yield self.at(
                lack.use.node,
                help=self.help if row.mindspore else self.nothing,
                version=self.target.mindspore,
                name=lack.name[len("mindspore.") :] if lack.name.count(".") > 1 else lack.name,
                instead=row.mindspore[len("mindspore.") :] if row.mindspore.count(".") > 1 else row.mindspore,
                trap=row.text.en,
                trap_zh=row.text.zh,
            )


class ForwardMethod(Rule):
    """
    What
        A Cell with `forward` and without `construct`.

    Why
        `forward` is never called: calling the Cell raises AttributeError ("For 'Cell', the method
        'construct' is not defined"), in PyNative and in the graph. Measured on 2.7.0 and 2.10.0.

    Example
        class Net(nn.Cell):
            def forward(self, x):
                return self.fc(x)

    Instead
        class Net(nn.Cell):
            def construct(self, x):
                return self.fc(x)

    Fix safety
        No fix.
    """

    code = "GL621"
    name = "forward-method"
    effects = always(Effect.PORTING)
    message = Text(
        "`{cls}` defines `forward`, which MindSpore never calls: calling the Cell raises AttributeError",
        "`{cls}` 定义了 MindSpore 不会调用的 `forward`，调用该 Cell 会抛出 AttributeError",
    )
    help = Text("call the method `construct`", "把方法改名为 `construct`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for cls in ctx.module.classes.values():
            if _plain_cell(cls) and cls.find("construct") is None and "forward" in cls.methods:
                yield self.at(cls.methods["forward"].node, cls=cls.name)


class MisspeltConstruct(Rule):
    """
    What
        A Cell without `construct` that has a method of nearly that name.

    Why
        Calling the Cell raises AttributeError ("For 'Cell', the method 'construct' is not defined"),
        measured on 2.7.0 and 2.10.0.

    Example
        def contruct(self, x):

    Instead
        def construct(self, x):

    Fix safety
        No fix.
    """

    code = "GL622"
    name = "misspelt-construct"
    effects = always(Effect.PORTING)
    message = Text(
        "`{cls}` has no `construct`, but `{near}`: calling the Cell raises AttributeError",
        "`{cls}` 没有 `construct`，却有 `{near}`：调用该 Cell 会抛出 AttributeError",
    )
    help = Text("call the method `construct`", "把方法改名为 `construct`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for cls in ctx.module.classes.values():
            if not _plain_cell(cls) or cls.find("construct") is not None or "forward" in cls.methods:
                continue
            for near in difflib.get_close_matches("construct", list(cls.methods), n=1, cutoff=0.8):
                yield self.at(cls.methods[near].node, cls=cls.name, near=near)


def _plain_cell(cls: ClassInfo) -> bool:
    """True for a Cell whose only base outside the project is `nn.Cell`: nothing else brings a construct."""
    outside = [c.dotted for c in cls.mro if isinstance(c, External)]
    bases = {"mindspore.nn.Cell", "mindspore.nn.Module"}
    return bool(bases & set(outside)) and bases.union(("object", "builtins.object", "abc.ABC")) >= set(
        outside
    )


class CellMethod(Rule):
    """
    What
        A method of PyTorch's modules called on a Cell: `train()`, `eval()`, `parameters()`,
        `named_parameters()`, `modules()`, `children()`, `half()`, `cuda()`, `zero_grad()`.

    Why
        Cells don't have it: AttributeError (measured on 2.7.0 and 2.10.0; looked up for the target
        version). A Cell is in evaluation mode until `set_train()`. Said where the object is known to be a
        Cell, or where the name and an empty argument list leave no doubt, in modules that use MindSpore and
        not torch.

    Example
        optimizer = nn.SGD(net.parameters(), 0.1)

    Instead
        optimizer = nn.SGD(net.trainable_params(), 0.1)

    Fix safety
        No fix.
    """

    code = "GL623"
    name = "cell-method"
    effects = always(Effect.PORTING)
    message = Text(
        "a Cell has no `{name}`: this raises AttributeError",
        "Cell 没有 `{name}`，此处会抛出 AttributeError",
    )
    help = Text("use `{instead}`: {trap}", "请用 `{instead}`：{trap_zh}")
    nothing = Text("{trap}", "{trap_zh}")
    without_arguments = (
        "train", "eval", "parameters", "named_parameters", "modules", "named_modules", "children",
        "named_children", "half", "cuda", "zero_grad",
    )  # fmt: skip
    with_arguments = ("add_module", "register_parameter")

    def check_module(self, ctx: ModuleContext) -> Findings:
        from graphlint.knowledge.torch_names import by_torch

        found = uses(ctx)
        if "mindspore" not in found.owners:
            return
        for name in (*self.without_arguments, *self.with_arguments):
            for call in found.methods.get(name, ()):
                confidence = self._is_cell(call, name, ctx)
                if (
                    confidence is None
                    or api(self.target.mindspore).get(f"mindspore.nn.Cell.{name}") is not None
                ):
                    continue
                row = by_torch()[f"Module.{name}"]
                yield self.at(
                    call,
                    confidence=confidence,
                    help=self.help if row.mindspore else self.nothing,
                    name=name,
                    instead=row.mindspore[len("mindspore.") :],
                    trap=row.text.en,
                    trap_zh=row.text.zh,
                )

    def _is_cell(self, call: ast.Call, name: str, ctx: ModuleContext) -> Optional[Confidence]:
        """How sure it is that the method is called on a Cell that doesn't define it; None where it isn't."""
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        cls = class_of(call, ctx.module) if _is_self(receiver) else class_made(receiver, ctx.module)
        if cls is not None:
            return Confidence.HIGH if _plain_cell(cls) and not _defines(cls, name) else None
        if is_cell_name(made_by(receiver, ctx.module)):
            return Confidence.HIGH
        if call.args or call.keywords or name in self.with_arguments or "torch" in uses(ctx).owners:
            return None
        if name == "zero_grad":
            return None
        last = ast.unparse(receiver).rpartition(".")[2]
        return Confidence.MEDIUM if name == "cuda" or _NETWORK.search(last) else None


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _defines(cls: ClassInfo, name: str) -> bool:
    """True where the class, or a base in the project, has the method or sets an attribute of that name."""
    for above in cls.mro:
        if isinstance(above, ClassInfo):
            if name in above.methods or name in above.assigns:
                return True
            for node in ast.walk(above.node):
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
                    return True
    return False


class TorchAround(Rule):
    """
    What
        `torch.no_grad()`, `torch.cuda.…`, `torch.device` and the like around MindSpore code.

    Why
        They steer PyTorch alone: MindSpore computes a gradient only where `grad` or `value_and_grad` asks
        for one, and `torch.cuda.synchronize()` doesn't wait for it. Said where nothing else of torch is
        used in the module, or in a Cell.

    Example
        with torch.no_grad():
            logits = net(images)

    Instead
        logits = net(images)

    Fix safety
        No fix.
    """

    code = "GL624"
    name = "torch-around"
    effects = always(Effect.PORTING)
    message = Text("`{name}` does nothing for MindSpore", "`{name}` 对 MindSpore 不起作用")
    help = Text("{trap}", "{trap_zh}")
    other = Text("leave it out", "删去即可")

    def check_module(self, ctx: ModuleContext) -> Findings:
        from graphlint.knowledge.torch_names import find

        found = uses(ctx)
        if not {"mindspore", "torch"} <= found.owners:
            return
        names = [use for use in found.names if use.owner == "torch" and not isinstance(use.node, ast.stmt)]
        alone = all(use.name.startswith(HARMLESS) for use in names)
        for use in names:
            if not use.name.startswith(HARMLESS):
                continue
            cls = class_of(use.node, ctx.module)
            if alone or (cls is not None and cls.is_cell):
                row = find(use.name)
                text = row.text if row is not None else self.other
                yield self.at(use.node, name=use.name, help=self.help, trap=text.en, trap_zh=text.zh)
