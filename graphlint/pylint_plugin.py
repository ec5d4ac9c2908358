"""The pylint plugin, `load-plugins=graphlint`: the findings of `graphlint check` as messages of pylint's.

One checker class a family, since the ids in a class share their first two digits. `GL101` is `E7101`: the
letter is fixed for each rule by the gravest effect that it states for the newest MindSpore at the lax level.
A project is read once for all files that pylint is given, so that a file given singly still knows the files
that reach its code. `# pylint: disable=` is pylint's own business, every other suppression graphlint's.
"""

from __future__ import annotations

import os
import sys
from itertools import groupby
from typing import Any, ClassVar, Dict, List, Optional, Tuple, Type

from astroid import nodes
from pylint.checkers import BaseChecker
from pylint.lint import PyLinter

from graphlint import engine
from graphlint.checkers import all_rules
from graphlint.config import Settings, check_rules, load, with_options
from graphlint.discovery import discover
from graphlint.errors import GraphlintError
from graphlint.finding import Effect, Finding, Severity, severity_of
from graphlint.report.common import one_line
from graphlint.rule_page import UnusedSuppression, sections_of
from graphlint.target import DEVICES, LEVELS, NEWEST

_LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "R"}
_USAGE_ERROR = 32
_OPTIONS = (
    (
        "graphlint-target-version",
        {
            "type": "csv",
            "metavar": "<versions>",
            "default": (),
            "help": "MindSpore versions to check for; by default what [tool.graphlint] or the project's "
            "mindspore dependency says.",
        },
    ),
    (
        "graphlint-syntax-level",
        {
            "type": "string",
            "metavar": "<level>",
            "default": "",
            "help": f"JIT syntax level to check for: {' or '.join(LEVELS)}.",
        },
    ),
    (
        "graphlint-device-target",
        {
            "type": "string",
            "metavar": "<device>",
            "default": "",
            "help": f"Device to check for: {', '.join(DEVICES)}.",
        },
    ),
)


class Runs:
    """What the engine found, one run a project, shared by the checkers of one linter."""

    def __init__(self) -> None:
        self._found: Dict[str, Dict[str, List[Finding]]] = {}
        self._settings: Dict[str, Settings] = {}

    def clear(self) -> None:
        """Forgets everything: files may have changed before the next run of this process."""
        self._found.clear()
        self._settings.clear()

    def settings(self, folder: str, config: Any) -> Settings:
        """The settings for files in `folder`, pylint's options on top; raises ConfigError or UsageError."""
        if folder not in self._settings:
            options: Dict[str, Any] = {
                "target-version": list(config.graphlint_target_version) or None,
                "syntax-level": _one_of(LEVELS, config.graphlint_syntax_level),
                "device-target": _one_of(DEVICES, config.graphlint_device_target),
            }
            settings = load(folder, options=options)
            check_rules(settings)
            self._settings[folder] = with_options(settings, pylint_comments=False)
        return self._settings[folder]

    def findings(self, path: str, settings: Settings, given: Optional[bytes]) -> List[Finding]:
        """The findings in one file; `given` holds its bytes where an editor sends them.

        The first call for a project reads all of it; a file that a run over the project leaves out
        (in a virtual environment, say) gets a run of its own.
        """
        real = os.path.realpath(path)
        if given is not None:
            text = given.decode("utf-8-sig", "surrogateescape")
            return list(engine.check([path], settings, stdin=(path, text)).findings)
        key = f"{settings.root}\n{settings.config_path}"
        if key not in self._found:
            self._found[key] = _by_file(engine.check([settings.root], settings).findings)
            for shown in discover([settings.root], settings).files:
                self._found[key].setdefault(os.path.realpath(shown), [])
        known = self._found[key]
        if real not in known:
            known.update({real: [], **_by_file(engine.check([path], settings).findings)})
        return known[real]


def _by_file(findings: List[Finding]) -> Dict[str, List[Finding]]:
    found: Dict[str, List[Finding]] = {}
    for finding in findings:
        found.setdefault(os.path.realpath(finding.path), []).append(finding)
    return found


