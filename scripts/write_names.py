"""Writes graphlint/knowledge/names.py, the small table that needs no JSON: Cell class names and star imports.

    python scripts/write_names.py [KNOWLEDGE_DIR]

Reads the api-*.json files there, needs no MindSpore.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Dict, Iterable, Sequence, Set

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graphlint.knowledge import api, api_versions  # noqa: E402

STAR = (
    "mindspore",
    "mindspore.nn",
    "mindspore.ops",
    "mindspore.mint",
    "mindspore.mint.nn",
    "mindspore.numpy",
    "mindspore.common",
    "mindspore.common.initializer",
    "mindspore.ops.operations",
    "mindspore.train",
)


def block(names: Iterable[str]) -> str:
    lines = textwrap.wrap(" ".join(sorted(names)), 108, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def text() -> str:
    cells: Dict[str, Set[str]] = {"mindspore.nn": set(), "mindspore.mint.nn": set()}
    stars: Dict[str, Set[str]] = {space: set() for space in STAR}
    for version in api_versions():
        table = api(version)
        for space, found in cells.items():
            found.update(n for n in table.star_names(space) if table.is_cell_class(space + "." + n))
        for space, found in stars.items():
            found.update(table.star_names(space))
    parts = [
        '"""Names over all MindSpore versions. Written by scripts/write_names.py; don\'t edit."""\n',
        "from __future__ import annotations\n\nfrom functools import lru_cache",
        "from typing import Dict, FrozenSet\n",
        "_CELLS = {",
    ]
    parts += ['    "%s": """\n%s\n""",' % (space, block(found)) for space, found in sorted(cells.items())]
    parts += ["}", "_STAR: Dict[str, str] = {"]
    parts += ['    "%s": """\n%s\n""",' % (space, block(found)) for space, found in sorted(stars.items())]
    parts += [
        "}",
        'CELL_CLASSES: FrozenSet[str] = frozenset(_CELLS["mindspore.nn"].split())',
        '"""Names of the Cell classes of mindspore.nn in any version, layers, losses and optimizers."""',
        'MINT_CELL_CLASSES: FrozenSet[str] = frozenset(_CELLS["mindspore.mint.nn"].split())',
        '"""The same for mindspore.mint.nn."""',
        "STAR_MODULES: FrozenSet[str] = frozenset(_STAR)",
        '"""The modules whose star imports are listed here."""\n\n',
        "@lru_cache(maxsize=None)",
        "def star_names(module: str) -> FrozenSet[str]:",
        '    """What `from MODULE import *` brings in any version; empty for a module that isn\'t listed."""',
        '    return frozenset(_STAR.get(module, "").split())\n',
    ]
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT / "graphlint" / "knowledge"
    (folder / "names.py").write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
