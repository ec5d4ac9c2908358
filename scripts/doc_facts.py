"""What a MindSpore docstring says of its API: platforms, deprecation, in-place, overloads. Used by
read_api.py."""

from __future__ import annotations

import ast
import enum
import re
from typing import Any, Dict, List, Optional, Tuple

_SECTION = re.compile(
    r"^\s*(Args|Inputs|Outputs|Returns|Return|Raises|Examples|Supported Platforms|Keyword Args)\s*:\s*$"
)
_REFERENCE = re.compile(r"[Rr]efer\s+to\s+:\w+:`~?\.?([\w.]+)`")
_ROLE = re.compile(r":\w+:`[~.]?([\w.]+)`")
_TICKS = re.compile(r"``?([\w.]+(?:\([^`]*\))?)``?")
_SIGNATURE = re.compile(r"^\s*(?:\.\. (?:method|function):: )?(?:[\w]+\.)*(\w+)\((.*)\)\s*->\s*.+$")
_REMOVED = re.compile(
    r"\b(?:is|are|has been|have been|was)\s+(?:now\s+)?(?:obsolete|deprecated)\b"
    r"|^\s*deprecated\b",
    re.I,
)
_SOON = re.compile(r"\bwill be\s+(?:deprecated|removed)\b|in the process of being deprecated", re.I)
_SUBJECT = re.compile(
    r"\b(?:this|the(?: current)?)\s+(?:interface|api|class|function|method|operator)\b", re.I
)
_INPLACE = re.compile(r"\bin-?place\b", re.I)


def sections(doc: str) -> Dict[str, str]:
    """The text before the first section (`""`) and each section's text, by its heading."""
    found: Dict[str, List[str]] = {"": []}
    heading = ""
    for line in doc.splitlines():
        match = _SECTION.match(line)
        if match:
            heading = match.group(1)
            found.setdefault(heading, [])
        else:
            found[heading].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def platforms(doc: str) -> Optional[str]:
    """`"Ascend GPU CPU"` as documented, `"deprecated"` where that stands in their place, or None."""
    text = re.search(r"Supported Platforms\s*:\s*\n((?:\s*\n)?[^\n]+)", doc)
    if text is None:
        return None
    named = re.findall(r"``\s*([A-Za-z0-9 ]+?)\s*``", text.group(1))
    names = sorted(
        {word for name in named for word in name.split()},
        key=lambda n: (("Ascend", "GPU", "CPU", n)).index(n),
    )
    if names:
        return " ".join(names)
    return "deprecated" if "deprecated" in text.group(1).lower() else None


def reference(doc: str) -> Optional[str]:
    """The name that `For details, please refer to :func:...` points to."""
    match = _REFERENCE.search(doc)
    return match.group(1).rstrip(".") if match else None


def _sentences(text: str) -> List[str]:
    found: List[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*- )|\.\. \w+::", text):
        flat = " ".join(block.split()).lstrip("- ")
        if flat:
            found += re.split(r"(?<=[a-z`'\")\d])[.;]\s+(?=[A-Z`:-])", flat)
    return found


def _replacement(text: str, own: str) -> Optional[str]:
    """The name after `use`, never the API's own."""
    use = re.search(r"\b[Uu]s(?:e|ing)\b(.*)$", text)
    if use is None:
        return None
    for pattern in (_ROLE, _TICKS, re.compile(r"'([\w.]+)'")):
        for name in pattern.findall(use.group(1)):
            if name.split(".")[-1] != own or name.count("."):
                return str(name).rstrip(".")
    return None


