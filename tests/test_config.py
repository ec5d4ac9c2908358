"""Settings: where they come from, which win, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.config import Settings, check_rules, full_version, load, matches
from graphlint.dependencies import lower_bound
from graphlint.errors import ConfigError, UsageError
from graphlint.finding import Severity
from graphlint.target import NEWEST

RULES = {"GL101": "try-in-graph", "GL102": "del-in-graph", "GL301": "print-in-graph"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_without_configuration_the_newest_lax_ascend_is_the_target(project: Path) -> None:
    settings = load()
    assert (settings.target.mindspore, settings.target.level, settings.target.device) == (
        NEWEST,
        "lax",
        "Ascend",
    )
    assert (settings.fail_on, settings.lang, settings.root) == (Severity.WARNING, "en", str(project))


def test_a_table_of_pyproject_is_read_and_options_win(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.graphlint]\ntarget-version = ["2.7", "2.10"]\nsyntax-level = "strict"\nfail-on = "error"\n'
    )
    settings = load(options={"syntax-level": "lax", "fail-on": None})
    assert [target.mindspore for target in settings.targets] == ["2.7.0", "2.10.0"]
    assert settings.target.level == "lax"
    assert settings.fail_on is Severity.ERROR
    assert settings.target_origin == "pyproject.toml"


def test_the_nearest_configuration_counts_and_graphlint_toml_comes_first(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.graphlint]\nlang = "zh"\n')
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\n")
    assert load("inner").lang == "zh"
    (inner / "graphlint.toml").write_text('lang = "en"\n')
    assert load("inner/net.py").lang == "en"
    assert load("inner", isolated=True).config_path is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ingore = ['GL1']", "unknown key `ingore`; did you mean `ignore`?"),
        ("jobs = 'two'", "`jobs` must be a whole number"),
        ("syntax-level = 'relaxed'", "one of lax, strict"),
        ("select = 'GL1'", "a list of strings"),
        ("select = [", "not valid TOML"),
        ("target-version = 'newest'", "not a MindSpore version"),
    ],
)
def test_what_graphlint_does_not_know_is_refused(project: Path, text: str, said: str) -> None:
    (project / "graphlint.toml").write_text(text)
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        load()


def test_an_unknown_rule_names_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean `print-in-graph`"):
        check_rules(Settings(select=("print-in-grph",)), RULES)
    with pytest.raises(ConfigError, match="unknown rule `GL7`"):
        check_rules(Settings(ignore=("GL7",)), RULES)
    check_rules(Settings(select=("GL", "GL1", "GL101", "try-in-graph", "ALL")), RULES)


@pytest.mark.parametrize(
    ("settings", "code", "expected"),
    [
        (Settings(), "GL101", True),
        (Settings(select=("GL3",)), "GL101", False),
        (Settings(select=("try-in-graph",)), "GL101", True),
        (Settings(ignore=("GL1",)), "GL101", False),
        (Settings(ignore=("GL1",), extend_select=("GL101",)), "GL101", True),
        (Settings(select=("GL101",), ignore=("GL101",)), "GL101", False),
        (Settings(select=("GL",), ignore=("GL1",)), "GL301", True),
    ],
)
def test_the_longer_selector_wins(settings: Settings, code: str, expected: bool) -> None:
    assert settings.selects(code, RULES[code]) is expected


def test_rules_can_be_ignored_for_some_files(project: Path) -> None:
    settings = Settings(per_file_ignores=(("tools/*.py", ("GL301",)),), root=str(project))
    assert not settings.selects("GL301", "", "tools/run.py")
    assert settings.selects("GL301", "", "net.py")
    assert settings.selects("GL101", "", "tools/run.py")


def test_select_on_the_command_line_sets_the_configured_ignore_aside(project: Path) -> None:
    (project / "graphlint.toml").write_text("ignore = ['GL1']\n")
    assert load(options={"ignore": ["GL3"]}).ignore == ("GL1", "GL3")
    assert load(options={"select": ["GL101"]}).ignore == ()


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("mindspore>=2.6,<2.9", "2.6"),
        ("mindspore == 2.7.1 ; python_version < '3.12'", "2.7.1"),
        ("MindSpore-Ascend~=2.2.0", "2.2.0"),
        ("mindspore[cpu]>2.5  # newer breaks", "2.5"),
        ("mindspore<2.9", None),
        ("mindspore", None),
        ("mindspore-lite>=2.6", None),
        ("numpy>=1.2", None),
    ],
)
def test_the_lower_bound_of_a_requirement(requirement: str, version: object) -> None:
    assert lower_bound(requirement) == version


def test_a_declared_dependency_sets_the_target(project: Path) -> None:
    (project / "requirements.txt").write_text("numpy\nmindspore>=2.7\n")
    settings = load()
    assert settings.target.mindspore == "2.7.0"
    assert settings.target_origin == "requirements.txt (mindspore>=2.7)"
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["mindspore>=2.8"]\n')
    assert load().target.mindspore == "2.8.0"
    assert load(options={"target-version": ["2.6"]}).target.mindspore == "2.6.0"
    assert load(isolated=True).target.mindspore == NEWEST


@pytest.mark.parametrize(
    ("relative", "pattern", "expected"),
    [
        ("src/legacy/net.py", "legacy", True),
        ("src/legacy/net.py", "src/legacy", True),
        ("src/legacy/net.py", "./src/legacy/", True),
        ("src/legacy/net.py", "legacy/*.py", False),
        ("src/legacy/net.py", "**/legacy/*.py", True),
        ("src/net_test.py", "*_test.py", True),
        ("src/net.py", "*_test.py", False),
    ],
)
def test_patterns(relative: str, pattern: str, expected: bool) -> None:
    assert matches(relative, [pattern]) is expected


def test_versions_are_made_full() -> None:
    assert full_version("2.7") == "2.7.0"
    assert full_version("v2.6.0rc1") == "2.6.0"


@pytest.mark.parametrize(
    "text",
    [
        "tool = 5",
        "tool = [1]",
        "project = []",
        "[project]\ndependencies = 5\noptional-dependencies = 3",
        "[project]\ndependencies = [5, {a = 1}]",
        "[project.optional-dependencies]\na = 5",
        "dependency-groups = 1",
        "[tool]\npoetry = 1",
        "[tool.poetry]\ndependencies = [1]",
        "[tool.poetry.dependencies]\nmindspore = 5",
    ],
)
def test_tables_of_other_tools_in_any_shape_are_passed_over(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    assert load().target.mindspore == NEWEST
