"""Checks source given as text, one file or a small project, and says what was found where."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Dict, List, Tuple, Union

from graphlint.config import Settings
from graphlint.engine import check
from graphlint.finding import CheckResult
from graphlint.target import Target

HEADER = "import mindspore as ms\nfrom mindspore import nn, ops, Tensor, Parameter\n"


def run(tmp_path: Path, files: Union[str, Dict[str, str]], *shown: str, **target: Any) -> CheckResult:
    """Writes the files (one text: `net.py`, behind the usual imports) and checks `shown`, all by default."""
    if isinstance(files, str):
        files = {"net.py": HEADER + textwrap.dedent(files)}
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    settings = Settings(targets=(Target(**target),), root=str(tmp_path))
    return check([str(tmp_path / name) for name in shown] or [str(tmp_path)], settings)


def codes(result: CheckResult) -> List[str]:
    return [finding.code for finding in result.findings]


def told(result: CheckResult, *prefixes: str) -> List[Tuple[str, int]]:
    """(code, line) of the findings whose code begins so."""
    return [(f.code, f.line) for f in result.findings if f.code.startswith(prefixes or ("GL",))]
