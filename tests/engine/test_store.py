"""What is kept between runs never changes a result: edits, additions and damage are all noticed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, Dict, List

import pytest

from graphlint.config import Settings
from graphlint.engine import check, unit
from graphlint.engine.store import Store
from graphlint.finding import CheckResult

BASE = "import mindspore.nn as nn\n\nclass Base(nn.Cell):\n    def helper(self, x):\n        return x\n"
NET = (
    "from base import Base\n\nclass Net(Base):\n    def construct(self, x):\n        return self.helper(x)\n"
)
BROKEN = BASE.replace(
    "return x", "try:\n            return x\n        except ValueError:\n            return x"
)
HOST = (
    "from base import Base\n\n\ndef step(net, x, scale):\n    net.scale = scale\n    return net(x)\n\n\n"
    "def run(net):\n    return net.construct(1)\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in {"base.py": BASE, "net.py": NET, "host.py": HOST}.items():
        _write(folder / name, text)
    return folder


OTHER_SHAPES = (
    '{"units": {"net": [[1], {}, ""], "base": [7, {"": 1}, ""], "host": 7, "gone": []},'
    ' "files": {"a": 7, "b": []}, "results": {"c": {}, "d": [1, 2]}}'
)


def _write(path: Path, text: str) -> None:
    """Writes a file that was last changed long ago, each time at another time."""
    path.write_text(text)
    _write.times += 1  # type: ignore[attr-defined]
    os.utime(path, ns=(10**18, 10**18 + _write.times * 10**9))  # type: ignore[attr-defined]


_write.times = 0  # type: ignore[attr-defined]


@pytest.fixture
def run(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks with what is kept, and holds it to a check without; tells which modules were worked on."""
    monkeypatch.setattr("graphlint.engine.store._DOUBT", -(10**18))
    settings = Settings(root=str(project))
    worked: List[str] = []
    real = unit.Analyst.unit

    def watched(self: unit.Analyst, job: unit.Job) -> unit.Unit:
        worked.append(job.name)
        return real(self, job)

    def both(where: Any = tmp_path / "kept") -> List[str]:
        monkeypatch.setattr(unit.Analyst, "unit", real)
        wanted = check([str(project)], settings)
        worked.clear()
        monkeypatch.setattr(unit.Analyst, "unit", watched)
        found = check([str(project)], settings, store=where if isinstance(where, Store) else Store(where))
        assert _all(found) == _all(wanted)
        return sorted(worked)

    return both


def _all(result: CheckResult) -> Dict[str, Any]:
    return dict(vars(result))


def test_the_second_run_works_on_nothing(run: Any) -> None:
    assert run() == ["base", "host", "net"]
    assert run() == []


def test_an_edited_base_class_counts_for_those_that_derive_from_it(run: Any, project: Path) -> None:
    run()
    _write(project / "base.py", BROKEN)
    assert run() == ["base", "host", "net"]
    assert run() == []
    _write(project / "net.py", NET + "\n# a comment\n")
    assert run() == ["net"]


def test_an_added_file_counts_where_its_name_was_sought(run: Any, project: Path) -> None:
    _write(project / "net.py", "from helpers import helper\nfrom base import Base\n\nclass Net(Base):\n"
           "    def construct(self, x):\n        return helper(x)\n")  # fmt: skip
    run()
    _write(project / "unrelated.py", "x = 1\n")
    assert run() == ["unrelated"]
    _write(
        project / "helpers.py",
        "def helper(x):\n    try:\n        return x\n    except ValueError:\n        return x\n",
    )
    assert run() == ["helpers", "net"]
    (project / "helpers.py").unlink()
    _write(project / "unrelated.py", "x = 2\n")
    assert run() == ["net", "unrelated"]


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"units": {"net": [[1], true, {}, {}]}, "files": 3}', "\0" * 50, OTHER_SHAPES],
)
def test_a_damaged_store_is_as_none(run: Any, tmp_path: Path, project: Path, damage: str) -> None:
    run()
    for path in (tmp_path / "kept").glob("*.json"):
        path.write_text(damage)
    run()
    _write(project / "net.py", NET + "# changed\n")
    run()
    assert run() == []


def test_every_cut_of_a_store_is_as_none(run: Any, tmp_path: Path) -> None:
    run()
    for path in (tmp_path / "kept").glob("*.json"):
        whole = path.read_text()
        for part in range(1, 10):
            path.write_text(whole[: len(whole) * part // 10])
            run()


def test_values_of_wrong_kinds_are_as_none(run: Any, tmp_path: Path) -> None:
    run()
    for path in (tmp_path / "kept").glob("*.units.json"):
        content = json.loads(path.read_text())
        for row in content["units"].values():
            row[0][1] = [[[[["GL101"], []]], [{}, {}, {}, {}]]]
        path.write_text(json.dumps(content))
    for path in (tmp_path / "kept").glob("*.files.json"):
        content = json.loads(path.read_text())
        content["results"] = {key: [row[0], [7]] for key, row in content["results"].items()}
        path.write_text(json.dumps(content))
    assert run() == ["base", "host", "net"]


def test_a_folder_that_cannot_be_written_costs_nothing_else(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run(tmp_path / "file" / "kept")


def test_a_store_in_memory(run: Any, project: Path) -> None:
    store = Store(None)
    run(store)
    assert run(store) == []
    _write(project / "base.py", BROKEN)
    assert run(store) == ["base", "host", "net"]


def test_two_runs_may_share_a_store(project: Path, tmp_path: Path) -> None:
    results: List[Any] = []

    def one() -> None:
        for _ in range(5):
            results.append(
                _all(check([str(project)], Settings(root=str(project)), store=Store(tmp_path / "kept")))
            )

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 10 and all(result == results[0] for result in results)


def test_text_of_an_editor_is_not_taken_for_the_file(project: Path, tmp_path: Path) -> None:
    settings, store = Settings(root=str(project)), Store(tmp_path / "kept")
    path = str(project / "base.py")
    before = _all(check([path], settings, store=store))
    edited = check([path], settings, store=store, stdin=(path, BROKEN))
    assert any(f.code == "GL101" for f in edited.findings)
    assert _all(check([path], settings, store=Store(tmp_path / "kept"))) == before
