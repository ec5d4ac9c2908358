"""Which conditions the parser decides by itself, so that it never parses the branch that isn't taken."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.graph_code.frames import Frame, local_names


def pruned_before_parsing(test: ast.expr, frame: Frame, interpreter: Any) -> bool:
    """True where the condition is made of attributes of self, names from outside and constants alone."""
    if isinstance(test, ast.Constant):
        return True
    if isinstance(test, ast.UnaryOp):
        return pruned_before_parsing(test.operand, frame, interpreter)
    if isinstance(test, ast.BoolOp):
        return all(pruned_before_parsing(part, frame, interpreter) for part in test.values)
    if isinstance(test, ast.Compare):
        return all(pruned_before_parsing(part, frame, interpreter) for part in [test.left, *test.comparators])
    if isinstance(test, ast.Name):
        return test.id not in local_names(frame.info.node)
    if isinstance(test, ast.Attribute):
        return isinstance(test.value, ast.Name) and test.value.id == "self"
    return False
