"""Changes of lists and dicts that the graph loses or makes twice: what it holds beside what Python holds.

A list of constants is one object of the compiled graph (lax): `extend`, `insert`, `pop` and `reverse` change it in each
run, so that the second run starts from what the first one left. `sort`, `remove`, `setdefault` and `popitem` change
nothing at all.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.container_methods import container_method
from graphlint.graph_code.frames import Args
from graphlint.graph_code.values import NOCONST, Value, same_const, to_python

REPEATED = frozenset(["extend", "insert", "pop", "reverse"])
LOST = frozenset(["sort", "remove", "setdefault", "popitem"])


@dataclass(eq=False)
class Shadow:
    """What the graph holds in its second run; `held` is None where it tried to take from an empty list."""

    node: ast.AST
    frame: Any
    method: str
    held: Optional[Value]
    length_kept: bool = False


def shadow_after(
    node: ast.Call, frame: Any, old: Value, name: str, args: Args, strict: bool
) -> Optional[Shadow]:
    """What the graph holds after a method that it loses or repeats; None where it does what Python does."""
    before: Optional[Shadow] = old.shadow
    if old.ref is not None and old.ref.root.origin != "local":
        return None
    if name in LOST and not strict and old.kind in (v.LIST, v.DICT):
        if old.kind == v.DICT and to_python(old) is NOCONST:
            return before
        return before or Shadow(node, frame, name, old.but(shadow=None))
    if strict or old.kind != v.LIST or old.items is None or name not in REPEATED:
        return None if before is None else _followed(before, name, args)
    if before is not None:
        return _followed(before, name, args)
    if not old.items or to_python(old) is not NOCONST:
        if old.ref is not None and old.ref.literal:
            again = _run(_run(old, name, args), name, args)
            return Shadow(node, frame, name, again, length_kept=True)
    return None


def _run(held: Optional[Value], name: str, args: Args) -> Optional[Value]:
    if held is None or name == "pop" and not held.items:
        return None
    return container_method(held.but(shadow=None), name, args)[0]


def _followed(before: Shadow, name: str, args: Args) -> Shadow:
    held = before.held if name in LOST else _run(before.held, name, args)
    return Shadow(before.node, before.frame, before.method, held, before.length_kept)


def popped_differs(old: Value, new: Value, args: Args) -> bool:
    """True where `old.pop(…)`, which leaves `new`, takes something else in the second run."""
    held = old.shadow.held if old.shadow is not None else new.but(shadow=None)
    if held is None or not held.items:
        return True
    return not _same(container_method(old, "pop", args)[1], container_method(held, "pop", args)[1])


def item_differs(value: Value, key: Any) -> bool:
    """True where `value[key]` is something else in the graph, or isn't there."""
    shadow: Shadow = value.shadow
    if shadow.held is None:
        return True
    if value.kind == v.DICT:
        mine, its = _entry(value, key), _entry(shadow.held, key)
    else:
        mine, its = _item(value, key, len(value.items or ())), _item(shadow.held, key, len(value.items or ()))
    return mine is not None and (its is None or not _same(mine, its))


def _item(value: Value, key: Any, length: int) -> Optional[Value]:
    if value.items is None or not isinstance(key, int):
        return None
    place = key + length if key < 0 else key
    return value.items[place] if 0 <= place < len(value.items) else None


def _entry(value: Value, key: Any) -> Optional[Value]:
    if value.keys is None or value.items is None or key not in value.keys:
        return None
    return value.items[value.keys.index(key)]


def length_differs(value: Value) -> bool:
    shadow: Shadow = value.shadow
    if shadow.length_kept or shadow.held is None:
        return shadow.held is None
    if value.items is None or shadow.held.items is None:
        return shadow.method != "sort"
    return len(value.items) != len(shadow.held.items)


def content_differs(value: Value, whole: bool = True) -> bool:
    """True where what iterating sees differs; with `whole` also where there are more or fewer items."""
    shadow: Shadow = value.shadow
    if shadow.held is None:
        return True
    mine, its = value.items, shadow.held.items
    if mine is None or its is None:
        return True
    if value.kind == v.DICT and value.keys != shadow.held.keys:
        return True
    if (whole or not shadow.length_kept) and len(mine) != len(its) or len(its) < len(mine):
        return True
    return any(not _same(a, b) for a, b in zip(mine, its))


def folded_differs(function: Any, value: Value) -> bool:
    """True where `sum`, `max` or `min` over the items differs."""
    shadow: Shadow = value.shadow
    if shadow.held is None or value.items is None or shadow.held.items is None:
        return True
    if len(shadow.held.items) < len(value.items):
        return True
    mine = to_python(value)
    its = to_python(shadow.held.but(items=shadow.held.items[: len(value.items)]))
    if NOCONST in (mine, its):
        return content_differs(value, whole=False)
    try:
        return bool(function(mine) != function(its))
    except (TypeError, ValueError):
        return False


def _same(a: Value, b: Value) -> bool:
    if a is b or a.ref is not None and a.ref is b.ref and a.items is b.items:
        return True
    x, y = to_python(a), to_python(b)
    if x is NOCONST or y is NOCONST:
        return False
    return same_const(x, y)


def unchanged(old: Value, new: Value) -> bool:
    """True where a method changed nothing that could be seen."""
    if old.kind != new.kind or old.items is None or new.items is None or old.keys != new.keys:
        return False
    return len(old.items) == len(new.items) and all(_same(a, b) for a, b in zip(old.items, new.items))
