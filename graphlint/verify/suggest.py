"""The entry that a Cell lacks, as far as the source tells it: names of what its constructor and construct
want."""

from __future__ import annotations

import ast
from typing import List, Optional, Sequence

from graphlint.verify.targets import FileFacts


def suggestion(facts: FileFacts, name: str) -> str:
    """Lines of TOML after `cell = …`; values are places to fill in, named in comments."""
    try:
        with open(facts.path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            built = _required(_method(node, "__init__"), skip=1)
            called = _required(_method(node, "construct"), skip=1)
            return _lines(built, called)
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return _lines([], _required(node, skip=0))
    return ""


def _lines(built: Sequence[str], called: Sequence[str]) -> str:
    lines: List[str] = []
    if built:
        lines.append("kwargs = {" + ", ".join(f"{name} = {_value(name)}" for name in built) + "}")
    lines.append("inputs = [")
    lines += [f'  "float32[2,16]",  # {name}' for name in called]
    lines.append("]")
    return "\n".join(lines)


def _value(name: str) -> str:
    """A likely value: a number, but text and flags where the name says so."""
    if name.startswith(("use_", "with_", "is_", "has_")):
        return "true"
    if "drop" in name or "rate" in name:
        return "0.0"
    return "16"


def _method(node: ast.ClassDef, name: str) -> Optional[ast.FunctionDef]:
    return next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name), None)


def _required(node: Optional[ast.FunctionDef], skip: int) -> List[str]:
    if node is None:
        return []
    positional = [*node.args.posonlyargs, *node.args.args]
    positional = positional[: len(positional) - len(node.args.defaults)][skip:]
    keyword = [
        argument for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None
    ]
    return [argument.arg for argument in [*positional, *keyword]]
