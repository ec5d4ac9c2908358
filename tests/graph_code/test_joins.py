"""Branches and loops that a Tensor decides: which of them the graph can't join."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph_code.lint import run, told

CELL = """
class Net(nn.Cell):
    def __init__(self, use=True):
        super().__init__()
        self.use = use
        self.on = True
    def construct(self, x: Tensor, flag=None):
{body}
"""

REFUSED = {
    "dtype": "if x.sum() > 0:\n    y = x.astype(ms.float16)\nelse:\n    y = x.astype(ms.float32)\nreturn y",
    "kind": "if x.sum() > 0:\n    y = (x, x)\nelse:\n    y = x\nreturn y",
    "returned tuple": "if x.sum() > 0:\n    return x, x\nreturn x",
    "returned number": "if x.sum() > 0:\n    return 1\nreturn 2.5",
    "one arm": "if x.sum() > 0:\n    y = x\nreturn y",
    "one arm, shape": "if x.shape[0] > 2:\n    y = x\nreturn y",
    "one arm, argument": "if flag is not None:\n    y = x\nreturn y",
    "loop body": "for i in range(3):\n    y = x + i\nreturn y",
    "loop variable": "for i in range(3):\n    x = x + 1\nreturn x + i",
    "nested read": "if x.sum() > 0:\n    y = x\ndef f():\n    return y\nreturn f()",
    "carried type": "t = 0\nwhile x.sum() < 9:\n    x = x + 1\n    t = x.sum()\nreturn t",
    "growing": "while x.sum() < 9:\n    x = ops.concat((x, x))\nreturn x",
    "conditional expression": "y = x.astype(ms.int32) if x.sum() > 0 else x.astype(ms.float32)\nreturn y",
    "mixed and": "if x.sum() > 0 and self.on:\n    x = x + 1\nreturn x",
    "mixed or": "if x.sum() > 0 or x.ndim == 1:\n    x = x + 1\nreturn x",
}
ACCEPTED = {
    "shape": "if x.sum() > 0:\n    y = x[:1]\nelse:\n    y = x\nreturn y",
    "same": "if x.sum() > 0:\n    y = x + 1\nelse:\n    y = x\nreturn y",
    "unused": "if x.sum() > 0:\n    y = (x, x)\nelse:\n    y = x\nreturn x",
    "numbers computed with": "if x.sum() > 0:\n    k = 1\nelse:\n    k = 2.5\nreturn x * k",
    "functions": "if x.sum() > 0:\n    f = ops.relu\nelse:\n    f = ops.tanh\nreturn f(x)",
    "raise": "if x.sum() > 0:\n    y = x\nelse:\n    raise ValueError('no')\nreturn y",
    "return": "if x.sum() > 0:\n    y = x\nelse:\n    return x\nreturn y",
    "bound before": "y = x\nif x.sum() > 0:\n    y = x + 1\nreturn y",
    "pruned flag": "if self.use:\n    y = x\nif self.use:\n    x = y\nreturn x",
    "pruned constant": "if self.on:\n    y = x\nreturn y",
    "unrolled types": "t = 0\nfor i in range(3):\n    t = t + x.sum()\nreturn t",
    "loop name bound before": "i = 0\nfor i in range(3):\n    x = x + 1\nreturn x + i",
    "constant first": "if self.on and x.sum() > 0:\n    x = x + 1\nreturn x",
    "two Tensors": "if x.sum() > 0 and x.max() < 9:\n    x = x + 1\nreturn x",
    "unknown argument": "if flag:\n    y = 1\nelse:\n    y = x\nreturn y",
}


def body_of(text: str) -> str:
    return CELL.format(body="\n".join("        " + line for line in text.split("\n")))


@pytest.mark.parametrize("how", sorted(REFUSED))
def test_refused(tmp_path: Path, how: str) -> None:
    found = [f for f in run(tmp_path, body_of(REFUSED[how])).findings if f.code.startswith("GL2")]
    assert [f.severity.value for f in found] == ["error"], [f.message for f in found]


@pytest.mark.parametrize("how", sorted(ACCEPTED))
def test_accepted(tmp_path: Path, how: str) -> None:
    assert told(run(tmp_path, body_of(ACCEPTED[how])), "GL2") == []
