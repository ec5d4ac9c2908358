"""Functions of the project that need no arguments and return a Cell: `resnet18()`. Found in the source,
called in children."""

from __future__ import annotations

import ast
import re
from typing import Iterator, List, Set, Tuple

from graphlint.verify.targets import Catalogue

INPUTS = [
    [{"k": "tensor", "dtype": "float32", "shape": [1, 3, 64, 64]}],
    [{"k": "tensor", "dtype": "float32", "shape": [1, 3, 224, 224]}],
    [{"k": "tensor", "dtype": "float32", "shape": [2, 3, 224, 224]}],
    [{"k": "tensor", "dtype": "float32", "shape": [1, 3, 256, 256]}],
    [{"k": "tensor", "dtype": "float32", "shape": [2, 3, 299, 299]}],
    [{"k": "tensor", "dtype": "float32", "shape": [1, 3, 32, 32]}],
    [{"k": "tensor", "dtype": "float32", "shape": [2, 1, 32, 32]}],
    [{"k": "tensor", "dtype": "int32", "shape": [2, 16], "high": 10}],
    [{"k": "tensor", "dtype": "float32", "shape": [2, 16]}],
]
_SMALL = re.compile(r"tiny|nano|atto|pico|femto|small|mini|_xxs|_xs|_s\b|b0|lite|_025|_050|x0_")


def find(catalogue: Catalogue, files: Set[str]) -> Iterator[Tuple[str, List[str]]]:
    """Per file that defines wanted Cells, its factories, those with small names first."""
    for path in sorted(files):
        try:
            with open(path, encoding="utf-8-sig") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            continue
        names = [
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and _makes_cell(node, catalogue)
        ]
        if names:
            yield path, sorted(names, key=_size)


def _size(name: str) -> Tuple[int, int, str]:
    numbers = [int(number) for number in re.findall(r"\d+", name)]
    return (0 if _SMALL.search(name) else 1, sum(numbers[:2]), name)


def _makes_cell(node: ast.FunctionDef, catalogue: Catalogue) -> bool:
    arguments = node.args
    if node.name.startswith("_"):
        return False
    if len(arguments.posonlyargs) + len(arguments.args) > len(arguments.defaults):
        return False
    if any(default is None for default in arguments.kw_defaults):
        return False
    if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(node)):
        return False
    if node.returns is not None:
        name = _last(node.returns)
        return bool(name) and (name in ("Cell",) or catalogue.is_cell(name))
    if any("register" in _last(item) for item in node.decorator_list):
        return True
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = _last(inner.func)
            if name[:1].isupper() and catalogue.is_cell(name):
                return True
    return False


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value).rpartition(".")[2]
    return node.id if isinstance(node, ast.Name) else ""
