"""The tables are what the programs make of the installed MindSpore, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from graphlint import knowledge

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = Path(knowledge.__file__).parent


def installed() -> str:
    for name in ("mindspore", "mindspore-dev"):
        try:
            return ".".join(version(name).split(".")[:2])
        except PackageNotFoundError:
            continue
    return ""


needs_mindspore = pytest.mark.skipif(
    installed() not in knowledge.api_versions(), reason="no MindSpore that has a table is installed"
)


def regenerated(program: str, kind: str, folder: Path) -> None:
    name = "%s-%s.json" % (kind, installed())
    made = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / program), str(folder)],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-2000:]
    assert (folder / name).read_bytes() == (SHIPPED / name).read_bytes()


@pytest.mark.slow
@needs_mindspore
def test_api_table_is_reproduced(tmp_path: Path) -> None:
    regenerated("read_api.py", "api", tmp_path)


@pytest.mark.slow
@needs_mindspore
def test_compiler_table_is_reproduced(tmp_path: Path) -> None:
    regenerated("read_compiler.py", "compiler", tmp_path)


def test_names_module_is_reproduced(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_names.py"), str(tmp_path)], check=True, timeout=120
    )
    assert (tmp_path / "names.py").read_bytes() == (SHIPPED / "names.py").read_bytes()


def test_tables_stay_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.glob("*.json")) < 5_000_000
