"""Small questions about one finding and what a run showed: does the error lie in it, was it reached, can
this device tell?"""

from __future__ import annotations

import ast
import linecache
import os
import re
from functools import lru_cache
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from graphlint.finding import Effect, Finding
from graphlint.verify.compile_errors import Refusal, same_file

_KERNEL = re.compile(
    r"Kernel select failed|Unsupported op|kernel .*unregistered|is not registered|[Uu]nregistered.*kernel"
    r"|not supported on CPU|does not support on CPU|not support.* device.*CPU"
)
_INPLACE_CALL = re.compile(r"\.\w*[a-z]_\(")
_LAYER = re.compile(r"self\.(\w+)\s*=")


def lacks_kernel(message: str) -> bool:
    """Does the message say that this device has no kernel for an operator?"""
    return bool(_KERNEL.search(message))


def statement_range(path: str, line: int, end_line: int) -> Tuple[int, int]:
    """The lines of the compound statement whose header holds the line; the range itself where there is
    none."""
    tree = _tree(os.path.realpath(path))
    best = (line, end_line)
    if tree is not None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With)) and node.lineno == line:
                best = (line, max(end_line, node.end_lineno or line))
    return best


@lru_cache(maxsize=64)
def _tree(path: str) -> Optional[ast.Module]:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            return ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return None


def blames(refusal: Refusal, finding: Finding) -> bool:
    """Do the lines of the refusal fall in the finding, or (a parse error in a helper) on its chain?"""
    line, end = finding.line, finding.end_line
    if refusal.join:
        line, end = statement_range(finding.path, line, end)
        return any(frame.meets(finding.path, line, end) for frame in refusal.frames + refusal.culprits)
    for frame in refusal.culprits:
        wide = frame.end - frame.line > 3 and finding.end_line - finding.line < frame.end - frame.line
        if frame.meets(finding.path, line, end) and not (wide and not refusal.parse and frame.line != line):
            return True
    if finding.via and refusal.culprits and finding.effect is Effect.COMPILE_ERROR:
        last = refusal.culprits[-1]
        return any(
            same_file(last.path, path) and last.line <= where <= last.end for path, where in finding.via
        )
    return False


def fits(effect: Effect, outcome: str) -> bool:
    """Is the outcome the one that the finding foretells?"""
    return {
        "error": effect in (Effect.COMPILE_ERROR, Effect.PLATFORM),
        "broken": effect is Effect.COMPILE_ERROR,
        "diverges": effect in (Effect.DIVERGES, Effect.SIDE_EFFECT),
        "printed-differs": effect in (Effect.SIDE_EFFECT, Effect.DIVERGES),
    }.get(outcome, False)


def bears(finding: Finding, error: Mapping[str, Any]) -> bool:
    """Does a PyNative exception come from the finding's own lines, or name what the finding's lines name?"""
    for path, line, _name in error.get("frames", []):
        if same_file(str(path), finding.path) and finding.line <= int(line) <= finding.end_line:
            return True
    quoted = set(re.findall(r"'([A-Za-z_]\w*)'", str(error.get("message", ""))))
    source = " ".join(lines_of(finding))
    return any(
        re.search(rf"\b{re.escape(name)}\b", source)
        for name in quoted
        if len(name) > 2 and name not in ("self", "Tensor")
    )


def about_api(finding: Finding, error: Mapping[str, Any]) -> bool:
    """Is it a finding whose truth PyNative's own exception can show: porting, or an API that isn't there?"""
    if finding.effect is Effect.PORTING:
        return True
    missing = ("AttributeError", "NameError", "ImportError", "ModuleNotFoundError", "TypeError")
    return finding.code.startswith(("GL6", "GL7")) and error.get("type") in missing


def lines_of(finding: Finding) -> List[str]:
    return [linecache.getline(finding.path, number) for number in range(finding.line, finding.end_line + 1)]


def needs_ascend(finding: Finding) -> bool:
    """In-place methods and augmented assignment of the GL4 family: on a CPU PyNative doesn't write in
    place."""
    if not finding.code.startswith("GL4") or finding.effect is Effect.COMPILE_ERROR:
        return False
    text = "".join(lines_of(finding))
    if _INPLACE_CALL.search(text):
        return True
    return bool(re.search(r"[-+*/@%&|^]=(?!=)", text))


def about_bias(finding: Finding) -> bool:
    return "bias" in finding.name


def bias_of(finding: Finding, facts: Mapping[str, Any]) -> Optional[bool]:
    """Whether the built layer of a has_bias finding has one; None for other findings or where the layer
    isn't known."""
    if not about_bias(finding):
        return None
    for place, has in facts.get("made", {}).items():
        path, _, line = place.rpartition(":")
        if finding.line <= int(line) <= finding.end_line and same_file(path, finding.path):
            return bool(has)
    layers: Dict[str, Any] = facts.get("bias", {})
    match = _LAYER.search(lines_of(finding)[0] if finding.line else "")
    if match is not None and match.group(1) in layers:
        return bool(layers[match.group(1)])
    return None


def node_meets(node: Mapping[str, Any], finding: Finding) -> bool:
    """Does a fallback node stand on the finding's lines?"""
    if "file" not in node:
        return False
    inside = node["line"] <= finding.end_line and finding.line <= node["end_line"]
    return inside and (
        same_file(node["file"], finding.path)
        or os.path.basename(node["file"]).endswith("_" + os.path.basename(finding.path))
    )


def reached(finding: Finding, lines: Mapping[str, List[int]]) -> bool:
    """Did PyNative execute a line of the finding? A line without code of its own counts with its function."""
    real = os.path.realpath(finding.path)
    seen = {line for path, found in lines.items() if os.path.realpath(path) == real for line in found}
    if any(finding.line <= line <= finding.end_line for line in seen):
        return True
    code = _code_lines(real)
    if any(finding.line <= line <= finding.end_line for line in code):
        return _is_definition(real, finding) and any(line > finding.line for line in seen)
    tree = _tree(real)
    if tree is None:
        return True
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = range(node.lineno, (node.end_lineno or 0) + 1)
            if finding.line in inside and any(line in inside for line in seen):
                return True
    return False


def _is_definition(path: str, finding: Finding) -> bool:
    """The finding stands on a def or decorator: its code line runs when the module is imported."""
    tree = _tree(path)
    if tree is None:
        return False
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *[item.lineno for item in node.decorator_list]])
            header = node.body[0].lineno - 1 if node.body[0].lineno > node.lineno else node.lineno
            if first <= finding.line <= header:
                return True
    return False


@lru_cache(maxsize=64)
def _code_lines(path: str) -> frozenset:
    try:
        with open(path, encoding="utf-8-sig") as stream:
            top = compile(stream.read(), path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    lines: Set[int] = set()
    stack = [top]
    while stack:
        code = stack.pop()
        positions = code.co_lines() if hasattr(code, "co_lines") else ()
        lines.update(line for _, _, line in positions if line)
        stack.extend(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    return frozenset(lines)
