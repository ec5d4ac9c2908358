"""What the code is compiled for: MindSpore version, JIT syntax level and device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Tuple

MEASURED_VERSIONS = ("2.0.0", "2.6.0", "2.7.0", "2.8.0", "2.9.0", "2.10.0")
"""Versions whose compiler was run for the evidence; 2.6.0 was measured as 2.6.0.dev20250323."""

NEWEST = MEASURED_VERSIONS[-1]
LEVELS = ("lax", "strict")
DEVICES = ("Ascend", "CPU", "GPU")


def version_key(version: str) -> Tuple[int, ...]:
    """`"2.10.0rc1"` as `(2, 10, 0)`: numbers compare as numbers, suffixes don't count.

    Raises ValueError where the text doesn't begin with a version number.
    """
    match = re.match(r"\s*[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?", version)
    if match is None:
        raise ValueError(f"{version!r} is not a MindSpore version such as 2.7 or 2.10.0")
    return tuple(int(part or 0) for part in match.groups())


def nearest_measured(version: str) -> str:
    """The newest measured version that isn't newer than `version`; the oldest one for anything older."""
    key = version_key(version)
    return max(
        (v for v in MEASURED_VERSIONS if version_key(v) <= key), key=version_key, default=MEASURED_VERSIONS[0]
    )


@dataclass(frozen=True)
class Target:
    """A MindSpore version (full, as `2.10.0`), the syntax level (`lax` or `strict`) and the device."""

    mindspore: str = NEWEST
    level: str = "lax"
    device: str = "Ascend"

    @property
    def key(self) -> Tuple[int, ...]:
        return version_key(self.mindspore)

    @property
    def strict(self) -> bool:
        return self.level == "strict"

    @property
    def measured(self) -> bool:
        """False where the version's own compiler was never run, and a lower one stands in."""
        return version_key(nearest_measured(self.mindspore))[:2] == self.key[:2]

    def since(self, version: str) -> bool:
        """True where the target is `version` or newer."""
        return self.key >= version_key(version)
