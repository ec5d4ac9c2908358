"""How far the ladder reaches: every Cell of a folder without entries, or with those of a TOML file.

    python benchmarks/verify_ladder.py …/site-packages/mindspore/nn --python …/bin/python
    python benchmarks/verify_ladder.py …/mindcv/models --root …/ --entries entries.toml

Prints the shares that were built, run in PyNative and compiled, and every Cell that wasn't, or that differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pathlib import Path

from graphlint.finding import CheckResult
from graphlint.toml import read_toml
from graphlint.verify.cache import Cache
from graphlint.verify.entries import from_table
from graphlint.verify.run import Request, verify
from graphlint.verify.session import Plan

DEFINITE = {"ok", "fallback", "recompiles", "diverges", "printed-differs", "error", "broken"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--root")
    parser.add_argument("--entries")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    parser.add_argument("--no-guess", action="store_true")
    options = parser.parse_args()
    folder = os.path.realpath(options.folder)
    root = os.path.realpath(options.root or folder)
    files = sorted(str(path) for path in Path(folder).rglob("*.py") if options.only in str(path))
    table = read_toml(Path(options.entries))["tool"]["graphlint"]["verify"] if options.entries else {}
    plan = Plan(all_cells=True, timeout=60.0, guess=not options.no_guess, shown=frozenset(files))
    request = Request(python=options.python, jobs=options.jobs)
    began = time.time()

    def progress(tally: object, name: str) -> None:
        print(f"\r{tally} {name[:30]:<30}", end="", file=sys.stderr)

    result = verify(CheckResult(), files, root, from_table(table, root), plan, request, Cache(None), progress)
    cells = result.cells
    for cell in cells:
        if cell.status not in ("ok", "fallback", "recompiles"):
            print(
                f"{cell.status:<15} {os.path.relpath(cell.path, root)}:{cell.cell} [{cell.rung}]",
                repr(cell.reason[:160]),
            )
    total = len(cells)
    definite = sum(cell.status in DEFINITE for cell in cells)
    compiled = sum(
        cell.status in ("ok", "fallback", "recompiles", "diverges", "printed-differs") for cell in cells
    )
    print(Counter(cell.status for cell in cells))
    print(Counter(cell.rung.split(" from ")[0] for cell in cells if cell.status in DEFINITE))
    print(
        f"{total} Cells: {definite} ran in PyNative ({definite / total:.1%}),",
        f"{compiled} compiled ({compiled / total:.1%})",
    )
    print(f"{time.time() - began:.0f} s wall, {result.cpu:.0f} s processor")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump([cell.as_data() for cell in cells], stream, indent=1)


if __name__ == "__main__":
    main()
