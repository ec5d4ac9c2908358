"""One self-contained page from the JSON documents of `verify`: the grid of Cells by version, every finding
with its source, the compiler's words, chain and rewrite. English and Chinese in one page; no script,
nothing from outside."""

from __future__ import annotations

import linecache
from difflib import unified_diff
from html import escape
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from graphlint.report.common import visible

Document = Mapping[str, Any]

_TEXTS: Dict[str, Tuple[str, str]] = {
    "title": ("graphlint: what the compiler says", "graphlint：编译器的结论"),
    "confirmed": ("confirmed", "已证实"),
    "refuted": ("refuted", "不成立"),
    "inconclusive": ("inconclusive", "无定论"),
    "not-run": ("not run", "未运行"),
    "cells": ("Cells", "各 Cell"),
    "findings": ("Findings", "检查结果"),
    "none": ("No findings.", "没有检查结果。"),
    "cell": ("Cell", "Cell"),
    "ok": ("same", "一致"),
    "fallback": ("same, by fallback", "一致（解释器回退）"),
    "recompiles": ("same, recompiles", "一致（重复编译）"),
    "diverges": ("differs", "结果不同"),
    "printed-differs": ("prints otherwise", "打印不同"),
    "error": ("refused", "被拒绝"),
    "broken": ("crashed", "崩溃"),
    "pynative-fails": ("PyNative fails", "PyNative 失败"),
    "not-tried": ("not tried", "未尝试"),
    "chain": ("reached", "调用链"),
    "verdict": ("verdict", "结论"),
    "pynative": ("PyNative", "PyNative"),
    "graph": ("graph", "图模式"),
    "help": ("help", "建议"),
    "rewrite": ("rewrite", "改写"),
    "machine": ("What it ran on", "运行环境"),
    "rung": ("built by", "构建方式"),
    "seconds": ("seconds", "耗时（秒）"),
    "missed": ("no finding explains this", "没有检查结果能解释"),
    "reason": ("reason", "原因"),
    "error-severity": ("error", "错误"),
    "warning-severity": ("warning", "警告"),
    "info-severity": ("info", "提示"),
}
_STYLE = """
:root{--fg:#1d2327;--dim:#5c6770;--line:#d9dee2;--bg:#fff;--soft:#f5f7f8;--red:#b3261e;--amber:#8a5a00;
--green:#1e6b34;--blue:#1f4e8c}
@media(prefers-color-scheme:dark){:root{--fg:#e4e8eb;--dim:#9aa5ad;--line:#39434a;--bg:#15191c;
--soft:#1e2428;--red:#ff9a92;--amber:#e8bd6c;--green:#86d49b;--blue:#94bff5}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:1100px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:24px;margin:0 0 4px}
h2{font-size:18px;margin:36px 0 10px}
p{margin:6px 0}
.dim{color:var(--dim)}
code,pre,td.where{font-family:ui-monospace,"SF Mono",Consolas,monospace;font-size:13px}
pre{background:var(--soft);padding:10px 12px;overflow:auto;margin:8px 0;border-radius:4px}
pre .hit{background:color-mix(in srgb,var(--amber) 18%,transparent);display:inline-block;min-width:100%}
.tiles{display:flex;gap:10px;flex-wrap:wrap;margin:16px 0}
.tile{border:1px solid var(--line);border-radius:6px;padding:8px 14px;min-width:110px}
.tile b{display:block;font-size:22px}
table{border-collapse:collapse;width:100%}
.wide{overflow-x:auto}
th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:500}
.confirmed,.error,.broken,.diverges{color:var(--red)}
.refuted,.ok{color:var(--green)}
.inconclusive,.not-run,.warning,.printed-differs,.pynative-fails,.not-tried{color:var(--amber)}
.fallback,.recompiles,.info{color:var(--blue)}
details{border:1px solid var(--line);border-radius:6px;margin:10px 0;padding:0 14px}
summary{cursor:pointer;padding:9px 0}
details[open]{padding-bottom:10px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 14px;margin:8px 0}
dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere}
ins{text-decoration:none;color:var(--green)}
del{text-decoration:none;color:var(--red)}
.lang{position:absolute;opacity:0}
.langs{float:right}
.langs label{cursor:pointer;padding:2px 8px;border-radius:4px;border:1px solid var(--line)}
.lang:focus-visible~main .langs label{outline:2px solid var(--blue)}
#en:checked~main [lang=zh],#zh:checked~main [lang=en]{display:none}
#en:checked~main .langs label[for=en],#zh:checked~main .langs label[for=zh]{background:var(--soft);
font-weight:600}
"""


