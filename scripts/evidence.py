"""Measures every rule's examples with real compilers and writes graphlint/knowledge/evidence.json.

    python scripts/evidence.py --python venv-2.10/bin/python --python venv-2.7/bin/python [--only GL101]

Each interpreter's MindSpore runs all examples at both levels on the CPU. Rows of other versions and rules
are kept; rows of examples that are gone are dropped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from graphlint.cli.verify import installed_version  # noqa: E402
from graphlint.target import LEVELS, version_key  # noqa: E402
from tests.rules.examples import Example, examples, measure  # noqa: E402

EVIDENCE = ROOT / "graphlint" / "knowledge" / "evidence.json"
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_PATH = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
Row = Dict[str, Any]


def tidy(message: str) -> str:
    """A message without what changes from run to run: addresses, folders."""
    return _PATH.sub("", _ADDRESS.sub("0x…", message))[:200].rstrip()


def rows_of(python: str, version: str, chosen: Sequence[Example], jobs: int) -> List[Tuple[str, Row]]:
    """(code, row) for each example and level."""
    rows = []
    for level in LEVELS:
        found = measure(python, chosen, level, jobs)
        for example in chosen:
            one = found[example.path]
            head = {"mindspore": version, "level": level, "device": "CPU", "example": example.name}
            row = {**head, "outcome": "error" if one.outcome == "broken" else one.outcome}
            rows.append((example.code, {**row, "message": "" if one.outcome == "ok" else tidy(one.message)}))
        print(f"{version} {level}: {len(chosen)} examples", file=sys.stderr)
    return rows


def merged(old: Dict[str, List[Row]], new: Sequence[Tuple[str, Row]]) -> Dict[str, List[Row]]:
    """Old rows with the new ones in their places, sorted; rows of examples that are gone are dropped."""
    there = {(example.code, example.name) for example in examples() if example.measurable}
    rows: Dict[Tuple[str, ...], Row] = {}
    for code, row in [*((code, row) for code, its in old.items() for row in its), *new]:
        if (code, row["example"]) in there:
            rows[(code, row["example"], row["mindspore"], row["level"])] = row
    found: Dict[str, List[Row]] = {}
    for key in sorted(rows, key=lambda key: (key[0], key[1], version_key(key[2]), key[3])):
        found.setdefault(key[0], []).append(rows[key])
    return found


def write(rules: Dict[str, List[Row]]) -> None:
    """One line a row, so that a new measurement shows as a small difference."""
    blocks = []
    for code, rows in rules.items():
        lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
        blocks.append(f'"{code}": [\n{lines}\n]')
    text = "{\n" + ",\n".join(blocks) + "\n}\n"
    temporary = EVIDENCE.with_suffix(".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, EVIDENCE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--python", action="append", required=True, help="an interpreter with MindSpore; repeatable"
    )
    parser.add_argument("--only", action="append", default=[], help="a rule code, or CODE/stem; repeatable")
    parser.add_argument("--missing", action="store_true", help="only examples without a row for that version")
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: one a core)")
    options = parser.parse_args()
    for python in options.python:
        version = installed_version(python)
        if version is None:
            parser.error(f"no MindSpore in {python}")
        old = json.loads(EVIDENCE.read_text(encoding="utf-8")) if EVIDENCE.exists() else {}
        known = {
            (code, row["example"]) for code, its in old.items() for row in its if row["mindspore"] == version
        }
        chosen = [e for e in examples() if e.measurable]
        chosen = [e for e in chosen if not options.only or {e.code, e.ident} & set(options.only)]
        if options.missing:
            chosen = [e for e in chosen if (e.code, e.name) not in known]
        rows = rows_of(python, version, chosen, options.jobs) if chosen else []
        write(merged(old, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
