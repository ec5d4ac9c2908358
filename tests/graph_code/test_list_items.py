"""A list's item that only one path of a Tensor condition assigns (measured on 2.7.0 and 2.10.0)."""

from __future__ import annotations

from pathlib import Path
from typing import List

import pytest

from graphlint.config import Settings
from graphlint.engine import check
from graphlint.target import Target

NET = """
import mindspore as ms
from mindspore import nn

class Net(nn.Cell):
    def construct(self, x):
        x = x.astype(ms.float32)
        slots = [{first}, x * 2]
        if x.max() > 1:
            slots[0] = {new}
        return x * slots[0]
"""


def codes(folder: Path, level: str, first: str, new: str) -> List[str]:
    (folder / "net.py").write_text(NET.format(first=first, new=new))
    result = check([str(folder)], Settings(targets=(Target("2.10.0", level, "CPU"),), root=str(folder)))
    return [finding.code for finding in result.findings if finding.severity.value == "error"]


@pytest.mark.parametrize(("first", "new"), [("x", "x + 5"), ("1", "5")])
def test_strict_joins_alike_items(tmp_path: Path, first: str, new: str) -> None:
    assert codes(tmp_path, "strict", first, new) == []


@pytest.mark.parametrize(("first", "new"), [("x", "(x + 5).astype(ms.float16)"), ("1", "x.max()")])
def test_strict_refuses_unlike_items(tmp_path: Path, first: str, new: str) -> None:
    assert codes(tmp_path, "strict", first, new) == ["GL201"]