def page(documents: Sequence[Document], lang: str = "en") -> str:
    """The page for one or several results (versions, devices); `lang` is what it opens in."""
    first = "zh" if lang == "zh" else "en"
    radios = "".join(
        f'<input class="lang" type="radio" name="lang" id="{code}"{" checked" if code == first else ""}>'
        for code in ("en", "zh")
    )
    body = "\n".join(
        [
            '<p class="langs"><label for="en">English</label> <label for="zh">中文</label></p>',
            f"<h1>{_t('title')}</h1>",
            *_header(documents),
            f"<h2>{_t('findings')}</h2>",
            *(_findings(documents) or [f"<p>{_t('none')}</p>"]),
            f"<h2>{_t('cells')}</h2>",
            *_grid(documents),
            f"<h2>{_t('machine')}</h2>",
            *_machine(documents),
        ]
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(_TEXTS['title'][first == 'zh'])}</title><style>{_STYLE}</style>"
    )
    opening = f'<!doctype html>\n<html lang="{first}"><head>{head}</head>\n'
    return f"{opening}<body>{radios}<main>\n{body}\n</main></body></html>\n"


def _t(key: str) -> str:
    """A text in both languages, of which the page shows one."""
    texts = _TEXTS.get(key)
    if texts is None:
        return _e(key)
    if texts[0] == texts[1]:
        return escape(texts[0])
    return f'<span lang="en">{escape(texts[0])}</span><span lang="zh">{escape(texts[1])}</span>'


def _e(text: Any) -> str:
    return escape(visible(str(text)))


def _flat(text: Any) -> str:
    return " ".join(str(text or "").split())


def _name(document: Document) -> str:
    run = document.get("verify") or {}
    target = document.get("target") or {}
    version = run.get("mindspore") or target.get("mindspore", "")
    device = run.get("device") or target.get("device", "")
    return f"MindSpore {version}, {device}, {target.get('syntax_level', '')}"


def _header(documents: Sequence[Document]) -> Iterator[str]:
    counts = {"confirmed": 0, "refuted": 0, "inconclusive": 0, "not-run": 0}
    for document in documents:
        for finding in document["findings"]:
            status = (finding.get("verdict") or {}).get("status", "not-run")
            counts[status] = counts.get(status, 0) + 1
    yield f'<p class="dim">{"; ".join(_e(_name(document)) for document in documents)}</p>'
    tiles = "".join(
        f'<div class="tile"><b class="{_e(status)}">{number}</b>{_t(status)}</div>'
        for status, number in counts.items()
    )
    yield f'<div class="tiles">{tiles}</div>'


def _findings(documents: Sequence[Document]) -> List[str]:
    """Each finding once, with every document's verdict on it; the confirmed ones first and open."""
    merged: Dict[Any, Dict[str, Any]] = {}
    for document in documents:
        for finding in document["findings"]:
            key = (finding["path"], finding.get("cell"), finding["line"], finding["column"], finding["code"])
            known = merged.setdefault(key, {"finding": finding, "verdicts": []})
            known["verdicts"].append((_name(document), finding.get("verdict") or {"status": "not-run"}))
    order = ("confirmed", "inconclusive", "not-run", "refuted")

    def rank(item: Dict[str, Any]) -> int:
        return min(order.index(v["status"]) if v["status"] in order else 2 for _, v in item["verdicts"])

    items = sorted(
        merged.values(), key=lambda item: (rank(item), item["finding"]["path"], item["finding"]["line"])
    )
    return [_finding(item["finding"], item["verdicts"], rank(item) == 0) for item in items]


def _finding(
    finding: Mapping[str, Any], verdicts: Sequence[Tuple[str, Mapping[str, Any]]], opened: bool
) -> str:
    severity = str(finding["severity"])
    marks = " ".join(f'<b class="{_e(v["status"])}">{_t(v["status"])}</b>' for _, v in verdicts)
    where = f"{finding['path']}:{finding['line']}:{finding['column']}"
    head = (
        f'<span class="{_e(severity)}">{_t(severity + "-severity")}</span> '
        f"<code>{_e(finding['code'])}</code> {_e(finding['name'])} · <code>{_e(where)}</code> · {marks}"
    )
    rows: List[Tuple[str, str]] = []
    if len(finding.get("chain") or []) > 1:
        rows.append((_t("chain"), f"<code>{_e(' → '.join(finding['chain']))}</code>"))
    for name, verdict in verdicts:
        said = f'<span class="{_e(verdict["status"])}">{_t(verdict["status"])}</span>'
        rows.append((_e(name), f"{said}: {_e(_flat(verdict.get('reason')))}"))
        for key in ("pynative", "graph"):
            if verdict.get(key) and verdict[key] != verdict.get("reason"):
                rows.append((_t(key), f"<code>{_e(_flat(verdict[key]))}</code>"))
        if verdict.get("rung"):
            rows.append((_t("rung"), _e(verdict["rung"])))
    if finding.get("help"):
        rows.append((_t("help"), _e(finding["help"])))
    listed = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in rows)
    return (
        f"<details{' open' if opened else ''}><summary>{head}</summary>\n<p>{_e(finding['message'])}</p>\n"
        f"{_source(finding)}\n<dl>{listed}</dl>\n{_rewrite(finding)}</details>"
    )


