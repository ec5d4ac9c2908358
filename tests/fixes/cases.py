"""The before and after files of the rewrites, and how the tests make the rewrites of one file."""

from __future__ import annotations

from pathlib import Path
from typing import List, Tuple

from graphlint import engine, fixes
from graphlint.config import Settings
from graphlint.finding import CheckResult
from graphlint.target import Target

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


def before_files() -> List[Path]:
    """`tests/fixtures/<CODE>/fix_*.py`; the text after the rewrites stands in `fix_*.after.py`."""
    return sorted(p for p in FIXTURES.glob("GL*/fix_*.py") if not p.name.endswith(".after.py"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def settings(root: Path, unsafe: bool = True) -> Settings:
    return Settings(targets=(Target("2.10.0", "lax", "CPU"),), unsafe_fixes=unsafe, root=str(root))


def rewrite(
    data: bytes, folder: Path, unsafe: bool = True, name: str = "case.py"
) -> Tuple[bytes, CheckResult]:
    """The file's bytes after all rewrites, and what a check finds then."""
    path = folder / name
    path.write_bytes(data)
    outcome = fixes.apply([str(path)], settings(folder, unsafe))
    after = outcome.changes[0].after if outcome.changes else data
    path.write_bytes(after)
    return after, engine.check([str(path)], settings(folder, unsafe))
