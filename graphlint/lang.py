"""Every sentence in two languages: a `Text` holds both, `say` looks up one of the catalogue below."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, NamedTuple, Optional

LANGUAGES = ("en", "zh")


class Count(int):
    """A number that brings its noun: `f"{Count(1):file|files}"` is `1 file`."""

    def __format__(self, spec: str) -> str:
        singular, bar, plural = spec.partition("|")
        if not bar:
            return int.__format__(self, spec)
        return f"{int(self)} {singular if self == 1 else plural}"


class Text(NamedTuple):
    """One message in English and Chinese with `{names}` to fill in; technical names stay as they are."""

    en: str
    zh: str

    def in_(self, lang: str, /, **values: Any) -> str:
        """The message in `lang` ("en" or "zh"), its names filled in; whole numbers may bring their noun."""
        counted = {
            key: Count(value) if isinstance(value, int) and not isinstance(value, bool) else value
            for key, value in values.items()
        }
        return (self.zh if lang == "zh" else self.en).format(**counted)


def default_language(environment: Optional[Mapping[str, str]] = None) -> str:
    """`zh` where the locale is a Chinese one, else `en`."""
    variables = os.environ if environment is None else environment
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = variables.get(name)
        if value:
            return "zh" if value.lower().startswith(("zh", "chinese")) else "en"
    return "en"


def say(key: str, lang: str, /, **values: Any) -> str:
    """The message `key` of the catalogue in `lang`; KeyError for a key that isn't there."""
    return TEXTS[key].in_(lang, **values)


