"""Python's arithmetic beside the graph's: its scalars are float32 and int64 (measured on 2.0 to 2.10)."""

from __future__ import annotations

import ast
import math
import operator
import struct
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type

from graphlint.graph_code.values import NOCONST, NUMBER, SEQUENCES, STR, Value, number

_OPS: Dict[Type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
COMPARE: Dict[Type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
FLOAT32_MAX = 3.4028234663852886e38
MAX_BITS = 4096


def float32(value: float) -> float:
    """The nearest float32, as a Python float; infinities where it doesn't fit."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def int64(value: int) -> int:
    """The value wrapped to 64 bits, two's complement."""
    return (value + 2**63) % 2**64 - 2**63


def graph_number(value: Any) -> Any:
    """What a Python constant becomes in the graph."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float32(value)
    if isinstance(value, int):
        return int64(value)
    return value


def _too_big(op: ast.operator, a: Any, b: Any) -> bool:
    if isinstance(op, ast.Pow) and isinstance(a, int) and isinstance(b, int):
        return b > 0 and abs(a).bit_length() * b > MAX_BITS
    if isinstance(op, ast.LShift):
        return not isinstance(b, int) or b > MAX_BITS
    return False


def _compute(op: ast.operator, a: Any, b: Any) -> Any:
    if _too_big(op, a, b):
        return NOCONST
    try:
        return _OPS[type(op)](a, b)
    except (KeyError, ArithmeticError, ValueError, TypeError):
        return NOCONST


def _operands(a: Any, b: Any) -> Tuple[Any, Any]:
    """Both as the graph holds them: an int beside a float becomes a float32."""
    a, b = graph_number(a), graph_number(b)
    if isinstance(a, float) and isinstance(b, int):
        b = float32(float(b))
    elif isinstance(b, float) and isinstance(a, int):
        a = float32(float(a))
    return a, b


def _graph_compute(op: ast.operator, a: Any, b: Any) -> Any:
    """`a op b` as the graph's constant folding does it."""
    if isinstance(a, int) and isinstance(b, int):
        return _graph_ints(op, a, b)
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and isinstance(a, float) and isinstance(b, float):
        return _graph_floor(op, a, b)
    found = _compute(op, a, b)
    if found is NOCONST and isinstance(op, ast.Pow) and isinstance(a, float) and isinstance(b, float):
        return math.inf
    return NOCONST if found is NOCONST else graph_number(found)


def _graph_ints(op: ast.operator, a: int, b: int) -> Any:
    if isinstance(op, ast.Pow):
        if b < 0:
            return 1 if abs(a) == 1 else 0
        return _graph_power(a, b)
    found = _compute(op, a, b)
    return NOCONST if found is NOCONST else graph_number(found)


def _graph_power(a: int, b: int) -> int:
    """Powers of ints go through a double: exact up to 2 ** 53, the smallest int64 where they don't fit."""
    try:
        found = float(a) ** b
    except OverflowError:
        return INT64_MIN
    return int(found) if abs(found) < 2.0**63 else INT64_MIN


def _graph_floor(op: ast.operator, a: float, b: float) -> Any:
    """`//` and `%` go by the rounded quotient: `1.0 // 0.1` is 10."""
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return NOCONST
    quotient = float(math.floor(float32(a / b)))
    return quotient if isinstance(op, ast.FloorDiv) else float32(a - float32(b * quotient))


def refusal(op: ast.AST, left: Value, right: Value) -> str:
    """What the compiler's folding refuses of an operation on constants: `overflow`, `bool`, or nothing."""
    a, b = left.graph_const, right.graph_const
    if isinstance(op, ast.USub):
        return "bool" if isinstance(a, bool) else ""
    if isinstance(op, ast.BitXor) and isinstance(a, bool) and isinstance(b, bool):
        return "bool"
    ints = isinstance(a, int) and isinstance(b, int)
    if not ints or not isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.LShift)):
        return ""
    if isinstance(op, ast.LShift) and b > MAX_BITS:
        return "overflow"
    found = _compute(op, a, b)
    return "overflow" if isinstance(found, int) and not INT64_MIN <= found <= INT64_MAX else ""


def fold(op: ast.operator, left: Value, right: Value) -> Value:
    """The number that `left op right` is, both ways where both are known."""
    shape = left.shape_derived or right.shape_derived
    dynamic = left.dynamic or right.dynamic
    variable = left.variable or right.variable
    if not (left.known and right.known):
        return number(
            pytype=_result_type(op, left.dtype, right.dtype),
            variable=variable,
            shape_derived=shape,
            dynamic=dynamic,
            sure=left.sure and right.sure,
        )
    const = _compute(op, left.const, right.const)
    if const is NOCONST or not isinstance(const, (bool, int, float)):
        return number(variable=variable, shape_derived=shape, dynamic=dynamic)
    graph = _graph_compute(op, *_operands(left.graph_const, right.graph_const))
    return _both(const, graph, shape_derived=shape, dynamic=dynamic, variable=variable)