def _source(finding: Mapping[str, Any]) -> str:
    """The finding's lines with two around them, as they are in the file now."""
    if finding.get("cell") is not None:
        return ""
    first, last = int(finding["line"]), int(finding["end_line"])
    lines = []
    for number in range(max(1, first - 2), min(last, first + 30) + 3):
        text = linecache.getline(str(finding["path"]), number).rstrip("\n")
        if not text and number > last:
            continue
        line = f"{number:>5}  {_e(text)}"
        lines.append(f'<span class="hit">{line}</span>' if first <= number <= last else line)
    return f"<pre>{chr(10).join(lines)}</pre>" if any(lines) else ""


def _rewrite(finding: Mapping[str, Any]) -> str:
    """The lines before and after, as a diff without its head."""
    fix = finding.get("fix")
    if not fix or finding.get("cell") is not None:
        return ""
    before = linecache.getlines(str(finding["path"]))
    after = _applied([line.rstrip("\n") for line in before], fix["edits"])
    if after is None:
        return ""
    diff = list(unified_diff([line.rstrip("\n") for line in before], after, lineterm="", n=1))[2:]
    marks = {"+": "ins", "-": "del"}
    lines = []
    for line in diff:
        if line.startswith("@@"):
            continue
        tag = marks.get(line[:1])
        lines.append(f"<{tag}>{_e(line)}</{tag}>" if tag else _e(line))
    return f'<p class="dim">{_t("rewrite")} ({_e(fix["applicability"])})</p><pre>{chr(10).join(lines)}</pre>'


def _applied(lines: List[str], edits: Sequence[Mapping[str, Any]]) -> Optional[List[str]]:
    """The text with the edits made; None where they don't fit the file as it is now."""
    text = list(lines)
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        first, last = edit["line"] - 1, edit["end_line"] - 1
        if not 0 <= first <= last < len(text) + 1:
            return None
        head = text[first][: edit["column"] - 1] if first < len(text) else ""
        tail = text[last][edit["end_column"] - 1 :] if last < len(text) else ""
        text[first : last + 1] = (head + edit["text"] + tail).split("\n")
    return text


def _grid(documents: Sequence[Document]) -> Iterator[str]:
    """Cells down, runs across."""
    rows: Dict[Tuple[str, str, int], Dict[int, Mapping[str, Any]]] = {}
    for number, document in enumerate(documents):
        for cell in document.get("cells") or []:
            rows.setdefault((cell["path"], cell["cell"], cell["line"]), {})[number] = cell
    heads = "".join(f"<th>{_e(_name(document))}</th>" for document in documents)
    yield f'<div class="wide"><table><thead><tr><th>{_t("cell")}</th>{heads}</tr></thead><tbody>'
    for (path, name, line), cells in sorted(rows.items()):
        columns = "".join(f"<td>{_status(cells.get(number))}</td>" for number in range(len(documents)))
        place = f'<b>{_e(name)}</b><br><span class="dim">{_e(path)}:{line}</span>'
        yield f'<tr><td class="where">{place}</td>{columns}</tr>'
    yield "</tbody></table></div>"


def _status(cell: Any) -> str:
    if cell is None:
        return ""
    missed = f' <b class="warning">{_t("missed")}</b>' if cell.get("missed") else ""
    return (
        f'<span class="{_e(cell["status"])}">{_t(cell["status"])}</span>{missed} '
        f'<span class="dim">{_e(cell["rung"])}</span><br><span class="dim">{_e(_flat(cell["reason"]))}</span>'
    )


def _machine(documents: Sequence[Document]) -> Iterator[str]:
    yield "<table><tbody>"
    for document in documents:
        run = document.get("verify") or {}
        for check in run.get("checks", []):
            status = "ok" if check["status"] == "ok" else check["status"]
            yield (
                f'<tr><td>{_e(_name(document))}</td><td class="{_e(status)}">{_e(check["check"])}</td>'
                f"<td>{_e(check['found'])}</td></tr>"
            )
        if run:
            seconds = f"<td>{_t('seconds')}</td><td>{_e(run.get('seconds', ''))}</td>"
            yield f"<tr><td>{_e(_name(document))}</td>{seconds}</tr>"
    yield "</tbody></table>"
