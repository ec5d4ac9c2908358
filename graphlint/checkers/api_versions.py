"""GL71x: names and parameters that the target version has otherwise, or not at all."""

from __future__ import annotations

import ast
import difflib
from typing import Any, Optional, Set

from graphlint.checkers.base import Findings, Found, ModuleContext, Rule, When, always
from graphlint.checkers.missing import Missing, guarded, missing
from graphlint.checkers.porting_layers import torch_keyword
from graphlint.checkers.uses import Use, uses
from graphlint.finding import Effect
from graphlint.knowledge import ApiEntry, api, api_versions
from graphlint.lang import Text

PARAMETERS_CHECKED = (
    "mindspore.nn.",
    "mindspore.ops.",
    "mindspore.mint.",
    "mindspore.amp.",
    "mindspore.numpy.",
)
FUNCTIONS_CHECKED = frozenset(
    f"mindspore.{name}"
    for name in (
        "jit", "value_and_grad", "grad", "export", "save_checkpoint", "load_checkpoint",
        "load_param_into_net", "set_device", "Tensor", "Parameter", "dataset.GeneratorDataset", "set_seed", "recompute",
    )
)  # fmt: skip


def _short(name: str) -> str:
    return name[len("mindspore.") :] if name.count(".") > 1 else name


class UnknownName(Rule):
    """
    What
        A name under mindspore that no known version has.

    Why
        It is AttributeError or ImportError. Said only of modules whose names are all in the tables of the
        target version; code that asks first (`try … except ImportError`, a test of the version) is left
        alone.

    Example
        y = ops.relu7(x)

    Instead
        y = ops.relu6(x)

    Fix safety
        No fix.
    """

    code = "GL710"
    name = "unknown-name"
    effects = always(Effect.PLATFORM)
    message = Text("MindSpore {version} has no `{name}`", "MindSpore {version} 没有 `{name}`")
    help = Text("did you mean `{nearest}`?", "是否想写 `{nearest}`？")
    nothing = Text("look the name up in the API documentation", "请在 API 文档中查找该名称")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for lack in missing(ctx):
            if not (lack.newer or lack.removed or lack.torch):
                near = api(self.target.mindspore).nearest(lack.name)
                help = self.help if near else self.nothing
                version = self.target.mindspore
                yield self.at(
                    lack.use.node,
                    help=help,
                    version=version,
                    name=_short(lack.name),
                    nearest=_short(near or ""),
                )


