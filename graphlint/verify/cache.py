"""Verdicts of earlier runs, keyed by everything that they depend on. One small file a target.

A cache that can't be read or written (no space, no rights) costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, Dict, Optional, Sequence

from graphlint import __version__
from graphlint.files import write_whole

_FORMAT = 1


class Cache:
    """`folder` None: nothing is read or kept. `trouble` says what went wrong with writing, once."""

    def __init__(self, folder: Optional[str]) -> None:
        self.folder = folder
        self.trouble = ""
        self._digests: Dict[str, str] = {}

    def key(self, parts: Any, files: Sequence[str]) -> str:
        """A name from JSON data and the contents of files."""
        digest = hashlib.blake2b(digest_size=20)
        digest.update(json.dumps([_FORMAT, __version__, parts], sort_keys=True, default=str).encode())
        for path in sorted({os.path.realpath(file) for file in files}):
            digest.update(os.path.basename(path).encode() + self._content(path).encode())
        return digest.hexdigest()

    def _content(self, path: str) -> str:
        if path not in self._digests:
            try:
                with open(path, "rb") as stream:
                    self._digests[path] = hashlib.blake2b(stream.read(), digest_size=20).hexdigest()
            except OSError:
                self._digests[path] = "unreadable"
        return self._digests[path]

    def get(self, key: str) -> Optional[Dict[str, Any]]:
        if self.folder is None:
            return None
        try:
            with open(os.path.join(self.folder, key[:2], key), encoding="utf-8") as stream:
                data = json.load(stream)
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) and "cell" in data and "verdicts" in data else None

    def put(self, key: str, data: Dict[str, Any]) -> None:
        if self.folder is None or self.trouble:
            return
        folder = os.path.join(self.folder, key[:2])
        try:
            os.makedirs(folder, exist_ok=True)
            write_whole(os.path.join(folder, key), json.dumps(data).encode())
        except (OSError, TypeError, ValueError) as error:
            self.trouble = f"the cache in {self.folder} could not be written: {error}"
