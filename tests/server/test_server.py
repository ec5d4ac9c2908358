"""The language server, driven by a real client over its standard streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

pytest.importorskip("pygls")

from tests.server.client import Client

NET = """\
import mindspore.nn as nn
from helpers import scaled


class Net(nn.Cell):
    def construct(self, x):
        𝑛, 中文 = 1, 2; print(x, end="")
        return scaled(x)  # graphlint: ignore[GL999]
"""
HELPERS = "def scaled(x):\n    try:\n        return x * 2\n    except ValueError:\n        return x\n"
CLEAN = NET.replace('print(x, end="")', "y = x").replace("  # graphlint: ignore[GL999]", "")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    made = Client(tmp_path)
    yield made
    made.close()


def apply(text: str, edits: List[Dict[str, Any]]) -> str:
    """Makes the text edits of an action, columns in UTF-16 units."""
    lines = text.splitlines(keepends=True)

    def offset(position: Dict[str, int]) -> int:
        before = sum(map(len, lines[: position["line"]]))
        line = lines[position["line"]] if position["line"] < len(lines) else ""
        return before + len(line.encode("utf-16-le")[: position["character"] * 2].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_diagnostics_follow_the_typing(client: Client) -> None:
    found = client.open("net.py", NET)
    assert [d["code"] for d in found] == ["GL301", "GL901"]
    line = NET.splitlines()[6].encode("utf-16-le")
    place = found[0]["range"]
    assert line[place["start"]["character"] * 2 : place["end"]["character"] * 2].decode("utf-16-le") == (
        'print(x, end="")'
    )
    assert (found[0]["severity"], found[1]["severity"]) == (1, 2)
    assert client.change("net.py", CLEAN) == []
    broken = client.change("net.py", NET + "def (:\n")
    assert [d["severity"] for d in broken if "code" not in d] == [1]


def test_an_unsaved_change_counts_in_another_file(client: Client) -> None:
    client.open("net.py", NET)
    assert [d["code"] for d in client.open("helpers.py", HELPERS)] == ["GL101"]
    related = client.change("helpers.py", "# one more line\n" + HELPERS)[0]["relatedInformation"]
    assert related[0]["location"]["uri"] == client.uri("net.py")
    client.change("net.py", NET.replace("scaled(x)", "x"))
    assert client.diagnostics("helpers.py") == []


def test_actions_rewrite_and_silence(client: Client) -> None:
    found = client.open("net.py", NET)
    asked = {
        "textDocument": {"uri": client.uri("net.py")},
        "range": found[0]["range"],
        "context": {"diagnostics": found},
    }
    actions = client.request("textDocument/codeAction", asked)
    titles = [action["title"] for action in actions]
    assert titles[-1] == "graphlint: silence GL301 on this line"
    silenced = apply(NET, actions[-1]["edit"]["changes"][client.uri("net.py")])
    assert "GL301" not in [d["code"] for d in client.change("net.py", silenced)]
    asked["context"]["only"] = ["source.fixAll"]
    client.change("net.py", NET.replace("[GL999]", "[GL101]"))
    (everything,) = client.request("textDocument/codeAction", asked)
    fixed = apply(NET, everything["edit"]["changes"][client.uri("net.py")])
    assert "GL101" not in fixed and "GL901" not in [d.get("code") for d in client.change("net.py", fixed)]


def test_hover_shows_the_page(client: Client) -> None:
    place = client.open("net.py", NET)[0]["range"]["start"]
    asked = {"textDocument": {"uri": client.uri("net.py")}, "position": place}
    said = client.request("textDocument/hover", asked)["contents"]["value"]
    assert "GL301 print-keyword" in said and "**Why**" in said and "```python" in said
    asked["position"] = {"line": 0, "character": 0}
    assert client.request("textDocument/hover", asked) is None


def test_a_lens_on_each_cell(client: Client) -> None:
    client.open("net.py", NET)
    (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": client.uri("net.py")}})
    assert lens["range"]["start"]["line"] == 4
    assert lens["command"]["title"] == "graph: 2 breaks, 0 confirmed · verify"
    assert lens["command"]["command"] == "graphlint.verify"
    assert "graphlint.verify" in client.capabilities["executeCommandProvider"]["commands"]


def test_a_new_file_and_a_wrong_configuration(client: Client) -> None:
    new = NET.replace("Net", "Fresh").replace("  # graphlint: ignore[GL999]", "")
    assert [d["code"] for d in client.open("new.py", new)] == ["GL301"]
    (client.folder / "pyproject.toml").write_text("[tool.graphlint]\nlang = 'fr'\n")
    client.version["new.py"] += 1
    document = {"uri": client.uri("new.py"), "version": client.version["new.py"]}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": new}]})
    assert "`lang` must be" in client.message("window/showMessage")["message"]


def test_options_of_the_client(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    client = Client(tmp_path, {"lang": "zh", "ignore": ["GL9"]})
    (found,) = client.open("net.py", NET.replace("from helpers import scaled", "scaled = abs"))[:1]
    assert found["code"] == "GL301" and any(ord(character) > 0x3000 for character in found["message"])
    client.close()


def test_a_broken_configuration_is_no_other_projects_business(tmp_path: Path) -> None:
    from graphlint.server.app import check_open

    texts = {}
    for name, table in (("bad", "selct = 5"), ("good", "lang = 'en'")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f"[tool.graphlint]\n{table}\n")
        texts[str(tmp_path / name / "net.py")] = "from mindspore import nn\nx = nn.Module\n"
    done, wrong = check_open(texts, {})
    assert list(done) == [str(tmp_path / "good" / "net.py")] and len(wrong) == 1
    assert [f.code for f in next(iter(done.values()))[1].findings] == ["GL620"]
