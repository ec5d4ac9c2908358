"""Which files the project has, and which of them an imported name means; nothing is read here."""

from __future__ import annotations

import os
from typing import Dict, List, Mapping, Optional, Sequence

from graphlint.config import Settings
from graphlint.discovery import discover


class Layout:
    """The project's files by dotted module name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)
        self.names = {path: name for name, path in files.items()}
        self._tails: Optional[Dict[str, List[str]]] = None

    def is_package(self, name: str) -> bool:
        """True for a module whose file is an `__init__.py`."""
        return os.path.basename(self.files[name]) == "__init__.py"

    def find(self, name: str, near: str) -> Optional[str]:
        """What module `near` means by `name`: that very module, a sibling's, or the only one that ends so."""
        files = self.files
        if name in files:
            return name
        package = near if near in files and self.is_package(near) else near.rpartition(".")[0]
        while package:
            if f"{package}.{name}" in files:
                return f"{package}.{name}"
            package = package.rpartition(".")[0]
        if "." not in name:
            return None
        if self._tails is None:
            self._tails = {}
            for known in files:
                self._tails.setdefault(known.rpartition(".")[2], []).append(known)
        ends = [n for n in self._tails.get(name.rpartition(".")[2], ()) if n.endswith("." + name)]
        return ends[0] if len(ends) == 1 else None


def absolute(name: str, level: int, near: str, is_package: bool) -> str:
    """The module that `from <level dots><name> import` means in module `near`."""
    if level == 0:
        return name
    parts = near.split(".")
    drop = level - 1 if is_package else level
    base = parts[: len(parts) - drop] if drop else parts
    return ".".join([*base, name] if name else base)


def layout_of(shown: Mapping[str, str], settings: Settings, searched: Sequence[str] = ()) -> Layout:
    """All files under the project's root.

    `shown` holds, by their real paths, files under the names they were given; `searched` the folders whose files are
    all among them, so that the root isn't walked twice.
    """
    root = os.path.realpath(settings.root)
    real = dict(shown)
    if os.path.isdir(root) and root not in {os.path.realpath(folder) for folder in searched}:
        real = {**discover([settings.root], settings).real, **shown}
    names: Dict[str, str] = {}
    for full in sorted(real):
        name = _name(full[len(root) + 1 :] if full.startswith(root + os.sep) else os.path.relpath(full, root))
        while name in names:
            name += "_"
        names[name] = real[full]
    return Layout(names)


def _name(relative: str) -> str:
    parts = os.path.splitext(relative)[0].replace("\\", "/").split("/")
    while parts and parts[0] in ("..", "src"):
        parts.pop(0)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)
