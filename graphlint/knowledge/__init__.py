"""What is known of MindSpore, per version, without importing it: loads the tables beside this file when
first asked.

`api(version)` knows names, parameters, platforms and deprecations; `compiler(version)` the graph compiler's
own lists; `graph_calls(version, level)` what calls inside graph code were measured to do. For a version that
has no table the nearest lower one answers, for anything older the oldest. README.md tells which program
makes each file.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, Dict, FrozenSet, Mapping, Optional, Tuple

from graphlint.knowledge.entries import Api, ApiEntry, CompilerTables, Deprecation, Parameter

__all__ = [
    "Api",
    "ApiEntry",
    "CompilerTables",
    "Deprecation",
    "Parameter",
    "api",
    "api_versions",
    "compiler",
    "graph_calls",
    "nearest_table",
]


def _key(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


@lru_cache(maxsize=None)
def api_versions() -> Tuple[str, ...]:
    """The versions that have tables, as `"2.7"`, oldest first."""
    found = (re.match(r"api-(\d+\.\d+)\.json$", item.name) for item in files(__name__).iterdir())
    return tuple(sorted((match.group(1) for match in found if match), key=_key))


@lru_cache(maxsize=None)
def nearest_table(version: str) -> str:
    """The newest table that isn't newer than `version` (`"2.5.1"` → `"2.0"`); the oldest for anything
    older."""
    known = api_versions()
    return max((v for v in known if _key(v) <= _key(version)), key=_key, default=known[0])


@lru_cache(maxsize=None)
def _load(name: str) -> Any:
    return json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"))


def api_mentions(table: str, word: str) -> bool:
    """Whether the word occurs in the table of that version at all, without reading the table."""
    return word in files(__name__).joinpath("api-%s.json" % table).read_text(encoding="utf-8")


@lru_cache(maxsize=None)
def _api(table: str) -> Api:
    return Api(_load("api-%s.json" % table))


def api(version: str) -> Api:
    """The public names of MindSpore `version`, and what is known of each."""
    return _api(nearest_table(version))


@lru_cache(maxsize=None)
def _compiler(version: str) -> CompilerTables:
    names = [v for v in api_versions() if files(__name__).joinpath("compiler-%s.json" % v).is_file()]
    older = [v for v in names if _key(v) <= _key(version)]
    return CompilerTables(_load("compiler-%s.json" % (older or names)[-1 if older else 0]))


def compiler(version: str) -> CompilerTables:
    """The graph compiler's own lists in MindSpore `version`."""
    return _compiler(nearest_table(version))


@lru_cache(maxsize=None)
def _graph_calls(table: str, level: str) -> Mapping[str, str]:
    loaded: Dict[str, Any] = _load("graph_calls.json")
    columns = [c for c in loaded["columns"] if c.endswith(" " + level)]
    older = [c for c in columns if _key(c) <= _key(table)]
    place = loaded["columns"].index(max(older, key=_key) if older else min(columns, key=_key))
    outcomes = {name: loaded["outcomes"][row[place]] for name, row in loaded["calls"].items()}
    return {name: outcome for name, outcome in outcomes.items() if outcome != "-"}


def graph_calls(version: str, level: str = "lax") -> Mapping[str, str]:
    """What a call inside `construct` was measured to do, by name: `Tensor.tolist`, `Cell.set_train`,
    `mindspore.set_seed`, `builtins.sorted`.

    `ok`: PyNative's result without Python; `fallback`: PyNative's result, computed by the Python interpreter;
    `output`: right, but a list, dict or dtype that leaves the graph (itself a fallback; it says nothing of
    the call); `error`: the graph refuses; `diverges`: another result, or other state on the Cell or its
    arguments; `unmeasurable`: the CPU can't tell (no kernel, or PyNative itself fails there). A name that
    is missing was not tried.
    """
    return _graph_calls(nearest_table(version), level)


@lru_cache(maxsize=None)
def forbidden_in_graph(version: str) -> FrozenSet[str]:
    """The public names that the compiler of `version` refuses by its own list
    (`mindspore.Parameter.set_data`)."""
    return api(version).forbidden_names()


def why_error(version: str, name: str, level: str = "lax") -> Optional[str]:
    """The newest compiler's first line for a call that `graph_calls` says is refused, without paths; None
    where it isn't refused."""
    if graph_calls(version, level).get(name) != "error":
        return None
    messages: Dict[str, str] = _load("graph_calls.json")["messages"]
    return messages.get(name)