class NewerName(Rule):
    """
    What
        A name that only MindSpore versions after the target have.

    Why
        It is AttributeError or ImportError on the target. The target is the project's declared minimum
        unless `--target-version` says otherwise; several targets (`--target-version 2.6,2.10`) are all
        checked.

    Example
        ms.set_device("Ascend", 0)  # on 2.0

    Instead
        ms.set_context(device_target="Ascend", device_id=0)

    Fix safety
        No fix.
    """

    code = "GL711"
    name = "newer-name"
    effects = always(Effect.PLATFORM)
    message = Text(
        "MindSpore {version} has no `{name}`: it is there in {newer}",
        "MindSpore {version} 没有 `{name}`，{newer} 才有",
    )
    help = Text(
        "raise the declared minimum to {newer}, or ask for the name first",
        "把声明的最低版本提高到 {newer}，或先判断该名称是否存在",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for lack in missing(ctx):
            if lack.newer:
                version = self.target.mindspore
                yield self.at(lack.use.node, version=version, name=_short(lack.name), newer=lack.newer)


class RemovedName(Rule):
    """
    What
        A name that MindSpore versions before the target have and the target no longer has.

    Why
        It is AttributeError or ImportError on the target. The tables of 2.0, 2.6, 2.7, 2.8, 2.9 and 2.10
        tell which version still has it; where that version deprecated it, its replacement is named.

    Example
        ms.ms_function(f)

    Instead
        ms.jit(f)

    Fix safety
        No fix.
    """

    code = "GL712"
    name = "removed-name"
    effects = always(Effect.PLATFORM)
    message = Text(
        "MindSpore {version} no longer has `{name}`: {removed} was the last to have it",
        "MindSpore {version} 已没有 `{name}`：{removed} 是最后一个有它的版本",
    )
    help = Text("use `{instead}`", "请用 `{instead}`")
    nothing = Text("look for its replacement in the release notes", "请在版本说明中查找替代接口")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for lack in missing(ctx):
            if lack.removed:
                instead = self._replacement(lack)
                yield self.at(
                    lack.use.node,
                    help=self.help if instead else self.nothing,
                    version=self.target.mindspore,
                    name=_short(lack.name),
                    removed=lack.removed,
                    instead=instead,
                )

    def _replacement(self, lack: Missing) -> str:
        old = api(lack.removed).get(lack.name)
        said = old.deprecated.replacement if old is not None and old.deprecated is not None else None
        return _short(said or api(self.target.mindspore).nearest(lack.name) or "")


class UnknownParameter(Rule):
    """
    What
        A keyword argument that a function or class of MindSpore doesn't take in the target version.

    Why
        TypeError. The parameters were read from each version's package; functions that take `**kwargs` are
        left alone. Where another version takes the keyword, it is named: `ops.transpose(x, input_perm=…)`
        is right on 2.7 and wrong on 2.10, where the parameter is called dims.

    Example
        y = ops.transpose(x, input_perm=(1, 0))  # on 2.10

    Instead
        y = ops.transpose(x, (1, 0))

    Fix safety
        No fix.
    """

    code = "GL713"
    name = "unknown-parameter"
    effects = always(Effect.PLATFORM)
    message = Text(
        "`{name}` of MindSpore {version} has no parameter `{given}`: this raises TypeError",
        "MindSpore {version} 的 `{name}` 没有参数 `{given}`，此处会抛出 TypeError",
    )
    other = Text(
        "`{name}` of MindSpore {version} has no parameter `{given}`, which {has} has: this raises TypeError",
        "MindSpore {version} 的 `{name}` 没有参数 `{given}`（{has} 有），此处会抛出 TypeError",
    )
    help = Text("its parameters: {parameters}", "可用的参数：{parameters}")
    nearest = Text("did you mean `{near}`?", "是否想写 `{near}`？")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.call is None or not use.call.keywords or not _checked(use.name):
                continue
            entry = api(self.target.mindspore).get(use.name)
            if entry is None or not entry.closed:
                continue
            for given in use.call.keywords:
                if given.arg is None or entry.accepts(given.arg) or guarded(use.call, ctx.module, given.arg):
                    continue
                if torch_keyword(self.target, use.name, given.arg) is None:
                    yield self._found(use, entry, given.arg, given.value)

    def _found(self, use: Use, entry: ApiEntry, given: str, node: ast.expr):  # type: ignore[no-untyped-def]
        names = [p.name for params in entry.signatures for p in params if p.kind not in ("*", "**")]
        near = next(iter(difflib.get_close_matches(given, names, n=1, cutoff=0.7)), "")
        has = next((v for v in reversed(api_versions()) if self._takes(v, use.name, given)), "")
        return self.at(
            node,
            message=self.other if has else self.message,
            help=self.nearest if near else self.help,
            name=use.short,
            version=self.target.mindspore,
            given=given,
            has=has,
            near=near,
            parameters=", ".join(dict.fromkeys(names)) or "-",
        )

    @staticmethod
    def _takes(version: str, name: str, given: str) -> bool:
        entry = api(version).get(name)
        return entry is not None and entry.param(given) is not None


def _checked(name: str) -> bool:
    return name.startswith(PARAMETERS_CHECKED) or name in FUNCTIONS_CHECKED


class Deprecated(Rule):
    """
    What
        A function, class or parameter that the target version says is deprecated, with what takes its
        place. Told once a module for each name.

    Why
        It works, and a later version will not have it. Read from the package's own decorators and
        documentation.

    Example
        ms.set_context(jit_config={"jit_level": "O2"})

    Instead
        ms.jit(net, jit_level="O1")

    Fix safety
        No fix.
    """

    code = "GL714"
    name = "deprecated-name"
    effects = always(Effect.NONE)
    message = Text(
        "`{name}` is deprecated in MindSpore {version}", "`{name}` 在 MindSpore {version} 中已弃用"
    )
    parameter = Text(
        "`{given}` of `{name}` is deprecated in MindSpore {version}",
        "`{name}` 的参数 `{given}` 在 MindSpore {version} 中已弃用",
    )
    help = Text("use `{instead}`", "请用 `{instead}`")
    nothing = Text("a later version will drop it", "后续版本将移除它")

    def check_module(self, ctx: ModuleContext) -> Findings:
        table = api(self.target.mindspore)
        told: Set[str] = set()
        for use in uses(ctx).names:
            entry = (
                table.get(use.name)
                if use.owner == "mindspore" and not isinstance(use.node, ast.stmt)
                else None
            )
            if entry is None:
                continue
            said = entry.deprecated
            if said is not None and said.when == "now" and said.replacement and use.name not in told:
                told.add(use.name)
                yield self._found(use.node, self.message, use, said.replacement)
            for given in use.call.keywords if use.call is not None and entry.deprecated_params else ():
                if given.arg in entry.deprecated_params and given.arg not in DEVICE_KEYS:
                    yield self._found(
                        given.value,
                        self.parameter,
                        use,
                        entry.deprecated_params[given.arg or ""],
                        given.arg or "",
                    )

    def _found(
        self, node: ast.AST, message: Text, use: Any, instead: Optional[str], given: str = ""
    ) -> Found:
        help = self.help if instead else self.nothing
        version = self.target.mindspore
        return self.at(
            node, message=message, help=help, name=use.short, version=version, given=given, instead=instead
        )


DEVICE_KEYS = frozenset({"device_target", "device_id"})


class ContextDevice(Rule):
    """
    What
        `set_context(device_target=…, device_id=…)` where the target version has `set_device`.

    Why
        It works and is deprecated: `mindspore.set_device` takes its place (2.6.0 to 2.10.0 have it, 2.0.0
        doesn't). Both raise RuntimeError at once where the device's libraries are missing (measured on
        2.10.0).

    Example
        ms.set_context(device_target="Ascend", device_id=0)

    Instead
        ms.set_device("Ascend", 0)

    Fix safety
        No fix.
    """

    code = "GL715"
    name = "context-device"
    effects = (When(Effect.NONE),)
    message = Text(
        "`set_context` chooses the device here; MindSpore {version} has `set_device` for that",
        "此处用 `set_context` 选择设备；MindSpore {version} 为此提供了 `set_device`",
    )
    help = Text("write `{instead}`", "改写为 `{instead}`")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.call is None or use.name not in ("mindspore.set_context", "mindspore.context.set_context"):
                continue
            given = {k.arg: ast.unparse(k.value) for k in use.call.keywords if k.arg in DEVICE_KEYS}
            if not given or not api(self.target.mindspore).has("mindspore.set_device"):
                continue
            target = given.get("device_target", '"Ascend"')
            both = f"{target}, {given['device_id']}" if "device_id" in given else target
            yield self.at(use.call, version=self.target.mindspore, instead=f"mindspore.set_device({both})")


class NotOnDevice(Rule):
    """
    What
        A layer or function whose documentation lists platforms, and the target device is not among them.

    Why
        It raises an error at run time ("not supported on this device", "unregistered kernel"), or at
        compile time in the graph. Read from each version's "Supported Platforms"; nothing is said where the
        package says nothing.

    Example
        self.norm = nn.InstanceNorm2d(64)  # documented for GPU only

    Instead
        self.norm = nn.GroupNorm(64, 64)

    Fix safety
        No fix.
    """

    code = "GL716"
    name = "not-on-device"
    effects = always(Effect.PLATFORM)
    message = Text(
        "`{name}` is documented for {platforms}, not for {device}",
        "文档中 `{name}` 支持 {platforms}，不支持 {device}",
    )
    help = Text("choose another operator, or check it on the device", "请换用其他算子，或在该设备上确认")

    def check_module(self, ctx: ModuleContext) -> Findings:
        table, device = api(self.target.mindspore), self.target.device
        for use in uses(ctx).calls():
            if use.name.startswith(ON_THE_HOST) or use.call is None:
                continue
            entry = table.get(use.name)
            if entry is None or not entry.platforms or entry.runs_on(device) is not False:
                continue
            if not _asks_for_device(use.call, ctx):
                yield self.at(use.call, name=use.short, platforms=", ".join(entry.platforms), device=device)


ON_THE_HOST = ("mindspore.dataset.", "mindspore.mindrecord.")
"""What runs on the host's processor on every device."""


def _asks_for_device(call: Optional[ast.Call], ctx: ModuleContext) -> bool:
    """True where the code around the call tests the device itself."""
    above: Optional[ast.AST] = call
    while above is not None:
        if isinstance(above, (ast.If, ast.IfExp)) and any(
            word in ast.unparse(above.test).lower() for word in ("device", "platform", "ascend", "gpu", "cpu")
        ):
            return True
        above = ctx.module.parents.get(above)
    return False