def deprecation(doc: str, own: str) -> Optional[Tuple[str, Optional[str]]]:
    """(`"now"` or `"soon"`, replacement or None) where the docstring deprecates the whole API, else None."""
    body = sections(doc)
    intro = body[""]
    # Overloads of C++ methods repeat the intro: only the first one speaks of the API itself.
    intro = re.split(r"\n\s*\.\. (?:method|function)::", intro)[0]
    result: Optional[Tuple[str, Optional[str]]] = None
    parts = _sentences(intro)
    for number, sentence in enumerate(parts):
        now, soon = _REMOVED.search(sentence), _SOON.search(sentence)
        if not (now or soon) or re.search(
            r"deprecated on \w+|\boverload\b|\bparameters?\b|\bformat\b", sentence
        ):
            continue
        before = sentence[: (now or soon).start()]  # type: ignore[union-attr]
        named = re.match(r"\W*(?:\w+\.)*%s\W" % re.escape(own), before + " ")
        if not (_SUBJECT.search(before) or named or re.match(r"\s*deprecated\b", sentence, re.I)):
            continue
        after = sentence + ". " + (parts[number + 1] if number + 1 < len(parts) else "")
        result = ("now" if now else "soon", _replacement(after, own))
        if now:
            break
    if result is None and platforms(doc) == "deprecated":
        result = ("now", None)
    return result


def deprecated_parameters(doc: str) -> Dict[str, Optional[str]]:
    """Parameters whose own description calls them deprecated, with what to use instead."""
    text = sections(doc).get("Args", "")
    found: Dict[str, Optional[str]] = {}
    indent = min((len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip()), default=0)
    for block in re.split(r"\n(?=\s{%d}\w)" % indent, "\n" + text):
        head = re.match(r"\s*\*{0,2}(\w+)\s*(?:\([^)]*\))*[^:]*:", block)
        if head is None:
            continue
        flat = " ".join(block.split())
        for sentence in _sentences(flat.split(" - ")[0]):
            before = re.split("deprecated", sentence, maxsplit=1, flags=re.I)
            if len(before) > 1 and '``"' not in before[0][-60:]:
                rest = _replacement(flat[flat.find(sentence) :], head.group(1))
                found[head.group(1)] = rest if rest and ("." in rest or rest.isupper()) else None
                break
    return found


def experimental(doc: str) -> bool:
    return bool(re.search(r"This is an experimental API", doc))


def in_place(doc: str, name: str, of_tensor: bool) -> bool:
    """A Tensor method with a trailing underscore, another name with one whose docstring says in-place, or a
    first sentence that says so."""
    if name.endswith("_") and (of_tensor or _INPLACE.search(doc)):
        return True
    intro = [line for line in doc.strip().splitlines() if not _SIGNATURE.match(line)]
    first = (_sentences("\n".join(intro[:6])) or [""])[0]
    return bool(_INPLACE.search(first))


def documented_arguments(doc: str) -> List[str]:
    """The names under `Args:`, for functions that take `**kwargs`."""
    text = sections(doc).get("Args", "")
    indent = min((len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip()), default=0)
    return re.findall(r"(?m)^\s{%d}(\w+)\s*\(" % indent, text)


def overloads(doc: str, name: str) -> List[str]:
    """The parameter lists that a C++ function's docstring shows (`name(a, *, b=1) -> Tensor`), parsable as
    Python."""
    found: List[str] = []
    for line in doc.splitlines():
        match = _SIGNATURE.match(line)
        if match is None or match.group(1) != name or ">>>" in line:
            continue
        text = " ".join(match.group(2).split())
        if parsable(text) and text not in found:
            found.append(text)
    return found


def parsable(parameters: str) -> bool:
    try:
        ast.parse("def f(%s): pass" % parameters)
    except SyntaxError:
        return False
    return True


def default_text(value: Any) -> str:
    """A default as Python source without addresses: literals as they are, objects by their class."""
    if isinstance(value, enum.Enum):
        return "%s.%s" % (type(value).__name__, value.name)
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return repr(value)
    if isinstance(value, float):
        text = repr(value)
        return "float(%r)" % text if text in ("inf", "-inf", "nan") else text
    if isinstance(value, (tuple, list)):
        inner = ", ".join(default_text(v) for v in value)
        if isinstance(value, list):
            return "[%s]" % inner
        return "(%s,)" % inner if len(value) == 1 else "(%s)" % inner
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (default_text(k), default_text(v)) for k, v in value.items())
    if "_c_expression" in str(type(value).__module__) or type(value).__module__.endswith("typing"):
        text = str(value)
        if re.match(r"^[A-Za-z]+\d*$", text):
            return "mindspore." + text.lower()
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and name.isidentifier():
        return name
    return type(value).__name__ + "(...)"
