"""From PATHs to the files to read: Python modules and notebooks, each once, in a fixed order."""

from __future__ import annotations

import os
import re
from glob import glob, has_magic
from types import MappingProxyType
from typing import Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from graphlint.config import Settings, matches, relative_path
from graphlint.errors import UsageError, nearest
from graphlint.finding import FileError
from graphlint.lang import say

SUFFIXES = (".py", ".ipynb")
SKIPPED = frozenset(
    {
        ".eggs",
        ".env",
        ".git",
        ".graphlint_cache",
        ".hg",
        ".idea",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "env",
        "kernel_meta",
        "node_modules",
        "rank_0",
        "site-packages",
        "venv",
    }
)
"""Folders without source of the project; `build` and `dist` count among them unless they are packages."""

_OUTPUTS = ("build", "dist")


class Discovery(NamedTuple):
    """Files, what can't be read, folders without any file, and PATHs that `exclude` leaves out.

    `real` holds the files by their real paths.
    """

    files: Tuple[str, ...]
    errors: Tuple[FileError, ...] = ()
    empty: Tuple[str, ...] = ()
    excluded: Tuple[str, ...] = ()
    real: Mapping[str, str] = MappingProxyType({})


def discover(paths: Sequence[str], settings: Settings) -> Discovery:
    """The files under `paths`; without any, under the configuration's `include`, else the working directory.

    Names stay as given (`src/net.py` for `src`). Raises UsageError for a PATH that doesn't exist, with the
    nearest name. Symbolic links are followed only within the tree that they stand in.
    """
    walk = _Walk(settings)
    empty: List[str] = []
    excluded: List[str] = []
    for path in paths or tuple(_included(settings)) or (".",):
        if os.path.islink(path) and not os.path.exists(path):
            walk.errors.append(FileError(path, say("dangling", settings.lang, link=os.readlink(path))))
        elif not os.path.exists(path):
            raise UsageError(_missing(path, settings.lang))
        elif matches(relative_path(path, settings.root), settings.exclude):
            excluded.append(path)
        elif os.path.isdir(path):
            before = walk.seen
            walk.folder(path)
            if walk.seen == before:
                empty.append(path)
        else:
            walk.file(path, explicit=True)
    files = sorted(walk.files.values())
    errors = sorted(walk.errors, key=lambda error: error.path)
    return Discovery(tuple(files), tuple(errors), tuple(empty), tuple(excluded), walk.files)


def notes(found: Discovery, lang: str) -> List[str]:
    """What the user should know about PATHs that gave nothing, one sentence each."""
    said = [say("excluded", lang, path=path) for path in found.excluded]
    if found.empty:
        said.append(say("no-python", lang, paths=say("comma", lang).join(found.empty)))
    return said


def _included(settings: Settings) -> Iterator[str]:
    for pattern in settings.include:
        yield from sorted(glob(pattern, recursive=True)) if has_magic(pattern) else (pattern,)


class _Walk:
    """Collects files; `seen` counts those met, the ones met before too."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.files: Dict[str, str] = {}
        self.errors: List[FileError] = []
        self.seen = 0
        self._folders: Set[Tuple[int, int]] = set()

    def folder(self, path: str) -> None:
        """Takes in a folder and all below it, links last, so that a file keeps its own name."""
        base = os.path.realpath(path)
        self._folders.clear()
        later: List[str] = []
        self._enter(path, base, later)
        for link in later:
            if os.path.isdir(link):
                self._enter(link, base, [])
            else:
                self.file(link)

    def file(self, path: str, real: str = "", *, explicit: bool = False) -> None:
        """Takes in one file under the first name that it is met by; `real` is its name without links."""
        if explicit or path.endswith(SUFFIXES):
            self.seen += 1
            self.files.setdefault(real or os.path.realpath(path), path)

    def _enter(self, path: str, base: str, links: List[str]) -> None:
        pending = [path]
        while pending:
            folder = pending.pop()
            try:
                status = os.stat(folder)
                if (status.st_dev, status.st_ino) in self._folders:
                    continue
                self._folders.add((status.st_dev, status.st_ino))
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                detail = error.strerror or str(error)
                self.errors.append(FileError(folder, say("unreadable", self.settings.lang, detail=detail)))
                continue
            real = os.path.realpath(folder)
            for entry in entries:
                name = entry.name if folder == "." else os.path.join(folder, entry.name)
                if self._left_out(entry, name):
                    continue
                if entry.is_symlink():
                    self._link(name, base, links)
                elif entry.is_dir():
                    pending.append(name)
                elif entry.is_file():
                    self.file(name, os.path.join(real, entry.name))

    def _link(self, name: str, base: str, links: List[str]) -> None:
        if not os.path.exists(name):
            if name.endswith(SUFFIXES):
                self.errors.append(
                    FileError(name, say("dangling", self.settings.lang, link=os.readlink(name)))
                )
        elif os.path.realpath(name).startswith(base + os.sep):
            links.append(name)

    def _left_out(self, entry: os.DirEntry[str], name: str) -> bool:
        if entry.is_dir() and not entry.is_symlink():
            if entry.name in SKIPPED or entry.name.endswith(".egg-info"):
                return True
            if entry.name in _OUTPUTS and not os.path.exists(os.path.join(name, "__init__.py")):
                return True
            if os.path.exists(os.path.join(name, "pyvenv.cfg")):
                return True
        return bool(self.settings.exclude) and matches(
            relative_path(name, self.settings.root), self.settings.exclude
        )


def _missing(path: str, lang: str) -> str:
    message = say("missing-path", lang, path=path)
    folder, name = os.path.split(path.rstrip("/\\"))
    close: Optional[str] = None
    if os.path.isdir(folder or "."):
        close = nearest(name, _names(os.listdir(folder or ".")))
    if close:
        message += say("did-you-mean", lang, nearest=os.path.join(folder, close))
    return message


def _names(listed: Iterable[str]) -> List[str]:
    return sorted(name for name in listed if not re.match(r"\.|__pycache__$", name))
