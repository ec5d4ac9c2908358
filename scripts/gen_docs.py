"""Writes the rule pages, docs/rules/*.md and docs/zh/rules/*.md, from the rules themselves.

`python scripts/gen_docs.py` writes them; with `--check` it changes nothing, names what isn't current, and
exits with 1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from graphlint.checkers import all_rules  # noqa: E402
from graphlint.lang import say  # noqa: E402
from graphlint.rule_page import SECTIONS, Page, effect_table, pages  # noqa: E402

FAMILIES = {
    "1": ("Syntax that the parser refuses", "解析器不接受的语法"),
    "2": ("Control flow over data", "依赖数据的控制流"),
    "3": ("State and side effects", "状态与副作用"),
    "4": ("In-place writes and aliases", "原地写入与别名"),
    "5": ("The host inside the graph", "图中的宿主代码"),
    "6": ("Habits from PyTorch", "沿用自 PyTorch 的习惯"),
    "7": ("API by version and device", "与版本、设备有关的 API"),
    "8": ("Around the graph", "图的周边"),
    "9": ("graphlint's own", "graphlint 自身"),
}
FOLDERS = {"en": "docs/rules", "zh": "docs/zh/rules"}


def documents() -> Dict[str, str]:
    """Every generated file by its path from the root."""
    rules = {rule.code: rule for rule in all_rules()}
    known = pages()
    made: Dict[str, str] = {}
    for lang, folder in FOLDERS.items():
        for page in known:
            made[f"{folder}/{page.code}.md"] = rule_document(page, rules.get(page.code), lang)
        made[f"{folder}/README.md"] = index(known, rules, lang)
    return made


def rule_document(page: Page, rule: Any, lang: str) -> str:
    """One rule's page; the Chinese one is made of the rule's Chinese messages and its code examples."""
    blocks = [f"# {page.code} {page.name}"]
    if lang == "en" or rule is None:
        for section in SECTIONS:
            body = page.sections.get(section)
            if body:
                blocks += [f"## {say(f'page-{section}', lang)}", _code(body) if _is_code(section) else body]
    else:
        blocks += [f"## {say('page-what', lang)}", _sentence(rule.message.zh)]
        for section in ("example", "instead"):
            body = page.sections.get(section)
            if body:
                blocks += [f"## {say(f'page-{section}', lang)}", _code(body)]
        if rule.help.zh:
            blocks += [f"## {say('help', lang)}", _sentence(rule.help.zh)]
    if page.effects:
        table = "\n".join(effect_table(page.effects, lang))
        blocks += [f"## {say('page-effects', lang)}", f"```text\n{table}\n```"]
    silence = say("page-silence-body", lang, code=page.code)
    blocks += [
        f"## {say('page-silence', lang)}",
        silence.replace("# graphlint", "`# graphlint").replace("]", "]`", 1),
    ]
    return "\n\n".join(blocks) + "\n"


def index(known: List[Page], rules: Dict[str, Any], lang: str) -> str:
    """All rules by family, each with its first sentence."""
    blocks = ["# Rules" if lang == "en" else "# 规则"]
    for digit, names in FAMILIES.items():
        mine = [page for page in known if page.code[2] == digit]
        if not mine:
            continue
        blocks.append(f"## GL{digit}xx {names[lang == 'zh']}")
        rows = ["| | |", "|---|---|"]
        for page in mine:
            what = " ".join(page.sections.get("what", "").split())
            first = what.split(". ")[0].rstrip(".") + "."
            if lang == "zh" and page.code in rules:
                first = _sentence(rules[page.code].message.zh)
            link = f"[{page.code} {page.name}]({page.code}.md)"
            rows.append(f"| {link} | {first} |".replace("\n", " "))
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def _is_code(section: str) -> bool:
    return section in ("example", "instead")


def _code(body: str) -> str:
    return f"```python\n{body}\n```"


def _sentence(template: str) -> str:
    """A message with its names left as they are."""
    text = template.replace("{", "‹").replace("}", "›")
    return text if text.endswith(("。", ".", "！", "？")) else text + "。"


def main() -> int:
    """Writes, or checks; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, name what isn't current")
    check = parser.parse_args().check
    made = documents()
    there = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in FOLDERS.values()
        for path in (ROOT / folder).glob("*.md")
    }
    stale = sorted({name for name in {*made, *there} if made.get(name) != there.get(name)})
    for name in stale:
        print(name)
        if not check:
            path = ROOT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in made:
                path.write_text(made[name], encoding="utf-8")
            else:
                path.unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
