"""A client of the language server protocol over a real server's standard input and output."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 120


class Client:
    """Starts `graphlint server`; every message that arrives is kept in order."""

    def __init__(self, folder: Path, options: Optional[Dict[str, Any]] = None) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        for name in ("LC_ALL", "LC_MESSAGES"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphlint", "server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
        )
        self.folder = folder
        self.received: "queue.Queue[Dict[str, Any]]" = queue.Queue()
        self.number = 0
        self.version: Dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()
        self.capabilities = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "initializationOptions": options,
                "capabilities": {"textDocument": {}, "workspace": {}},
            },
        )["capabilities"]
        self.notify("initialized", {})

    def _drain(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while True:
                line = stream.readline()
                if not line:
                    return
                if line in (b"\r\n", b"\n"):
                    break
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.received.put(json.loads(stream.read(length)))

    def _send(self, message: Dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def notify(self, method: str, parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def request(self, method: str, parameters: Any) -> Any:
        """The result; what else arrives before it is dropped."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.received.get(timeout=PATIENCE)
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> List[Dict[str, Any]]:
        """Opens a document and gives its first diagnostics."""
        self.version[name] = 1
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(name)

    def change(self, name: str, text: str) -> List[Dict[str, Any]]:
        """Replaces the text of a document and gives the diagnostics of that version."""
        self.version[name] += 1
        document = {"uri": self.uri(name), "version": self.version[name]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self.diagnostics(name)

    def diagnostics(self, name: str) -> List[Dict[str, Any]]:
        while True:
            message = self.received.get(timeout=PATIENCE)
            if message.get("method") == "textDocument/publishDiagnostics":
                parameters = message["params"]
                if parameters["uri"] == self.uri(name) and parameters.get("version") == self.version[name]:
                    found: List[Dict[str, Any]] = parameters["diagnostics"]
                    return found

    def message(self, method: str) -> Any:
        while True:
            message = self.received.get(timeout=PATIENCE)
            if message.get("method") == method:
                return message["params"]

    def close(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        assert self.process.wait(PATIENCE) == 0
