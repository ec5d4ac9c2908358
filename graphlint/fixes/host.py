"""Rewrites of what Python computes otherwise than the graph (GL50x, GL51x, GL53x): constants, texts, NumPy
and math.
"""

from __future__ import annotations

import ast
import math
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, need, one_line, pure, stores
from graphlint.graph_code import values as v

_BIG = 2**63


@fixes("GL510", "GL516")
def python_number(found: Any, ctx: Any) -> Optional[Fix]:
    """The number that Python computes is written in the place of the arithmetic."""
    node, draft = found.node, Draft(ctx)
    value = ctx.value(node)
    const = value.const
    need(value.known and not value.shape_derived and _literal_only(node, ctx))
    if isinstance(const, int) and not -_BIG <= const < _BIG:
        need(abs(const) < 10**38)
        draft.replace(node, repr(float(const)))
        return draft.fix(UNSAFE, "a float holds some 7 digits in the graph")
    need(isinstance(const, (bool, int, str)) or (isinstance(const, float) and math.isfinite(const)))
    text = repr(const)
    draft.replace(
        node, f"({text})" if text.startswith("-") and isinstance(draft.parent(node), ast.BinOp) else text
    )
    return draft.fix(SAFE)


def _literal_only(node: ast.AST, ctx: Any) -> bool:
    """True where an expression is made of literals and of local names that hold some on every path."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            parent = Draft(ctx).parent(inner)
            if isinstance(parent, ast.Call) and parent.func is inner:
                if inner.id not in ("int", "float", "bool", "abs", "round", "min", "max", "pow", "str"):
                    return False
                continue
            bound = list(stores(ctx.node, inner.id))
            if not bound or any(isinstance(b, ast.arg) for b in bound) or not ctx.value(inner).known:
                return False
            if ctx.value(inner).shape_derived:
                return False
        elif isinstance(inner, (ast.Attribute, ast.Subscript)):
            return False
    return True


@fixes("GL511", "GL513")
def format_instead(found: Any, ctx: Any) -> Optional[Fix]:
    """An f-string becomes `'…'.format(…)`, which the graph computes as Python does."""
    node, draft = found.node, Draft(ctx)
    need(isinstance(node, ast.JoinedStr))
    pieces: List[str] = []
    given: List[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pieces.append(str(part.value).replace("{", "{{").replace("}", "}}"))
            continue
        need(isinstance(part, ast.FormattedValue))
        value = ctx.value(part.value)
        need(value.kind in (v.NUMBER, v.STR, v.NONE, v.TUPLE, v.LIST) and not value.runtime)
        spec = ""
        if part.format_spec is not None:
            need(all(isinstance(s, ast.Constant) for s in part.format_spec.values))
            spec = ":" + "".join(s.value for s in part.format_spec.values)
        conversion = f"!{chr(part.conversion)}" if part.conversion > 0 else ""
        pieces.append("{" + conversion + spec + "}")
        given.append(ast.unparse(part.value))
    draft.replace(node, f"{_quoted(''.join(pieces), draft.text(node))}.format({', '.join(given)})")
    return draft.fix(SAFE)


def _quoted(text: str, like: str) -> str:
    """A string literal with the quotes that another one has."""
    written = repr(text)
    quote = like.lstrip("rRfF")[:1]
    if quote == '"' and '"' not in text and "\\" not in text and written[0] == "'":
        return f'"{text}"' if text.isprintable() else written
    return written


@fixes("GL512")
def compare_number(found: Any, ctx: Any) -> Optional[Fix]:
    """`f"{n}" == "2"` becomes `n == 2`."""
    node, draft = found.node, Draft(ctx)
    compare = draft.parent(node)
    need(
        isinstance(compare, ast.Compare)
        and len(compare.ops) == 1
        and isinstance(compare.ops[0], (ast.Eq, ast.NotEq))
    )
    other = compare.comparators[0] if compare.left is node else compare.left
    need(
        isinstance(other, ast.Constant)
        and isinstance(other.value, str)
        and str(_int(other.value)) == other.value
    )
    need(len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue))
    piece = node.values[0]
    need(
        piece.format_spec is None
        and piece.conversion in (-1, 115)
        and ctx.value(piece.value).kind == v.NUMBER
    )
    draft.replace(node, ast.unparse(piece.value))
    draft.replace(other, str(_int(other.value)))
    return draft.fix(SAFE)


def _int(text: str) -> Optional[int]:
    try:
        return int(text)
    except ValueError:
        return None


@fixes("GL507")
def hasattr_true(found: Any, ctx: Any) -> Optional[Fix]:
    """`hasattr(x, "asnumpy")` of a Tensor is True."""
    draft, node = Draft(ctx), found.node
    value = ctx.value(node.args[0])
    need(pure(node.args[0]) and value.kind in (v.TENSOR, v.NUMBER))
    draft.replace(node, "True")
    return draft.fix(
        UNSAFE,
        f"assumes that {ast.unparse(node.args[0])} is always a {value.kind}",
    )


@fixes("GL508")
def identity(found: Any, ctx: Any) -> Optional[Fix]:
    """`is` between Enum members becomes `==`; between two names of one object, True."""
    draft, node = Draft(ctx), found.node
    need(isinstance(node, ast.Compare) and len(node.ops) == 1)
    left, right = node.left, node.comparators[0]
    a, b = ctx.value(left), ctx.value(right)
    negated = isinstance(node.ops[0], ast.IsNot)
    if b.origin == "enum":
        _, _, line, start = draft.source.span(left)
        end_line, end, _, _ = draft.source.span(right)
        text = draft.source.segment(line, start, end_line, end)
        need(text.split() == (["is", "not"] if negated else ["is"]))
        draft.cut(
            line, start, end_line, end, text.replace("is not" if negated else "is", "!=" if negated else "==")
        )
        return draft.fix(SAFE)
    need(pure(left) and pure(right))
    answer = str(not negated)
    if isinstance(left, (ast.Name, ast.Attribute)) and draft.text(left) == draft.text(right):
        draft.replace(node, answer)
        return draft.fix(SAFE)
    need(a.ref is not None and a.ref is b.ref and a.sure and b.sure)
    need(isinstance(left, ast.Name) and isinstance(right, ast.Name) and _linked(left.id, right.id, draft))
    draft.replace(node, answer)
    return draft.fix(SAFE)


def _linked(one: str, other: str, draft: Draft) -> bool:
    """True where one of the names is bound once, to the other, which is bound no later."""
    for a, b in ((one, other), (other, one)):
        bound = list(stores(draft.ctx.node, a))
        link = draft.parent(bound[0]) if len(bound) == 1 else None
        if not (isinstance(link, ast.Assign) and isinstance(link.value, ast.Name) and link.value.id == b):
            continue
        if all(getattr(s, "lineno", 0) <= link.lineno for s in stores(draft.ctx.node, b)):
            return True
    return False


_MATH = {
    n: n
    for n in [
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "asin",
        "acos",
        "atan",
        "floor",
        "ceil",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "erf",
    ]
}
_MATH["fabs"] = "abs"
_NUMPY = {**_MATH, **{n: n for n in ("abs", "maximum", "minimum", "square", "argsort", "sign")}}
_NUMPY.update(absolute="abs", power="pow", arcsin="asin", arccos="acos", arctan="atan")


@fixes("GL502")
def operator_instead(found: Any, ctx: Any) -> Optional[Fix]:
    """`math.sqrt(t)` of a Tensor becomes `ops.sqrt(t)`."""
    node, draft = found.node, Draft(ctx)
    callee = ctx.callee(node)
    need(callee.startswith("math.") and callee[5:] in _MATH and len(node.args) == 1 and not node.keywords)
    need(ctx.value(node.args[0]).kind == v.TENSOR)
    draft.replace(node.func, f"{draft.api('mindspore.ops')}.{_MATH[callee[5:]]}")
    return draft.fix(UNSAFE, "the result is a Tensor of the argument's dtype instead of a Python float")


@fixes("GL501")
def numpy_round_trip(found: Any, ctx: Any) -> Optional[Fix]:
    """`Tensor(np.exp(x.asnumpy()))` becomes `ops.exp(x)`."""
    node, draft = found.node, Draft(ctx)
    call = draft.parent(node)
    need(isinstance(call, ast.Call) and node in call.args and not call.keywords)
    callee = ctx.callee(call)
    need(callee.startswith("numpy.") and callee[6:] in _NUMPY)
    outer = draft.parent(call)
    need(isinstance(outer, ast.Call) and outer.args == [call] and not outer.keywords)
    need(ctx.callee(outer) in ("mindspore.Tensor", "mindspore.tensor", "mindspore.Tensor.from_numpy"))
    given = []
    for arg in call.args:
        host = (
            isinstance(arg, ast.Call)
            and isinstance(arg.func, ast.Attribute)
            and arg.func.attr in ("asnumpy", "numpy")
        )
        need(host or isinstance(arg, ast.Constant))
        given.append(one_line(draft.text(arg.func.value if host else arg)))
    draft.replace(outer, f"{draft.api('mindspore.ops')}.{_NUMPY[callee[6:]]}({', '.join(given)})")
    return draft.fix(UNSAFE, "the operator keeps the Tensor's dtype; gradients pass through it")


@fixes("GL503")
def numpy_constant(found: Any, ctx: Any) -> Optional[Fix]:
    """`Tensor.from_numpy(np.ones(2, np.float32))` becomes `ops.ones(2, ms.float32)`."""
    node, draft = found.node, Draft(ctx)
    need(len(node.args) == 1 and isinstance(node.args[0], ast.Call))
    made = node.args[0]
    name = ctx.callee(made)
    need(name in ("numpy.ones", "numpy.zeros") and made.args)
    dtype = (
        made.args[1]
        if len(made.args) > 1
        else next((k.value for k in made.keywords if k.arg == "dtype"), None)
    )
    full = ctx.module.dotted(dtype) if dtype is not None else "numpy.float64"
    kinds = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
    need(full is not None and full.startswith("numpy.") and full[6:] in kinds)
    ops, kind = draft.api("mindspore.ops"), draft.api(f"mindspore.{full[6:]}")
    draft.replace(node, f"{ops}.{name[6:]}({one_line(draft.text(made.args[0]))}, {kind})")
    return draft.fix(SAFE)


@fixes("GL504")
def stack_instead(found: Any, ctx: Any) -> Optional[Fix]:
    """`Tensor([a, b])` over Tensors becomes `ops.stack([a, b])`."""
    node, draft = found.node, Draft(ctx)
    given = node.args[0]
    need(
        len(node.args) == 1 and not node.keywords and isinstance(given, (ast.List, ast.Tuple)) and given.elts
    )
    need(all(ctx.value(e).kind == v.TENSOR for e in given.elts))
    draft.replace(node.func, f"{draft.api('mindspore.ops')}.stack")
    return draft.fix(UNSAFE, "assumes that all parts have one dtype and one shape")


@fixes("GL505")
def stack_and_index(found: Any, ctx: Any) -> Optional[Fix]:
    """`branches[i]` with a Tensor for i becomes `ops.stack(branches)[i]`."""
    node, draft = found.node, Draft(ctx)
    base = ctx.value(node.value)
    need(base.kind in v.SEQUENCES and base.items and all(i.kind == v.TENSOR for i in base.items))
    draft.replace(node.value, f"{draft.api('mindspore.ops')}.stack({one_line(draft.text(node.value))})")
    return draft.fix(UNSAFE, "assumes that all items have one dtype and one shape")


@fixes("GL533")
def default_of_max(found: Any, ctx: Any) -> Optional[Fix]:
    """`max(s, default=d)` becomes `max(s) if s else d`."""
    node, draft = found.node, Draft(ctx)
    name = ctx.callee(node)[9:]
    need(name in ("max", "min") and len(node.args) == 1 and [k.arg for k in node.keywords] == ["default"])
    given, default = node.args[0], draft.text(node.keywords[0].value)
    need(pure(given) and ctx.value(given).kind in v.SEQUENCES)
    if isinstance(given, (ast.List, ast.Tuple)) and not given.elts:
        draft.replace(node, default if isinstance(node.keywords[0].value, ast.Constant) else f"({default})")
    else:
        text = draft.text(given)
        draft.replace(node, f"({name}({text}) if len({text}) > 0 else {default})")
    return draft.fix(SAFE)


@fixes("GL534")
def plain_read(found: Any, ctx: Any) -> Optional[Fix]:
    """`globals()["NAME"]` becomes `NAME`; `next` over a list becomes its items in turn."""
    node, draft = found.node, Draft(ctx)
    if isinstance(node, ast.Call) and ctx.callee(node) == "builtins.globals":
        item = draft.parent(node)
        need(
            isinstance(item, ast.Subscript)
            and isinstance(item.slice, ast.Constant)
            and isinstance(item.ctx, ast.Load)
        )
        name = item.slice.value
        need(isinstance(name, str) and name in ctx.module.order and not draft.shadowed(name))
        draft.replace(item, name)
        return draft.fix(SAFE)
    return _index_in_turn(node, draft, ctx)


def _index_in_turn(stmt: Any, draft: Draft, ctx: Any) -> Optional[Fix]:
    """`it = iter(s)` and the calls of `next(it)` in a row after it: `it = s`, `it[0]`, `it[1]`."""
    need(
        isinstance(stmt, ast.Assign)
        and isinstance(stmt.targets[0], ast.Name)
        and isinstance(stmt.value, ast.Call)
    )
    name, call = stmt.targets[0].id, stmt.value
    need(len(call.args) == 1 and len(list(stores(ctx.node, name))) == 1)
    need(ctx.value(call.args[0]).kind in v.SEQUENCES)
    block = draft.block_of(stmt)
    uses = [
        n
        for n in ast.walk(ctx.node)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    uses.sort(key=lambda n: (n.lineno, n.col_offset))
    for number, use in enumerate(uses):
        around = draft.parent(use)
        need(isinstance(around, ast.Call) and ctx.callee(around) == "builtins.next" and len(around.args) == 1)
        need(block is not None and draft.statement(use) in block)
        draft.replace(around, f"{name}[{number}]")
    draft.replace(call, draft.text(call.args[0]))
    return draft.fix(SAFE)
