"""One run of `verify`: which targets, by which rung of the ladder, in which order; collects what each came
to."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Generator,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from graphlint.finding import CheckResult, Finding
from graphlint.verify import entries as entry_module
from graphlint.verify import harvesting, suggest
from graphlint.verify import verdict as verdicts
from graphlint.verify.cache import Cache
from graphlint.verify.entries import Entry
from graphlint.verify.harvesting import Harvested
from graphlint.verify.oracle import Judgement
from graphlint.verify.pool import Pool
from graphlint.verify.scheduler import drive
from graphlint.verify.targets import Catalogue, Target, place_of
from graphlint.verify.tries import Outcome, Try
from graphlint.verify.verdict import INCONCLUSIVE, NOT_RUN, Options, TargetReport

Steps = Generator[Try, Outcome, Any]


@dataclass
class Plan:
    """What the command line asked for."""

    level: str = "lax"
    device: str = "CPU"
    device_id: int = 0
    timeout: float = 60.0
    all_cells: bool = False
    grad: bool = False
    export: Optional[str] = None
    shard: Optional[Tuple[int, int]] = None
    guess: bool = True
    budget: int = 40
    shown: Optional[FrozenSet[str]] = None
    """Real paths of the files whose Cells `all_cells` means; None for every file."""


@dataclass
class CellRecord:
    """One target's line of the report: `status` is the judgement's outcome, `rung` how it was built."""

    cell: str
    path: str
    line: int
    status: str
    reason: str
    rung: str
    device: str
    seconds: float = 0.0
    suggestion: str = ""
    export: Optional[Dict[str, Any]] = None
    missed: bool = False
    culprits: Tuple[Tuple[str, int], ...] = ()
    mindspore: str = ""

    def as_data(self) -> Dict[str, Any]:
        data: Dict[str, Any] = {
            "cell": self.cell,
            "path": self.path,
            "line": self.line,
            "status": self.status,
            "reason": self.reason,
            "rung": self.rung,
            "device": self.device,
            "mindspore": self.mindspore,
            "seconds": round(self.seconds, 3),
        }
        if self.export is not None:
            data["export"] = self.export
        if self.missed:
            data["missed"] = [{"path": path, "line": line} for path, line in self.culprits]
        return data


@dataclass
class Tally:
    """Counts for the progress line and the summary."""

    total: int = 0
    done: int = 0
    confirmed: int = 0
    refuted: int = 0
    inconclusive: int = 0
    from_cache: int = 0


Report = Callable[[Tally, str], None]


class Session:
    """Verifies the findings of one CheckResult (and all Cells with `all_cells`) in one pool."""

    def __init__(
        self,
        pool: Pool,
        result: CheckResult,
        files: Sequence[str],
        root: str,
        given: Sequence[Entry],
        plan: Plan,
        cache: Cache,
        progress: Optional[Report] = None,
    ) -> None:
        self.pool, self.plan, self.root, self.cache = pool, plan, os.path.realpath(root), cache
        self.findings: List[Finding] = list(result.findings)
        self.catalogue = Catalogue(files, root)
        self.entries = [*given, *entry_module.from_cells_files(self.catalogue.files)]
        self.cells: List[CellRecord] = []
        self.tally = Tally()
        self.progress = progress or (lambda tally, name: None)
        self.harvested: Dict[Tuple[str, str], Harvested] = {}
        self.recipes: Dict[Tuple[str, str], Tuple[Dict[str, Any], str]] = {}
        self._scratch = 0
        self.versions = [pool.info.get("mindspore"), pool.info.get("numpy")]
        self.part = (0, 1)
        """Which share of the targets is this session's, where several devices work side by side."""

    # -- what to do

    def targets(self) -> List[Target]:
        """From the findings, and with `all_cells` every Cell; those of this shard only."""
        found: Dict[Tuple[str, str], Target] = {}
        if self.plan.all_cells:
            for target in self.catalogue.cells():
                if self.plan.shown is None or target.key[0] in self.plan.shown:
                    found[target.key] = target
        for index, finding in enumerate(self.findings):
            subject = self.catalogue.target_of(finding)
            if subject is None:
                self._settle(index, NOT_RUN, "no Cell or function of the project leads here")
                continue
            found.setdefault(subject.key, subject).findings.append(index)
        chosen = [target for target in found.values() if self._mine(target)]
        for target in found.values():
            if not self._mine(target):
                for index in target.findings:
                    self._settle(index, NOT_RUN, "in another shard")
        return sorted(chosen, key=lambda target: (target.path, target.line))

    def _mine(self, target: Target) -> bool:
        name = os.path.relpath(target.key[0], self.root).replace(os.sep, "/") + ":" + target.name
        number = zlib.crc32(name.encode())
        if self.plan.shard is not None and number % self.plan.shard[1] != self.plan.shard[0] - 1:
            return False
        return (number // (self.plan.shard[1] if self.plan.shard else 1)) % self.part[1] == self.part[0]

    def _settle(self, index: int, status: str, reason: str, rung: str = "") -> None:
        data = {
            "status": status,
            "reason": reason,
            "device": self.plan.device,
            "mindspore": self.pool.info.get("mindspore", ""),
            "pynative": "",
            "graph": "",
            "seconds": 0.0,
            "rung": rung,
        }
        self.findings[index] = self.findings[index].with_(verdict=data)

    # -- the run

    def run(self) -> None:
        """Fills `findings` (with verdicts), `cells` and `tally`."""
        targets = self.targets()
        self.tally.total = len(targets)
        self.progress(self.tally, "")
        open_targets = self._from_cache(targets)
        self._harvest(open_targets)
        tasks = ((target, self._verify(target)) for target in open_targets)
        drive(self.pool, tasks, self._finished)
        order = {target.key: number for number, target in enumerate(targets)}
        self.cells.sort(key=lambda cell: order.get((os.path.realpath(cell.path), cell.cell), len(order)))

    def _from_cache(self, targets: Sequence[Target]) -> List[Target]:
        left = []
        for target in targets:
            kept = self.cache.get(self._key(target))
            if kept is None:
                left.append(target)
                continue
            self.tally.from_cache += 1
            self._take(target, kept)
        return left

    def _key(self, target: Target) -> str:
        """Everything that a verdict depends on: the Cell's reachable source, its entry, versions, device,
        findings."""
        marks = [
            [
                f.code,
                f.line,
                f.column,
                f.end_line,
                f.end_column,
                f.effect.value,
                os.path.relpath(f.path, self.root),
            ]
            for f in (self.findings[index] for index in target.findings)
        ]
        known = [[e.shown, e.recipe] for e in self.entries]
        plan = [
            self.plan.level,
            self.plan.device,
            self.plan.device_id,
            self.plan.grad,
            self.plan.timeout,
            self.plan.guess,
        ]
        sources = self.catalogue.imports_of(target.path)
        extra = [e.path for e in self.entries if e.path]
        return self.cache.key([target.name, marks, known, plan, *self.versions], [*sources, *extra])

    def _harvest(self, targets: Sequence[Target]) -> None:
        """Run what the entries build, then factories, and keep where each Cell inside comes from."""
        wanted = {target.key for target in targets if target.is_cell}
        wanted -= {target.key for target in targets if self._direct(target) is not None}
        if not wanted:
            return
        given = harvesting.of_entries(self.entries, self.root)
        drive(self.pool, ((one, self._run_producers([one], wanted)) for one in given), self._heard)
        left = wanted - set(self.harvested)
        if self.plan.guess and left:
            files = harvesting.of_factories(self.catalogue, {path for path, _ in left})
            drive(
                self.pool,
                ((listed[0], self._run_producers(listed, left)) for _, listed in files),
                self._heard,
            )

    def _run_producers(self, listed: Sequence[harvesting.Producer], wanted: Set[Tuple[str, str]]) -> Steps:
        basis = self._job_basis(listed[0].file or self.root)
        folder, timeout = self._folder(), self.plan.timeout
        yield from harvesting.harvest_some(listed, basis, wanted, self.harvested, folder, timeout)

    def _heard(self, producer: harvesting.Producer, _: Any) -> None:
        self.progress(self.tally, producer.name)

    def _direct(self, target: Target) -> Optional[Tuple[Dict[str, Any], str, str, str]]:
        """(entry, rung, file to import, name in it) from the case format or a written entry."""
        facts = self.catalogue.file(target.path)
        for entry in self.entries:
            if entry.name == target.name and entry.path and os.path.realpath(entry.path) == target.key[0]:
                return entry.recipe, "entry", target.path, target.name
        if facts.is_case and self._is_case_subject(target, facts):
            return {"kind": "case"}, "entry", target.path, target.name
        return None

    def _is_case_subject(self, target: Target, facts: Any) -> bool:
        if target.name in ("Net", "fn"):
            return "fn" not in facts.functions or target.name == "fn"
        others = [
            name for name in facts.cells if any(self.catalogue.is_cell(base) for base in facts.bases[name])
        ]
        return "Net" not in facts.cells and "fn" not in facts.functions and others == [target.name]

    def _folder(self) -> str:
        self._scratch += 1
        folder = os.path.join(self.pool.scratch, f"t{self._scratch}")
        os.makedirs(folder, exist_ok=True)
        return folder

    def _job_basis(self, file: str) -> Dict[str, Any]:
        place = place_of(file, self.root)
        return {
            "kind": "try",
            "level": self.plan.level,
            "device": self.plan.device,
            "device_id": self.plan.device_id,
            "module": place.module,
            "file": os.path.realpath(file),
            "sys_path": list(place.sys_path),
            "root": self.root,
            "grad": self.plan.grad,
        }

    def _verify(self, target: Target) -> Steps:
        """Build by the first rung that holds, then judge."""
        findings = [self.findings[index] for index in target.findings]
        names = {finding.path: place_of(finding.path, self.root).module for finding in findings}
        options = Options(
            timeout=self.plan.timeout,
            budget=self.plan.budget,
            scratch=self._folder(),
            package=self.pool.info.get("package", ""),
            export=None if self.plan.export is None else self._export_path(target),
        )
        job = self._job_basis(target.path)
        job["target"] = target.name
        direct = self._direct(target)
        kept = self.harvested.get(target.key)
        if direct is not None:
            job["entry"], rung = direct[0], direct[1]
        elif kept is not None:
            rung = kept.rung
            if (
                kept.record is not None
                and kept.record["outcome"] == "ok"
                and not findings
                and options.export is None
            ):
                return rung, TargetReport(_judged_in_place(kept.record, self.plan.device, self.pool.info)), ""
            job["entry"] = {"kind": "harvest", "producer": kept.producer, "class": list(target.key)}
        elif self.plan.guess:
            from graphlint.verify import guessing

            recipe, words = yield from guessing.guess(job, target, self.catalogue, self.plan.timeout)
            if recipe is None:
                return (
                    "guess",
                    TargetReport(Judgement("not-tried", words, pynative=words), _all(findings, words)),
                    "",
                )
            job["entry"], rung = recipe, words
        else:
            words = "no entry: how to build it and what to call it with isn't known"
            return "none", TargetReport(Judgement("not-tried", words), _all(findings, words)), ""
        report = yield from verdicts.verify_target(job, findings, names, options)
        return rung, report, job["entry"]

    def _export_path(self, target: Target) -> str:
        folder = os.path.abspath(str(self.plan.export))
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"{place_of(target.path).module}.{target.name}")

    # -- what came out

    def _finished(self, target: Target, returned: Any) -> None:
        rung, report, _ = returned
        base: Judgement = report.base
        data = {
            "verdicts": {str(number): found.as_data(rung, base) for number, found in report.verdicts.items()},
            "cell": {
                "status": base.outcome,
                "reason": base.words,
                "rung": rung,
                "device": base.device or self.plan.device,
                "seconds": base.seconds,
                "export": base.export,
                "culprits": [list(item) for item in report.culprits],
                "mindspore": base.mindspore or self.pool.info.get("mindspore", ""),
                "missed": self._missed(report),
            },
        }
        if base.outcome != "not-tried" or rung == "guess":
            self.cache.put(self._key(target), data)
        self._take(target, data)

    @staticmethod
    def _missed(report: TargetReport) -> bool:
        """The compiler refused or differed, and no finding was confirmed for it."""
        bad = report.base.outcome in ("error", "diverges")
        return bad and not any(found.status == verdicts.CONFIRMED for found in report.verdicts.values())

    def _take(self, target: Target, data: Mapping[str, Any]) -> None:
        for number, found in data["verdicts"].items():
            index = target.findings[int(number)]
            self.findings[index] = self.findings[index].with_(verdict=dict(found))
            status = found["status"]
            if status == verdicts.CONFIRMED:
                self.tally.confirmed += 1
            elif status == verdicts.REFUTED:
                self.tally.refuted += 1
            else:
                self.tally.inconclusive += 1
        cell = data["cell"]
        self.cells.append(
            CellRecord(
                cell=target.name,
                path=target.path,
                line=target.line,
                status=cell["status"],
                reason=cell["reason"],
                rung=cell["rung"],
                device=cell["device"],
                seconds=cell["seconds"],
                export=cell.get("export"),
                missed=bool(cell.get("missed")),
                culprits=tuple((path, line) for path, line in cell.get("culprits", [])),
                mindspore=cell.get("mindspore", ""),
                suggestion=self._suggestion(target, cell["status"]),
            )
        )
        self.tally.done += 1
        self.progress(self.tally, target.name)

    def _suggestion(self, target: Target, status: str) -> str:
        if status not in ("pynative-fails", "not-tried"):
            return ""
        return suggest.suggestion(self.catalogue.file(target.path), target.name)


def _all(findings: Sequence[Finding], words: str) -> Dict[int, Any]:
    return {index: verdicts.Verdict(INCONCLUSIVE, words) for index in range(len(findings))}


def _judged_in_place(record: Mapping[str, Any], device: str, info: Mapping[str, Any]) -> Judgement:
    judgement = Judgement(
        "ok", record["words"], pynative="ok", graph="ok", device=device, seconds=record["seconds"]
    )
    judgement.mindspore = str(info.get("mindspore", ""))
    return judgement


def files_of(targets: Sequence[Target]) -> Set[str]:
    return {target.path for target in targets}


def counted(cells: Sequence[CellRecord]) -> Iterator[Tuple[str, int]]:
    """How many Cells came to each status."""
    numbers: Dict[str, int] = {}
    for cell in cells:
        numbers[cell.status] = numbers.get(cell.status, 0) + 1
    yield from sorted(numbers.items())
