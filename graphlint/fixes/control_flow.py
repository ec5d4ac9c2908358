"""Rewrites of branches and loops over data (GL20x): paths made alike, names bound before, recursion as a
loop.
"""

from __future__ import annotations

import ast
from typing import Any, List, Optional, Tuple

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, atom, loads, names_in, need, one_line, stores
from graphlint.graph_code import values as v

_RANKS = {
    "bool": 0, "int8": 1, "uint8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6,
    "float64": 7,
}  # fmt: skip


@fixes("GL201")
def cast_alike(found: Any, ctx: Any) -> Optional[Fix]:
    """Of two branches that leave Tensors of unlike dtype, the narrower one is cast."""
    draft = Draft(ctx)
    event: Any = next(
        (e for e in ctx.trace.events if e.kind == "unlike_branches" and e.node is found.node), None
    )
    need(event is not None)
    name = event.data["name"]
    sides = _sides(found.node, name, draft)
    dtypes = [ctx.value(s).dtype for s in sides]
    need(
        all(ctx.value(s).kind == v.TENSOR and d in _RANKS for s, d in zip(sides, dtypes))
        and len(set(dtypes)) == 2
    )
    narrow, wide = sorted(zip(dtypes, range(2)), key=lambda pair: _RANKS[pair[0]])
    side = sides[narrow[1]]
    draft.replace(side, f"{atom(side, draft.text(side))}.astype({draft.api('mindspore.' + wide[0])})")
    where = f"'{name}'" if name else "the result"
    return draft.fix(UNSAFE, f"{where} is {wide[0]} on both paths, in PyNative too")


