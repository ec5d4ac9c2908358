"""From PATHs to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.config import Settings
from graphlint.discovery import discover, notes
from graphlint.errors import UsageError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "net.py",
        "notes.txt",
        "book.ipynb",
        "pkg/a.py",
        "pkg/build/b.py",
        "pkg/dist/__init__.py",
        ".venv/lib/c.py",
        "pkg/__pycache__/d.py",
        "myenv/pyvenv.cfg",
        "myenv/e.py",
        "node_modules/f.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def test_a_folder_gives_its_modules_and_notebooks_and_no_environments(tree: Path) -> None:
    assert discover([], Settings()).files == ("book.ipynb", "net.py", "pkg/a.py", "pkg/dist/__init__.py")
    assert discover([str(tree)], Settings()).files[0] == str(tree / "book.ipynb")


def test_a_file_given_twice_is_read_once(tree: Path) -> None:
    found = discover(["pkg", ".", "pkg/a.py"], Settings())
    assert found.files == ("book.ipynb", "net.py", "pkg/a.py", "pkg/dist/__init__.py")
    assert found.empty == ()


def test_a_file_that_is_named_is_read_whatever_its_name(tree: Path) -> None:
    assert discover(["notes.txt", ".venv/lib/c.py"], Settings()).files == (".venv/lib/c.py", "notes.txt")


def test_excluded_files_stay_out_even_when_named(tree: Path) -> None:
    settings = Settings(exclude=("pkg",), root=str(tree))
    found = discover(["pkg/a.py", "."], settings)
    assert found.files == ("book.ipynb", "net.py")
    assert notes(found, "en") == ["pkg/a.py is left out by the configuration's `exclude`"]


def test_include_counts_where_no_path_is_given(tree: Path) -> None:
    settings = Settings(include=("pkg/*.py",), root=str(tree))
    assert discover([], settings).files == ("pkg/a.py",)
    assert discover(["net.py"], settings).files == ("net.py",)


def test_a_path_that_is_not_there_names_the_nearest(tree: Path) -> None:
    with pytest.raises(UsageError, match=r"nett\.py does not exist; did you mean net\.py\?"):
        discover(["nett.py"], Settings())
    with pytest.raises(UsageError, match=r"far/away does not exist"):
        discover(["far/away"], Settings())


def test_links(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "far.py").write_text("")
    (tree / "pkg" / "loop").symlink_to(tree, target_is_directory=True)
    (tree / "aaa.py").symlink_to("pkg/a.py")
    (tree / "away").symlink_to(outside, target_is_directory=True)
    (tree / "gone.py").symlink_to("nowhere.py")
    found = discover(["."], Settings())
    assert found.files == ("book.ipynb", "net.py", "pkg/a.py", "pkg/dist/__init__.py")
    assert [(error.path, "nowhere.py" in error.message) for error in found.errors] == [("gone.py", True)]
    assert discover(["gone.py"], Settings()).errors == found.errors


def test_a_folder_without_python_is_told(tree: Path) -> None:
    (tree / "void").mkdir()
    found = discover(["void"], Settings())
    assert found.files == ()
    assert notes(found, "en") == ["no Python files under void"]
    assert notes(found, "zh") == ["void 下没有 Python 文件"]
