"""`graphlint verify`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, FrozenSet, List, Optional, Sequence, Tuple

import click

from graphlint import discovery
from graphlint.cli.options import run_options, selection_options, settings_of, target_options
from graphlint.cli.output import Sources, emit, write
from graphlint.config import Settings, with_options
from graphlint.errors import UsageError
from graphlint.files import cache_folder
from graphlint.finding import CheckResult, Finding, Severity
from graphlint.target import Target, version_key
from graphlint.verify import entries as entry_module
from graphlint.verify.cache import Cache
from graphlint.verify.run import Request, VerifyResult, parse_devices
from graphlint.verify.run import verify as run_verify
from graphlint.verify.session import Plan, Tally

_OWN = (
    *("device", "timeout", "all_cells", "report", "shard", "suggest", "grad", "export", "python", "no_guess"),
    *("memory", "merge", "verified_only"),
)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--device", metavar="N[,N]", help="Ascend device numbers; a CPU without this option.")
@click.option("--timeout", type=click.FloatRange(min=1), metavar="SECONDS", help="For one try (default: 60).")
@click.option(
    "--all", "all_cells", is_flag=True, help="Every Cell, flagged or not; says what the rules missed."
)
@click.option("--grad", is_flag=True, help="Compile and compare the backward graph too.")
@click.option("--export", metavar="FOLDER", help="Also export each Cell that compiles as MindIR.")
@click.option("--shard", metavar="K/N", help="Only the K-th of N parts, for a CI matrix.")
@click.option(
    "--suggest", is_flag=True, help="Print the entries that would make inconclusive Cells definite."
)
@click.option("--no-guess", is_flag=True, help="Only what entries build; guess nothing.")
@click.option("--python", metavar="PATH", help="The interpreter that has MindSpore (default: this one).")
@click.option("--memory", type=click.IntRange(min=512), metavar="MB", help="Memory limit of one try.")
@click.option(
    "--report", type=click.Path(dir_okay=False), metavar="FILE", help="Also write a page (.html) or JSON."
)
@click.option("--verified-only", is_flag=True, help="Report only what the compiler confirmed.")
@click.option(
    "--merge",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="JSON",
    help="Merge earlier JSON results (shards, versions) into the report instead of running.",
)
@target_options
@selection_options
@run_options
def verify(paths: Tuple[str, ...], **given: Any) -> int:
    """Prove the findings in PATH with the real compiler: confirmed, refuted or inconclusive, each with its
    reason.

    Runs the code, in child processes with limits. Without --device on the CPU; `--device 7` means Ascend
    device 7.

    Exit code: 0 nothing confirmed at or above --fail-on, 1 confirmed findings or unreadable files, 2 wrong
    usage, 3 could not do the work.
    """
    own = {name: given.pop(name) for name in _OWN}
    wanted_device = given.get("device_target")
    target_name, numbers = parse_devices(own["device"], wanted_device)
    settings = settings_of(paths, given)
    table = dict(settings.verify)
    if own["merge"]:
        return _merge(own, settings)
    request = Request(
        python=own["python"] or table.get("python") or sys.executable,
        target=target_name,
        numbers=numbers,
        jobs=settings.jobs,
        memory_mb=own["memory"] or int(table.get("memory", 0)),
    )
    plan = Plan(
        level=settings.target.level,
        device=target_name,
        timeout=own["timeout"] or float(table.get("timeout", 60)),
        all_cells=own["all_cells"],
        grad=own["grad"],
        export=own["export"],
        shard=_shard(own["shard"]),
        guess=not own["no_guess"],
    )
    entries = entry_module.from_table(table, _base(settings))
    settings, notes = _settle_target(settings, given, request)
    result, files, plan.shown = _check(paths, settings)
    if not result.findings and not plan.all_cells and plan.export is None:
        _emit(result, settings, None, notes)
        return 1 if result.errors and not given["exit_zero"] else 0
    plan.all_cells = plan.all_cells or plan.export is not None
    cache = Cache(cache_folder("verify") if settings.cache and plan.export is None else None)
    command = " ".join(["graphlint verify", *paths])
    with _Live(settings.lang) as live:
        done = run_verify(result, files, settings.root, entries, plan, request, cache, live, command)
    result.findings = confirmed(done.findings) if own["verified_only"] else done.findings
    _emit(result, settings, done, notes, own["suggest"])
    if own["report"]:
        _write_report(own["report"], document(result, settings, done), settings.lang)
    return 0 if given["exit_zero"] else _exit_code(result, settings)


def confirmed(findings: Sequence[Finding]) -> List[Finding]:
    """Those that the compiler confirmed."""
    return [f for f in findings if (f.verdict or {}).get("status") == "confirmed"]


def _base(settings: Settings) -> str:
    return os.path.dirname(settings.config_path) if settings.config_path else settings.root


def _settle_target(settings: Settings, given: Dict[str, Any], request: Request) -> Tuple[Settings, List[str]]:
    """The findings are those for the MindSpore that runs, unless a target version was asked for."""
    version = installed_version(request.python)
    if version is None:
        return settings, []
    here = ".".join(str(part) for part in version_key(version))
    if given.get("target_version") is None and not settings.target_origin:
        targets = (Target(here, settings.target.level, settings.target.device),)
        return with_options(settings, targets=targets), []
    if version_key(settings.target.mindspore)[:2] != version_key(version)[:2]:
        return settings, [
            f"the findings are for MindSpore {settings.target.mindspore}, the compiler here is {version}"
        ]
    return settings, []


def installed_version(python: str) -> Optional[str]:
    """MindSpore's version in an interpreter, from its metadata: nothing is imported."""
    import subprocess

    code = (
        "import importlib.metadata as m\n"
        "for n in ('mindspore', 'mindspore-dev'):\n"
        "    try: print(m.version(n)); break\n"
        "    except m.PackageNotFoundError: pass\n"
    )
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _check(paths: Tuple[str, ...], settings: Settings) -> Tuple[CheckResult, List[str], FrozenSet[str]]:
    from graphlint import engine

    result: CheckResult = engine.check(paths, settings)
    everything = [
        *discovery.discover([settings.root], settings).files,
        *discovery.discover(paths, settings).files,
    ]
    shown = {os.path.realpath(path) for path in discovery.discover(paths, settings).files}
    return result, list(dict.fromkeys(everything)), frozenset(shown)


