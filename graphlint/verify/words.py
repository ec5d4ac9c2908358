"""What `verify` says to people, in two languages."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence

from graphlint.finding import CheckResult
from graphlint.lang import Text
from graphlint.report.common import visible
from graphlint.verify.session import CellRecord, Tally

_TEXTS = {
    "progress": Text(
        "{done} of {total} Cells · {confirmed} confirmed · {refuted} refuted · "
        "{inconclusive} inconclusive · {name}",
        "{done}/{total} 个 Cell · 已证实 {confirmed} · 不成立 {refuted} · 无定论 {inconclusive} · {name}",
    ),
    "counts": Text(
        "Verified with MindSpore {version} on {device}: {confirmed} confirmed, {refuted} refuted, "
        "{inconclusive} inconclusive ({seconds:.1f} s).",
        "已用 MindSpore {version} 在 {device} 上验证：{confirmed} 个已证实，{refuted} 个不成立，"
        "{inconclusive} 个无定论（{seconds:.1f} 秒）。",
    ),
    "shares": Text(
        "Of {cells} Cells {run} ran in PyNative ({run_share:.0%}) and {compiled} compiled "
        "({compiled_share:.0%}): {same} the same, {different} different, {refused} refused.",
        "共 {cells} 个 Cell：{run} 个能以 PyNative 运行（{run_share:.0%}），"
        "{compiled} 个编译通过（{compiled_share:.0%}）："
        "{same} 个结果一致，{different} 个不同，{refused} 个被拒绝。",
    ),
    "rungs": Text("Built by: {rungs}.", "构建方式：{rungs}。"),
    "cached": Text("{n} verdicts were taken from the cache.", "{n} 个结论取自缓存。"),
    "missed": Text(
        "No finding explains what the compiler did in {cell}: {reason}",
        "没有任何检查结果能解释 {cell}：{reason}",
    ),
    "indefinite": Text("Not verified: {cell} ({reason})", "未能验证：{cell}（{reason}）"),
    "export": Text("Not exported: {cell} ({reason})", "未能导出：{cell}（{reason}）"),
    "suggest": Text("# Complete these entries in pyproject.toml:", "# 请在 pyproject.toml 中补全下列条目："),
    "note": Text("Note: {text}", "注意：{text}"),
}
_MOST = 12


def say(key: str, lang: str, **values: Any) -> str:
    text = _TEXTS[key]
    return (text.zh if lang == "zh" else text.en).format(**values)


def progress(tally: Tally, name: str, lang: str) -> str:
    return say("progress", lang, name=name, **{k: v for k, v in vars(tally).items() if k != "from_cache"})


def summary(result: CheckResult, done: Any, notes: Sequence[str], lang: str, suggest: bool) -> List[str]:
    """The lines after the report."""
    lines = [say("note", lang, text=note) for note in notes]
    if done is None:
        return lines
    from graphlint.cli.verify import _counts, shares

    counts = _counts(result)
    version = done.info.get("mindspore", "")
    lines += [cell_line("missed", cell, lang) for cell in done.cells if cell.missed][:_MOST]
    unknown = [cell for cell in done.cells if cell.status in ("pynative-fails", "not-tried")]
    lines += [cell_line("indefinite", cell, lang) for cell in unknown[:_MOST]]
    if len(unknown) > _MOST:
        lines.append("…")
    failed = [cell for cell in done.cells if cell.export is not None and not cell.export.get("ok")]
    lines += [say("export", lang, cell=cell.cell, reason=export_reason(cell)) for cell in failed]
    lines.append(
        say(
            "counts",
            lang,
            version=version,
            device=done.device,
            seconds=done.seconds,
            confirmed=counts["confirmed"],
            refuted=counts["refuted"],
            inconclusive=counts["inconclusive"] + counts["not-run"],
        )
    )
    share = shares(done)
    total = max(1, share["cells"])
    lines.append(
        say(
            "shares",
            lang,
            run=share["run_in_pynative"],
            run_share=share["run_in_pynative"] / total,
            compiled_share=share["compiled"] / total,
            **{key: share[key] for key in ("cells", "compiled", "same", "different", "refused")},
        )
    )
    if share["by_rung"]:
        lines.append(
            say("rungs", lang, rungs=", ".join(f"{rung} {n}" for rung, n in sorted(share["by_rung"].items())))
        )
    if done.tally.from_cache:
        lines.append(say("cached", lang, n=done.tally.from_cache))
    lines += [say("note", lang, text=note) for note in done.notes]
    if suggest:
        lines += suggestions(done.cells, lang)
    return lines


def cell_line(key: str, cell: CellRecord, lang: str) -> str:
    where = f"{cell.cell} ({os.path.relpath(cell.path)}:{cell.line})"
    return visible(say(key, lang, cell=where, reason=" ".join(cell.reason.split())))


def export_reason(cell: CellRecord) -> str:
    words = str((cell.export or {}).get("error", ""))
    return visible(words + ("; it holds Python interpreter nodes" if cell.status == "fallback" else ""))


def suggestions(cells: Sequence[CellRecord], lang: str) -> List[str]:
    """An entry for each Cell that could not be verified, as far as it is known."""
    unknown = [cell for cell in cells if cell.status in ("pynative-fails", "not-tried")]
    if not unknown:
        return []
    lines = [say("suggest", lang)]
    for cell in unknown:
        path = os.path.relpath(cell.path).replace(os.sep, "/")
        lines += [
            "",
            f"# {' '.join(cell.reason.split())}",
            "[[tool.graphlint.verify.entry]]",
            f'cell = "{path}:{cell.cell}"',
            *(cell.suggestion.splitlines() or ["args = []", 'inputs = ["float32[2,16]"]']),
        ]
    return lines


Summary = Optional[List[str]]
