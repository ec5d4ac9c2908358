"""Turns judgements into a verdict on each finding of one target: peeling refusals off, then leave one in.

`verify_target` is a generator like oracle.judge: it yields tries and returns a TargetReport.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Dict, Generator, List, Mapping, Optional, Sequence, Set, Tuple

from graphlint.finding import Effect, Finding
from graphlint.verify import attribution, compile_errors, oracle
from graphlint.verify.compile_errors import Refusal
from graphlint.verify.isolate import Neutral, Rewriter
from graphlint.verify.oracle import Judgement
from graphlint.verify.tries import Outcome, Try

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_RUN = "confirmed", "refuted", "inconclusive", "not-run"

Steps = Generator[Try, Outcome, Any]


@dataclass
class Options:
    """How far to go: seconds for one try, judgements for one target, the scratch folder, MindSpore's own
    folder."""

    timeout: float = 60.0
    budget: int = 40
    scratch: str = "."
    package: str = ""
    export: Optional[str] = None


@dataclass
class Verdict:
    """One finding's verdict; `judgement` is the run that settled it."""

    status: str
    reason: str
    judgement: Optional[Judgement] = None

    def as_data(self, rung: str, base: Judgement) -> Dict[str, Any]:
        """The `verdict` of the JSON report."""
        run = self.judgement or base
        return {
            "status": self.status,
            "reason": self.reason,
            "device": run.device or base.device,
            "mindspore": run.mindspore or base.mindspore,
            "pynative": run.pynative or base.pynative,
            "graph": run.graph or base.graph,
            "seconds": round(run.seconds, 3),
            "rung": rung,
        }


@dataclass
class TargetReport:
    """What one target came to: the judgement of the code as it stands, and a verdict for each finding by
    its position."""

    base: Judgement
    verdicts: Dict[int, Verdict] = field(default_factory=dict)
    judgements: int = 1
    culprits: Tuple[Tuple[str, int], ...] = ()


class _Case:
    """The state of one target while its findings are told apart."""

    def __init__(
        self, job: Dict[str, Any], findings: Sequence[Finding], names: Mapping[str, str], options: Options
    ) -> None:
        self.job, self.findings, self.options = job, list(findings), options
        self.names = {os.path.realpath(path): name for path, name in names.items()}
        self.rewriters: Dict[str, Optional[Rewriter]] = {}
        self.plans: Dict[int, Tuple[str, Neutral]] = {}
        self.number = 0
        self.renamed: Dict[str, str] = {}
        self.recorded: Optional[Dict[str, str]] = None
        self.spent = 0

    def make_plans(self, reached: Mapping[str, List[int]]) -> None:
        """How each finding would be set aside, knowing the lines that PyNative executed."""
        for path, lines in reached.items():
            rewriter = self.rewriter(path)
            if rewriter is not None:
                rewriter.reached.update(lines)
        for index, finding in enumerate(self.findings):
            plan = self._plan(index, finding)
            if plan is not None:
                self.plans[index] = plan

    def rewriter(self, path: str) -> Optional[Rewriter]:
        real = os.path.realpath(path)
        if real not in self.rewriters:
            try:
                with open(real, encoding="utf-8-sig") as stream:
                    self.rewriters[real] = Rewriter(stream.read())
            except (OSError, SyntaxError, ValueError):
                self.rewriters[real] = None
        return self.rewriters[real]

    def _plan(self, index: int, finding: Finding) -> Optional[Tuple[str, Neutral]]:
        real = os.path.realpath(finding.path)
        rewriter = self.rewriter(real)
        if rewriter is None or real not in self.names or finding.cell is not None:
            return None
        try:
            neutral = rewriter.plan(index, finding.line, finding.column, finding.end_line, finding.end_column)
        except (ValueError, IndexError, KeyError):
            return None
        return None if neutral is None else (real, neutral)

    def without(self, indexes: Set[int]) -> Steps:
        """The judgement of the code with these findings set aside; None where that can't be done."""
        if not indexes <= set(self.plans) or self.spent >= self.options.budget:
            return None
        if self.recorded is None and any(self.plans[index][1].record for index in indexes):
            yield from self._record()
        overrides = self._write({index: self.plans[index] for index in indexes}, record=False)
        self.spent += 1
        judgement = yield from oracle.judge(
            {**self.job, "overrides": overrides, "trace": None}, self._path(), self.options.timeout
        )
        return judgement

    def _path(self) -> str:
        self.number += 1
        return os.path.join(self.options.scratch, f"{self.number}")

    def _record(self) -> Steps:
        """Run PyNative once with every value that a neutral form needs written down."""
        self.recorded = {
            path: os.path.join(self.options.scratch, f"values{n}.pickle")
            for n, path in enumerate(self._files())
        }
        overrides = self._write(self.plans, record=True)
        yield Try(
            {**self.job, "mode": "pynative", "overrides": overrides, "trace": None}, self.options.timeout
        )

    def _files(self) -> List[str]:
        return sorted({path for path, _ in self.plans.values()})

    def _write(self, plans: Mapping[int, Tuple[str, Neutral]], record: bool) -> Dict[str, str]:
        """Write the rewritten copies; {module: file}."""
        folder = os.path.join(self.options.scratch, f"v{self.number}{'r' if record else ''}")
        os.makedirs(folder, exist_ok=True)
        overrides = {}
        for number, path in enumerate(self._files()):
            neutrals = [neutral for where, neutral in plans.values() if where == path]
            rewriter = self.rewriter(path)
            if not neutrals or rewriter is None:
                continue
            name = self.names[path]
            copy = os.path.join(folder, f"{number}_{os.path.basename(path)}")
            values = (self.recorded or {}).get(path, "")
            with open(copy, "w", encoding="utf-8") as stream:
                stream.write(rewriter.rewrite(neutrals, record=record, values=values))
            overrides[name] = copy
            self.renamed[copy] = path
        self.number += 1
        return overrides

    def refusal(self, judgement: Judgement) -> Optional[Refusal]:
        if judgement.error is None:
            return None
        return compile_errors.read(judgement.error, self.options.package, self.renamed)

    def blamed(self, refusal: Refusal, among: Set[int]) -> Set[int]:
        return {index for index in among if attribution.blames(refusal, self.findings[index])}


