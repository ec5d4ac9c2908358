"""Attributes of a Cell: where `__init__` sets them, and new ones added there."""

from __future__ import annotations

import ast
from typing import Any, Iterator, Optional

from graphlint.fixes.draft import Draft, cell_class, need
from graphlint.project import ClassInfo


def init_of(ctx: Any) -> Optional[ast.FunctionDef]:
    """The class's own `__init__`."""
    info = cell_class(ctx).methods.get("__init__")
    return info.node if info is not None else None  # type: ignore[return-value]


def assignments(cls: ClassInfo, attr: str) -> Iterator[Any]:
    """Every statement of the class that binds `self.attr`, in any method."""
    for node in ast.walk(cls.node):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and any(
            is_self(t, attr) for t in targets
        ):
            yield node


def is_self(node: Any, attr: str) -> bool:
    """True for `self.attr`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attr
        and isinstance(node.value, ast.Name)
        and (node.value.id == "self")
    )


def assignment(ctx: Any, attr: str) -> ast.Assign:
    """The one statement of `__init__` that sets the attribute; Unfit where there are more, or none."""
    init = init_of(ctx)
    need(init is not None)
    found = [n for n in assignments(cell_class(ctx), attr) if n in list(ast.walk(init))]  # type: ignore[arg-type]
    need(len(found) == 1 and isinstance(found[0], ast.Assign) and len(found[0].targets) == 1)
    return found[0]  # type: ignore[no-any-return]


def add_to_init(draft: Draft, *lines: str) -> None:
    """Writes lines at the end of the class's `__init__`, which is made where there is none."""
    init = init_of(draft.ctx)
    if init is not None:
        last = init.body[-1]
        need(not isinstance(last, ast.Return) and draft.first_on_line(last) and last.lineno > init.lineno)
        draft.after(last, *lines, indent=draft.indent(init.body[0]))
        return
    cls = cell_class(draft.ctx)
    first = next((s for s in cls.node.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    need(first is not None and cls.node.body[0].lineno > cls.node.lineno)
    bases = [cls.module.dotted(b) for b in cls.node.bases]
    plain = bases == ["mindspore.nn.Cell"]
    step = draft.unit()
    signature, given = ("self", "") if plain else ("self, *args, **kwargs", "*args, **kwargs")
    body = [f"super().__init__({given})", *lines]
    draft.before(first, f"def __init__({signature}):", *(step + line for line in body))
    blank = draft.edits.pop()
    draft.insert(blank.line, 1, blank.text + "\n")


def attribute_free(draft: Draft, *wanted: str) -> str:
    """A name for a new attribute that nothing in the module uses."""
    return draft.fresh(*wanted, *(f"{w}_" for w in wanted))
