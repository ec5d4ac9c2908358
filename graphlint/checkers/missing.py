"""Whether a name of MindSpore's is missing in the target version, and what is known of it elsewhere."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Iterator, NamedTuple, Optional, Set, Tuple

from graphlint.checkers.base import ModuleContext
from graphlint.checkers.uses import Use, uses
from graphlint.knowledge import api, api_mentions, api_versions
from graphlint.knowledge.torch_names import TorchName, find
from graphlint.project import Module
from graphlint.target import version_key

_GUARDS = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "NameError"})
_ASKS = ("version", "hasattr", "getattr", "is_available")


class Missing(NamedTuple):
    """`name` is the shortest part of the use that is missing; at most one of the others tells of it."""

    use: Use
    name: str
    newer: str = ""
    removed: str = ""
    torch: Optional[TorchName] = None


def missing(ctx: ModuleContext) -> Tuple[Missing, ...]:
    """The module's uses of MindSpore names that the target version lacks, found once for all rules."""
    return ctx.once(_missing)


def _missing(ctx: ModuleContext) -> Tuple[Missing, ...]:
    return tuple(_of_module(ctx))


def _of_module(ctx: ModuleContext) -> Iterator[Missing]:
    version = ctx.target.mindspore
    imported: Set[str] = set()
    for use in uses(ctx).names:
        if use.owner != "mindspore" or isinstance(use.node, ast.Name):
            continue
        name = lacking(version, use.name)
        if not name or guarded(use.node, ctx.module):
            continue
        newer, removed = elsewhere(version, name)
        torch = None if newer or removed else find(use.name)
        if isinstance(use.node, ast.stmt):
            imported.add(name)
        elif name in imported and torch is None:
            continue
        yield Missing(use, name, newer, removed, torch or (None if newer or removed else find(name)))


@lru_cache(maxsize=8192)
def lacking(version: str, name: str) -> str:
    """The shortest beginning of a dotted name that the version lacks; empty where it has all of it."""
    table = api(version)
    if table.has(name):
        return ""
    parts = name.split(".")
    for count in range(2, len(parts)):
        head = ".".join(parts[:count])
        if not table.has(head):
            return head
    return name


@lru_cache(maxsize=None)
def elsewhere(version: str, name: str) -> Tuple[str, str]:
    """(the first later version that has the name, the last earlier one), empty where none has."""
    here = version_key(version)[:2]
    last = name.rpartition(".")[2]
    having = [v for v in api_versions() if api_mentions(v, last) and api(v).has(name)]
    newer = next((v for v in having if version_key(v)[:2] > here), "")
    older = [v for v in having if version_key(v)[:2] < here]
    return ("", older[-1]) if older else (newer, "")


def guarded(node: ast.AST, module: Module, word: str = "hasattr") -> bool:
    """True where the code asks: `try … except ImportError`, a test of the version, a test naming `word`."""
    child, above = node, module.parents.get(node)
    while above is not None:
        if isinstance(above, ast.Try):
            if any(_catches(handler) for handler in above.handlers):
                return True
        elif isinstance(above, (ast.If, ast.IfExp)) and child is not above.test:
            text = ast.unparse(above.test).lower()
            if any(asked in text for asked in (*_ASKS, word.lower())):
                return True
        child, above = above, module.parents.get(above)
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in _GUARDS for n in ast.walk(handler.type))
