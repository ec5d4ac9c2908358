"""What a file's bytes tell without parsing it: whether it may hold graph code, what it imports and defines."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Dict, Tuple

from graphlint.suppressions import may_suppress

_WORDS = re.compile(rb"mindspore|construct|jit|ms_function|INPUTS|Cell")
_REST = rb"(?:[^\n#\\]|\\\r?\n)*"
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[ \t]*[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|" + _REST + rb")"
    rb"|import[ \t]+(" + _REST + rb"))",
    re.MULTILINE,
)
_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?", re.MULTILINE)
_NAME = re.compile(rb"[^\W\d][\w.]*")
_AS = re.compile(rb"[ \t\n\r]+as[ \t\n\r]+\w+")


@dataclass
class Glance:
    """`digest` is that of the bytes; `suppresses` says that there may be a suppression.

    `imports` are dotted names, relative ones with their dots; `bases` the last parts of the names of classes that its
    own derive from; `held` answers the searches made so far.
    """

    digest: str
    relevant: bool
    suppresses: bool = False
    imports: Tuple[str, ...] = ()
    classes: Tuple[str, ...] = ()
    bases: Tuple[str, ...] = ()
    held: Dict[str, bool] = field(default_factory=dict)


def digest(data: bytes) -> str:
    """The digest by which contents are told apart."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def glance(data: bytes) -> Glance:
    """Looks at a file's bytes once."""
    imports = []
    for match in _IMPORT.finditer(data):
        if match[3] is not None:
            imports += [name.decode("utf-8", "replace") for name in _NAME.findall(_AS.sub(b"", match[3]))]
            continue
        base = match[1].replace(b" ", b"").replace(b"\t", b"").decode("utf-8", "replace")
        imports.append(base)
        for name in _NAME.findall(_AS.sub(b"", match[2])):
            joint = "" if base.endswith(".") or not base else "."
            imports.append(f"{base}{joint}{name.decode('utf-8', 'replace')}")
    classes, bases = [], []
    for name, line in _CLASS.findall(data):
        classes.append(name.decode("utf-8", "replace"))
        bases += [b.rpartition(b".")[2].decode("utf-8", "replace") for b in _NAME.findall(line)]
    return Glance(
        digest(data), _WORDS.search(data) is not None, may_suppress(data), tuple(dict.fromkeys(imports)),
        tuple(dict.fromkeys(classes)), tuple(dict.fromkeys(bases)),
    )  # fmt: skip
