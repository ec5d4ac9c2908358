"""The parent's side of building without an entry: literal calls of the class in the project, then the
child's search."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, Dict, Generator, List, Optional, Tuple

from graphlint.verify.targets import Catalogue, Target
from graphlint.verify.tries import Outcome, Try, in_stage

_SECONDS = 10.0


def guess(
    job: Dict[str, Any], target: Target, catalogue: Catalogue, timeout: float
) -> Generator[Try, Outcome, Tuple[Optional[Dict[str, Any]], str]]:
    """(the entry for a job, the rung) or (None, why nothing was found)."""
    calls = call_sites(catalogue).get(target.name, []) if target.is_cell else []
    attempt = {
        **job,
        "kind": "guess",
        "mode": "pynative",
        "entry": {},
        "call_sites": calls,
        "seconds": _SECONDS,
    }
    outcome = yield Try(attempt, max(timeout, 3 * _SECONDS))
    recipe = outcome.result.get("recipe")
    if recipe is not None and not outcome.death:
        return recipe, str(outcome.result.get("rung", "guess"))
    stage = outcome.error["stage"] if outcome.error else outcome.stage
    what = {"build": "constructor arguments", "inputs": "inputs"}.get(stage, "")
    words = outcome.why()
    return None, f"no {what} found: {words}" if what else f"{words} {in_stage(stage)}"


def call_sites(catalogue: Catalogue) -> Dict[str, List[Dict[str, Any]]]:
    """Class name → the constructor calls in the project whose arguments are all literals, the commonest
    first."""
    cached: Optional[Dict[str, List[Dict[str, Any]]]] = getattr(catalogue, "_call_sites", None)
    if cached is not None:
        return cached
    counts: Dict[str, Counter] = {}
    for path in list(catalogue.files):
        try:
            with open(path, encoding="utf-8-sig") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if (
                    name[:1].isupper()
                    and catalogue.is_cell(name)
                    and all(_literal(part) for part in _parts(node))
                ):
                    counts.setdefault(name, Counter())[ast.unparse(node)] += 1
    found = {name: [_as_call(text) for text, _ in counter.most_common(6)] for name, counter in counts.items()}
    catalogue._call_sites = found  # type: ignore[attr-defined]
    return found


def _parts(node: ast.Call) -> List[ast.expr]:
    return [*node.args, *[keyword.value for keyword in node.keywords]]


def _literal(node: ast.expr) -> bool:
    """Numbers, strings, containers of them, and names such as nn.ReLU."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_literal(item) for item in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _literal(node.operand)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id in ("nn", "ops", "ms", "mindspore", "mint")
    if isinstance(node, ast.Name):
        return node.id[:1].isupper()
    return isinstance(node, ast.Constant)


def _as_call(text: str) -> Dict[str, Any]:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return {
        "args": [{"k": "py", "expr": ast.unparse(item)} for item in node.args],
        "kwargs": {
            keyword.arg: {"k": "py", "expr": ast.unparse(keyword.value)}
            for keyword in node.keywords
            if keyword.arg
        },
    }
