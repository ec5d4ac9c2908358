"""Which classes are Cells, however they are imported, and without MindSpore."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.graph_code.lint import codes, run

BODY = """
class Net({base}):
    def construct(self, x):
        try:
            return x
        except ValueError:
            return x
"""

IMPORTS = [
    ("import mindspore.nn as nn", "nn.Cell"),
    ("import mindspore.nn", "mindspore.nn.Cell"),
    ("import mindspore as ms", "ms.nn.Cell"),
    ("from mindspore import nn", "nn.Cell"),
    ("from mindspore import nn as N", "N.Cell"),
    ("from mindspore.nn import Cell", "Cell"),
    ("from mindspore.nn import Cell as C", "C"),
    ("from mindspore.nn import *", "Cell"),
    ("from mindspore.nn.cell import Cell", "Cell"),
    ("from mindspore import nn", "nn.SequentialCell"),
    ("from mindspore import nn\nBase = nn.Cell", "Base"),
    ("try:\n    import mindspore.nn as nn\nexcept ImportError:\n    nn = None", "nn.Cell"),
]


@pytest.mark.parametrize(("imports", "base"), IMPORTS)
def test_every_form_of_import(tmp_path: Path, imports: str, base: str) -> None:
    assert "GL101" in codes(run(tmp_path, {"net.py": imports + "\n" + BODY.format(base=base)}))


def test_mindspore_is_never_imported(tmp_path: Path) -> None:
    before = {name for name in sys.modules if name.split(".")[0] == "mindspore"}
    run(tmp_path, {"net.py": "from mindspore import nn\n" + BODY.format(base="nn.Cell")})
    assert {name for name in sys.modules if name.split(".")[0] == "mindspore"} == before


def test_bases_in_other_files(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .base import BaseNet as Exported\n",
        "pkg/base.py": "from mindspore import nn\nclass BaseNet(nn.Cell):\n    pass\n",
        "pkg/a.py": "from .base import BaseNet\n" + BODY.format(base="BaseNet"),
        "pkg/b.py": "from pkg import Exported\n" + BODY.format(base="Exported"),
        "pkg/c.py": "from pkg.base import *\n" + BODY.format(base="BaseNet"),
        "pkg/d.py": "import pkg.base as pb\n" + BODY.format(base="pb.BaseNet"),
    }
    result = run(tmp_path, files)
    flagged = {Path(f.path).name for f in result.findings if f.code == "GL101"}
    assert flagged == {"a.py", "b.py", "c.py", "d.py"}


def test_a_base_that_is_not_installed(tmp_path: Path) -> None:
    text = "from mindformers.models import PreTrainedModel\n" + BODY.format(base="PreTrainedModel")
    assert "GL101" in codes(run(tmp_path, {"net.py": text}))


def test_other_classes_are_left_alone(tmp_path: Path) -> None:
    text = (
        "from mindspore import nn\n"
        + BODY.format(base="object")
        + "\nclass Plain:\n    def construct(self): del self\n"
    )
    assert codes(run(tmp_path, {"net.py": text})) == []


def test_the_subclass_overrides_what_the_base_calls(tmp_path: Path) -> None:
    files = {
        "base.py": """
            from mindspore import nn
            class Base(nn.Cell):
                def construct(self, x):
                    return self.encode(x)
                def encode(self, x):
                    return x
        """,
        "child.py": """
            from base import Base
            class Child(Base):
                def encode(self, x):
                    import math
                    return x * math.pi
        """,
    }
    result = run(tmp_path, files)
    assert [(Path(f.path).name, f.code, f.chain) for f in result.findings] == [
        ("child.py", "GL102", ("Child.construct", "child.Child.encode"))
    ]