def verify_target(
    job: Dict[str, Any], findings: Sequence[Finding], names: Mapping[str, str], options: Options
) -> Steps:
    """Verdicts for the findings of one target. `names`: the module of each file that may be rewritten."""
    os.makedirs(options.scratch, exist_ok=True)
    case = _Case(job, findings, names, options)
    files = sorted(
        {os.path.realpath(finding.path) for finding in findings} | {finding.path for finding in findings}
    )
    place = os.path.join(options.scratch, "base")
    base = yield from oracle.judge({**job, "trace": files}, place, options.timeout, options.export)
    if job.get("grad") and base.outcome == "pynative-fails":
        without = {**job, "trace": files, "grad": False}
        forward = yield from oracle.judge(without, place, options.timeout, options.export)
        if forward.definite:
            forward.words += f" (forward only; backward in PyNative: {base.words})"
            base, job = forward, {**job, "grad": False}
            case.job = dict(job)
    case.spent += 1
    case.make_plans(base.reached)
    report = TargetReport(base)
    refusal = case.refusal(base)
    if refusal is not None:
        report.culprits = tuple((frame.path, frame.line) for frame in refusal.culprits)
    everything = set(range(len(findings)))
    if not findings:
        return report
    if base.outcome == "pynative-fails" and attribution.lacks_kernel(base.words):
        front = yield from oracle.front_end({**job, "grad": False}, options.timeout)
        refusal = case.refusal(front)
        for index in case.blamed(refusal, everything) if refusal is not None else ():
            report.verdicts[index] = Verdict(CONFIRMED, f"{front.words} (front end alone)", front)
        everything -= set(report.verdicts)
    if not base.definite:
        for index in everything:
            report.verdicts[index] = _not_definite(findings[index], base)
        return report
    left = set(everything)
    for index in everything:
        settled = _apart(findings[index], base, job)
        if settled is not None:
            report.verdicts[index] = settled
            left.discard(index)
    yield from _peel(case, report, left, base)
    report.judgements = case.spent
    return report


def _peel(case: _Case, report: TargetReport, left: Set[int], base: Judgement) -> Steps:
    """Set refusals aside one after another, until the rest compiles, differs, or can't be told by lines."""
    aside: Set[int] = set()
    now = base
    while left:
        if now.outcome == "error":
            refusal = case.refusal(now)
            blamed = case.blamed(refusal, left) if refusal is not None else set()
            if not blamed:
                break
            for index in blamed:
                report.verdicts[index] = Verdict(CONFIRMED, now.words, now)
            left -= blamed
            aside |= blamed
            if not left:
                return
            after = yield from case.without(aside)
            if after is None or after.outcome in ("pynative-fails", "not-tried"):
                for index in left:
                    words = after.words if after is not None else "the refusal can't be set aside"
                    report.verdicts[index] = Verdict(
                        INCONCLUSIVE, f"hidden behind another refusal: {now.words} ({words})", now
                    )
                return
            now = after
            continue
        if now.outcome in ("diverges", "printed-differs", "broken"):
            break
        for index in left:
            report.verdicts[index] = _of_agreement(case.findings[index], now, base)
        return
    if left:
        yield from _leave_one_in(case, report, left, aside, now, base)


