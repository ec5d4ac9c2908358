"""JSON lines over a socket, for both ends of the control channel."""

from __future__ import annotations

import json
import socket
from typing import Any, Dict, List


class Wire:
    """Reads and writes one JSON object a line. `closed` turns True when the other end is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.closed = False
        self._buffer = b""

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, message: Dict[str, Any]) -> bool:
        """False where the other end is gone."""
        try:
            self.sock.sendall(json.dumps(message).encode() + b"\n")
            return True
        except OSError:
            self.closed = True
            return False

    def receive(self) -> List[Dict[str, Any]]:
        """All whole messages that one read brings; blocks where the socket blocks."""
        try:
            data = self.sock.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return []
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines if line]
