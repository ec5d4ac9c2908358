"""The server itself: documents, checks in the background, the protocol's requests."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import tokenize
from functools import lru_cache
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from graphlint import __version__, engine
from graphlint.config import Settings, check_rules, load, with_options
from graphlint.discovery import discover
from graphlint.engine.store import Store
from graphlint.errors import GraphlintError
from graphlint.finding import CheckResult, Finding
from graphlint.lang import default_language, say
from graphlint.rule_page import Page, pages
from graphlint.server import translate
from graphlint.server.translate import Text

Project = Tuple[str, Optional[str]]
"""The root and the configuration file."""

DELAY = 0.25
"""Seconds of quiet after a change before the check begins."""


class GraphlintServer(LanguageServer):
    """What is open, and what the last check of each project found."""

    def __init__(self) -> None:
        super().__init__("graphlint", __version__)
        self.options: Dict[str, Any] = {}
        self.results: Dict[str, CheckResult] = {}
        """By the document's real path: the last result of its project."""
        self.settings: Dict[str, Settings] = {}
        self.verdicts: Dict[str, Dict[str, Any]] = {}
        """By fingerprint."""
        self.stores: Dict[Project, Store] = {}
        self._waiting: Optional[asyncio.Task[None]] = None
        self._busy = asyncio.Lock()
        self._said = ""

    def text(self, document: TextDocument) -> Text:
        return Text(document.lines, self.workspace.position_codec)

    def findings(self, path: str) -> List[Finding]:
        """The last findings in one file, with the verdicts that are known."""
        real = os.path.realpath(path)
        result = self.results.get(real)
        return [f for f in self.all_findings(path) if os.path.realpath(f.path) == real] if result else []

    def all_findings(self, path: str) -> List[Finding]:
        """The last findings in the project of a file."""
        result = self.results.get(os.path.realpath(path))
        return [
            f.with_(verdict=self.verdicts.get(f.fingerprint, f.verdict))
            for f in (result.findings if result else [])
        ]

    def lang(self, path: str) -> str:
        settings = self.settings.get(os.path.realpath(path))
        return settings.lang if settings is not None else default_language()

    def later(self, delay: float = DELAY) -> None:
        """Checks the open documents after a moment without changes."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.ensure_future(self._wait(delay))

    async def _wait(self, delay: float) -> None:
        await asyncio.sleep(delay)
        await asyncio.shield(asyncio.ensure_future(self.check()))

    async def check(self) -> None:
        """Checks every project with open documents, one run each, and publishes what was found."""
        async with self._busy:
            documents = {d.path: d for d in self.workspace.text_documents.values() if _checkable(d)}
            texts = {path: document.source for path, document in documents.items()}
            versions = {path: document.version for path, document in documents.items()}
            done, wrong = await asyncio.to_thread(check_open, texts, self.options, self.stores)
            if wrong:
                self._say_once(f"graphlint: {wrong[0]}")
            else:
                self._said = ""
            for path, (settings, result) in done.items():
                self.results[os.path.realpath(path)] = result
                self.settings[os.path.realpath(path)] = settings
                document = documents[path]
                if document.version == versions[path]:
                    self.publish(document)
            await self._refresh()

    def publish(self, document: TextDocument) -> None:
        """Sends the diagnostics of one document."""
        path = os.path.realpath(document.path)
        result, lang, text = self.results[path], self.lang(path), self.text(document)
        shown = [translate.diagnostic(finding, text, lang) for finding in self.findings(path)]
        shown += [translate.error_diagnostic(e) for e in result.errors if os.path.realpath(e.path) == path]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=document.uri, diagnostics=shown, version=document.version)
        )

    async def _refresh(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            await self.workspace_code_lens_refresh_async(None)

    def _say_once(self, sentence: str) -> None:
        if sentence != self._said:
            self._said = sentence
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, sentence))

    async def verify(self, path: str, cell: str) -> None:
        """Runs `graphlint verify` on a saved file and shows the verdicts, or why there are none."""
        lang = self.lang(path)
        verdicts, said = await asyncio.to_thread(run_verify, path, lang)
        self.verdicts.update(verdicts)
        own = [v["status"] for v in verdicts.values()]
        if not said:
            said = say(
                "verified", lang, cell=cell, confirmed=own.count("confirmed"), refuted=own.count("refuted")
            )
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"graphlint: {said}"))
        for document in self.workspace.text_documents.values():
            if os.path.realpath(document.path) in self.results:
                self.publish(document)
        await self._refresh()


def _checkable(document: TextDocument) -> bool:
    return document.uri.startswith("file:") and document.path.endswith(".py")


def check_open(
    texts: Mapping[str, str], options: Mapping[str, Any], stores: Optional[Dict[Project, Store]] = None
) -> Tuple[Dict[str, Tuple[Settings, CheckResult]], List[str]]:
    """The settings and the result for each open document, and what is wrong with the configuration of the others.

    Documents of one project share a run, which works on what changed since the last one that `stores` saw.
    """
    stores = stores if stores is not None else {}
    found: Dict[str, Tuple[Settings, CheckResult]] = {}
    runs: Dict[Project, Tuple[CheckResult, Set[str]]] = {}
    given = {path: encoded(text) for path, text in texts.items()}
    wrong: List[str] = []
    for path, text in texts.items():
        try:
            settings = load(os.path.dirname(path), options=options)
            check_rules(settings)
            key = (settings.root, settings.config_path)
            if key not in runs:
                store = stores.setdefault(key, Store(None))
                files = discover([settings.root], settings).files
                seen = {os.path.realpath(file) for file in files}
                runs[key] = engine.check([settings.root], settings, given=given, store=store), seen
            result, seen = runs[key]
            if os.path.realpath(path) not in seen:
                result = _with(result, engine.check([path], settings, stdin=(path, text)))
        except GraphlintError as error:
            wrong.append(str(error))
        else:
            found[path] = (settings, result)
    return found, wrong


def _with(result: CheckResult, own: CheckResult) -> CheckResult:
    """The project's result and that of a document which a run over it doesn't see: new, or left out."""
    return CheckResult(
        findings=[*result.findings, *own.findings],
        errors=[*result.errors, *own.errors],
        files=result.files + own.files,
        graph_functions=result.graph_functions + own.graph_functions,
    )


def encoded(text: str) -> bytes:
    """An editor's text as the bytes that its own encoding line declares."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeEncodeError, LookupError):
        return data


