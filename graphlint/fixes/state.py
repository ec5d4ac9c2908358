"""Rewrites of state (GL31x, GL70x): counters and flags become Parameters, and writes to them `ops.assign`."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import UNSAFE, Draft, cell_class, loads, need, one_line, pure, stores, walk_own
from graphlint.fixes.members import assignment, assignments, init_of, is_self
from graphlint.graph_code import values as v

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult)
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
CHECKPOINT = "it becomes a Parameter, which shows in checkpoints and is a Tensor to whoever reads it"


@fixes("GL310", "GL311", "GL312", "GL313")
def attribute_to_parameter(found: Any, ctx: Any) -> Optional[Fix]:
    """A number or flag that graph code changes becomes a Parameter."""
    draft = Draft(ctx)
    written = _written_attribute(draft.statement(found.node))
    need(written is not None)
    attr = written.attr  # type: ignore[union-attr]
    cls, first = cell_class(ctx), assignment(ctx, attr)
    value = first.value
    need(isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float)))
    kind = type(value.value)  # type: ignore[attr-defined]
    named = [n for n in ast.walk(draft.tree) if isinstance(n, ast.Attribute) and n.attr == attr]
    need(attr not in cls.assigns and all(is_self(n, attr) for n in named))
    init = init_of(ctx)
    others = [a for a in assignments(cls, attr) if a is not first]
    need(all(init is None or a not in list(ast.walk(init)) for a in others))
    assign = f"{draft.api('mindspore.ops')}.assign"
    for stmt in others:
        draft.replace(stmt, f"{assign}(self.{attr}, {_next_value(stmt, f'self.{attr}', kind, draft)})")
    for read in ast.walk(cls.node):
        if is_self(read, attr) and isinstance(read.ctx, ast.Load):  # type: ignore[attr-defined]
            need(_tensor_will_do(read, kind, draft))
    draft.replace(value, _parameter(draft.text(value), kind, attr, draft))
    return draft.fix(UNSAFE, CHECKPOINT)


def _written_attribute(stmt: ast.stmt) -> Optional[ast.Attribute]:
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [getattr(stmt, "target", None)]
    target = targets[0] if len(targets) == 1 else None
    return target if isinstance(target, ast.Attribute) and is_self(target, target.attr) else None


def _parameter(text: str, kind: type, name: str, draft: Draft) -> str:
    dtype = f", {draft.api('mindspore.float32')}" if kind is float else ""
    made = f"{draft.api('mindspore.Tensor')}({text}{dtype})"
    return f'{draft.api("mindspore.Parameter")}({made}, name="{name}", requires_grad=False)'


def _next_value(stmt: Any, path: str, kind: type, draft: Draft) -> str:
    """The value that a statement writes, where it keeps the kind: a constant, or arithmetic of it with
    constants.
    """
    if isinstance(stmt, ast.AugAssign):
        need(type(stmt.op) in _OPERATORS and _stays(stmt.value, path, kind))
        return f"{path} {_OPERATORS[type(stmt.op)]} {one_line(draft.text(stmt.value))}"
    need(isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and _stays(stmt.value, path, kind))
    return one_line(draft.text(stmt.value))


def _stays(value: ast.expr, path: str, kind: type) -> bool:
    if isinstance(value, ast.Constant):
        return type(value.value) is kind or (kind is float and type(value.value) is int)
    if isinstance(value, (ast.Attribute, ast.Name)):
        return ast.unparse(value) == path
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return kind is not bool and _stays(value.operand, path, kind)
    if isinstance(value, ast.BinOp) and isinstance(value.op, _ARITHMETIC) and kind is not bool:
        return _stays(value.left, path, kind) and _stays(value.right, path, kind)
    return False


def _tensor_will_do(read: Any, kind: type, draft: Draft) -> bool:
    """True where a Tensor of one element serves as the number did: in arithmetic, a comparison or a
    condition.
    """
    parent = draft.parent(read)
    if isinstance(parent, (ast.BinOp, ast.Compare, ast.Return, ast.UnaryOp, ast.AugAssign)):
        return not (
            isinstance(parent, ast.Compare)
            and any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in parent.ops)
        )
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is read:
        return True
    return isinstance(parent, ast.Assign) and parent.value is read


@fixes("GL316")
def global_write(found: Any, ctx: Any) -> Optional[Fix]:
    """A counter of the module becomes a Parameter; a variable that is only set first becomes a local one."""
    draft, name = Draft(ctx), str(found.values["name"])
    function = ctx.node
    declared = [n for n in walk_own(function) if isinstance(n, ast.Global) and name in n.names]
    need(len(declared) == 1)
    writes: List[Any] = [draft.statement(s) for s in stores(function, name)]
    given = ctx.module.assigned.get(name, [])
    need(writes and len(given) == 1)
    if isinstance(given[0], ast.Constant) and type(given[0].value) in (int, float, bool):
        return _counter(name, given[0], writes, declared[0], draft, ctx)
    block = draft.block_of(writes[0])
    need(block is function.body and isinstance(writes[0], ast.Assign))
    reads = list(loads(function, name))
    need(all((r.lineno, r.col_offset) > (writes[0].end_lineno, 0) for r in reads))
    need(not any(True for _ in loads(writes[0].value, name)))
    _drop_name(declared[0], name, draft)
    return draft.fix(UNSAFE, f"the module's '{name}' is no longer set")


def _counter(
    name: str, first: ast.Constant, writes: List[Any], declared: ast.Global, draft: Draft, ctx: Any
) -> Optional[Fix]:
    kind = type(first.value)
    function = ctx.node
    for other in ast.walk(draft.tree):
        if isinstance(other, ast.FunctionDef) and other is not function:
            inside = any(n is function for n in ast.walk(other))
            need(inside or not any(isinstance(n, ast.Global) and name in n.names for n in ast.walk(other)))
    for read in loads(function, name):
        need(_tensor_will_do(read, kind, draft))
    assign = f"{draft.api('mindspore.ops')}.assign"
    for stmt in writes:
        draft.replace(stmt, f"{assign}({name}, {_next_value(stmt, name, kind, draft)})")
    _drop_name(declared, name, draft)
    draft.replace(first, _parameter(draft.text(first), kind, name, draft))
    return draft.fix(
        UNSAFE, f"the module's '{name}' becomes a Parameter, which is a Tensor to whoever reads it"
    )


def _drop_name(declared: ast.Global, name: str, draft: Draft) -> None:
    if len(declared.names) == 1:
        draft.remove(declared)
    else:
        draft.replace(declared, "global " + ", ".join(n for n in declared.names if n != name))


@fixes("GL315")
def parameter_attribute(found: Any, ctx: Any) -> Optional[Fix]:
    """`self.p.requires_grad = …` goes to `__init__`."""
    from graphlint.fixes.members import add_to_init

    draft = Draft(ctx)
    stmt = draft.statement(found.node)
    need(isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.value, ast.Constant))
    target = stmt.targets[0]
    need(isinstance(target, ast.Attribute) and isinstance(target.value, ast.Attribute))
    assignment(ctx, target.value.attr)
    need(is_self(target.value, target.value.attr))
    add_to_init(draft, draft.text(stmt))
    draft.remove(stmt)
    return draft.fix(UNSAFE, "it then holds from the start, also before the first call")


@fixes("GL701", "GL702")
def set_data(found: Any, ctx: Any) -> Optional[Fix]:
    """`self.p.set_data(x)` becomes `ops.assign(self.p, x)`."""
    draft = Draft(ctx)
    call = found.node if isinstance(found.node, ast.Call) else draft.parent(found.node)
    need(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute))
    need(call.func.attr in ("set_data", "assign_value") and len(call.args) == 1 and not call.keywords)  # type: ignore[union-attr]
    stmt = draft.statement(call)
    need(isinstance(stmt, ast.Expr) and stmt.value is call)
    place, value = call.func.value, call.args[0]  # type: ignore[union-attr]
    need(ctx.value(place).parameter and pure(place))
    draft.replace(call, f"{draft.api('mindspore.ops')}.assign({draft.text(place)}, {draft.text(value)})")
    old, new = ctx.value(place), ctx.value(value)
    known = old.dtype is not None and old.shape is not None and None not in old.shape
    if known and new.sure and new.dtype == old.dtype and new.shape == old.shape and new.kind == v.TENSOR:
        return draft.fix(UNSAFE, "assumes the same shape and dtype at every call")
    return draft.fix(UNSAFE, "assumes that the new value has the Parameter's shape and dtype")


@fixes("GL701")
def all_cells(found: Any, ctx: Any) -> Optional[Fix]:
    """`self.cells()` becomes the tuple of the Cells that `__init__` sets."""
    draft, node = Draft(ctx), found.node
    need(isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_self(node.func, "cells"))
    cls, init = cell_class(ctx), init_of(ctx)
    need(
        not node.args
        and init is not None
        and [cls.module.dotted(b) for b in cls.node.bases] == ["mindspore.nn.Cell"]
    )
    names = []
    for stmt in init.body:  # type: ignore[union-attr]
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and "super" in draft.text(stmt):
            continue
        need(
            isinstance(stmt, ast.Assign)
            and len(stmt.targets) == 1
            and isinstance(stmt.value, (ast.Call, ast.Constant))
        )
        target = stmt.targets[0]  # type: ignore[union-attr]
        need(isinstance(target, ast.Attribute) and is_self(target, target.attr))
        if isinstance(stmt.value, ast.Constant):  # type: ignore[union-attr]
            continue
        made = cls.module.dotted(stmt.value.func) or ""  # type: ignore[union-attr]
        need(made.startswith(("mindspore.nn.", "mindspore.Tensor", "mindspore.Parameter", "mindspore.ops.")))
        if made.startswith("mindspore.nn."):
            names.append(f"self.{target.attr}")
    need(names)
    draft.replace(node, "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")")
    return draft.fix(UNSAFE, "assumes that no Cell is added from outside")


_TOLD = ("debug", "info", "warning", "warn", "error", "critical")


@fixes("GL701")
def log_to_print(found: Any, ctx: Any) -> Optional[Fix]:
    """`log.warning("text")` of MindSpore becomes `print("text")`."""
    draft, call = Draft(ctx), found.node
    need(isinstance(call, ast.Call) and ctx.callee(call).startswith("mindspore.log."))
    return print_instead(call, draft, ctx)


def print_instead(call: ast.Call, draft: Draft, ctx: Any) -> Optional[Fix]:
    """A logging call of one constant text as a `print`."""
    stmt = draft.statement(call)
    need(isinstance(call.func, ast.Attribute) and call.func.attr in _TOLD and isinstance(stmt, ast.Expr))
    need(len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Constant))
    need(isinstance(call.args[0].value, str) and "print" not in ctx.module.order)  # type: ignore[attr-defined]
    draft.replace(call.func, "print")
    return draft.fix(UNSAFE, "the text goes to standard output at every run, and no longer to the log")
