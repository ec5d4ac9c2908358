"""What earlier runs learned, in the user's cache folder or in memory; whatever is wrong with it is as if not there.

A store belongs to one project, one version of graphlint (by its own files), one Python, one set of targets, one
language and one working folder. Contents are told apart by digest; a file whose time, size and number are as they
were isn't read again, unless it changed so lately that its time can't tell. Two runs may share a store: each
replaces it as a whole, and the last one stays.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from graphlint import __version__
from graphlint.config import Settings
from graphlint.engine.glance import Glance, digest, glance
from graphlint.engine.records import (
    BROKEN,
    of_glance,
    of_result,
    of_unit,
    to_glance,
    to_result,
    to_unit,
)
from graphlint.engine.sources import Sources
from graphlint.engine.unit import Job, Unit
from graphlint.files import write_whole
from graphlint.finding import CheckResult
from graphlint.layout import Layout

KEPT = 64
"""Stores of other projects and settings that stay; the oldest go first."""
_RESULTS = 16
_DOUBT = 2_000_000_000
"""Nanoseconds for which a file's time can't tell that it changed again."""


class Store:
    """Glances, units and results by what they rest on. `where` is a folder, None for memory alone."""

    def __init__(self, where: Optional[Path]) -> None:
        self._where = where
        self._key = ""
        self._files: Dict[str, List[Any]] = {}
        self._results: Dict[str, List[Any]] = {}
        self._units: Optional[Dict[str, List[Any]]] = None
        self._changed = False

    def open(self, settings: Settings, layout: Layout, sources: Sources) -> None:
        """Begins a run; reads what is kept where that is another project's or another setting's."""
        self._layout, self._settings, self._sources = layout, settings, sources
        self._glances: Dict[str, Glance] = {}
        self._searches: Dict[bytes, Tuple[str, ...]] = {}
        self._now = time.time_ns()
        self._lately = False
        key = digest(repr(_rests_on(settings)).encode("utf-8", "surrogatepass"))
        if key != self._key:
            self._key, self._units = key, None
            kept = self._read("files")
            self._files, self._results = _rows(kept.get("files"), 2), _rows(kept.get("results"), 2)
        self._look()

    # -- what the files are

    def _look(self) -> None:
        """Notes each file's time, size and number."""
        stamps: Dict[str, List[int]] = {}
        for path in self._layout.names:
            try:
                state = os.stat(path)
            except OSError:
                stamps[path] = []
                continue
            stamps[path] = [state.st_mtime_ns, state.st_size, state.st_ino]
            if self._now - max(state.st_mtime_ns, state.st_ctime_ns) < _DOUBT:
                self._lately = True
                stamps[path] = []
        self._stamped = stamps
        self._names = digest(repr(sorted(self._layout.files.items())).encode("utf-8", "surrogatepass"))
        self._state = digest(repr(sorted(stamps.items())).encode("utf-8", "surrogatepass"))

    def glance(self, path: str) -> Glance:
        """What the file's bytes tell."""
        found = self._glances.get(path)
        if found is None:
            found = self._glances[path] = self._kept_glance(path) or self._new_glance(path)
        return found

    def _kept_glance(self, path: str) -> Optional[Glance]:
        row = self._files.get(path)
        now = self._stamped.get(path)
        if not row or not now or self._sources.held(path) is not None or row[0] != now:
            return None
        try:
            return to_glance(row[1])
        except BROKEN:
            return None

    def _new_glance(self, path: str) -> Glance:
        found = glance(self._sources.data(path))
        if self._sources.held(path) is None:
            self._files[path] = [self._stamped.get(path, []), of_glance(found)]
            self._changed = True
        return found

    def mentions(self, pattern: bytes) -> Tuple[str, ...]:
        """The modules whose text holds the regular expression (MULTILINE), in order of their names."""
        if pattern not in self._searches:
            search = re.compile(pattern, re.MULTILINE).search
            word = pattern.decode("latin-1")
            found = []
            for name in sorted(self._layout.files):
                path = self._layout.files[name]
                look = self.glance(path)
                if word not in look.held:
                    look.held[word] = search(self._sources.data(path)) is not None
                    self._changed = True
                if look.held[word]:
                    found.append(name)
            self._searches[pattern] = tuple(found)
        return self._searches[pattern]

    # -- units

    def unit(self, job: Job) -> Optional[Unit]:
        """What an earlier run learned of the module, where all that it rests on is as it was."""
        row = self._table_of_units().get(job.name)
        try:
            if row is None or not self._holds(row):
                return None
            unit = row[0] if isinstance(row[0], Unit) else to_unit(job.name, row[0])
            return unit if unit.whole or not job.whole else None
        except BROKEN:
            return None

    def keep(self, unit: Unit) -> None:
        """Keeps what this run learned."""
        answers = {step: self._answer(step) for step in unit.trail}
        self._table_of_units()[unit.name] = [unit, answers, self._names]
        self._changed = True

    def _holds(self, row: List[Any]) -> bool:
        """True where each step of the unit's trail still gives what it gave; names are sought anew in other files."""
        _, answers, names = row
        same = names == self._names
        for step, answer in answers.items():
            if not (same and step[0] == "?") and self._answer(step) != answer:
                return False
        row[2] = self._names
        return True

    def _answer(self, step: str) -> Any:
        """What a step of a trail gives now, in values of JSON."""
        kind, rest = step[0], step[1:]
        if kind == "=":
            path = self._layout.files.get(rest)
            return [path, self.glance(path).digest] if path is not None else None
        if kind == "?":
            name, _, near = rest.rpartition("@")
            return self._layout.find(name, near)
        return digest(repr(self.mentions(rest.encode("latin-1"))).encode("utf-8", "surrogatepass"))

    def _table_of_units(self) -> Dict[str, List[Any]]:
        if self._units is None:
            self._units = _rows(self._read("units").get("units"), 3)
        return self._units

    # -- whole results

    def result(self, shown: Sequence[str]) -> Optional[CheckResult]:
        """The result of an earlier run on the same files, none of them touched since."""
        if not self._sources.from_disk or self._lately:
            return None
        row = self._results.get(self._question(shown))
        try:
            return to_result(row[1]) if row is not None and row[0] == self._state else None
        except BROKEN:
            return None

    def close(self, shown: Sequence[str], result: CheckResult) -> None:
        """Ends a run that had to do some work: keeps its result, and writes all of it where there is a folder."""
        if self._where is None:
            return
        if self._sources.from_disk and not self._lately:
            question = self._question(shown)
            self._results.pop(question, None)
            self._results[question] = [self._state, of_result(result)]
            while len(self._results) > _RESULTS:
                del self._results[next(iter(self._results))]
            self._changed = True
        if not self._changed:
            return
        known = self._layout.names
        files = {path: row for path, row in self._files.items() if path in known}
        for path, look in self._glances.items():
            if path in files:
                files[path] = [files[path][0], of_glance(look)]
        units = {
            name: [of_unit(row[0]) if isinstance(row[0], Unit) else row[0], *row[1:]]
            for name, row in self._table_of_units().items()
            if name in self._layout.files
        }
        self._write("units", {"units": units})
        self._write("files", {"files": files, "results": self._results})
        self._changed = False

    def _question(self, shown: Sequence[str]) -> str:
        s = self._settings
        asked = (tuple(shown), s.select, s.extend_select, s.ignore, s.per_file_ignores, s.pylint_comments)
        return digest(repr(asked).encode("utf-8", "surrogatepass"))

    # -- the folder

    def _read(self, part: str) -> Dict[str, Any]:
        if self._where is None:
            return {}
        try:
            with open(self._where / f"{self._key}.{part}.json", encoding="utf-8") as stream:
                found = json.load(stream)
                return found if isinstance(found, dict) else {}
        except (OSError, *BROKEN, MemoryError):
            return {}

    def _write(self, part: str, content: Dict[str, Any]) -> None:
        assert self._where is not None
        try:
            self._where.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content, separators=(",", ":"))
            write_whole(str(self._where / f"{self._key}.{part}.json"), text.encode())
            self._drop_old()
        except (OSError, ValueError):
            return

    def _drop_old(self) -> None:
        assert self._where is not None
        kept = sorted(self._where.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[2 * KEPT :]:
            path.unlink()


def _rows(value: Any, length: int) -> Dict[str, List[Any]]:
    """The rows of a kept table, those of another shape left out."""
    rows = value.items() if isinstance(value, dict) else ()
    return {key: row for key, row in rows if isinstance(row, list) and len(row) == length}


@lru_cache(maxsize=1)
def _own_files() -> Tuple[Tuple[str, int, int], ...]:
    """graphlint's own files with their times and sizes; they can't change what this process does."""
    found = []
    for base, folders, names in os.walk(Path(__file__).resolve().parent.parent):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for name in sorted(names):
            path = os.path.join(base, name)
            state = os.stat(path)
            found.append((path, state.st_mtime_ns, state.st_size))
    return tuple(found)


def _rests_on(settings: Settings) -> Tuple[Any, ...]:
    """All that decides what a module gives, its files aside."""
    return (
        __version__, _own_files(), platform.python_version(), settings.targets, settings.lang,
        os.path.realpath(settings.root), os.getcwd(), settings.exclude,
    )  # fmt: skip