def _sides(node: Any, name: str, draft: Draft) -> List[ast.expr]:
    """The two expressions that the branches leave under a name, or return."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    need(isinstance(node, ast.If))
    if not name:
        first, second = _returned(node.body), _returned(node.orelse)
        if not node.orelse:
            block = draft.block_of(node)
            need(block is not None)
            after = block[block.index(node) + 1 :]
            need(
                len(after) == 1
                or (after and all(not isinstance(s, (ast.If, ast.For, ast.While)) for s in after[:-1]))
            )
            second = _returned(after)
        need(first is not None and second is not None)
        return [first, second]  # type: ignore[list-item]
    one, other = _bound(node.body, name), _bound(node.orelse, name)
    need(one is not None and other is not None)
    return [one, other]  # type: ignore[list-item]


def _returned(body: List[ast.stmt]) -> Optional[ast.expr]:
    return body[-1].value if body and isinstance(body[-1], ast.Return) else None


def _bound(body: List[ast.stmt], name: str) -> Optional[ast.expr]:
    """What the last assignment of a block, in the block itself, gives a name."""
    if sum(1 for s in body for _ in stores(s, name)) != 1:
        return None
    for stmt in body:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        if isinstance(stmt, ast.Assign) and isinstance(target, ast.Name) and target.id == name:
            return stmt.value
    return None


@fixes("GL201")
def texts_to_numbers(found: Any, ctx: Any) -> Optional[Fix]:
    """A name that only ever holds texts, and is only compared with texts, holds numbers instead."""
    draft = Draft(ctx)
    event: Any = next(
        (e for e in ctx.trace.events if e.kind == "unlike_branches" and e.node is found.node), None
    )
    need(event is not None and event.data["name"])
    name = event.data["name"]
    places: List[Any] = []
    for store in stores(ctx.node, name):
        stmt = draft.parent(store)
        need(isinstance(stmt, ast.Assign) and stmt.targets == [store] and _text(stmt.value))
        places.append(stmt.value)
    for use in loads(ctx.node, name):
        compare = draft.parent(use)
        need(isinstance(compare, ast.Compare) and compare.left is use and len(compare.ops) == 1)
        need(isinstance(compare.ops[0], (ast.Eq, ast.NotEq)) and _text(compare.comparators[0]))
        places.append(compare.comparators[0])
    known = sorted({p.value for p in places})
    for place in places:
        draft.replace(place, str(known.index(place.value)))
    return draft.fix(SAFE)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@fixes("GL202")
def bind_before(found: Any, ctx: Any) -> Optional[Fix]:
    """The name gets the value of the path that binds it before the branch, or the loop, too."""
    draft, node, name = Draft(ctx), found.node, str(found.values["name"])
    need(isinstance(node, (ast.If, ast.For, ast.While)))
    need(not (isinstance(node, ast.If) and draft.text(node).startswith("elif")))
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
        start = _first_of(node.iter)
        need(start is not None)
        draft.before(node, f"{name} = {start}")
        return draft.fix(
            UNSAFE, f"where the loop has no round, Python raises an error at '{name}'; it is {start} then"
        )
    block = (
        node.body if any(True for s in node.body for _ in stores(s, name)) else getattr(node, "orelse", [])
    )
    value = _bound(block, name)
    need(value is not None and _can_move(value, node, block, draft, name))
    draft.before(node, f"{name} = {one_line(draft.text(value))}")
    return draft.fix(
        UNSAFE, f"where that path isn't taken, Python raises an error at '{name}'; it has this value then"
    )


def _first_of(iterable: ast.expr) -> Optional[str]:
    """The first number of a `range` over constants."""
    if not (
        isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"
    ):
        return None
    if len(iterable.args) == 1:
        return "0"
    first = iterable.args[0] if iterable.args else None
    return str(first.value) if isinstance(first, ast.Constant) and isinstance(first.value, int) else None


def _can_move(value: ast.expr, node: Any, block: List[ast.stmt], draft: Draft, name: str) -> bool:
    """True where an expression has no effect and reads nothing that the branch or loop binds."""
    if not _harmless(value) or name in names_in(value):
        return False
    inside = {
        getattr(s, "id", "")
        for part in ast.walk(node)
        for s in [part]
        if isinstance(s, ast.Name) and not isinstance(s.ctx, ast.Load)
    }
    return not names_in(value) & inside and bool(block)


def _harmless(value: ast.expr) -> bool:
    """True for expressions whose calls are methods of plain names, or of a module, that compute a Tensor."""
    for inner in ast.walk(value):
        if isinstance(inner, (ast.Yield, ast.NamedExpr, ast.Await)):
            return False
        if isinstance(inner, ast.Call):
            func = inner.func
            if not isinstance(func, ast.Attribute) or func.attr.endswith("_") or func.attr in _CHANGING:
                return False
            if isinstance(func.value, ast.Name) and func.value.id == "self":
                return False
    return True


_CHANGING = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "clear",
        "remove",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "assign",
        "add",
        "set_data",
    ]
)


@fixes("GL203")
def start_as_tensor(found: Any, ctx: Any) -> Optional[Fix]:
    """A number that a loop turns into a Tensor starts as one."""
    draft, name = Draft(ctx), str(found.values["name"])
    loop = found.node if isinstance(found.node, (ast.While, ast.For)) else None
    need(loop is not None)
    block = draft.block_of(loop)
    need(block is not None)
    start = [
        s for s in block[: block.index(loop)] if isinstance(s, ast.Assign) and _bound([s], name) is not None
    ]
    need(start and isinstance(start[-1].value, ast.Constant) and type(start[-1].value.value) in (int, float))
    writes = [s for s in loop.body if any(True for _ in stores(s, name))]  # type: ignore[union-attr]
    need(len(writes) == 1)
    term = _added(writes[0], name)
    need(term is not None and ctx.value(term).kind == v.TENSOR and _harmless(term))
    changed = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}  # type: ignore[arg-type]
    need(not names_in(term) & changed)
    later = block[block.index(start[-1]) : block.index(loop)]
    need(not any(True for s in later[1:] for n in [name, *names_in(term)] for _ in stores(s, n)))
    need(not any(True for s in later[1:] for _ in loads(s, name)))
    constant = start[-1].value
    ops, text = draft.api("mindspore.ops"), one_line(draft.text(term))
    new = (
        f"{ops}.zeros_like({text})"
        if constant.value == 0  # type: ignore[attr-defined]
        else f"{ops}.full_like({text}, {draft.text(constant)})"
    )
    draft.replace(constant, new)
    return draft.fix(UNSAFE, f"where the loop has no round, '{name}' is a Tensor and no number")


def _added(stmt: ast.stmt, name: str) -> Optional[ast.expr]:
    """What a statement adds to, or takes from, a name."""
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.op, (ast.Add, ast.Sub)):
        return stmt.value
    if (
        isinstance(stmt, ast.Assign)
        and isinstance(stmt.value, ast.BinOp)
        and isinstance(stmt.value.op, (ast.Add, ast.Sub))
    ):
        left = stmt.value.left
        if isinstance(left, ast.Name) and left.id == name and name not in names_in(stmt.value.right):
            return stmt.value.right
    return None


@fixes("GL205")
def range_of_int(found: Any, ctx: Any) -> Optional[Fix]:
    """`range(n)` over a Tensor becomes `range(int(n))`."""
    draft, node = Draft(ctx), found.node
    need("int" not in ctx.module.order and not draft.shadowed("int"))
    for arg in node.args:
        if ctx.value(arg).kind == v.TENSOR:
            draft.replace(arg, f"int({draft.text(arg)})")
    return draft.fix(SAFE) if draft.edits else None


@fixes("GL207")
def recursion_to_loop(found: Any, ctx: Any) -> Optional[Fix]:
    """A function that ends in a call of itself becomes a `while` loop."""
    draft = Draft(ctx)
    for node in ast.walk(draft.tree):
        if isinstance(node, ast.FunctionDef) and node.name == str(found.values["name"]).rsplit(".", 1)[-1]:
            parts = _tail_call(node)
            if parts is not None:
                return _as_loop(node, *parts, draft)
    return None


def _tail_call(node: ast.FunctionDef) -> Optional[Tuple[ast.If, ast.Return, ast.Return, bool]]:
    """The test, the last result and the call of itself; True where the test tells when to go on."""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) not in (1, 2) or not isinstance(body[0], ast.If) or len(body[0].body) != 1:
        return None
    rest = body[1:] or body[0].orelse
    if len(rest) != 1 or (len(body) == 2 and body[0].orelse):
        return None
    first, second = body[0].body[0], rest[0]
    if not (isinstance(first, ast.Return) and isinstance(second, ast.Return)):
        return None
    for one, other, goes_on in ((first, second, True), (second, first, False)):
        if _calls_itself(one.value, node) and not _calls_itself(other.value, node):
            return body[0], other, one, goes_on
    return None


def _calls_itself(value: Optional[ast.expr], node: ast.FunctionDef) -> bool:
    func = value.func if isinstance(value, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr == node.name and isinstance(func.value, ast.Name) and func.value.id == "self"
    return isinstance(func, ast.Name) and func.id == node.name


def _as_loop(
    node: ast.FunctionDef, test: ast.If, last: ast.Return, again: ast.Return, goes_on: bool, draft: Draft
) -> Optional[Fix]:
    call: Any = again.value
    method = isinstance(call.func, ast.Attribute)
    names = [a.arg for a in node.args.args][1 if method else 0 :]
    spec = node.args
    need(names and len(call.args) == len(names) and not call.keywords and not node.decorator_list)
    need(not (spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs))
    need(not any(isinstance(a, ast.Starred) for a in call.args))
    need(sum(1 for n in ast.walk(draft.tree) if isinstance(n, ast.FunctionDef) and n.name == node.name) == 1)
    need(
        not any(
            isinstance(n, ast.Call) and _calls_itself(n, node) for p in (test.test, last) for n in ast.walk(p)
        )
    )
    changed = [
        (n, one_line(draft.text(a)))
        for n, a in zip(names, call.args)
        if not (isinstance(a, ast.Name) and a.id == n)
    ]
    need(changed)
    condition = one_line(draft.text(test.test))
    indent, step = draft.indent(test), draft.unit()
    left, right = ", ".join(n for n, _ in changed), ", ".join(t for _, t in changed)
    head = f"while {condition}:" if goes_on else f"while not ({condition}):"
    result = f"return {one_line(draft.text(last.value))}" if last.value is not None else "return None"
    _, _, end_line, end = draft.source.span(node.body[-1])
    line, column = draft.start(test)
    need("#" not in draft.source.segment(line, column, end_line, end))
    draft.cut(line, column, end_line, end, f"{head}\n{indent}{step}{left} = {right}\n{indent}{result}")
    return draft.fix(SAFE)
