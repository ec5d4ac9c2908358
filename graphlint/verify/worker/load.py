"""Imports the user's module in a child, by its dotted name, with some files replaced by rewritten copies."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, Dict, List, Optional


class _Overrides(importlib.abc.MetaPathFinder):
    """Finds modules at other files than their own: {"pkg.net": "/tmp/…/net.py"}."""

    def __init__(self, files: Dict[str, str]) -> None:
        self.files = files

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        file = self.files.get(name)
        if file is None:
            return None
        places: Optional[List[str]] = None
        if file.endswith("__init__.py"):
            places = [os.path.dirname(file)]
            for entry in path or sys.path:
                original = os.path.join(entry, name.rpartition(".")[2])
                if os.path.isdir(original):
                    places = [original]
                    break
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)


def prepare(job: Dict[str, Any]) -> None:
    """Search path, arguments and overrides, before any of the user's modules is imported."""
    for place in reversed(job.get("sys_path", [])):
        if place not in sys.path:
            sys.path.insert(0, place)
    sys.argv = [job.get("file", "graphlint")]
    overrides = job.get("overrides") or {}
    if overrides:
        purge(overrides)
        sys.meta_path.insert(0, _Overrides(overrides))


def purge(names: Any) -> None:
    """Forget the packages of these modules, which the zygote may have imported, so that rewritten copies
    take their place."""
    tops = {name.partition(".")[0] for name in names} - {"mindspore", "numpy", "graphlint"}
    for name in list(sys.modules):
        if name.partition(".")[0] in tops:
            del sys.modules[name]


def load(job: Dict[str, Any]) -> Any:
    """The module of job["file"] under job["module"]. Raises whatever its import raises."""
    prepare(job)
    return import_file(job["module"], job["file"])


def import_file(name: str, file: str) -> Any:
    module = sys.modules.get(name)
    if module is not None and _same(getattr(module, "__file__", None), file):
        return module
    if "." in name:
        return importlib.import_module(name)
    for finder in sys.meta_path:
        if isinstance(finder, _Overrides) and name in finder.files:
            file = finder.files[name]
    if module is not None or name in sys.builtin_module_names:
        name = "graphlint_target_" + name
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _same(first: Optional[str], second: str) -> bool:
    return bool(first) and os.path.realpath(str(first)) == os.path.realpath(second)


def preload(job: Dict[str, Any]) -> None:
    """Import the listed modules; one that fails is left to the tries that need it."""
    prepare(job)
    for name in job.get("modules", []):
        importlib.import_module(name)


def resolve(module: Any, qualname: str) -> Any:
    """`Net`, `Outer.Inner`, `Net.method` in the module. Raises AttributeError where there is none."""
    value = module
    for part in qualname.split("."):
        value = getattr(value, part)
    return value