def _one_of(words: Tuple[str, ...], given: str) -> Optional[str]:
    """The member of `words` that was given, in its own spelling; None where nothing was."""
    if not given:
        return None
    for word in words:
        if word.lower() == given.lower():
            return word
    raise GraphlintError(f"{given!r} is not one of {', '.join(words)}")


class FamilyChecker(BaseChecker):
    """The messages of one family of rules."""

    name = "graphlint"
    codes: ClassVar[Dict[str, str]] = {}
    """Rule code → pylint's message id."""

    def __init__(self, linter: PyLinter, runs: Optional[Runs] = None) -> None:
        super().__init__(linter)
        self.runs = runs if runs is not None else Runs()

    def open(self) -> None:
        """Ends the run, as pylint does for wrong usage, where options or configuration can't be read."""
        try:
            self.runs.settings(os.getcwd(), self.linter.config)
        except GraphlintError as error:
            print(f"graphlint: {error}", file=sys.stderr)
            sys.exit(_USAGE_ERROR)

    def close(self) -> None:
        self.runs.clear()

    def visit_module(self, node: nodes.Module) -> None:
        """Adds a message for each finding of this family in the module."""
        path = node.file
        if not path or not isinstance(path, str) or path.startswith("<"):
            return
        folder = os.path.dirname(os.path.abspath(path))
        settings = self.runs.settings(folder, self.linter.config)
        given = node.file_bytes if self.linter.config.from_stdin else None
        if isinstance(given, str):
            given = given.encode("utf-8", "surrogateescape")
        for finding in self.runs.findings(path, settings, given):
            message = self.codes.get(finding.code)
            if message is not None:
                self.add_message(
                    message,
                    node=_scope(node, finding.line),
                    line=finding.line,
                    args=(one_line(finding, settings.lang),),
                    col_offset=finding.column - 1,
                    end_lineno=finding.end_line,
                    end_col_offset=finding.end_column - 1,
                )


def _scope(module: nodes.Module, line: int) -> nodes.NodeNG:
    """The innermost function or class around a line, the module where there is none."""
    found: nodes.NodeNG = module
    while True:
        inner = next(
            (
                child
                for child in found.get_children()
                if isinstance(child, (nodes.FunctionDef, nodes.ClassDef))
                and child.fromlineno <= line <= (child.tolineno or 0)
            ),
            None,
        )
        if inner is None:
            return found
        found = inner


def letter(rule: Any) -> str:
    """E, W or R: the gravest of what the rule states for the newest version at the lax level."""
    severities = [
        severity_of(Effect(row["effect"]))
        for row in rule.effects_by_target()
        if row["mindspore"] == NEWEST and row["level"] == "lax"
    ]
    if rule is UnusedSuppression:
        severities = [Severity.WARNING]
    return _LETTERS[min(severities, key=lambda severity: severity.rank, default=Severity.INFO)]


def _families() -> List[Type[FamilyChecker]]:
    """A checker class for each family, made from its rules; the first one brings the options."""
    rules: List[Any] = sorted([*all_rules(), UnusedSuppression], key=lambda rule: rule.code)
    classes: List[Type[FamilyChecker]] = []
    for family, members in groupby(rules, key=lambda rule: rule.code[2]):
        codes, messages = {}, {}
        for rule in members:
            identifier = f"{letter(rule)}7{rule.code[2:]}"
            codes[rule.code] = identifier
            what = sections_of(rule.__doc__ or "").get("what", rule.name)
            about = " ".join(what.split())
            messages[identifier] = ("%s", rule.name, f"{about} See `graphlint rule {rule.code}`.")
        name = f"Family{family}Checker"
        options = _OPTIONS if not classes else ()
        body = {
            "msgs": messages,
            "codes": codes,
            "options": options,
            "__module__": __name__,
            "__doc__": FamilyChecker.__doc__,
        }
        classes.append(type(name, (FamilyChecker,), body))
    return classes


FAMILIES = _families()
globals().update({family.__name__: family for family in FAMILIES})


def register(linter: PyLinter) -> None:
    """Called by pylint when it loads the plugin; some versions load it twice in a process of `-j`."""
    if any(checker.name == FamilyChecker.name for checker in linter.get_checkers()):
        return
    runs = Runs()
    for family in FAMILIES:
        linter.register_checker(family(linter, runs))