TEXTS: Dict[str, Text] = {
    # reports
    "error": Text("error", "错误"),
    "warning": Text("warning", "警告"),
    "info": Text("info", "提示"),
    "errors": Text("{n:error|errors}", "{n} 个错误"),
    "warnings": Text("{n:warning|warnings}", "{n} 个警告"),
    "infos": Text("{n:note|notes}", "{n} 个提示"),
    "reached": Text("reached", "调用链"),
    "also-reached": Text("and through {n:other chain|other chains}", "另有 {n} 条调用链"),
    "also-at": Text("also at", "同样出现在"),
    "more": Text("and {n} more", "另有 {n} 处"),
    "help": Text("help", "建议"),
    "versions": Text("on", "涉及版本"),
    "verdict": Text("verdict", "验证"),
    "confirmed": Text("confirmed", "已证实"),
    "refuted": Text("refuted", "不成立"),
    "inconclusive": Text("inconclusive", "无法判定"),
    "not-run": Text("not run", "未运行"),
    "on-device": Text("{status} on {where}", "{status}（{where}）"),
    "fix": Text("fix", "修复"),
    "fix-safe": Text("graphlint check --fix", "graphlint check --fix"),
    "fix-unsafe": Text(
        "graphlint check --fix --unsafe-fixes (rests on an assumption)",
        "graphlint check --fix --unsafe-fixes（基于某个假设）",
    ),
    "not-analysed": Text(
        "{name} could not be analysed ({detail}); please report this, the other functions were checked",
        "无法分析 {name}（{detail}）；请反馈此问题，其他函数已检查",
    ),
    "could-not-read": Text("could not be checked", "无法检查"),
    "cell": Text("cell {n}", "单元格 {n}"),
    "found": Text("{counts} in {files:file|files}", "{files} 个文件中共有 {counts}"),
    "clean": Text("Nothing breaks in graph mode", "图模式下没有发现问题"),
    "unread": Text("{n:file|files} could not be checked", "{n} 个文件无法检查"),
    "comma": Text(", ", "、"),
    "semicolon": Text("; ", "；"),
    "colon": Text(": ", "："),
    "period": Text(".", "。"),
    "scope": Text(
        "Checked {files:file|files} with {functions:graph function|graph functions} for {target}.",
        "已检查 {files} 个文件、{functions} 个图函数；目标：{target}。",
    ),
    "no-graph-code": Text(
        "Checked {files:file|files}; no graph code: no Cell with a construct, no function under ms.jit.",
        "已检查 {files} 个文件；没有图代码：没有定义 construct 的 Cell，也没有 ms.jit 函数。",
    ),
    "target": Text("MindSpore {versions} ({level}, {device})", "MindSpore {versions}（{level}，{device}）"),
    "unmeasured": Text(
        "MindSpore {version} was not measured; what is said here was measured on {stand_in}.",
        "MindSpore {version} 未经实测；此处结论来自 {stand_in} 的实测结果。",
    ),
    "declared": Text(
        "The version comes from {origin}; --target-version sets another.",
        "版本取自 {origin}；可用 --target-version 指定其他版本。",
    ),
    "fixable": Text(
        "{n:finding|findings} can be fixed with --fix.",
        "{n} 处可用 --fix 自动修复。",
    ),
    "fixable-unsafe": Text(
        "{n} more with --fix --unsafe-fixes.",
        "另有 {n} 处可用 --fix --unsafe-fixes 修复。",
    ),
    "fixable-only-unsafe": Text(
        "{n:finding|findings} can be fixed with --fix --unsafe-fixes.",
        "{n} 处可用 --fix --unsafe-fixes 修复。",
    ),
    "paren": Text(" ({text})", "（{text}）"),
    "count": Text("count", "数量"),
    "severity": Text("severity", "级别"),
    "rule": Text("rule", "规则"),
    "place": Text("place", "位置"),
    "what": Text("what happens", "结果"),
    "line": Text("line {n}", "第 {n} 行"),
    # kinds of porting work
    "GL60": Text("Convolutions and pooling", "卷积与池化"),
    "GL61": Text("Arguments of layers, losses and optimizers", "层、损失函数与优化器的参数"),
    "GL62": Text("Names", "名称"),
    "GL63": Text("Tensors", "张量"),
    "GL64": Text("Training loop", "训练循环"),
    # PyTorch's names
    "torch-in-mindspore": Text("in MindSpore", "对应的 MindSpore 接口"),
    "torch-nothing": Text("nothing takes its place", "没有对应的接口"),
    "torch-like": Text("follows PyTorch", "与 PyTorch 一致的接口"),
    "torch-keywords": Text("parameters", "参数对应"),
    "torch-differs": Text("other defaults", "默认值不同"),
    "torch-trap": Text("mind", "注意"),
    "torch-unknown": Text("no row for `{name}`", "没有 `{name}` 的条目"),
    "torch-write": Text("write {code} for PyTorch's result", "要得到 PyTorch 的结果，写 {code}"),
    "torch-dropped": Text("none", "无"),
    # rule pages
    "page-what": Text("What", "检查什么"),
    "page-why": Text("Why", "为什么"),
    "page-example": Text("Example", "示例"),
    "page-instead": Text("Instead", "改写为"),
    "page-fix-safety": Text("Fix safety", "修复的安全性"),
    "page-effects": Text("Effect by version", "各版本上的结果"),
    "page-evidence": Text("Measured with the real compiler, on a CPU", "真实编译器的实测结果（CPU）"),
    "page-silence": Text("To allow it in one place", "在某一处允许它"),
    "page-silence-body": Text(
        "Write # graphlint: ignore[{code}] on the line, and why after it.",
        "在该行写上 # graphlint: ignore[{code}]，并在其后注明原因。",
    ),
    "every-target": Text("every measured version, level and device", "所有实测的版本、语法级别与设备"),
    # suppressions
    "unused-all": Text(
        "Nothing is reported here, so `{comment}` suppresses nothing.",
        "此处没有任何报告，`{comment}` 没有起作用。",
    ),
    "unused-codes": Text(
        "`{codes}` is not reported here, so the suppression does nothing for it.",
        "此处没有报告 `{codes}`，对它的屏蔽没有起作用。",
    ),
    "unknown-codes": Text(
        "`{codes}` is no rule of graphlint's, so the suppression does nothing.",
        "graphlint 没有规则 `{codes}`，该屏蔽没有起作用。",
    ),
    "unused-help": Text("Remove it.", "请删除。"),
    "unknown-help": Text("The nearest rule is `{nearest}`.", "最接近的规则是 `{nearest}`。"),
    # files
    "not-utf8": Text(
        "is not UTF-8: byte 0x{byte:02x} at column {column}; save it as UTF-8 or declare its encoding "
        "on the first line",
        "不是 UTF-8 编码：第 {column} 列的字节为 0x{byte:02x}；请存为 UTF-8，或在首行声明编码",
    ),
    "not-utf8-gbk": Text(
        "is not UTF-8 (it may be GBK): byte 0x{byte:02x} at column {column}; save it as UTF-8 or declare "
        "its encoding on the first line: # -*- coding: gbk -*-",
        "不是 UTF-8 编码（可能是 GBK）：第 {column} 列的字节为 0x{byte:02x}；请存为 UTF-8，"
        "或在首行声明编码：# -*- coding: gbk -*-",
    ),
    "bad-encoding": Text("declares an encoding that can't be used: {detail}", "声明的编码无法使用：{detail}"),
    "null-bytes": Text("contains null bytes; this is not Python source", "含有空字节，不是 Python 源代码"),
    "utf-16": Text("is UTF-16; save it as UTF-8", "是 UTF-16 编码；请存为 UTF-8"),
    "syntax-error": Text(
        "does not parse with Python {python}: {detail}",
        "Python {python} 无法解析：{detail}",
    ),
    "too-deep": Text("is nested too deeply to be parsed", "嵌套过深，无法解析"),
    "bad-notebook": Text("is not a readable notebook: {detail}", "不是可读的 notebook：{detail}"),
    "unreadable": Text("could not be read: {detail}", "无法读取：{detail}"),
    "dangling": Text("is a link to {link}, which does not exist", "是指向 {link} 的链接，而该文件不存在"),
    "missing-path": Text("{path} does not exist", "{path} 不存在"),
    "did-you-mean": Text("; did you mean {nearest}?", "；是否想写 {nearest}？"),
    "no-python": Text("no Python files under {paths}", "{paths} 下没有 Python 文件"),
    "excluded": Text(
        "{path} is left out by the configuration's `exclude`",
        "{path} 已被配置中的 `exclude` 排除",
    ),
    # configuration
    "unknown-key": Text("{where}: unknown key `{key}`", "{where}：未知的配置项 `{key}`"),
    "bad-value": Text(
        "{where}: `{key}` must be {expected}, not {value}", "{where}：`{key}` 应为 {expected}，而不是 {value}"
    ),
    "bad-toml": Text("{where} is not valid TOML: {detail}", "{where} 不是有效的 TOML：{detail}"),
    "unknown-rule": Text("unknown rule `{rule}`", "未知的规则 `{rule}`"),
    "unknown-rule-in": Text("{where}: unknown rule `{rule}`", "{where}：未知的规则 `{rule}`"),
    "bad-version": Text(
        "`{version}` is not a MindSpore version such as 2.7 or 2.10.0",
        "`{version}` 不是 MindSpore 版本号（例如 2.7 或 2.10.0）",
    ),
    # baseline
    "no-baseline": Text(
        "the baseline {path} does not exist; `graphlint baseline` writes it",
        "基线文件 {path} 不存在；可用 `graphlint baseline` 生成",
    ),
    "bad-baseline": Text("{path} is not a baseline: {detail}", "{path} 不是基线文件：{detail}"),
    "baseline-written": Text(
        "{path}: {n:known finding|known findings} ({added} added, {dropped} dropped)",
        "{path}：已知问题 {n} 处（新增 {added}，移除 {dropped}）",
    ),
    "known": Text(
        "{n:known finding is|known findings are} left out by the baseline.",
        "基线已排除 {n} 处已知问题。",
    ),
    "stale": Text(
        "{path}: {rule} in {scope} no longer occurs ({text}); `graphlint baseline --prune` drops the entry",
        "{path}：{scope} 中的 {rule} 已不再出现（{text}）；可用 `graphlint baseline --prune` 移除该条目",
    ),
    # server
    "action-fix": Text("graphlint: fix {code}", "graphlint：修复 {code}"),
    "action-unsafe": Text("graphlint: fix {code} ({note})", "graphlint：修复 {code}（{note}）"),
    "action-silence": Text("graphlint: silence {code} on this line", "graphlint：在此行屏蔽 {code}"),
    "action-fix-all": Text("graphlint: fix {n:finding|findings}", "graphlint：修复 {n} 处"),
    "lens-breaks": Text(
        "graph: {n:break|breaks}, {confirmed} confirmed · verify",
        "图模式：{n} 处问题，已证实 {confirmed} 处 · 验证",
    ),
    "lens-clean": Text("graph: no breaks · verify", "图模式：无问题 · 验证"),
    "verified": Text(
        "{cell}: {confirmed} confirmed, {refuted} refuted", "{cell}：{confirmed} 处已证实，{refuted} 处不成立"
    ),
    "no-pygls": Text(
        "the language server needs pygls: pip install 'mindspore-graphlint[server]'",
        "语言服务器需要 pygls：pip install 'mindspore-graphlint[server]'",
    ),
    # watch
    "watching": Text("Watching {n:file|files}; Ctrl-C ends.", "正在监视 {n} 个文件；按 Ctrl-C 结束。"),
    "watch-needs": Text(
        "--watch neither reads standard input nor rewrites", "--watch 不能与标准输入、--fix 或 --diff 同用"
    ),
    # explain
    "unexplained": Text(
        "No rule knows this error. `graphlint check` on the file shows what it finds there.",
        "没有规则对应此报错。可对该文件运行 `graphlint check` 查看检查结果。",
    ),
    "explained-here": Text("What graphlint finds on those lines:", "graphlint 在这些行上的检查结果："),
    # command line
    "no-fixes": Text(
        "this installation has no rewrites (no graphlint.fixes.apply): --fix and --diff can do nothing",
        "当前安装不含自动改写（缺少 graphlint.fixes.apply），--fix 和 --diff 无法执行",
    ),
    "changed-meanwhile": Text(
        "{path} was changed while its rewrites were worked out: it stays as it is; run again",
        "{path} 在生成改写期间被修改，未写入；请重新运行",
    ),
    "fixed": Text("Fixed {n:finding|findings} in {files:file|files}.", "已修复 {files} 个文件中的 {n} 处。"),
    "would-fix": Text(
        "Would fix {n:finding|findings} in {files:file|files}.", "可修复 {files} 个文件中的 {n} 处。"
    ),
    "internal": Text(
        "internal error: {detail}; please report it ({debug} shows the traceback)",
        "内部错误：{detail}；请报告此问题（设置 {debug} 可查看调用栈）",
    ),
    "progress": Text("graphlint: {done} of {total} files", "graphlint：已检查 {done} / {total} 个文件"),
}
