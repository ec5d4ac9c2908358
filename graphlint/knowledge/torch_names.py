"""PyTorch's names, what they are in MindSpore, and the trap in words: torch.json, loaded when asked."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Dict, List, Mapping, Optional, Tuple

from graphlint.lang import Text


@dataclass(frozen=True)
class Difference:
    """A default that isn't PyTorch's; `torch` is what to write in MindSpore for PyTorch's result."""

    parameter: str
    torch: str
    text: Text
    before: Optional[str] = None


@dataclass(frozen=True)
class TorchName:
    """One row: `torch` as one says it (`nn.Conv2d`, `torch.cat`, `F.relu`, `Tensor.cuda`, `Module.train`).

    `mindspore` is empty where nothing takes its place; `mint` is the API that follows PyTorch. `keywords`
    maps PyTorch's keywords that MindSpore doesn't take to MindSpore's, an empty text where it has none.
    """

    torch: str
    mindspore: str
    kind: str
    text: Text
    keywords: Mapping[str, str]
    differs: Tuple[Difference, ...]
    mint: str = ""

    @property
    def tail(self) -> str:
        """The last part of PyTorch's name."""
        return self.torch.rpartition(".")[2]


@lru_cache(maxsize=1)
def rows() -> Tuple[TorchName, ...]:
    """All rows, in the order of the file."""
    table = json.loads(files(__package__ or "").joinpath("torch.json").read_text(encoding="utf-8"))
    return tuple(_row(row) for row in table["rows"])


def _row(row: Mapping[str, Any]) -> TorchName:
    differs = tuple(
        Difference(d["parameter"], d["torch"], Text(d["en"], d["zh"]), d.get("before"))
        for d in row.get("differs", ())
    )
    return TorchName(
        row["torch"],
        row["mindspore"],
        row["kind"],
        Text(row["en"], row["zh"]),
        row.get("keywords", {}),
        differs,
        row.get("mint", ""),
    )


@lru_cache(maxsize=1)
def by_mindspore() -> Mapping[str, TorchName]:
    """The rows by MindSpore's name; the first where several share one."""
    found: Dict[str, TorchName] = {}
    for row in rows():
        if row.mindspore:
            found.setdefault(row.mindspore, row)
    return found


@lru_cache(maxsize=1)
def by_torch() -> Mapping[str, TorchName]:
    return {row.torch: row for row in rows()}


def spellings(name: str) -> List[str]:
    """The ways in which a table's row may spell `torch.nn.functional.relu` or `mindspore.nn.Module`."""
    for prefix in ("torch.", "mindspore.ops.", "mindspore.mint.", "mindspore."):
        if name.startswith(prefix):
            name = name[len(prefix) :]
            break
    if name.startswith("nn.functional."):
        name = "F." + name[len("nn.functional.") :]
    found = [name, f"torch.{name}"]
    if "." not in name:
        found += [f"F.{name}", f"nn.{name}", f"Tensor.{name}", f"Module.{name}", f"optim.{name}"]
    return found


def find(name: str) -> Optional[TorchName]:
    """The row for `torch.nn.Conv2d`, `nn.Conv2d` or `Conv2d`; None where the table has none."""
    known = by_torch()
    return next((known[spelling] for spelling in spellings(name) if spelling in known), None)


def nearest(name: str) -> List[str]:
    """Names of the table that are like `name`."""
    tails = {row.tail.lower(): row.torch for row in rows()}
    close = difflib.get_close_matches(name.rpartition(".")[2].lower(), list(tails), n=3, cutoff=0.6)
    return [tails[tail] for tail in close]
