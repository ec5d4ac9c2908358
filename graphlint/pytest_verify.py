"""The items of `pytest --graphlint-verify`: each is a Cell with its verdict."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple

import pytest

from graphlint import discovery, engine
from graphlint.config import Settings, load
from graphlint.errors import GraphlintError
from graphlint.files import cache_folder
from graphlint.finding import CheckResult, Finding
from graphlint.report.common import one_line, place
from graphlint.verify import entries as entry_module
from graphlint.verify.cache import Cache
from graphlint.verify.pool import Pool
from graphlint.verify.run import Request, open_pool, parse_devices, preflight, refuse
from graphlint.verify.session import CellRecord, Plan, Session
from graphlint.verify.targets import Catalogue, Target

Key = Tuple[str, str]
_RUN = pytest.StashKey["Run"]()
_REFUSED = ("error", "diverges", "broken")
_UNDECIDED = ("not-tried", "pynative-fails")


class _Chosen(Session):
    """A session for some of its targets."""

    chosen: Set[Key] = set()  # noqa: RUF012

    def targets(self) -> List[Target]:
        return [target for target in super().targets() if target.key in self.chosen]


class Run:
    """What all items of one pytest process share: the check, the workers, and the verdicts so far."""

    def __init__(self, config: pytest.Config) -> None:
        """Raises pytest.UsageError for options or a configuration that graphlint doesn't take."""
        try:
            self.settings: Settings = load(str(config.rootpath))
            target, numbers = parse_devices(
                config.getoption("--graphlint-device"), config.getoption("--graphlint-device-target")
            )
            table = dict(self.settings.verify)
            base = self.settings.config_path
            folder = os.path.dirname(base) if base else self.settings.root
            self.entries = entry_module.from_table(table, folder)
        except GraphlintError as error:
            raise pytest.UsageError(f"graphlint: {error}") from error
        self.spread = hasattr(config, "workerinput")
        self.request = Request(
            python=table.get("python") or sys.executable,
            target=target,
            numbers=numbers,
            jobs=1 if self.spread else self.settings.jobs,
            memory_mb=int(table.get("memory", 0)),
        )
        self.plan = Plan(
            level=self.settings.target.level,
            device=target,
            timeout=config.getoption("--graphlint-timeout") or float(table.get("timeout", 60)),
            all_cells=True,
        )
        self.plan.device_id = numbers[0] if numbers else 0
        self.files = list(discovery.discover([self.settings.root], self.settings).files)
        self.catalogue = Catalogue(self.files, self.settings.root)
        self._by_file: Optional[Dict[str, List[Target]]] = None
        self._checked: Optional[CheckResult] = None
        self._pool: Optional[Pool] = None
        self._trouble = ""
        self._done: Dict[Key, Tuple[CellRecord, List[Finding]]] = {}

    def targets(self, path: str) -> List[Target]:
        """The Cells and jit functions that a file of the project defines."""
        if self._by_file is None:
            self._by_file = {}
            for target in self.catalogue.cells():
                self._by_file.setdefault(os.path.realpath(target.path), []).append(target)
        return self._by_file.get(os.path.realpath(path), [])

    def checked(self) -> CheckResult:
        if self._checked is None:
            self._checked = engine.check([self.settings.root], self.settings)
        return self._checked

    def verdict(self, key: Key, all_keys: Iterable[Key]) -> Tuple[Optional[CellRecord], List[Finding]]:
        """The record of one Cell and its findings with verdicts.

        Without pytest-xdist, all Cells are verified at once, side by side; with it, each by itself.
        Raises WorkError where nothing can be verified here.
        """
        if key not in self._done:
            self._verify({key} if self.spread else {key, *all_keys} - set(self._done))
        record, findings = self._done.get(key, (None, []))
        return record, findings

    def _verify(self, keys: Set[Key]) -> None:
        result = self.checked()
        cache = Cache(cache_folder("verify") if self.settings.cache else None)
        session = _Chosen(
            self._workers(), result, self.files, self.settings.root, self.entries, self.plan, cache
        )
        session.chosen = keys
        mine: Dict[Key, List[int]] = {target.key: list(target.findings) for target in session.targets()}
        session.run()
        for record in session.cells:
            key = (os.path.realpath(record.path), record.cell)
            self._done[key] = (record, [session.findings[index] for index in mine.get(key, [])])

    def _workers(self) -> Pool:
        if self._trouble:
            raise GraphlintError(self._trouble)
        if self._pool is None:
            try:
                self._pool = open_pool(self.request)
                checks = preflight(self.request, self._pool.info)
                why = refuse(self.request, checks, "pytest --graphlint-verify")
                if why is not None:
                    raise GraphlintError(why)
            except GraphlintError as error:
                self._trouble = str(error)
                raise
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def run_of(config: pytest.Config) -> Run:
    """The run of this pytest process, made when first asked for."""
    if _RUN not in config.stash:
        config.stash[_RUN] = Run(config)
    return config.stash[_RUN]


def close(config: pytest.Config) -> None:
    """Ends the workers, if there are any."""
    if _RUN in config.stash:
        config.stash[_RUN].close()


class CellFile(pytest.File):
    """A module with Cells."""

    def collect(self) -> Iterator[pytest.Item]:
        for target in run_of(self.config).targets(str(self.path)):
            yield CellItem.from_parent(self, name=f"graph[{target.name}]", target=target)


class Refused(Exception):
    """The graph refuses the Cell or differs from PyNative; the text is the report."""


class CellItem(pytest.Item):
    """One Cell, compiled as a graph and compared with PyNative.

    Fails where the compiler confirms a finding at or above `fail-on`, or refuses or differs without one;
    skipped, with the reason, where the Cell could not be built or run.
    """

    def __init__(self, *, target: Target, **given: Any) -> None:
        super().__init__(**given)
        self.target = target
        self.add_marker("graphlint")

    def runtest(self) -> None:
        run = run_of(self.config)
        everything = (item.target.key for item in self.session.items if isinstance(item, CellItem))
        try:
            record, findings = run.verdict(self.target.key, everything)
        except GraphlintError as error:
            raise Refused(f"graphlint: {error}") from error
        if record is None:
            pytest.skip("not verified")
        lang = run.settings.lang
        for finding in findings:
            self.user_properties.append((finding.code, one_line(finding, lang)))
        self.user_properties.append(("status", record.status))
        self.user_properties.append(("device", record.device))
        confirmed = [f for f in findings if (f.verdict or {}).get("status") == "confirmed"]
        bad = [f for f in confirmed if f.severity.at_least(run.settings.fail_on)]
        if bad or (record.status in _REFUSED and not confirmed):
            lines = [f"{record.status}: {record.reason}" if record.reason else record.status]
            lines += [f"{place(f, lang)}: {f.code} {one_line(f, lang)}" for f in bad]
            raise Refused("\n".join(lines))
        if record.status in _UNDECIDED:
            pytest.skip(record.reason or record.status)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, Refused):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Tuple[Any, Optional[int], str]:
        return self.path, self.target.line - 1, self.name
