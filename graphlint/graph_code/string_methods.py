"""Methods and formatting of strings on abstract values."""

from __future__ import annotations

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args
from graphlint.graph_code.texts import applied
from graphlint.graph_code.values import NOCONST, Ref, Value, number, string, to_python

_STR_METHODS_BOOL = frozenset(
    ["startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isnumeric"]
)


def string_method(x: Value, name: str, args: Args) -> Value:
    """What `x.name(args)` is for a string."""
    if x.known and not args.open and name not in ("format_map", "encode"):
        kw = {key: to_python(value) for key, value in args.kw.items()}
        known = not any(k is NOCONST for k in kw.values())
        made = applied(lambda text, *rest: getattr(text, name)(*rest, **kw), x, *args.pos) if known else None
        if made is not None:
            return made
    variable = x.variable or any(a.runtime for a in args.all())
    if name in _STR_METHODS_BOOL:
        return number(pytype="bool", variable=variable)
    if name in ("find", "index", "count", "rfind"):
        return number(pytype="int", variable=variable)
    if name in ("split", "rsplit", "splitlines"):
        return Value(v.LIST, element=string(), ref=Ref(), variable=variable)
    return string(variable=variable, origin="runtime_text" if variable and name == "format" else "")
