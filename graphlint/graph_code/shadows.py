"""Changes of lists and dicts that the graph loses or makes twice: what it holds beside what Python holds.

A list of constants is one object of the compiled graph (lax): `extend`, `insert`, `pop` and `reverse`
change it in each run, so that the second run starts from what the first one left. `sort`, `remove`,
`setdefault` and `popitem` change nothing at all.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.container_methods import container_method
from graphlint.graph_code.frames import Args
from graphlint.graph_code.values import NOCONST, Value, same_const, to_python

REPEATED = frozenset(["extend", "insert", "pop", "reverse"])
LOST = frozenset(["sort", "remove", "setdefault", "popitem"])


Log = Tuple[Tuple[str, Args], ...]


@dataclass(eq=False)
class Shadow:
    """What the graph holds in its second run; `held` is None where it tried to take from an empty list.

    `log`: the calls that have changed the constant list `base` in place so far.
    """

    node: ast.AST
    frame: Any
    method: str
    held: Optional[Value]
    base: Optional[Value] = None
    log: Log = ()

    @property
    def length_kept(self) -> bool:
        """True where the graph takes the length from what it worked out when compiling."""
        return self.method in REPEATED


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
    if before is not None:
        return _followed(before, old, name, args)
    folded = old.ref is not None and old.ref.folded
    constant = old.items is not None and to_python(old) is not NOCONST and not folded
    if strict or old.kind != v.LIST or name not in REPEATED or not constant:
        return None
    base = old.but(shadow=None)
    log: Log = ((name, args),)
    return Shadow(node, frame, name, _replay(_replay(base, log), log), base, log)


def _replay(held: Optional[Value], log: Log) -> Optional[Value]:
    for name, args in log:
        if held is None or (name == "pop" and not held.items):
            return None
        held = container_method(held.but(shadow=None), name, args)[0]
    return held


def _followed(before: Shadow, old: Value, name: str, args: Args) -> Shadow:
    """The shadow after one more call: what isn't done in place goes by the length that the compiler knows."""
    if name in LOST:
        return before
    if name in REPEATED and before.log and to_python(old) is not NOCONST:
        log = (*before.log, (name, args))
        held = _replay(_replay(before.base, log), log)
        return Shadow(before.node, before.frame, before.method, held, before.base, log)
    held = before.held
    if held is not None and held.items is not None and old.items is not None and name != "insert":
        held = held.but(items=held.items[: len(old.items)])
    return Shadow(before.node, before.frame, before.method, _replay(held, ((name, args),)))


def popped_differs(old: Value, new: Value, args: Args) -> bool:
    """True where `old.pop(…)`, which leaves `new`, takes something else in the second run."""
    before: Optional[Shadow] = old.shadow
    held = new.but(shadow=None) if before is None else before.held
    if before is not None and before.log:
        held = _replay(_replay(before.base, (*before.log, ("pop", args))), before.log)
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
    if shadow.length_kept:
        return False
    if shadow.held is None:
        return True
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
    if ((whole or not shadow.length_kept) and len(mine) != len(its)) or len(its) < len(mine):
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
    seen = shadow.held.items[: len(value.items)] if shadow.length_kept else shadow.held.items
    its = to_python(shadow.held.but(items=seen))
    if NOCONST in (mine, its):
        return content_differs(value, whole=False)
    try:
        return bool(function(mine) != function(its))
    except (TypeError, ValueError):
        return False


def _same(a: Value, b: Value) -> bool:
    if a is b or (a.ref is not None and a.ref is b.ref and a.items is b.items):
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


def taken(value: Value) -> bool:
    """True where the graph's second run finds fewer items than Python."""
    held: Optional[Value] = value.shadow.held
    if held is None or value.items is None or held.items is None:
        return held is None
    return len(held.items) < len(value.items)
