"""Reports: from a CheckResult to the text that is printed; one module a format, each with a pure `render`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Callable, Mapping, Optional, Sequence, Tuple

from graphlint.config import FORMATS
from graphlint.finding import CheckResult
from graphlint.target import Target

Lines = Callable[[str, Optional[int]], Sequence[str]]
"""The lines of a file, or of one of its notebook cells; empty where they aren't at hand."""


@dataclass(frozen=True)
class Context:
    """What a report needs besides the result: targets, language, source lines, the rules' summaries.

    `origin` says where the target version comes from, `rules` maps a code to its name and what it flags.
    """

    version: str
    targets: Tuple[Target, ...] = (Target(),)
    lang: str = "en"
    color: bool = False
    lines: Lines = lambda path, cell: ()
    origin: str = ""
    rules: Mapping[str, Tuple[str, str]] = field(default_factory=dict)


def render(output_format: str, result: CheckResult, context: Context) -> str:
    """The report in one of FORMATS, with a line feed at its end unless it is empty; ValueError for others."""
    if output_format not in FORMATS:
        raise ValueError(output_format)
    text: str = importlib.import_module(f"graphlint.report.{output_format}").render(result, context)
    return text if not text or text.endswith("\n") else text + "\n"
