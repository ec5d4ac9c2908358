"""The parts of a run: what a glance sees, what is planned, and that processes change nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphlint.config import Settings
from graphlint.engine import check, pool
from graphlint.engine.glance import glance
from graphlint.engine.plan import plan
from graphlint.engine.sources import Sources
from graphlint.engine.store import Store
from graphlint.layout import layout_of
from tests.engine.test_store import BASE, BROKEN, HOST, NET

FIXTURES = str(Path(__file__).parents[1] / "fixtures")


def test_a_glance_sees_imports_in_every_form() -> None:
    found = glance(
        b"import a.b as c, d\nfrom e import f as g, h\nfrom . import i\n"
        b"from ..j import (\n    k,  # why\n    l as m,\n)\n"
        b"from n import \\\n    o\n    from p import *\nclass A(b.B, metaclass=C):\n    pass\n"
    )
    assert {"a.b", "d", "e", "e.f", "e.h", ".i", "..j", "..j.k", "..j.l", "n", "n.o", "p"} <= set(
        found.imports
    )
    assert "g" not in found.imports
    assert found.classes == ("A",)
    assert "B" in found.bases


def _planned(folder: Path, *shown: str) -> list:
    settings = Settings(root=str(folder))
    paths = [str(folder / name) for name in shown]
    layout = layout_of({os.path.realpath(path): path for path in paths}, settings)
    store = Store(None)
    store.open(settings, layout, Sources("en"))
    return [(job.name, job.whole) for job in plan(paths, layout, store)]


def test_only_what_matters_is_planned(tmp_path: Path) -> None:
    files = {"base.py": BASE, "net.py": NET, "host.py": HOST, "far.py": BASE, "plain.py": "x = 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert _planned(tmp_path, "net.py") == [("base", True), ("net", True)]
    assert _planned(tmp_path, "base.py") == [("base", True), ("host", True), ("net", True)]
    assert _planned(tmp_path, "plain.py") == [("plain", False)]
    assert len(_planned(tmp_path, *files)) == 5


def test_a_class_that_never_says_cell(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "net.py").write_text("from base import Base\n\nclass Net(Base):\n    pass\n")
    (tmp_path / "deep.py").write_text("from net import Net\n\nclass Deep(Net):\n    pass\n")
    assert _planned(tmp_path, "base.py", "net.py", "deep.py") == [
        ("base", True),
        ("deep", True),
        ("net", True),
    ]


def test_one_file_shows_what_the_whole_project_shows_of_it(tmp_path: Path) -> None:
    """Graph code reached from elsewhere, and host code that depends on graph code elsewhere."""
    for name, text in {"base.py": BROKEN, "net.py": NET, "host.py": HOST}.items():
        (tmp_path / name).write_text(text)
    settings = Settings(root=str(tmp_path))
    whole = check([str(tmp_path)], settings).findings
    assert any(f.code == "GL101" and f.path.endswith("base.py") for f in whole)
    for name in ("base.py", "net.py", "host.py"):
        path = str(tmp_path / name)
        assert check([path], settings).findings == [f for f in whole if f.path == path]


def test_host_code_within_graph_code_is_none(tmp_path: Path) -> None:
    text = (
        "import mindspore as ms\nfrom mindspore import nn, ops\n\nclass Net(nn.Cell):\n    def construct(self, x):\n"
        "        for _ in range(3):\n            x = ms.grad({})(x)\n        return x\n\n\ndef outer(x):\n"
        "    for _ in range(3):\n        x = ms.grad({})(x)\n    return x\n"
    ).format("ops.sin", "ops.sin")
    (tmp_path / "net.py").write_text(text)
    found = check([str(tmp_path)], Settings(root=str(tmp_path))).findings
    assert [f.line for f in found if f.code == "GL811"] == [13]


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "WORTH", 0)
    monkeypatch.setattr(pool, "_BATCH", 20_000)
    settings = Settings(root=FIXTURES)
    one = check([FIXTURES], settings, jobs=1)
    two = check([FIXTURES], settings, jobs=2)
    assert len(one.findings) > 500
    assert vars(one) == vars(two)


def test_small_budgets_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(root=FIXTURES)
    wanted = check([FIXTURES], settings)
    monkeypatch.setattr("graphlint.engine.unit.PARSED_BYTES", 0)
    assert vars(check([FIXTURES], settings)) == vars(wanted)
