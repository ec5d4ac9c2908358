"""What the XML reports share."""

from __future__ import annotations

import re
from xml.etree import ElementTree

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Text without the characters that XML can't hold; each becomes U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", text)


def written(root: ElementTree.Element) -> str:
    """The document as indented text with its declaration."""
    _indent(root, "\n")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _indent(element: ElementTree.Element, newline: str) -> None:
    if len(element):
        inner = newline + "  "
        element.text = inner
        for child in element:
            _indent(child, inner)
            child.tail = inner
        element[-1].tail = newline
