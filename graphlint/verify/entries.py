"""Entries: how to build a Cell and what to call it with, from pyproject.toml, graphlint_cells.py, or the
file itself.

    [tool.graphlint.verify]
    entries = [{cell = "models/resnet.py:resnet18", inputs = ["float32[1,3,224,224]"]}]

or one `[[tool.graphlint.verify.entry]]` table each. `cell` is `path.py:Name` (a path from the project's
root), `package.module: Name`, where Name is a Cell class, a factory that returns a Cell, or a function to
compile. Keys: `args`, `kwargs` (of the constructor or factory), `inputs`, `keywords` (of construct),
`train` (true or false; as it stands by default), `harvest` (false: don't verify the Cells inside).

A `graphlint_cells.py` anywhere in the project: each public function without parameters returns the Cell and
its inputs, `return resnet18(), "float32[1,3,224,224]"`.
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from graphlint.errors import ConfigError, nearest
from graphlint.verify.spec import SpecError, parse, parse_inputs

_KEYS = ("cell", "args", "kwargs", "inputs", "keywords", "train", "harvest", "name")
CELLS_FILE = "graphlint_cells.py"


@dataclass
class Entry:
    """One recipe. `recipe` is worker/recipe.py's JSON; the target is `name` in the file `path` or the
    module `module`."""

    name: str
    recipe: Dict[str, Any]
    path: str = ""
    module: str = ""
    harvest: bool = True
    origin: str = ""
    rung: str = "entry"

    @property
    def shown(self) -> str:
        return f"{self.path or self.module}:{self.name}"


@dataclass
class Entries:
    """All entries of a run, and what they say against the notation."""

    entries: List[Entry] = field(default_factory=list)

    def of(self, path: str, name: str) -> Optional[Entry]:
        """The entry that builds exactly this class or function."""
        real = os.path.realpath(path)
        for entry in self.entries:
            if entry.name == name and entry.path and os.path.realpath(entry.path) == real:
                return entry
        return None


def from_table(table: Mapping[str, Any], root: str) -> List[Entry]:
    """The entries of [tool.graphlint.verify]. Raises ConfigError for what isn't one."""
    listed = [*_list(table.get("entries"), "entries"), *_list(table.get("entry"), "entry")]
    return [_entry(item, root) for item in listed]


def _list(value: Any, key: str) -> List[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ConfigError(f"[tool.graphlint.verify] {key}: expected a list of tables")
    return value


def _entry(item: Any, root: str) -> Entry:
    if not isinstance(item, dict) or not isinstance(item.get("cell"), str):
        raise ConfigError(f'[tool.graphlint.verify]: an entry needs cell = "path.py:Name", got {item!r}')
    where = item["cell"]
    for key in item:
        if key not in _KEYS:
            hint = nearest(key, _KEYS)
            raise ConfigError(
                f"entry {where}: unknown key {key!r}" + (f"; did you mean {hint!r}?" if hint else "")
            )
    place, _, name = where.rpartition(":")
    if not place or not name:
        raise ConfigError(f'entry {where!r}: write "path.py:Name" or "package.module:Name"')
    recipe = _recipe(item, where)
    entry = Entry(name, recipe, harvest=bool(item.get("harvest", True)), origin="configuration")
    if place.endswith(".py"):
        entry.path = os.path.join(root, place)
        if not os.path.isfile(entry.path):
            raise ConfigError(f"entry {where}: there is no file {place} in {root}")
    else:
        entry.module = place
        for parts in (place.split("."),):
            for candidate in (os.path.join(root, *parts) + ".py", os.path.join(root, *parts, "__init__.py")):
                if os.path.isfile(candidate):
                    entry.path, entry.module = candidate, ""
    return entry


def _recipe(item: Mapping[str, Any], where: str) -> Dict[str, Any]:
    try:
        recipe = {
            "kind": "spec",
            "args": [parse(value) for value in item.get("args", [])],
            "kwargs": {key: parse(value) for key, value in item.get("kwargs", {}).items()},
            "inputs": parse_inputs(item.get("inputs", [])),
            "keywords": {key: parse(value) for key, value in item.get("keywords", {}).items()},
            "train": item.get("train"),
            "calls": 2,
        }
    except SpecError as error:
        raise ConfigError(f"entry {where}: {error}") from error
    except (AttributeError, TypeError) as error:
        raise ConfigError(f"entry {where}: {error}") from error
    return recipe


def from_cells_files(paths: Iterable[str]) -> List[Entry]:
    """The public functions of every graphlint_cells.py, without importing it."""
    found = []
    for path in paths:
        if os.path.basename(path) != CELLS_FILE:
            continue
        for name in _makers(path):
            recipe = {"kind": "spec", "made_by": name, "calls": 2}
            found.append(Entry(name, recipe, path=path, origin=path))
    return found


def _makers(path: str) -> List[str]:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return []
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not _needs_arguments(node)
    ]


def _needs_arguments(node: ast.FunctionDef) -> bool:
    arguments = node.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return required > 0 or any(default is None for default in arguments.kw_defaults)


def case_entry() -> Dict[str, Any]:
    """The job's entry for a file in graphlint's own case format."""
    return {"kind": "case"}


Where = Tuple[str, str]