def _result_type(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Div):
        return "float"
    if "float" in (left, right):
        return "float"
    if left is None or right is None:
        return None
    return "int"


def _both(const: Any, graph: Any, **more: Any) -> Value:
    if graph is NOCONST or _equal(const, graph):
        return number(const, **more)
    return number(const, graph=graph, **more)


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or (a != a and b != b))


def compare(op: ast.cmpop, left: Value, right: Value) -> Value:
    """The bool that comparing two numbers or strings gives, both ways where both are known."""
    variable = left.variable or right.variable
    shape = left.shape_derived or right.shape_derived
    dynamic = left.dynamic or right.dynamic
    if not (left.known and right.known) or type(op) not in COMPARE:
        return number(pytype="bool", variable=variable, shape_derived=shape, dynamic=dynamic)
    try:
        const = COMPARE[type(op)](left.const, right.const)
        graph = COMPARE[type(op)](*_operands(left.graph_const, right.graph_const))
    except TypeError:
        return number(pytype="bool", variable=variable)
    return _both(bool(const), bool(graph), shape_derived=shape, dynamic=dynamic, variable=variable)


def convert(pytype: str, value: Value) -> Value:
    """`int(v)`, `float(v)` or `bool(v)` of a number or a constant string."""
    more = {"shape_derived": value.shape_derived, "dynamic": value.dynamic, "variable": value.variable}
    if not value.known:
        return number(pytype=pytype, **more)
    kind: Callable[[Any], Any] = {"int": int, "float": float, "bool": bool}[pytype]
    try:
        const = kind(value.const)
        held = value.graph_const if value.origin == "math" else graph_number(value.graph_const)
        graph = graph_number(kind(held))
    except (ValueError, TypeError, OverflowError):
        return number(pytype=pytype, **more)
    return _both(const, graph, **more)


def negate(value: Value) -> Value:
    if not value.known or not isinstance(value.const, (int, float)):
        return value
    return _both(-value.const, graph_number(-value.graph_const), shape_derived=value.shape_derived)


def call(function: Callable[..., Any], args: Iterable[Value], **more: Any) -> Optional[Value]:
    """A function of Python's on constants, both on Python's and on the graph's; None where it raises.

    Literals come to it as they are written, what the graph has computed comes as float32.
    """
    given = list(args)
    try:
        const = function(*(a.const for a in given))
        graph = function(*(a.graph_const for a in given))
    except Exception:  # whatever Python raises here it raises in PyNative too
        return None
    if not isinstance(const, (bool, int, float)):
        return None
    return _both(const, graph, **more)


def scalar_call(function: Callable[..., Any], args: Iterable[Value], **more: Any) -> Optional[Value]:
    """The same, where literals too come to it as float32 and what it gives is a float32."""
    given = list(args)
    found = call(function, given, **more)
    other = call(function, [number(graph_number(a.graph_const)) for a in given])
    if found is None or other is None:
        return found
    return _both(found.const, graph_number(other.const), **more)


def builtin(name: str, args: List[Value]) -> Optional[Value]:
    """`sum`, `pow`, `abs`, `round`, `min` and `max` of constants; None for anything else."""
    if name == "sum" and args and args[0].items is not None and args[0].kind in SEQUENCES:
        total = args[1] if len(args) > 1 else number(0)
        for item in args[0].items:
            if not (total.kind == item.kind == NUMBER and total.known and item.known):
                return None
            total = fold(ast.Add(), total, item)
        return total
    if any(a.kind != NUMBER or not a.known for a in args):
        return None
    if name == "pow" and len(args) > 1:
        found = fold(ast.Pow(), args[0], args[1])
        if len(args) == 2:
            return found
        real = call(pow, args)
        return real if real is None else _both(real.const, found.graph_const)
    if name in ("abs", "round", "min", "max"):
        rounded = name == "round" and len(args) == 1 and args[0].dtype == "float"
        functions: Dict[str, Callable[..., Any]] = {"abs": abs, "round": round, "min": min, "max": max}
        return call(functions[name], args, origin="rounded" if rounded else "")
    return None


def differs(value: Value) -> bool:
    """True where the graph's constant leads elsewhere than Python's: another bool, another int, another text.

    Floats that differ by rounding alone don't: they are compared with a tolerance wherever they arrive.
    """
    if value.kind not in (NUMBER, STR) or value.graph is NOCONST:
        return False
    if isinstance(value.const, float) and isinstance(value.graph, float):
        if math.isnan(value.const) or math.isnan(value.graph) or math.isinf(value.const):
            return False
        return abs(value.const - value.graph) > 1e-3 * max(1.0, abs(value.const))
    return bool(value.const != value.graph)
