"""Methods and formatting of strings on abstract values."""

from __future__ import annotations

from typing import Any

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args
from graphlint.graph_code.values import NOCONST, Ref, Value, from_python, number, string, to_python

_STR_METHODS_BOOL = frozenset("startswith endswith isdigit isalpha isupper islower isnumeric".split())


def string_method(x: Value, name: str, args: Args) -> Value:
    known = [to_python(a) for a in args.pos]
    if x.known and not any(k is NOCONST for k in known) and not args.kw and not args.open and name != "format_map":
        try:
            return from_python(getattr(x.const, name)(*known))
        except Exception:  # whatever Python raises here it raises in PyNative too
            return v.unknown
    variable = x.variable or any(a.runtime for a in args.all())
    if name in _STR_METHODS_BOOL:
        return number(pytype="bool", variable=variable)
    if name in ("find", "index", "count", "rfind"):
        return number(pytype="int", variable=variable)
    if name in ("split", "rsplit", "splitlines"):
        return Value(v.LIST, element=string(), ref=Ref(), variable=variable)
    return string(variable=variable)
