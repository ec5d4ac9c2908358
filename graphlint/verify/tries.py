"""What the parent asks of a worker, and what comes back."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass
class Try:
    """One job for one child. `job` is JSON data (see worker/run.py); `timeout` in seconds of wall time."""

    job: Dict[str, Any]
    timeout: float = 60.0
    keep: List[str] = field(default_factory=list)
    """Files of the child's directory to move to these absolute paths when it succeeds."""


@dataclass
class Outcome:
    """What one try came to: `result` (worker/run.py's result.json) where the child finished, else how it
    died.

    `death` is one of "", "timeout", "signal", "exit", "memory", "output", "worker", "start"; `words` says
    it for people.
    """

    result: Dict[str, Any] = field(default_factory=dict)
    death: str = ""
    words: str = ""
    stage: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    rss_mb: int = 0
    stderr: str = ""

    @property
    def error(self) -> Optional[Dict[str, Any]]:
        """The exception that ended the try's own code, if any."""
        return self.result.get("error")

    @property
    def clean(self) -> bool:
        """The child finished and nothing was raised."""
        return not self.death and bool(self.result) and self.error is None

    def why(self) -> str:
        """One line: how it failed."""
        if self.death:
            return self.words
        error = self.error
        if error is None:
            return ""
        first = first_line(error["message"])
        return f"{error['type']}: {first}" if first else str(error["type"])


def first_line(text: str, width: int = 240) -> str:
    """The first line that says something; MindSpore's messages often begin with a rule or a blank."""
    for line in text.splitlines():
        line = line.strip()
        if line and not set(line) <= set("-=*"):
            return line if len(line) <= width else line[: width - 1] + "…"
    return ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


STAGES = {
    "start": "before it began",
    "device": "while the device was opened",
    "import": "while the module was imported",
    "build": "while the Cell was constructed",
    "inputs": "while the inputs were made",
    "execute": "while it ran",
    "compile": "while it was compiled",
    "observe": "while its results were read",
    "export": "while it was exported",
}


def in_stage(stage: str) -> str:
    return STAGES.get(stage, f"in {stage}" if stage else "")
