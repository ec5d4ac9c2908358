"""What counts as PyTorch heritage, targets side by side, the checklist and the page of a PyTorch name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import List, Tuple

import pytest

from graphlint.cli import run
from graphlint.config import Settings
from graphlint.engine import check
from graphlint.target import Target

NET = """from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3{more})

    def construct(self, x):
        return self.conv(x)
"""


def found(root: Path, *versions: str) -> List[Tuple[str, str, str]]:
    targets = tuple(Target(version) for version in versions or ("2.10.0",))
    result = check([str(root / "net.py")], Settings(targets=targets, root=str(root)))
    return [(f.code, f.severity.value, ",".join(f.targets)) for f in result.findings]


@pytest.mark.parametrize(
    "files",
    [
        {"net.py": "# ported from PyTorch\n" + NET.format(more="")},
        {"net.py": "import torch\n" + NET.format(more="")},
        {"net.py": NET.format(more=""), "convert.py": "import torch\n"},
        {"net.py": NET.format(more=""), "tools/convert.py": "import torch\nfrom net import Net\n"},
        {"net.py": NET.format(more="") + '\n\ndef load():\n    return read("net.pth")\n'},
    ],
)
def test_signs_of_pytorch(files: dict, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert ("GL601", "warning", "") in found(tmp_path)
    assert ("GL604", "warning", "") in found(tmp_path)


@pytest.mark.parametrize("elsewhere", ["", "import torch\n"])
def test_no_signs(elsewhere: str, tmp_path: Path) -> None:
    """A file in another folder that has nothing to do with the module is no sign."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "convert.py").write_text(elsewhere, "utf-8")
    (tmp_path / "net.py").write_text(NET.format(more=""), "utf-8")
    assert found(tmp_path) == [("GL601", "info", "")]


def test_padding_is_a_sign_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET.format(more=", pad_mode='pad', padding=1"), "utf-8")
    assert found(tmp_path) == [("GL601", "warning", "")]


def test_several_targets(tmp_path: Path) -> None:
    text = (
        "import mindspore as ms\nfrom mindspore import ops\n\n\ndef f(x):\n"
        '    ms.set_device("CPU")\n    return ops.transpose(x, input_perm=(1, 0))\n'
    )
    (tmp_path / "net.py").write_text(text, "utf-8")
    told = found(tmp_path, "2.0.0", "2.7.0", "2.10.0")
    assert told == [("GL711", "warning", "2.0.0"), ("GL713", "warning", "2.10.0")]


def test_the_checklist_is_grouped_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.py").write_text(NET.format(more=", bias=False, padding=1"), "utf-8")
    args = ["check", str(tmp_path), "--isolated", "--select", "GL6", "--output-format", "markdown"]
    assert run([*args, "--lang", "en"]) == 1
    said = capsys.readouterr().out
    assert "### Convolutions and pooling (1)" in said
    assert "### Arguments of layers, losses and optimizers (1)" in said
    assert "- [ ] line 7: " in said
    run([*args, "--lang", "zh"])
    assert "### 卷积与池化 (1)" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nn.Conv2d", "torch.nn.Conv2d", "Conv2d"])
def test_the_page_of_a_pytorch_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "--torch", name, "--lang", "en"]) == 0
    said = capsys.readouterr().out
    assert "mindspore.nn.Conv2d" in said
    assert "bias → has_bias" in said
    assert run(["rule", "--torch", name, "--output-format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mindspore"] == "mindspore.nn.Conv2d"
    assert data["mint"] == "mindspore.mint.nn.Conv2d"


def test_an_unknown_pytorch_name() -> None:
    assert run(["rule", "--torch", "nn.Conv9d", "--lang", "en"]) == 2


def test_imports_within_functions_count_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "def build():\n"
        "    from mindspore import nn, ops\n"
        "    import mindspore.nn as layers\n"
        "    def inner(x):\n"
        "        return ops.relu7(x)\n"
        "    return nn.Conv2d(3, 4, 3, padding=1), layers.Nope()\n"
        "def own(nn):\n"
        "    return nn.Module()\n"
        "def shadow():\n"
        "    from .other import nn\n"
        "    return nn.Module()\n"
        "def elsewhere():\n"
        "    return nn.Module()\n"
    )
    result = check([str(tmp_path / "net.py")], Settings(root=str(tmp_path)))
    assert {(f.line, f.code) for f in result.findings} == {
        (5, "GL710"), (6, "GL601"), (6, "GL602"), (6, "GL710"),
    }  # fmt: skip