def _shard(text: Optional[str]) -> Optional[Tuple[int, int]]:
    if text is None:
        return None
    first, _, second = text.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise UsageError(f"--shard {text}: write K/N with 1 <= K <= N, such as 2/8")
    return int(first), int(second)


def _exit_code(result: CheckResult, settings: Settings) -> int:
    for finding in result.findings:
        verdict = finding.verdict or {}
        if verdict.get("status") == "confirmed" and finding.severity.at_least(settings.fail_on):
            return 1
    return 1 if result.errors else 0


def document(result: CheckResult, settings: Settings, done: Optional[VerifyResult]) -> Dict[str, Any]:
    """The JSON object: check's, with verdicts, `cells`, and what ran where."""
    from graphlint import __version__
    from graphlint.report import Context
    from graphlint.report.json import document as check_document

    context = Context(version=__version__, targets=settings.targets, lang=settings.lang)
    data = check_document(result, context)
    if done is None:
        data["cells"] = []
        return data
    data["cells"] = [cell.as_data() for cell in done.cells]
    data["verify"] = {
        "mindspore": done.info.get("mindspore", ""),
        "numpy": done.info.get("numpy", ""),
        "python": done.info.get("python", ""),
        "device": done.device,
        "seconds": done.seconds,
        "checks": [check.as_data() for check in done.checks],
        "counts": _counts(result),
        "shares": shares(done),
        "from_cache": done.tally.from_cache,
        "notes": done.notes,
    }
    return data


def _counts(result: CheckResult) -> Dict[str, int]:
    numbers = {"confirmed": 0, "refuted": 0, "inconclusive": 0, "not-run": 0}
    for finding in result.findings:
        if finding.verdict:
            numbers[finding.verdict["status"]] += 1
    return numbers


