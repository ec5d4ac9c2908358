"""Files that graphlint writes: whole or not at all; and where it keeps what it can make again."""

from __future__ import annotations

import os
import tempfile
from typing import Optional


def cache_folder(part: str) -> str:
    """`$GRAPHLINT_CACHE_DIR/graphlint/<part>`, else that in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    base = os.environ.get("GRAPHLINT_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".cache"), "graphlint", part)


def write_whole(path: str, data: bytes, mode: Optional[int] = None) -> None:
    """Writes a file in one step, so that an interruption leaves the old one or the new one.

    `mode` are its permission bits, by default those of a private file. Raises OSError, and leaves nothing behind.
    """
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".graphlint-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
