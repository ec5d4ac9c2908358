"""Generated files: whatever the spacing, the result is Python, and what no rewrite names stays byte for
byte.
"""

from __future__ import annotations

import ast
import os
import warnings
from typing import List

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixes.cases import rewrite

EXAMPLES = int(os.environ.get("GRAPHLINT_EXAMPLES", "200"))
"""1000 in the full run."""

COMMENT = st.sampled_from(["", "  # 注释：先减后加", '\t# it\'s "quoted"', "  #@", ' # {x!r} \'a\' """ '])
BLOCKS = [
    ["try:{c}", "{i}x = x{s}+{s}1", "except ValueError:{c}", "{i}x = x"],
    ["try:", "{i}y = x * 2{c}", "{i}x = y", "finally:{c}", "{i}x = x{s}+ 1"],
    ["import math{c}", "x = x * math.pi"],
    ["y = x{s}+ 1{c}", "del y{c}"],
    ["if ({s}n := x.shape[0]{s}) > 1:{c}", "{i}x = x * n"],
    ["if x.ndim in {{1,{s}2}}:{c}", "{i}x = x + 1"],
    ["s = {{1, 2,{s}3}}{c}", "x = x * len(s)"],
    ["for i in range(3):{c}", "{i}x = x + i", "else:{c}", "{i}x = x * 2"],
    ["for i in range(3):", "{i}if i == 9:{c}", "{i}{i}break", "else:{c}", "{i}x = x - 1"],
    ["r = [3,{s}1, 2]{c}", "r.sort(){c}", "x = x * r[0]"],
    ["a = [1]", "b = a{c}", "b.append(2){c}", "x = x + len(a)"],
    ["d = {{'k':{s}2}}", "v = d.pop('k'){c}", "x = x * v + len(d)"],
    ["print(x,{s}x, sep=',',{s}end=\"!\"){c}"],
    ["k = 1", "f = lambda v: v + k{c}", "k = 10", "x = f(x)"],
    ["name = f'layer_{{self.n:02d}}{{\"q\"!r}}'{c}", "if name == 'layer_03':", "{i}x = x + 1"],
    ["text = '''it's", " kept  ''' \"\"\"as", '\tit is"""{c}', "x = x * len(text)"],
    ["m = int(100{s}* 0.57){c}", "x = x * m"],
    ["a = x.sum()", "a += x{c}", "x = a"],
    ["with contextlib.suppress(ValueError):{c}", "{i}# inside", "{i}x = x + 2"],
    ["if x.sum() > 0:{c}", "{i}z = x * 2", "x = z"],
]
HEADER = [
    "import contextlib",
    "import functools",
    "import numpy as np",
    "from mindspore import Tensor, nn",
    "",
    "",
]


@st.composite
def sources(draw: st.DrawFn) -> bytes:
    step = draw(st.sampled_from(["    ", "\t", "  ", "   "]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    spacing, comment = draw(st.sampled_from(["", " ", "  "])), draw(COMMENT)
    lines: List[str] = [*HEADER, "class Net(nn.Cell):" + comment]
    lines += [step + "def __init__(self):", step * 2 + "super().__init__()", step * 2 + "self.n = 3", ""]
    if draw(st.booleans()):
        lines.append(step + "@functools.lru_cache(maxsize=None)")
    lines.append(step + "def construct(self, x):" + comment)
    for block in draw(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=5)):
        if draw(st.booleans()):
            lines.append(step * 2 + "# 未改动的一行 'untouched' \\ {0}")
        inside = False
        for line in block:
            shown = comment if draw(st.booleans()) else ""
            text = line.format(i=step, s=spacing, c="\0").replace("\0", shown)
            lines.append(text if inside else step * 2 + text)
            inside = (
                (text.count("'''") + text.count('"""')) % 2 == 1
                if not text.lstrip().startswith("#")
                else inside
            )
    lines += [
        step * 2 + "return x",
        "",
        "",
        "INPUTS = [Tensor(np.array([1.0, 2.0], np.float32))]  # 输入",
        "",
    ]
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return bom + end.join(lines).encode("utf-8")


def parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except SyntaxError:
        return False
    return True


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(source=sources())
def test_generated(source: bytes, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    if not parses(source):
        return
    folder = tmp_path_factory.getbasetemp() / "generated"
    folder.mkdir(exist_ok=True)
    after, _ = rewrite(source, folder)
    assert parses(after)
    assert after[:3] == source[:3]
    end = b"\r\n" if b"\r\n" in source else b"\n"
    assert after.replace(end, b"").count(b"\n") == after.replace(end, b"").count(b"\r") == 0
    kept = [line for line in source.split(end) if line.strip().startswith((b"# ", b"class", b"INPUTS"))]
    remaining = after.split(end)
    for line in kept:
        stripped = [r.strip() for r in remaining] if b"# inside" in line else remaining
        assert (line.strip() if b"# inside" in line else line) in stripped
    for literal in (b"'''it's", b" kept  ''' \"\"\"as", b'\tit is"""'):
        assert after.count(literal) == source.count(literal)
    assert rewrite(after, folder)[0] == after
