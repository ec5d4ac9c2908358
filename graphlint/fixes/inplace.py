"""Rewrites of tensors written in place (GL40x): the write is made explicit under the name that is read."""

from __future__ import annotations

import ast
from typing import Any, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.containers import alias_back, written_name
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, atom, is_docstring, need, one_line, stores
from graphlint.graph_code import values as v

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}


@fixes("GL401")
def write_back(found: Any, ctx: Any) -> Optional[Fix]:
    """After a write through another name or a view, the first name is bound to what it would hold."""
    draft = Draft(ctx)
    stmt, through = draft.statement(found.node), str(found.values["through"])
    name = written_name(stmt)
    need(name is not None and through.isidentifier())
    bound = list(stores(ctx.node, name))
    link = draft.parent(bound[0]) if len(bound) == 1 else None
    need(isinstance(link, ast.Assign) and link.lineno < stmt.lineno)
    if isinstance(link.value, ast.Name):  # type: ignore[union-attr]
        return alias_back(name, through, stmt, draft, ctx)  # type: ignore[arg-type]
    block = draft.block_of(link)
    need(block is not None and stmt in block)
    between = [s for s in stores(ctx.node, through) if link.lineno <= getattr(s, "lineno", 0) <= stmt.lineno]  # type: ignore[union-attr]
    need(not between)
    back = _source_of_view(link.value, name, through)  # type: ignore[union-attr,arg-type]
    if back.endswith(f".reshape({through}.shape)"):
        shape = draft.fresh("shape", "old_shape")
        draft.before(stmt, f"{shape} = {through}.shape")
        back = back.replace(f"{through}.shape", shape)
    draft.after(stmt, back)
    return draft.fix(UNSAFE, f"assumes that '{name}' is a view of '{through}' and not a copy")


def _source_of_view(value: Any, name: str, through: str) -> str:
    """The statement that puts a written view back into what it looks at."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id == through:
        index = value.slice
        need(isinstance(index, ast.Constant) and isinstance(index.value, int))
        return f"{through}[{ast.unparse(index)}] = {name}"
    need(isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.keywords)
    base, method, args = value.func.value, value.func.attr, value.args
    need(isinstance(base, ast.Name) and base.id == through)
    if method in ("reshape", "view", "flatten", "ravel"):
        return f"{through} = {name}.reshape({through}.shape)"
    axes = _constants(args)
    if method in ("transpose", "permute") and sorted(axes) == list(range(len(axes))):
        back = [axes.index(i) for i in range(len(axes))]
        return f"{through} = {name}.{method}({', '.join(map(str, back))})"
    need(method in ("swapaxes", "swapdims") and len(axes) == 2)
    return f"{through} = {name}.{method}({axes[0]}, {axes[1]})"


def _constants(args: Any) -> list:
    items = args[0].elts if len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)) else args
    need(items and all(isinstance(a, ast.Constant) and isinstance(a.value, int) for a in items))
    return [a.value for a in items]  # type: ignore[union-attr]


@fixes("GL402", "GL403")
def augmented(found: Any, ctx: Any) -> Optional[Fix]:
    """`y += v` becomes `y = y + v`."""
    draft, stmt = Draft(ctx), draft_statement(found, ctx)
    need(
        isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name) and type(stmt.op) in _OPERATORS
    )
    text, target = draft.text(stmt.value), draft.text(stmt.target)
    value = (
        text
        if isinstance(stmt.value, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript))
        else f"({text})"
    )
    draft.replace(stmt, f"{target} = {target} {_OPERATORS[type(stmt.op)]} {value}")
    if found.rule.code == "GL403":
        return draft.fix(SAFE)
    return draft.fix(UNSAFE, "others that hold the tensor keep the old data, as PyNative on a CPU has it")


def draft_statement(found: Any, ctx: Any) -> Any:
    return Draft(ctx).statement(found.node)


@fixes("GL404")
def copy_input(found: Any, ctx: Any) -> Optional[Fix]:
    """The caller's tensor is copied before it is written."""
    draft = Draft(ctx)
    name = written_name(draft.statement(found.node))
    path = str(found.values["path"])
    need(found.values["owner"] == "the caller" and name is not None and path.isidentifier())
    need(len(ctx.trace.chain) == 1 and path in {a.arg for a in ctx.node.args.args})
    first = next((s for s in ctx.node.body if not is_docstring(s)), None)
    need(first is not None)
    draft.before(first, f"{path} = {path}.copy()")
    return draft.fix(UNSAFE, "the caller's tensor then stays as it was, in PyNative too")


_PLAIN = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "masked_fill",
        "clamp",
        "clip",
        "floor_divide",
        "exp",
        "log",
        "sqrt",
        "relu",
        "sigmoid",
        "tanh",
        "erfinv",
        "floor",
        "neg",
        "abs",
        "pow",
        "remainder",
        "masked_scatter",
        "sign",
        "addmm",
    ]
)


@fixes("GL405")
def inplace_method(found: Any, ctx: Any) -> Optional[Fix]:
    """`y.zero_()` becomes `y = ops.zeros_like(y)`, `y.add_(v)` becomes `y = y.add(v)`."""
    call, draft = found.node, Draft(ctx)
    stmt = draft.statement(call)
    receiver, method = call.func.value, call.func.attr
    need(isinstance(receiver, ast.Name) and ctx.value(receiver).kind == v.TENSOR)
    assigned = (
        isinstance(stmt, ast.Assign)
        and stmt.value is call
        and len(stmt.targets) == 1
        and (isinstance(stmt.targets[0], ast.Name) and stmt.targets[0].id == receiver.id)
    )
    statement = isinstance(stmt, ast.Expr) and stmt.value is call
    need(statement or assigned or (isinstance(stmt, ast.Return) and stmt.value is call))
    name = receiver.id
    if method == "zero_":
        need(not call.args and not call.keywords)
        new = f"{draft.api('mindspore.ops')}.zeros_like({name})"
    else:
        need(method[:-1] in _PLAIN)
        given = [one_line(draft.text(a)) for a in call.args]
        given += [f"{k.arg}={one_line(draft.text(k.value))}" for k in call.keywords if k.arg]
        new = f"{atom(receiver, name)}.{method[:-1]}({', '.join(given)})"
    draft.replace(call, f"{name} = {new}" if statement else new)
    return draft.fix(UNSAFE, "other names for the tensor then keep the old data")
