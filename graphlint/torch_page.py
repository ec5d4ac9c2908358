"""What PyTorch's names are in MindSpore, as `graphlint rule --torch` shows it."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from graphlint.errors import UsageError
from graphlint.knowledge.torch_names import TorchName, find, nearest
from graphlint.lang import say


def torch_pages(name: str, output_format: str, lang: str) -> str:
    """The row of `name` as text or JSON. Raises UsageError where the table has none."""
    row = find(name)
    if row is None:
        close = say("comma", lang).join(f"`{other}`" for other in nearest(name))
        hint = say("did-you-mean", lang, nearest=close) if close else ""
        raise UsageError(say("torch-unknown", lang, name=name) + hint)
    if output_format == "json":
        return json.dumps(_data(row), ensure_ascii=False, indent=2) + "\n"
    return "\n".join(_lines(row, lang)) + "\n"


def _lines(row: TorchName, lang: str) -> List[str]:
    found = [row.torch]

    def add(key: str, text: str) -> None:
        found.append(f"    {say(key, lang)}{say('colon', lang)}{text}")

    add("torch-in-mindspore", row.mindspore or say("torch-nothing", lang))
    if row.mint:
        add("torch-like", row.mint)
    if row.keywords:
        nothing = say("torch-dropped", lang)
        pairs = (f"{theirs} → {ours or nothing}" for theirs, ours in row.keywords.items())
        add("torch-keywords", say("comma", lang).join(pairs))
    add("torch-trap", row.text.in_(lang))
    for differs in row.differs:
        write = say("torch-write", lang, code=f"`{differs.parameter}={differs.torch}`")
        before = f" (MindSpore < {differs.before})" if differs.before else ""
        add("torch-differs", differs.text.in_(lang) + say("semicolon", lang) + write + before)
    return found


def _data(row: TorchName) -> Dict[str, Any]:
    differs = [
        {"parameter": d.parameter, "torch": d.torch, "before": d.before, "en": d.text.en, "zh": d.text.zh}
        for d in row.differs
    ]
    return {
        "torch": row.torch,
        "mindspore": row.mindspore,
        "mint": row.mint,
        "kind": row.kind,
        "keywords": dict(row.keywords),
        "differs": differs,
        "en": row.text.en,
        "zh": row.text.zh,
    }
