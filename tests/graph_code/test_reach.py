"""What counts as graph code, and through which chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph_code.lint import codes, run, told

TRY = """
    try:
        return x
    except ValueError:
        return x
"""


def with_try(before: str, indent: int = 4) -> str:
    """A function head followed by a body that the parser refuses."""
    return before + TRY.replace("\n    ", "\n" + " " * indent)


JITTED = [
    "@ms.jit\ndef f(x):",
    "@ms.jit(capture_mode='ast')\ndef f(x):",
    "from mindspore import jit\n@jit\ndef f(x):",
    "from mindspore import ms_function\n@ms_function\ndef f(x):",
    "from mindspore.common.api import jit\n@jit\ndef f(x):",
]


@pytest.mark.parametrize("head", JITTED)
def test_jit_in_its_forms(tmp_path: Path, head: str) -> None:
    assert "GL101" in codes(run(tmp_path, with_try(head)))


@pytest.mark.parametrize("use", ["g = ms.jit(f)", "g = ms.jit(fn=f)", "g = ms.jit(ms.grad(f))"])
def test_handed_to_jit(tmp_path: Path, use: str) -> None:
    assert codes(run(tmp_path, with_try("def f(x):") + "\n" + use + "\n")) == ["GL101"]


@pytest.mark.parametrize("mode", ["bytecode", "trace"])
def test_other_capture_modes_have_other_rules(tmp_path: Path, mode: str) -> None:
    assert codes(run(tmp_path, with_try(f"@ms.jit(capture_mode='{mode}')\ndef f(x):"))) == []


def test_plain_functions_are_not_compiled(tmp_path: Path) -> None:
    assert codes(run(tmp_path, with_try("def f(x):"))) == []


def test_the_chain_through_methods_functions_and_files(tmp_path: Path) -> None:
    files = {
        "utils/pad.py": with_try("def pad_to(x):"),
        "net.py": """
            from mindspore import nn
            from utils.pad import pad_to
            class Net(nn.Cell):
                def construct(self, x):
                    return self.encode(x)
                def encode(self, x):
                    return pad_to(x)
        """,
    }
    (finding,) = run(tmp_path, files, "utils/pad.py").findings
    assert finding.chain == ("Net.construct", "Net.encode", "pad.pad_to")
    assert [(Path(path).name, line) for path, line in finding.via] == [("net.py", 6), ("net.py", 8)]


REACHED = {
    "super": """
        class Base(nn.Cell):
            def construct(self, x):
                del x
        class Net(Base):
            def construct(self, x):
                return super().construct(x)
    """,
    "nested function": """
        class Net(nn.Cell):
            def construct(self, x):
                def inner(v):
                    del v
                return inner(x)
    """,
    "attribute that holds a function": """
        def helper(x):
            del x
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.f = helper
            def construct(self, x):
                return self.f(x)
    """,
    "plain object": """
        class Helper:
            def run(self, x):
                del x
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.h = Helper()
            def construct(self, x):
                return self.h.run(x)
    """,
    "function given to grad": """
        class Net(nn.Cell):
            def construct(self, x):
                def f(v):
                    del v
                return ms.grad(f)(x)
    """,
    "partial": """
        import functools
        def helper(x, k):
            del x
        class Net(nn.Cell):
            def construct(self, x):
                return functools.partial(helper, k=2)(x)
    """,
    "sub-Cell in a list": """
        class Sub(nn.Cell):
            def construct(self, x):
                del x
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.subs = nn.CellList([Sub(), Sub()])
            def construct(self, x):
                for s in self.subs:
                    x = s(x)
                return x
    """,
    "property": """
        class Net(nn.Cell):
            @property
            def k(self):
                import math
                return math.pi
            def construct(self, x):
                return x * self.k
    """,
    "a method of a class under jit": """
        class Trainer:
            @ms.jit
            def step(self, x):
                del x
    """,
    "a Cell made by a function": """
        def build():
            class Net(nn.Cell):
                def construct(self, x):
                    del x
            return Net()
    """,
}


@pytest.mark.parametrize("how", sorted(REACHED))
def test_reached(tmp_path: Path, how: str) -> None:
    assert {c for c in codes(run(tmp_path, REACHED[how])) if c.startswith("GL1")}


NOT_REACHED = {
    "init": """
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                try:
                    import math
                except ImportError:
                    pass
            def construct(self, x):
                return x
    """,
    "constexpr": """
        from mindspore.ops import constexpr
        @constexpr
        def size(n):
            try:
                return n
            except ValueError:
                return 0
        class Net(nn.Cell):
            def construct(self, x):
                return x * size(3)
    """,
    "_primexpr": """
        from mindspore.ops.primitive import _primexpr
        @_primexpr
        def size(n):
            del n
        class Net(nn.Cell):
            def construct(self, x):
                return x * size(3)
    """,
    "a helper that no live path calls": """
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.debug = False
            def helper(self, x):
                del x
            def construct(self, x):
                if self.debug:
                    return self.helper(x)
                return x
    """,
    "a branch that the parser prunes": """
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.mode = "eval"
            def construct(self, x):
                if self.mode == "train":
                    del x
                return x
    """,
    "code behind return": """
        class Net(nn.Cell):
            def construct(self, x):
                return x
                del x
    """,
    "jit_class context": """
        @ms.jit_class
        class Ctx:
            def __enter__(self):
                return self
            def __exit__(self, *a):
                return False
        class Net(nn.Cell):
            def construct(self, x):
                with Ctx():
                    x = x + 1
                return x
    """,
}


@pytest.mark.parametrize("how", sorted(NOT_REACHED))
def test_not_reached(tmp_path: Path, how: str) -> None:
    assert told(run(tmp_path, NOT_REACHED[how]), "GL1") == []


def test_one_file_given_alone_is_read_in_its_project(tmp_path: Path) -> None:
    files = {
        "helper.py": with_try("def f(x):"),
        "net.py": """
            from mindspore import nn
            from helper import f
            class Net(nn.Cell):
                def construct(self, x):
                    return f(x)
        """,
    }
    assert codes(run(tmp_path, files, "helper.py")) == ["GL101"]
    assert codes(run(tmp_path, files, "net.py")) == []


def test_names_of_an_enclosing_function_are_known(tmp_path: Path) -> None:
    text = """
        def train(critic):
            loss = critic
            class Net(nn.Cell):
                def construct(self, x):
                    if x.shape[0] > 3:
                        return critic(x)
                    return loss(x)
            return Net()
    """
    assert codes(run(tmp_path, text, device="CPU")) == ["GL520"]
