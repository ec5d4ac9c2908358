"""Reads one TOML file, with the standard library where it can."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Dict, Mapping

from graphlint.errors import ConfigError
from graphlint.lang import say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path, lang: str = "en") -> Dict[str, Any]:
    """The file's tables; ConfigError where it isn't TOML or can't be read."""
    try:
        return dict(tomllib.loads(path.read_bytes().decode("utf-8-sig")))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(say("bad-toml", lang, where=os.path.relpath(path), detail=error)) from error


def subtable(tables: Mapping[str, Any], *names: str) -> Dict[str, Any]:
    """The table under these names; empty where there is none, or something else stands in its place."""
    found: Any = tables
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
