"""Reads the installed MindSpore and writes api-<major.minor>.json: every public name and what is known of it.

    python scripts/read_api.py OUT_DIR

Run it with an interpreter that has MindSpore. The file depends on the package only: a second run writes the
same bytes.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
import types
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Tuple

os.environ.setdefault("GLOG_v", "3")
sys.path.insert(0, str(Path(__file__).parent))

import doc_facts

# In order of preference: an object that several of them export is described under the first and an alias
# elsewhere.
_NAMESPACES = """
mindspore mindspore.nn mindspore.ops mindspore.mint mindspore.mint.nn mindspore.mint.nn.functional
mindspore.mint.optim mindspore.mint.linalg mindspore.mint.special mindspore.mint.distributed mindspore.numpy
mindspore.numpy.fft mindspore.scipy mindspore.scipy.linalg mindspore.scipy.fft mindspore.scipy.sparse.linalg
mindspore.train mindspore.train.callback mindspore.amp mindspore.context mindspore.common.initializer
mindspore.dataset mindspore.dataset.vision mindspore.dataset.transforms mindspore.dataset.text
mindspore.dataset.audio mindspore.experimental.optim mindspore.experimental.optim.lr_scheduler
mindspore.experimental mindspore.communication mindspore.communication.comm_func
mindspore.communication.management mindspore.parallel mindspore.parallel.nn mindspore.profiler
mindspore.runtime mindspore.hal mindspore.device_context mindspore.device_manager mindspore.log
mindspore.boost mindspore.rewrite mindspore.mindrecord mindspore.utils mindspore.graph mindspore.dtype
mindspore.nn.probability.distribution mindspore.nn.probability.bijector
"""
# Older import paths: what they share with the namespaces above becomes aliases, of the rest the names alone
# are kept.
_OLD_PATHS = """
mindspore.nn.cell mindspore.nn.layer mindspore.nn.optim mindspore.nn.loss mindspore.nn.loss.loss
mindspore.nn.wrap mindspore.nn.metrics mindspore.nn.learning_rate_schedule mindspore.nn.dynamic_lr
mindspore.nn.grad mindspore.ops.operations mindspore.ops.functional mindspore.ops.composite
mindspore.ops.primitive mindspore.ops.function mindspore.ops.auto_generate mindspore.common
mindspore.common.api mindspore.common.tensor mindspore.common.parameter mindspore.common.dtype
mindspore.common.seed mindspore.train.serialization mindspore.train.model mindspore.train.loss_scale_manager
mindspore.train.metrics mindspore.train.amp mindspore.dataset.engine mindspore.dataset.engine.datasets
mindspore.dataset.vision.utils mindspore.dataset.vision.transforms mindspore.dataset.vision.c_transforms
mindspore.dataset.vision.py_transforms mindspore.dataset.transforms.c_transforms
mindspore.dataset.transforms.py_transforms
"""
# What no `__all__` names, though users call it, or methods that it has.
UNLISTED = {
    "mindspore.dataset.engine.datasets": {"Dataset", "SourceDataset", "MappableDataset"},
    "mindspore.log": {"debug", "info", "warning", "error", "critical"},
}
NAMESPACES, OLD_PATHS = _NAMESPACES.split(), _OLD_PATHS.split()
KIND_CODES = {
    "cell": "c",
    "optimizer": "o",
    "loss": "l",
    "primitive": "p",
    "primitive-instance": "i",
    "function": "f",
    "method": "m",
    "property": "r",
    "staticmethod": "s",
    "classmethod": "k",
    "class": "t",
    "exception": "x",
    "dtype": "d",
    "module": "M",
    "value": "v",
}
USUAL_BASES = {
    "cell": "mindspore.nn.Cell",
    "optimizer": "mindspore.nn.Optimizer",
    "loss": "mindspore.nn.LossBase",
    "primitive": "mindspore.ops.Primitive",
}
WITH_MEMBERS = ("cell", "optimizer", "loss", "class")


def load_namespaces() -> Dict[str, types.ModuleType]:
    found = {}
    for name in NAMESPACES + OLD_PATHS:
        try:
            module = importlib.import_module(name)
        except Exception:  # absent in this version, or a stub that refuses
            obj: Any = sys.modules.get("mindspore")
            for part in name.split(".")[1:]:
                obj = getattr(obj, part, None)
            module = obj
        if isinstance(module, types.ModuleType) and "deprecation stub" not in (module.__doc__ or ""):
            found[name] = module
    return found


def wrapped_function(wrapper: Any) -> Optional[types.FunctionType]:
    """The function that decorators without functools.wraps keep in their closures."""
    for layer in (wrapper, getattr(wrapper, "__wrapped__", None)):
        for cell in getattr(layer, "__closure__", None) or ():
            inner = cell.cell_contents
            if isinstance(inner, types.FunctionType) and inner is not wrapper:
                if list(inspect.signature(inner).parameters)[-2:] != ["args", "kwargs"]:
                    return inner
                deeper = wrapped_function(inner)
                if deeper is not None:
                    return deeper
    return None


def modules_on_disk(package: types.ModuleType) -> List[str]:
    """Every module path that can be imported, without importing; parts with a leading underscore left out."""
    found, stack = [], [(package.__name__, list(package.__path__))]
    while stack:
        prefix, paths = stack.pop()
        for info in pkgutil.iter_modules(paths):
            if not info.name.startswith("_"):
                found.append(prefix + "." + info.name)
                if info.ispkg:
                    stack.append((prefix + "." + info.name, [os.path.join(p, info.name) for p in paths]))
    return sorted(found)


def star_names(module: types.ModuleType) -> List[str]:
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in vars(module) if not n.startswith("_")]
    return sorted({str(n) for n in names if hasattr(module, str(n))})


class Reader:
    def __init__(self) -> None:
        import mindspore

        self.ms = mindspore
        self.modules = load_namespaces()
        for path in ("mindspore.graph._utils.check_jit_forbidden_api", "mindspore._check_jit_forbidden_api"):
            try:
                lists = importlib.import_module(path)
                self.forbidden_methods = set(lists.get_jit_forbidden_method())
                self.forbidden_modules = set(lists.get_jit_forbidden_module())
                break
            except (ImportError, AttributeError):
                self.forbidden_methods, self.forbidden_modules = set(), set()
        self.platform_sets: List[str] = []
        self.canonical: Dict[int, str] = {}

    def kind(self, obj: Any) -> str:
        nn = self.ms.nn
        if isinstance(obj, types.ModuleType):
            return "module"
        if inspect.isclass(obj):
            for base, kind in (
                (nn.Optimizer, "optimizer"),
                (getattr(nn, "LossBase", nn.Cell), "loss"),
                (nn.Cell, "cell"),
                (self.ms.ops.Primitive, "primitive"),
                (BaseException, "exception"),
            ):
                if issubclass(obj, base):
                    return kind
            return "class"
        if isinstance(obj, self.ms.ops.Primitive):
            return "primitive-instance"
        if (
            type(obj).__name__
            in ("Type", "Number", "Float", "Int", "UInt", "Bool", "Complex", "BFloat", "TensorType")
            or "_c_expression.typing" in type(obj).__module__
        ):
            return "dtype"
        return "function" if callable(obj) else "value"

    def signatures(self, obj: Any, name: str, method: bool = False) -> List[str]:
        """The parameter lists as Python text: one where the object tells, several where only its docstring
        does."""
        target = obj.__init__ if inspect.isclass(obj) and "__init__" in vars(obj) else obj
        try:
            parameters = list(inspect.signature(target, follow_wrapped=True).parameters.values())
        except (ValueError, TypeError):
            return doc_facts.overloads(inspect.getdoc(obj) or "", name)
        if (target is not obj and parameters) or (
            parameters and parameters[0].name in ("self", "cls") and method
        ):
            parameters = parameters[1:]
        if [p.name for p in parameters] in (["args", "kwargs"], ["kargs", "kwargs"]):
            documented = doc_facts.overloads(inspect.getdoc(obj) or "", name)
            inner = wrapped_function(target)
            if documented or inner:
                return documented or self.signatures(inner, name, method or target is not obj)
        text, star, positional = [], False, False
        for p in parameters:
            if positional and p.kind is not p.POSITIONAL_ONLY:
                text.append("/")
                positional = False
            if p.kind is p.KEYWORD_ONLY and not star:
                text.append("*")
                star = True
            lead = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            star = star or p.kind is p.VAR_POSITIONAL
            positional = p.kind is p.POSITIONAL_ONLY
            text.append(
                lead + p.name + ("" if p.default is p.empty else "=" + doc_facts.default_text(p.default))
            )
        if positional:
            text.append("/")
        line = ", ".join(text)
        return [line] if doc_facts.parsable(line) else []

    def doc(self, obj: Any) -> str:
        doc = inspect.getdoc(obj) if not inspect.isclass(obj) else vars(obj).get("__doc__")
        return doc if isinstance(doc, str) else ""

    def resolve(self, path: str) -> Any:
        obj: Any = self.ms
        parts = path.split(".")
        for part in parts[1:] if parts[0] == "mindspore" else parts:
            obj = getattr(obj, part, None)
            if obj is None:
                return None
        return obj

    def platforms(self, obj: Any, depth: int = 3) -> Optional[str]:
        doc = self.doc(obj)
        found = doc_facts.platforms(doc)
        target = doc_facts.reference(doc)
        if found is None and target and depth:
            other = self.resolve(target)
            if other is not None and other is not obj:
                return self.platforms(other, depth - 1)
        return found

    def is_forbidden(self, obj: Any) -> bool:
        module = getattr(obj, "__module__", None)
        if getattr(obj, "__jit_forbidden__", False) or module in self.forbidden_modules:
            return True
        return "%s.%s" % (module, getattr(obj, "__qualname__", "")) in self.forbidden_methods

    def decorated(self, obj: Any) -> Optional[Tuple[str, Optional[str]]]:
        """What the `deprecated` decorator's closure says: (version, substitute)."""
        if inspect.isclass(obj):
            obj = vars(obj).get("__init__", obj)
        for _ in range(6):
            code = getattr(obj, "__code__", None)
            if code is None:
                return None
            if "version" in code.co_freevars and "substitute" in code.co_freevars and obj.__closure__:
                cells = dict(zip(code.co_freevars, (c.cell_contents for c in obj.__closure__)))
                return str(cells["version"]), cells["substitute"] or None
            obj = getattr(obj, "__wrapped__", None)
        return None

    def base(self, cls: type) -> Optional[type]:
        """The nearest base class that has an entry; Tensor for Parameter, also where Python doesn't say
        so."""
        if cls is self.ms.Parameter:
            return self.ms.Tensor  # type: ignore[no-any-return]
        return next((base for base in cls.__mro__[1:] if id(base) in self.canonical), None)

    def entry(self, obj: Any, name: str, kind: str, owner: Optional[type] = None) -> Any:
        """One row: the kind's code alone, or `[code, signature(s), platforms' index, extras]` cut after the
        last said."""
        if kind in ("module", "value", "dtype"):
            return KIND_CODES[kind]
        target = obj.fget if isinstance(obj, property) else obj
        doc = self.doc(obj)
        extras: Dict[str, Any] = {}
        signature: Any = None
        if kind not in ("property", "primitive-instance"):
            lists = self.signatures(target, name, method=owner is not None and kind != "staticmethod")
            signature = lists[0] if len(lists) == 1 else (lists or None)
        said = doc_facts.deprecation(doc, name)
        decorated = self.decorated(target)
        if decorated:
            extras["d"] = ["now", decorated[1] or (said[1] if said else None), decorated[0]]
        elif said:
            extras["d"] = list(said)
        parameters = doc_facts.deprecated_parameters(doc)
        if parameters and signature:
            extras["dp"] = parameters
        if (isinstance(signature, str) and "**" in signature) or (signature is None and inspect.isclass(obj)):
            documented = doc_facts.documented_arguments(doc)
            if documented:
                extras["k"] = " ".join(documented)
        if self.is_forbidden(target):
            extras["f"] = 1
        if doc_facts.in_place(doc, name, of_tensor=owner is self.ms.Tensor) and kind in (
            "method",
            "function",
        ):
            extras["i"] = 1
        if doc_facts.experimental(doc):
            extras["e"] = 1
        if inspect.isclass(obj):
            parent = self.base(obj)
            base = self.canonical[id(parent)] if parent else None
            if base and base != USUAL_BASES.get(kind):
                extras["b"] = base
            construct = getattr(obj, "construct", None)
            if construct is not getattr(parent, "construct", None) and callable(construct):
                extras["c"] = self.signatures(construct, "construct", method=True)[0]
        named = self.platforms(obj)
        index = -1
        if named and named != "deprecated":
            if named not in self.platform_sets:
                self.platform_sets.append(named)
            index = self.platform_sets.index(named)
        row: List[Any] = [KIND_CODES[kind], signature, index, extras]
        while row[-1] in (None, -1, {}):
            row.pop()
        return row[0] if len(row) == 1 else row

    def members(self, cls: type) -> Dict[str, Any]:
        """The public members that `cls` has and its nearest public base has not."""
        base = self.base(cls) or object
        found = {}
        for name in sorted(dir(cls)):
            if name.startswith("_") or name in ("construct", "mro"):
                continue
            raw = inspect.getattr_static(cls, name)
            owner = next((c for c in cls.__mro__ if name in vars(c)), cls)
            if not str(owner.__module__).startswith("mindspore"):
                continue
            if raw is inspect.getattr_static(base, name, None):
                continue
            obj: Any = raw
            if isinstance(raw, (staticmethod, classmethod)):
                kind, obj = type(raw).__name__, raw.__func__
            elif (
                isinstance(raw, property)
                or inspect.isgetsetdescriptor(raw)
                or inspect.ismemberdescriptor(raw)
            ):
                kind = "property"
            elif callable(raw):
                kind = "method"
            elif isinstance(raw, tuple):  # rows of a C++ enumeration
                continue
            else:
                kind = "value"
            found[name] = self.entry(obj, name, kind, cls)
        return found

    def own(self, obj: Any) -> bool:
        return str(getattr(obj, "__module__", None) or "mindspore").startswith("mindspore")

    def read(self) -> Dict[str, Any]:
        names: Dict[str, Dict[str, Any]] = {}
        aliases: Dict[str, Dict[str, List[str]]] = {}
        other: Dict[str, List[str]] = {}
        described: List[Tuple[str, str, Any, str]] = []
        stars = {ns: set(star_names(module)) for ns, module in self.modules.items()}
        for ns, module in self.modules.items():
            for name in sorted(stars[ns] | UNLISTED.get(ns, set()) if ns != "mindspore" else dir(module)):
                obj = getattr(module, name, None)
                kind = self.kind(obj)
                if kind in ("module", "value", "dtype") or not self.own(obj) or name.startswith("_"):
                    continue
                if id(obj) not in self.canonical and (ns not in OLD_PATHS or name in UNLISTED.get(ns, set())):
                    self.canonical[id(obj)] = ns + "." + name
                    described.append((ns, name, obj, kind))
        for ns, module in self.modules.items():
            table = names.setdefault(ns, {})
            for name in sorted(n for n in set(dir(module)) | stars[ns] if not n.startswith("_")):
                obj = getattr(module, name)
                kind = self.kind(obj)
                path = self.canonical.get(id(obj))
                if kind == "module" and obj.__name__ == ns + "." + name:
                    table[name] = KIND_CODES["module"]
                elif path:
                    source, _, last = path.rpartition(".")
                    if last != name:
                        table[name] = "=" + path
                    elif source != ns:
                        aliases.setdefault(ns, {}).setdefault(source, []).append(name)
                elif name in stars[ns]:
                    table[name] = (
                        "=" + obj.__name__
                        if kind == "module"
                        else KIND_CODES[kind if self.own(obj) else "value"]
                    )
                if name not in stars[ns]:
                    other.setdefault(ns, []).append(name)
        for ns, name, obj, kind in described:
            names[ns][name] = self.entry(obj, name, kind)
            if kind in WITH_MEMBERS:
                members = self.members(obj)
                if members:
                    names[ns + "." + name] = members
        return {
            "mindspore": self.ms.__version__,
            "platforms": self.platform_sets,
            "names": names,
            "aliases": {
                ns: {source: " ".join(same) for source, same in groups.items()}
                for ns, groups in aliases.items()
            },
            "other": {ns: " ".join(unlisted) for ns, unlisted in other.items()},
            "modules": pack(modules_on_disk(self.ms)),
        }


def pack(paths: Iterable[str]) -> Dict[str, str]:
    """Module paths grouped by parent: `{"mindspore.nn": "cell layer optim"}`."""
    groups: Dict[str, List[str]] = {}
    for path in paths:
        parent, _, last = path.rpartition(".")
        groups.setdefault(parent, []).append(last)
    return {parent: " ".join(sorted(last)) for parent, last in groups.items()}


def dump(table: Dict[str, Any]) -> str:
    """Compact JSON, one namespace a line, so that a new version shows as a readable difference."""
    text = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    text = re.sub(r'(\},)("mindspore[\w.]*":\{)', r"\1\n\2", text)
    json.loads(text)
    return text + "\n"


def main(arguments: List[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    table = Reader().read()
    version = ".".join(re.findall(r"\d+", table["mindspore"])[:2])
    path = Path(arguments[0]) / ("api-%s.json" % version)
    path.write_text(dump(table), encoding="utf-8")
    count = sum(len(rows) for rows in table["names"].values())
    print(
        "%s: MindSpore %s, %d names, %d KB" % (path, table["mindspore"], count, path.stat().st_size // 1024)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
