"""Which conditions the parser decides by itself, so that it never parses the branch that isn't taken.

Measured on 2.7.0 and 2.10.0, lax and strict: an unsupported statement in the other branch is refused unless the
condition is of this grammar.
"""

from __future__ import annotations

import ast
from typing import Optional, Union

from graphlint.graph_code.frames import Frame, Instance, local_names
from graphlint.graph_code.numbers import COMPARE
from graphlint.graph_code.values import CELL, DTYPE, NUMBER, STR, UNKNOWN, Value
from graphlint.project import Assigned, ClassInfo, External, ModuleRef

EITHER = "either"
"""The parser decides the condition by a value that isn't known here: one of the branches is never parsed."""

Decided = Union[bool, str, None]
_ORDER = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def decided_by_parser(test: ast.expr, frame: Frame) -> Decided:
    """What the parser makes of the condition: True, False, EITHER, or None where it parses both branches.

    Its grammar: `self.flag` that holds a bool, `Class.FLAG` and `module.FLAG` too, a local name that was bound to a
    literal, comparisons of a `self` attribute with a constant or another attribute, `is None`, and `not`, `and`, `or`
    of these. Literals, bare globals, `in`, chains, calls and items don't count.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided_by_parser(test.operand, frame)
        return (not inner) if isinstance(inner, bool) else inner
    if isinstance(test, ast.BoolOp):
        return _bool_op(test, frame)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compare(test, frame)
    if isinstance(test, ast.Attribute):
        value = _attribute(test, frame)
        if value is None:
            return None
        if value.kind == NUMBER and value.dtype in ("bool", None) and not value.known and not value.variable:
            return EITHER
        if value.kind == UNKNOWN:
            return EITHER
        return value.const if value.kind == NUMBER and isinstance(value.const, bool) else None
    if isinstance(test, ast.Name):
        found = _literal(test.id, frame)
        return bool(found.value) if found is not None else None
    return None


def _bool_op(test: ast.BoolOp, frame: Frame) -> Decided:
    is_and = isinstance(test.op, ast.And)
    either = False
    for part in test.values:
        found = decided_by_parser(part, frame)
        if found is None:
            return EITHER if either else None
        if found == EITHER:
            either = True
        elif found is not is_and:
            return found
    return EITHER if either else is_and


def _compare(test: ast.Compare, frame: Frame) -> Decided:
    op, right = test.ops[0], test.comparators[0]
    left = _constant(test.left, frame)
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
        if left is None:
            return None
        if left.kind == UNKNOWN:
            return EITHER
        if left.kind not in ("none", NUMBER, STR, CELL, "function", DTYPE) and not left.parameter:
            return None
        return (left.kind == "none") is isinstance(op, ast.Is)
    other = _constant(right, frame)
    if isinstance(test.left, ast.Constant) and isinstance(right, ast.Constant):
        return None
    if not isinstance(op, _ORDER) or left is None or other is None:
        return None
    if left.origin == "enum" and other.origin == "enum" and isinstance(op, (ast.Eq, ast.NotEq)):
        return (left.const == other.const) is isinstance(op, ast.Eq)
    if UNKNOWN in (left.kind, other.kind):
        return EITHER
    if left.kind not in (NUMBER, STR) or other.kind not in (NUMBER, STR):
        return None
    if not (left.known and other.known):
        return EITHER
    try:
        return bool(COMPARE[type(op)](left.const, other.const))
    except TypeError:
        return None


def _constant(node: ast.expr, frame: Frame) -> Optional[Value]:
    from graphlint.graph_code.values import from_python

    if isinstance(node, ast.Constant):
        return from_python(node.value)
    if isinstance(node, ast.Attribute):
        return _attribute(node, frame)
    if isinstance(node, ast.Name):
        found = _literal(node.id, frame)
        return from_python(found.value) if found is not None else None
    return None


def _attribute(node: ast.Attribute, frame: Frame) -> Optional[Value]:
    """The value of `self.name`, of a class attribute or of a module's variable, where that is known."""
    if not isinstance(node.value, ast.Name):
        return None
    if node.value.id == "self":
        holder = frame.self_value.target if frame.self_value is not None else None
        return frame.attribute_value(holder, node.attr) if isinstance(holder, Instance) else None
    if node.value.id in local_names(frame.info.node):
        return None
    symbol = frame.module.lookup(node.value.id)
    if isinstance(symbol, (ClassInfo, ModuleRef, External)):
        return frame.symbol_attribute(symbol, node.attr)
    if isinstance(symbol, Assigned):
        return None
    return None


def _literal(name: str, frame: Frame) -> Optional[ast.Constant]:
    """The literal that a local name was last bound to in a statement of its own."""
    where = frame.assigned_at.get(name)
    if isinstance(where, ast.Assign) and isinstance(where.value, ast.Constant) and name in (frame.env or {}):
        return where.value
    return None