def shares(done: VerifyResult) -> Dict[str, Any]:
    """How far the Cells came: built, run in PyNative, compiled; and by which rung."""
    definite = {"ok", "fallback", "recompiles", "diverges", "printed-differs", "error", "broken"}
    compiled = {"ok", "fallback", "recompiles", "diverges", "printed-differs"}
    rungs: Dict[str, int] = {}
    for cell in done.cells:
        rung = cell.rung.split(" from ")[0]
        if cell.status in definite:
            rungs[rung] = rungs.get(rung, 0) + 1
    return {
        "cells": len(done.cells),
        "run_in_pynative": sum(cell.status in definite for cell in done.cells),
        "compiled": sum(cell.status in compiled for cell in done.cells),
        "same": sum(cell.status in ("ok", "fallback", "recompiles") for cell in done.cells),
        "refused": sum(cell.status in ("error", "broken") for cell in done.cells),
        "different": sum(cell.status in ("diverges", "printed-differs") for cell in done.cells),
        "by_rung": rungs,
    }


def _emit(
    result: CheckResult,
    settings: Settings,
    done: Optional[VerifyResult],
    notes: Sequence[str],
    suggest: bool = False,
) -> None:
    if settings.output_format == "json":
        write(json.dumps(document(result, settings, done), ensure_ascii=False, indent=2) + "\n")
    elif settings.output_format == "junit":
        emit(_proven(result), settings, Sources(settings.lang))
    else:
        emit(result, settings, Sources(settings.lang))
    from graphlint.verify import words

    to_stderr = settings.output_format != "text"
    for line in words.summary(result, done, notes, settings.lang, suggest):
        click.echo(line, err=to_stderr)


def _proven(result: CheckResult) -> CheckResult:
    """For JUnit: only confirmed findings fail, the others pass with their verdict as output."""
    findings = [
        finding
        if (finding.verdict or {}).get("status") == "confirmed"
        else finding.with_(severity=Severity.INFO)
        for finding in result.findings
    ]
    return CheckResult(findings, result.errors, result.files, result.graph_functions)


def _write_report(path: str, data: Dict[str, Any], lang: str) -> None:
    from graphlint.errors import WorkError

    if path.endswith(".json"):
        text = json.dumps(data, ensure_ascii=False, indent=2)
    else:
        from graphlint.report.html import page

        text = page([data], lang)
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise WorkError(f"{path} could not be written: {error.strerror}") from error


def _merge(own: Dict[str, Any], settings: Settings) -> int:
    from graphlint.verify.merge import merge, read

    documents = [read(path) for path in own["merge"]]
    merged = merge(documents)
    if own["verified_only"]:
        merged["findings"] = [
            f for f in merged["findings"] if (f["verdict"] or {}).get("status") == "confirmed"
        ]
    if own["report"]:
        if own["report"].endswith(".json"):
            _write_report(own["report"], merged, settings.lang)
        else:
            from graphlint.report.html import page

            with open(own["report"], "w", encoding="utf-8") as stream:
                stream.write(page(documents, settings.lang))
    else:
        write(json.dumps(merged, ensure_ascii=False, indent=2) + "\n")
    rank = ("error", "warning", "info").index(settings.fail_on.value)
    failing = [
        item
        for item in merged["findings"]
        if (item["verdict"] or {}).get("status") == "confirmed"
        and ("error", "warning", "info").index(item["severity"]) <= rank
    ]
    return 1 if failing or merged["errors"] else 0


class _Live:
    """One line on a terminal's standard error, kept up to date."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.on = sys.stderr.isatty()
        self.width = 0

    def __enter__(self) -> _Live:
        return self

    def __call__(self, tally: Tally, name: str) -> None:
        if not self.on:
            return
        from graphlint.verify import words

        text = words.progress(tally, name, self.lang)[:100]
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = max(self.width, len(text))

    def __exit__(self, *_: object) -> None:
        if self.width:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
