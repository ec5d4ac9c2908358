"""The readable notation for inputs and arguments, as plain data; no MindSpore here.

    "float32[2,3,224,224]"      a Tensor of small normal numbers
    "float32[]"                 a Tensor without dimensions
    "int32[2,16] < 1000"        whole numbers from 0 up to, not including, 1000
    "int64[4] >= 1 < 5"         both bounds
    "float32[8] = 0"            one value everywhere
    "bool[2,3]"                 a mask
    "None", None, true, 3, 0.5  themselves; "'text'" a string
    ["float32[2]", 3]           a tuple; {"key": "float32[2]"} a dict
    "mutable 7"                 ms.mutable(7), also of a list or Tensor
    "= ops.relu"                an expression in the module of the Cell

`parse` gives JSON data: {"k": "tensor", "dtype", "shape", "low", "high", "fill"}, {"k": "value", "value"},
{"k": "tuple" | "list", "items"}, {"k": "dict", "items"}, {"k": "mutable", "item"}, {"k": "py", "expr"}.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, List

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
)
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "bool_": "bool",
}
_TENSOR = re.compile(r"^(?:Tensor\s+)?([a-z]+[0-9]*_?)\s*\[([^\]]*)\]\s*(.*)$")
_BOUND = re.compile(r"\s*(<=|>=|<|>|==|=)\s*(-?[0-9.]+(?:e-?[0-9]+)?)")
_NUMBER = re.compile(r"^-?[0-9]+$")

Spec = Dict[str, Any]


class SpecError(ValueError):
    """The notation can't be read; the text says where and what would be right."""


def parse(value: Any) -> Spec:
    """One argument. Raises SpecError."""
    if value is None or isinstance(value, (bool, int, float)):
        return {"k": "value", "value": value}
    if isinstance(value, str):
        return _parse_text(value.strip())
    if isinstance(value, (list, tuple)):
        return {"k": "tuple", "items": [parse(item) for item in value]}
    if isinstance(value, dict):
        return {"k": "dict", "items": {str(key): parse(item) for key, item in value.items()}}
    raise SpecError(
        f'{value!r} is not an input: write a text such as "float32[2,3]", a number, a list or a table'
    )


def parse_inputs(value: Any) -> List[Spec]:
    """The arguments of one call: a list of them, or one alone."""
    if isinstance(value, (list, tuple)):
        return [parse(item) for item in value]
    return [parse(value)]


def _parse_text(text: str) -> Spec:
    if text in ("None", "True", "False"):
        return {"k": "value", "value": ast.literal_eval(text)}
    if text.startswith("mutable "):
        return {"k": "mutable", "item": parse(_literal_or_text(text[8:].strip()))}
    if text.startswith("="):
        expression = text[1:].strip()
        try:
            ast.parse(expression, mode="eval")
        except SyntaxError as error:
            raise SpecError(f"{expression!r} is not a Python expression: {error.msg}") from error
        return {"k": "py", "expr": expression}
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return {"k": "value", "value": text[1:-1]}
    match = _TENSOR.match(text)
    if match is None:
        raise SpecError(
            f"{text!r} is not an input; write float32[2,3], int32[2,16] < 1000, None, or 'text' in quotes"
        )
    dtype = _ALIASES.get(match.group(1), match.group(1))
    if dtype not in DTYPES:
        raise SpecError(f"{match.group(1)!r} in {text!r} is not a dtype; known: {', '.join(DTYPES)}")
    spec: Spec = {"k": "tensor", "dtype": dtype, "shape": _shape(match.group(2), text)}
    _bounds(spec, match.group(3), text)
    return spec


def _literal_or_text(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _shape(text: str, whole: str) -> List[int]:
    sizes = []
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        if not _NUMBER.match(part) or int(part) < 0:
            raise SpecError(f"{part!r} in {whole!r} is not a size; write whole numbers, such as [2,3]")
        sizes.append(int(part))
    return sizes


def _bounds(spec: Spec, text: str, whole: str) -> None:
    position = 0
    while position < len(text.rstrip()):
        match = _BOUND.match(text, position)
        if match is None:
            raise SpecError(
                f"{text[position:].strip()!r} in {whole!r} is not a bound; write < 1000, >= 1 or = 0"
            )
        sign, number = match.groups()
        bound = float(number)
        whole_number = spec["dtype"].startswith(("int", "uint"))
        if sign in ("=", "=="):
            spec["fill"] = bound
        elif sign.startswith("<"):
            spec["high"] = bound + (1 if sign == "<=" and whole_number else 0)
        else:
            spec["low"] = bound + (1 if sign == ">" and whole_number else 0)
        position = match.end()


def show(spec: Spec) -> str:
    """The notation of a parsed spec, as `--suggest` prints it."""
    kind = spec["k"]
    if kind == "tensor":
        text = f"{spec['dtype']}[{','.join(str(size) for size in spec['shape'])}]"
        for key, sign in (("low", ">="), ("high", "<"), ("fill", "=")):
            if spec.get(key) is not None:
                text += f" {sign} {spec[key]:g}"
        return text
    if kind == "value":
        value = spec["value"]
        return repr(value)
    if kind == "mutable":
        return f"mutable {show(spec['item'])}"
    if kind == "py":
        return f"= {spec['expr']}"
    if kind == "dict":
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in spec["items"].items()) + "}"
    return "[" + ", ".join(toml(item) for item in spec["items"]) + "]"


def toml(spec: Spec) -> str:
    """The spec as a TOML value."""
    kind = spec["k"]
    if kind == "value" and isinstance(spec["value"], bool):
        return "true" if spec["value"] else "false"
    if kind == "value" and isinstance(spec["value"], (int, float)):
        return repr(spec["value"])
    if kind in ("tuple", "list", "dict"):
        return show(spec)
    text = show(spec).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
