"""The MindSpore version that a project declares in its own files; nothing that is installed is looked at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from graphlint.toml import read_toml, subtable

_REQUIREMENT = re.compile(
    r"^\s*mindspore(?:[-_](?:ascend|gpu|cpu|dev))?(?![\w.-])\s*(?:\[[^\]]*\])?\s*\(?\s*(?P<bounds>[^;#)]*)",
    re.IGNORECASE,
)
_BOUND = re.compile(r"(===?|~=|>=?|\^|<=?|!=)\s*v?(\d+(?:\.\d+)*)")
_LOWER = ("==", "===", "~=", ">=", ">", "^")


class Declared(NamedTuple):
    """A declared dependency: the file, the requirement as written, the lowest version that it admits."""

    path: Path
    requirement: str
    version: str


def lower_bound(requirement: str) -> Optional[str]:
    """`"mindspore>=2.6,<2.8"` gives `"2.6"`; None for another package or where no lower bound is given."""
    match = _REQUIREMENT.match(requirement)
    if match is None:
        return None
    bounds = [
        version.rstrip(".*") for operator, version in _BOUND.findall(match["bounds"]) if operator in _LOWER
    ]
    return max(bounds, key=lambda version: [int(part) for part in version.split(".")], default=None)


def declared_lower_bound(root: Path) -> Optional[Declared]:
    """The first lower bound that pyproject.toml, requirements*.txt or setup.cfg under `root` declare."""
    for path, requirement in _requirements(root):
        version = lower_bound(requirement)
        if version is not None:
            return Declared(path, " ".join(requirement.split("#")[0].split(";")[0].split()), version)
    return None


def _requirements(root: Path) -> Iterator[Tuple[Path, str]]:
    pyproject = root / "pyproject.toml"
    if pyproject.is_file():
        for requirement in _of_pyproject(pyproject):
            yield pyproject, requirement
    plain = [
        *sorted(root.glob("requirements*.txt")),
        *sorted(root.glob("requirements/*.txt")),
        root / "setup.cfg",
    ]
    for path in plain:
        if path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                yield (
                    path,
                    line.split("=", 1)[1] if line.startswith("install_requires") and "=" in line else line,
                )


def _of_pyproject(path: Path) -> Iterator[str]:
    tables = read_toml(path)
    groups: List[Any] = [subtable(tables, "project").get("dependencies")]
    groups += subtable(tables, "project", "optional-dependencies").values()
    groups += subtable(tables, "dependency-groups").values()
    for group in groups:
        if isinstance(group, list):
            yield from (requirement for requirement in group if isinstance(requirement, str))
    poetry = subtable(tables, "tool", "poetry", "dependencies")
    for name, bounds in poetry.items():
        version = bounds.get("version", "") if isinstance(bounds, dict) else bounds
        if isinstance(version, str):
            yield f"{name}{version if version[:1] in '=~>^<!' else '==' + version}"