def _leave_one_in(
    case: _Case, report: TargetReport, left: Set[int], aside: Set[int], now: Judgement, base: Judgement
) -> Steps:
    """The control without all of `left`; then each of them alone."""
    movable = left & set(case.plans)
    fixed = left - movable
    control: Optional[Judgement] = None
    if movable:
        control = yield from case.without(aside | movable)
    if control is None or control.outcome in ("pynative-fails", "not-tried"):
        _alone(case, report, left, now, control)
        return
    quiet = control.outcome in ("ok", "fallback", "recompiles")
    if not quiet:
        suspects = {
            index for index in fixed if attribution.fits(case.findings[index].effect, control.outcome)
        }
        if len(suspects) == 1:
            report.verdicts[suspects.pop()] = Verdict(CONFIRMED, control.words, control)
        for index in left - set(report.verdicts):
            report.verdicts[index] = Verdict(
                INCONCLUSIVE,
                f"something else stands in the way, with all findings set aside: {control.words}",
                control,
            )
        return
    for index in fixed:
        report.verdicts[index] = _of_agreement(case.findings[index], control, base)
    if len(movable) == 1:
        report.verdicts[movable.pop()] = Verdict(CONFIRMED, now.words, now)
        return
    for index in sorted(movable):
        one = yield from case.without((aside | movable) - {index})
        if one is None or one.outcome in ("pynative-fails", "not-tried"):
            words = one.words if one is not None else "the budget is spent"
            report.verdicts[index] = Verdict(INCONCLUSIVE, f"could not be told from the others: {words}", one)
        elif one.outcome in ("error", "diverges", "printed-differs", "broken"):
            report.verdicts[index] = Verdict(CONFIRMED, one.words, one)
        else:
            report.verdicts[index] = _of_agreement(case.findings[index], one, base)


def _alone(
    case: _Case, report: TargetReport, left: Set[int], now: Judgement, control: Optional[Judgement]
) -> None:
    """No control: only a single finding whose effect is what happened can be held to account."""
    fitting = {index for index in left if attribution.fits(case.findings[index].effect, now.outcome)}
    if len(fitting) == 1 and now.outcome != "broken":
        report.verdicts[fitting.pop()] = Verdict(CONFIRMED, now.words, now)
    why = control.words if control is not None else "no neutral form"
    for index in left - set(report.verdicts):
        report.verdicts[index] = Verdict(
            INCONCLUSIVE, f"can't be set aside ({why}); the graph: {now.words}", now
        )


def _not_definite(finding: Finding, base: Judgement) -> Verdict:
    """PyNative fails too, or nothing could be run."""
    error = base.pynative_error
    if error is not None and attribution.about_api(finding, error) and attribution.bears(finding, error):
        return Verdict(CONFIRMED, f"fails in PyNative too: {base.words}", base)
    if base.outcome == "pynative-fails":
        kernel = attribution.lacks_kernel(base.words)
        if kernel and base.device == "CPU":
            return Verdict(INCONCLUSIVE, f"needs another device: no CPU kernel ({base.words})", base)
        return Verdict(INCONCLUSIVE, f"inputs: {base.words}", base)
    return Verdict(INCONCLUSIVE, base.words, base)


def _apart(finding: Finding, base: Judgement, job: Mapping[str, Any]) -> Optional[Verdict]:
    """Findings that comparing the two modes can't settle, or that something else settles."""
    bias = attribution.bias_of(finding, base.facts)
    if bias is not None:
        status = CONFIRMED if bias is False else REFUTED
        return Verdict(status, f"the built layer has {'no' if bias is False else 'a'} bias", base)
    if attribution.about_bias(finding):
        return Verdict(INCONCLUSIVE, "the layer that this line makes was not built", base)
    refused = base.error["message"] if base.outcome == "error" and base.error is not None else ""
    if base.device == "CPU" and attribution.lacks_kernel(refused):
        return Verdict(INCONCLUSIVE, f"needs another device: {base.words}", base)
    if base.outcome in ("error", "broken"):
        return None
    if base.device == "CPU" and attribution.needs_ascend(finding):
        return Verdict(
            INCONCLUSIVE,
            "in-place arithmetic: CPU PyNative doesn't write in place, only Ascend can tell",
            base,
        )
    if finding.effect in (Effect.PORTING, Effect.PLATFORM, Effect.SLOW):
        if finding.effect is Effect.PLATFORM and base.device != "Ascend":
            return Verdict(INCONCLUSIVE, f"about another device than {base.device}", base)
        return Verdict(
            INCONCLUSIVE,
            "runs and agrees in both modes; comparing them can't tell what PyTorch would do",
            base,
        )
    return None


def _of_agreement(finding: Finding, run: Judgement, base: Judgement) -> Verdict:
    """The verdict where the graph did what PyNative did."""
    nodes = [node for node in run.fallback if attribution.node_meets(node, finding)]
    if nodes:
        status = CONFIRMED if finding.effect is Effect.FALLBACK else REFUTED
        return Verdict(
            status, f"same result, through {len(nodes)} Python interpreter nodes from these lines", run
        )
    if finding.effect is Effect.RECOMPILES and run.outcome == "recompiles":
        return Verdict(CONFIRMED, run.words, run)
    if not attribution.reached(finding, base.reached):
        return Verdict(INCONCLUSIVE, "not reached with these inputs", run)
    if finding.effect is Effect.RECOMPILES:
        return Verdict(
            REFUTED, f"{run.compilations} compilations for {run.signatures} kinds of arguments", run
        )
    words = run.words if run.outcome == "ok" else "same results and state as PyNative"
    return Verdict(REFUTED, words, run)