def run_verify(path: str, lang: str) -> Tuple[Dict[str, Dict[str, Any]], str]:
    """The verdicts by fingerprint, and what to tell the user where there are none."""
    command = [sys.executable, "-m", "graphlint", "verify", path, "--output-format", "json", "--lang", lang]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    try:
        findings = json.loads(done.stdout)["findings"]
    except (ValueError, KeyError):
        return {}, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return {f["fingerprint"]: f["verdict"] for f in findings if f["verdict"]}, ""


@lru_cache(maxsize=1)
def _pages() -> Dict[str, Page]:
    return {page.code: page for page in pages()}


def make_server() -> GraphlintServer:
    """A server with all its features, not yet started."""
    server = GraphlintServer()

    @server.feature(types.INITIALIZE)
    def initialize(ls: GraphlintServer, params: types.InitializeParams) -> None:
        given = params.initialization_options
        ls.options = dict(given) if isinstance(given, dict) else {}

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: GraphlintServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.later(0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: GraphlintServer, params: types.DidChangeTextDocumentParams) -> None:
        ls.later()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: GraphlintServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.later(0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: GraphlintServer, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    def code_action(ls: GraphlintServer, params: types.CodeActionParams) -> List[types.CodeAction]:
        document = ls.workspace.get_text_document(params.text_document.uri)
        only = params.context.only
        if only and types.CodeActionKind.SourceFixAll in only:
            return _fix_all(ls, document)
        text, lang = ls.text(document), ls.lang(document.path)
        found: List[types.CodeAction] = []
        for finding in ls.findings(document.path):
            shown = text.range(finding.line, finding.column, finding.end_line, finding.end_column)
            if translate.overlaps(shown, params.range):
                found.extend(translate.actions(finding, document.uri, text, lang))
        return found

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: GraphlintServer, params: types.HoverParams) -> Optional[types.Hover]:
        document = ls.workspace.get_text_document(params.text_document.uri)
        text, lang = ls.text(document), ls.lang(document.path)
        here = types.Range(params.position, params.position)
        blocks = []
        for finding in ls.findings(document.path):
            shown = text.range(finding.line, finding.column, finding.end_line, finding.end_column)
            if translate.overlaps(shown, here):
                blocks.append(translate.hover(finding, _pages().get(finding.code), lang))
        if not blocks:
            return None
        value = "\n\n---\n\n".join(blocks)
        return types.Hover(contents=types.MarkupContent(types.MarkupKind.Markdown, value))

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(ls: GraphlintServer, params: types.CodeLensParams) -> List[types.CodeLens]:
        document = ls.workspace.get_text_document(params.text_document.uri)
        path = document.path
        return translate.lenses(document.source, path, ls.all_findings(path), ls.lang(path))

    @server.command(translate.VERIFY_COMMAND)
    async def verify(ls: GraphlintServer, path: str, cell: str = "") -> None:
        await ls.verify(path, cell)

    return server


def _fix_all(ls: GraphlintServer, document: TextDocument) -> List[types.CodeAction]:
    """Every safe rewrite in the document as one edit."""
    from graphlint.fixes.rounds import run

    settings = ls.settings.get(os.path.realpath(document.path))
    if settings is None:
        return []
    outcome = run([], with_options(settings, fix=True), (document.path, document.source))
    if not outcome.changes:
        return []
    end = len(document.lines) + 1
    whole = types.TextEdit(
        range=types.Range(types.Position(0, 0), types.Position(end, 0)),
        new_text=outcome.changes[0].after.decode("utf-8"),
    )
    return [
        types.CodeAction(
            title=say("action-fix-all", settings.lang, n=outcome.fixed),
            kind=types.CodeActionKind.SourceFixAll,
            edit=types.WorkspaceEdit(changes={document.uri: [whole]}),
        )
    ]
