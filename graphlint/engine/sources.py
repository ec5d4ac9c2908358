"""The files that a run reads: from the disk, or from where an editor or a rewrite holds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, Mapping, Optional, Tuple

from graphlint.source import SourceFile, load

Stdin = Optional[Tuple[str, str]]


class Sources:
    """Reads files; `given` bytes and the text of `stdin` come before what the disk has."""

    def __init__(self, lang: str, stdin: Stdin = None, given: Optional[Mapping[str, bytes]] = None) -> None:
        self.lang = lang
        self._stdin = (os.path.realpath(stdin[0]), stdin[1]) if stdin is not None else None
        self._given: Dict[str, bytes] = {os.path.realpath(p): data for p, data in (given or {}).items()}

    @property
    def from_disk(self) -> bool:
        return self._stdin is None and not self._given

    def held(self, path: str) -> Optional[bytes]:
        """The bytes that stand in for the file's own, None for a file that is read from the disk."""
        if self.from_disk:
            return None
        real = os.path.realpath(path)
        if real in self._given:
            return self._given[real]
        if self._stdin is not None and real == self._stdin[0]:
            return self._stdin[1].encode("utf-8", "surrogatepass")
        return None

    def data(self, path: str) -> bytes:
        """The file's bytes, none where it can't be read."""
        held = self.held(path)
        if held is not None:
            return held
        try:
            return Path(path).read_bytes()
        except OSError:
            return b""

    def source(self, path: str) -> SourceFile:
        """The file, decoded; raises SourceError where it can't be read."""
        held = self.held(path)
        if held is None:
            return load(path, self.lang)
        if self._stdin is not None and os.path.realpath(path) == self._stdin[0]:
            return SourceFile.of_text(path, self._stdin[1], self.lang)
        return SourceFile(path, held, self.lang)
