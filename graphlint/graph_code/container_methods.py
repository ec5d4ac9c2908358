"""Methods of lists, dicts and sets on abstract values."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args, Closure
from graphlint.graph_code.values import (
    NOCONST,
    Ref,
    Value,
    element_of,
    from_python,
    join,
    number,
    sequence,
    to_python,
)


def container_method(x: Value, name: str, args: Args) -> Tuple[Value, Value]:
    """What a list, dict or set is after `x.name(args)` in Python, and what the call returns."""
    first = args.pos[0] if args.pos else None
    if x.kind == v.LIST:
        return _list_method(x, name, args, first)
    if x.kind == v.DICT:
        return _dict_method(x, name, args, first)
    return x.but(const=NOCONST), v.none if name in ("add", "discard", "clear", "update") else v.unknown


def _list_method(x: Value, name: str, args: Args, first: Optional[Value]) -> Tuple[Value, Value]:
    items = list(x.items) if x.items is not None else None
    if name == "append" and first is not None:
        held = first
        if first.kind == v.FUNCTION and isinstance(first.target, Closure):
            held = first.but(hidden=True)
        if items is not None:
            return x.but(items=(*items, held), const=NOCONST), v.none
        return x.but(element=held if x.element is None else join(x.element, held)), v.none
    if name == "extend" and first is not None:
        more = first.items if first.kind in v.SEQUENCES else None
        if items is not None and more is not None:
            return x.but(items=(*items, *more), const=NOCONST), v.none
        return x.but(items=None, element=element_of(x), const=NOCONST), v.none
    if name == "insert" and items is not None and first is not None and isinstance(first.const, int):
        items.insert(first.const, args.pos[1] if len(args.pos) > 1 else v.unknown)
        return x.but(items=tuple(items), const=NOCONST), v.none
    if name == "clear":
        return x.but(items=(), const=NOCONST), v.none
    if name == "reverse" and items is not None:
        return x.but(items=tuple(reversed(items)), const=NOCONST), v.none
    if name == "pop":
        place = first.const if first is not None else -1
        if items and isinstance(place, int) and -len(items) <= place < len(items):
            taken = items.pop(place)
            return x.but(items=tuple(items), const=NOCONST), taken
        return x.but(items=None, element=element_of(x), const=NOCONST), element_of(x)
    if name == "copy":
        return x, x.but(ref=Ref())
    if name in ("sort", "remove") and items is not None:
        return _sorted_or_without(x, name, args, first), v.none
    if name in ("index", "count"):
        return x, number(pytype="int")
    changed = x.but(items=None, element=element_of(x), const=NOCONST) if name in ("remove", "insert") else x
    return changed, v.none


def _sorted_or_without(x: Value, name: str, args: Args, first: Optional[Value]) -> Value:
    """The list after `sort` or `remove`; of unknown items where they can't be compared here."""
    held = to_python(x)
    if held is NOCONST or "key" in args.kw or (name == "remove" and (first is None or not first.known)):
        return x.but(items=None, element=element_of(x), const=NOCONST)
    try:
        if name == "sort":
            reverse = args.kw.get("reverse", v.none).const
            order = sorted(range(len(held)), key=lambda i: held[i], reverse=bool(reverse))
        else:
            place = held.index(first.const if first is not None else None)
            order = [i for i in range(len(held)) if i != place]
    except (TypeError, ValueError):
        return x.but(items=None, element=element_of(x), const=NOCONST)
    return x.but(items=tuple((x.items or ())[i] for i in order), const=NOCONST)


def _dict_method(x: Value, name: str, args: Args, first: Optional[Value]) -> Tuple[Value, Value]:
    keys, items = x.keys, x.items
    known = keys is not None and items is not None
    if name in ("get", "pop", "setdefault") and first is not None:
        fallback = args.pos[1] if len(args.pos) > 1 else v.none
        if known and first.known:
            assert keys is not None and items is not None
            if first.const in keys:
                place = keys.index(first.const)
                found = items[place]
                if name == "pop":
                    rest = [i for i in range(len(keys)) if i != place]
                    return x.but(
                        keys=tuple(keys[i] for i in rest), items=tuple(items[i] for i in rest)
                    ), found
                return x, found
            if name == "setdefault":
                return x.but(keys=(*keys, first.const), items=(*items, fallback)), fallback
            return x, fallback
        return x, element_of(x) if name != "get" else v.unknown
    if name == "update":
        if known and first is not None and first.kind == v.DICT and first.keys is not None:
            merged: Dict[Any, Value] = dict(zip(keys or (), items or ()))
            merged.update(zip(first.keys, first.items or ()))
            return x.but(keys=tuple(merged), items=tuple(merged.values())), v.none
        return x.but(keys=None, items=None, element=element_of(x)), v.none
    if name == "keys":
        return x, sequence(v.TUPLE, [from_python(k) for k in keys]) if keys is not None else Value(
            v.TUPLE, ref=Ref()
        )
    if name == "values":
        return x, sequence(v.TUPLE, items) if known else Value(v.TUPLE, element=x.element, ref=Ref())
    if name == "items":
        if known:
            pairs = [sequence(v.TUPLE, [from_python(k), i]) for k, i in zip(keys or (), items or ())]
            return x, sequence(v.TUPLE, pairs)
        pair = sequence(v.TUPLE, [v.unknown, x.element or v.unknown])
        return x, Value(v.TUPLE, element=pair, ref=Ref())
    if name == "clear":
        return x.but(keys=(), items=()), v.none
    if name == "copy":
        return x, x.but(ref=Ref())
    if name == "popitem":
        if known and items:
            assert keys is not None
            pair = sequence(v.TUPLE, [from_python(keys[-1]), items[-1]])
            return x.but(keys=keys[:-1], items=items[:-1]), pair
        return x, v.unknown
    return x, v.unknown
