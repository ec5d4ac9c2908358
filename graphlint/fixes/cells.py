"""Rewrites of Cells and Parameters made where the graph can't see them (GL36x)."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, bound_names, names_in, need, one_line
from graphlint.fixes.members import add_to_init, assignments, attribute_free, init_of, is_self

_MADE_ONCE = "it is then made once and kept from call to call, in PyNative too"


@fixes("GL360", "GL361", "GL362")
def made_in_init(found: Any, ctx: Any) -> Optional[Fix]:
    """The Cell or Parameter is made in `__init__` and read as an attribute."""
    return move_to_init(found.node, ctx, _MADE_ONCE)


@fixes("GL701")
def initializer_in_init(found: Any, ctx: Any) -> Optional[Fix]:
    """A Tensor from `initializer` is made in `__init__`."""
    need(ctx.callee(found.node).endswith(".initializer"))
    return move_to_init(found.node, ctx, _MADE_ONCE)


def move_to_init(call: Any, ctx: Any, note: str) -> Optional[Fix]:
    """Puts the call into `__init__` under a new attribute; its arguments may read no local name."""
    draft = Draft(ctx)
    need(
        isinstance(call, ast.Call)
        and ctx.trace.info.owner is not None
        and not ctx.trace.info.owner.module is not ctx.module
    )
    local = bound_names(ctx.node) - {"self"}
    need(not names_in(call) & local)
    need(all(init_of(ctx) is not None and any(True for _ in assignments(ctx.trace.info.owner, n.attr))
             for n in ast.walk(call) if isinstance(n, ast.Attribute) and is_self(n, n.attr)))  # fmt: skip
    parent: Optional[ast.AST] = draft.parent(call)
    stmt = draft.statement(call)
    around = parent
    while around is not None and around is not ctx.node:
        need(not isinstance(around, (ast.For, ast.While, ast.comprehension, ast.Lambda, ast.FunctionDef)))
        around = draft.parent(around)
    wanted = _wanted(call, stmt, draft)
    attr = attribute_free(draft, *wanted)
    if isinstance(stmt, ast.Assign) and stmt.value is call and isinstance(stmt.targets[0], ast.Name):
        attr = stmt.targets[0].id
        if _attribute_used(draft, attr):
            attr = attribute_free(draft, f"{attr}_", f"own_{attr}")
    add_to_init(draft, f"self.{attr} = {one_line(draft.text(call))}")
    draft.replace(call, f"self.{attr}")
    return draft.fix(UNSAFE, note)


def _attribute_used(draft: Draft, name: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(draft.tree)) or any(
        isinstance(n, ast.FunctionDef) and n.name == name for n in ast.walk(draft.tree)
    )


def _wanted(call: ast.Call, stmt: ast.stmt, draft: Draft) -> List[str]:
    name = draft.text(call.func).rsplit(".", 1)[-1]
    return [name.lower(), f"own_{name.lower()}"]


@fixes("GL363", "GL365")
def registered_container(found: Any, ctx: Any) -> Optional[Fix]:
    """A plain list of Cells becomes an `nn.CellList`, a dict an `nn.CellDict`."""
    draft = Draft(ctx)
    stmt = found.node if isinstance(found.node, ast.stmt) else draft.statement(found.node)
    need(isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is not None)
    value = stmt.value  # type: ignore[union-attr]
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else stmt.target  # type: ignore[union-attr]
    need(isinstance(target, ast.Attribute) and is_self(target, target.attr))
    if isinstance(value, ast.Dict):
        keys = [k.value for k in value.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        need(len(keys) == len(value.keys) and all(k.isidentifier() for k in keys))
        need(all(isinstance(e, ast.Call) for e in value.values) and not set(keys) & _TAKEN)
        kind = "CellDict"
    else:
        need(isinstance(value, (ast.List, ast.Tuple, ast.ListComp)))
        items = [value.elt] if isinstance(value, ast.ListComp) else value.elts
        need(items and all(isinstance(e, ast.Call) for e in items))
        kind = "CellList"
    nn = draft.api("mindspore.nn")
    line, column, end_line, end = draft.source.span(value)
    need(not isinstance(value, ast.Tuple) or draft.text(value).startswith("("))
    draft.insert(line, column, f"{nn}.{kind}(")
    draft.insert(end_line, end, ")")
    return draft.fix(UNSAFE, "the Parameters are then trained, and show in checkpoints and optimizers")


_TAKEN = frozenset(["keys", "values", "items", "update", "clear", "pop"])


@fixes("GL364")
def reversed_slice(found: Any, ctx: Any) -> Optional[Fix]:
    """`reversed(self.blocks)` becomes `self.blocks[::-1]`."""
    draft, node = Draft(ctx), found.node
    need(isinstance(node, ast.Call) and len(node.args) == 1)
    given = node.args[0]
    need(isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)))
    draft.replace(node, f"{draft.text(given)}[::-1]")
    return draft.fix(SAFE)
