"""The help texts of commands and options in Chinese, by their English text; read only when help is shown."""

from __future__ import annotations

from typing import Dict

OPTIONS: Dict[str, str] = {
    "MindSpore versions to check for; the project's own by default.": "要检查的 MindSpore 版本；默认取项目自身声明的版本。",
    "JIT syntax level (default: lax).": "JIT 语法级别（默认 lax）。",
    "Device to check for (default: Ascend).": "要检查的设备（默认 Ascend）。",
    "Only these rules: codes, prefixes, names.": "只检查这些规则：编号、编号前缀或名称。",
    "These rules as well.": "另外检查这些规则。",
    "Not these rules.": "不检查这些规则。",
    "Exit with 1 from this severity on (default: warning).": "从该级别起以 1 退出（默认 warning）。",
    "Exit with 0 whatever is found.": "无论结果如何都以 0 退出。",
    "Processes; 0, the default, for one per core.": "进程数；默认 0，即每个核一个。",
    "Neither read nor write the cache.": "既不读取也不写入缓存。",
    "Known findings, which don't count (see `baseline`).": "已知问题的文件，其中的问题不计（见 `baseline`）。",
    "Count the known findings too.": "已知问题也计入。",
    "Ignore all configuration files.": "忽略所有配置文件。",
    "Language of messages (default: the locale's).": "消息的语言（默认取自 locale）。",
    "Language of the headings (default: the locale's).": "标题的语言（默认取自 locale）。",
    "Language of the answer (default: the locale's).": "回答的语言（默认取自 locale）。",
    "Rewrite what can be rewritten safely.": "执行可以安全完成的改写。",
    "Also the rewrites that rest on an assumption.": "也执行基于某个假设的改写。",
    "Show the rewrites instead of writing them.": "只显示改写，不写入文件。",
    "Check standard input under this name.": "以该文件名检查标准输入。",
    "Count the findings by rule instead of listing them.": "按规则统计数量，不逐条列出。",
    "Check again after each change, until interrupted.": "每次改动后重新检查，直到被中断。",
    "List the files that would be checked, and stop.": "只列出将要检查的文件。",
    "Ascend device numbers; a CPU without this option.": "Ascend 设备号；不给出时使用 CPU。",
    "For one try (default: 60).": "每次尝试的时限（默认 60）。",
    "Every Cell, flagged or not; says what the rules missed.": "验证所有 Cell，无论是否有提示；并指出规则遗漏之处。",
    "Compile and compare the backward graph too.": "同时编译并比较反向图。",
    "Also export each Cell that compiles as MindIR.": "同时把能编译的 Cell 导出为 MindIR。",
    "Only the K-th of N parts, for a CI matrix.": "只运行 N 份中的第 K 份，用于 CI 矩阵。",
    "Print the entries that would make inconclusive Cells definite.": "输出能让无法判定的 Cell 得出结论的条目。",
    "Only what entries build; guess nothing.": "只使用条目构造的实例，不做推测。",
    "The interpreter that has MindSpore (default: this one).": "装有 MindSpore 的解释器（默认为当前解释器）。",
    "Memory limit of one try.": "每次尝试的内存上限。",
    "Also write a page (.html) or JSON.": "另外写入网页（.html）或 JSON。",
    "Report only what the compiler confirmed.": "只报告编译器已证实的问题。",
    "Merge earlier JSON results (shards, versions) into the report instead of running.": "不运行，只把先前的 JSON 结果（分片、版本）合并到报告中。",
    "All rules.": "全部规则。",
    "What PyTorch's NAME is in MindSpore, such as nn.Conv2d.": "PyTorch 的 NAME 在 MindSpore 中对应什么，例如 nn.Conv2d。",
    "How to print (text).": "输出格式（text）。",
    "Only drop what no longer occurs; add nothing.": "只移除不再出现的条目，不新增。",
    "Ascend device numbers to look for.": "要查找的 Ascend 设备号。",
    "Speak over standard input and output (the default).": "通过标准输入输出通信（默认）。",
    "Speak over this port of 127.0.0.1.": "通过 127.0.0.1 的该端口通信。",
    "Show this message and exit.": "显示本说明并退出。",
    "Show the version and exit.": "显示版本并退出。",
}

STARTS: Dict[str, str] = {
    "One of ": "可选：",
    "Where to write (default: the configured baseline, else ": "写入的文件（默认为配置的基线，否则为 ",
}
"""Texts that end in a list or a name."""
