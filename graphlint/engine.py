"""One pure function from files and settings to findings; every front end calls it.

The engine stands on the standard library's `ast`: measured on a 502,000-line repository, reading graph code this way
took a third of what astroid trees of the same functions took, and no inference runs that could depend on what is
installed. The result depends on the files, the settings and nothing else.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from graphlint.config import Settings
from graphlint.discovery import discover
from graphlint.finding import (
    CheckResult,
    FileError,
    Finding,
    Fix,
    fingerprint,
    severity_of,
)
from graphlint.graph_code.trace import FunctionTrace
from graphlint.lang import say
from graphlint.project import FunctionInfo, Module, Project
from graphlint.source import SourceError, SourceFile, load
from graphlint.target import Target

Stdin = Optional[Tuple[str, str]]
Progress = Optional[Callable[[int, int], None]]


class Sources:
    """The project's files by path: read once, parsed when asked for; what can't be read is kept as an error."""

    def __init__(
        self, files: Mapping[str, str], lang: str, stdin: Stdin, given: Optional[Mapping[str, bytes]] = None
    ) -> None:
        self.names = {path: name for name, path in files.items()}
        self.lang = lang
        self.errors: Dict[str, FileError] = {}
        self._sources: Dict[str, Optional[SourceFile]] = {}
        self._given = {os.path.realpath(stdin[0]): stdin} if stdin is not None else {}
        self._data = {os.path.realpath(path): data for path, data in (given or {}).items()}

    def get(self, path: str) -> Optional[SourceFile]:
        if path not in self._sources:
            try:
                source = self._read(path)
            except SourceError as error:
                self.errors[path] = error.error
                self._sources[path] = None
            else:
                self._sources[path] = source
        return self._sources[path]

    def _read(self, path: str) -> SourceFile:
        real = os.path.realpath(path)
        if real in self._data:
            return SourceFile(path, self._data[real], self.lang)
        if real in self._given:
            return SourceFile.of_text(path, self._given[real][1], self.lang)
        return load(path, self.lang)

    def data(self, path: str) -> bytes:
        """The file's bytes, none where it can't be read."""
        source = self.get(path)
        return b"" if source is None else source.data

    def failed(self, path: str, info: FunctionInfo, error: Exception) -> None:
        """Notes a function whose analysis broke off: graphlint's own fault, told with the file's errors."""
        key = "too-deep" if isinstance(error, RecursionError) else "not-analysed"
        detail = f"{type(error).__name__}: {error}"
        message = say(key, self.lang, name=info.qualname, detail=detail)
        self.errors.setdefault(path, FileError(path, message, getattr(info.node, "lineno", None)))

    def tree(self, path: str) -> Optional[ast.Module]:
        source = self.get(path)
        if source is None:
            return None
        try:
            return source.tree
        except SourceError as error:
            self.errors[path] = error.error
            return None


def check(
    paths: Sequence[str],
    settings: Settings,
    *,
    stdin: Stdin = None,
    progress: Progress = None,
    given: Optional[Mapping[str, bytes]] = None,
) -> CheckResult:
    """All findings in `paths` (files and folders; empty: the configuration's `include`, else the working folder).

    `stdin` is (filename, text) for a file that an editor holds: it alone is shown, the project around it is read.
    `given` holds the bytes of files that are to be read from there instead of from the disk.
    Raises UsageError for a path that doesn't exist.
    """
    if stdin is not None:
        shown: Tuple[str, ...] = (stdin[0],)
        errors: List[FileError] = []
    else:
        found = discover(paths, settings)
        shown, errors = found.files, list(found.errors)
    files = module_names(shown, settings)
    sources = Sources(files, settings.lang, stdin, given)
    result = CheckResult(errors=errors, files=len(shown))
    per_target: List[Tuple[Target, List[Finding]]] = []
    for target in settings.targets:
        findings, functions = _check_target(shown, files, sources, settings, target, progress)
        per_target.append((target, findings))
        result.graph_functions = max(result.graph_functions, functions)
    result.findings = _finish(_merge(per_target), sources, settings, shown)
    result.errors.extend(sources.errors[path] for path in shown if path in sources.errors)
    result.errors.sort(key=lambda error: error.path)
    if settings.baseline is not None:
        from graphlint.baseline import subtract

        subtract(result, settings, shown)
    return result


def module_names(shown: Sequence[str], settings: Settings) -> Dict[str, str]:
    """Dotted names of all modules of the project, `shown` files under the names they were given."""
    root = os.path.realpath(settings.root)
    real = {os.path.realpath(path): path for path in shown}
    everything: Iterable[str] = (
        discover([settings.root], settings).files if os.path.isdir(settings.root) else ()
    )
    for path in everything:
        real.setdefault(os.path.realpath(path), path)
    names: Dict[str, str] = {}
    for full in sorted(real):
        path = real[full]
        relative = os.path.relpath(full, root)
        parts = os.path.splitext(relative)[0].replace("\\", "/").split("/")
        while parts and parts[0] in ("..", "src"):
            parts.pop(0)
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        name = ".".join(parts)
        while name in names:
            name += "_"
        names[name] = path
    return names


def _relevant(data: bytes) -> bool:
    words = (b"mindspore", b"construct", b"jit", b"ms_function", b"INPUTS", b"Cell")
    return any(word in data for word in words)


def _check_target(
    shown: Sequence[str],
    files: Mapping[str, str],
    sources: Sources,
    settings: Settings,
    target: Target,
    progress: Progress = None,
) -> Tuple[List[Finding], int]:
    from graphlint.checkers import all_rules
    from graphlint.checkers.base import ClassContext, Context, ModuleContext
    from graphlint.checkers.walk import Dispatcher
    from graphlint.graph_code.inputs import declared_inputs
    from graphlint.graph_code.interpreter import Interpreter
    from graphlint.graph_code.roots import roots_of

    project = Project(files, sources.tree, sources.data)
    interpreter = Interpreter(project, target)
    dispatcher = Dispatcher([rule(target) for rule in all_rules()])
    modules = _modules(files, project, sources, shown)
    drafts: List[Finding] = []
    for done, module in enumerate(modules):
        if progress is not None:
            progress(done, len(modules))
        for root in roots_of(module):
            try:
                interpreter.run(root, declared_inputs(module, root, interpreter))
            except Exception as error:  # one function that can't be analysed must not cost the others
                if os.environ.get("GRAPHLINT_DEBUG"):
                    raise
                sources.failed(module.path, root.info, error)
    wanted = set(shown)
    traces = [t for t in interpreter.recorder.traces.values() if t.info.module.path in wanted]
    for trace in traces:
        source = sources.get(trace.info.module.path)
        if source is not None:
            ctx = Context(trace, source, target, project, interpreter.recorder.traces.__contains__)
            drafts.extend(
                _finding(found, ctx.source, trace, ctx, settings) for found in dispatcher.function(ctx)
            )
    memo: Dict[object, object] = {}
    for module in modules:
        source = sources.get(module.path)
        if module.path in wanted and source is not None:
            host = ModuleContext(module, source, target, interpreter.recorder.traces, memo)
            drafts.extend(_module_finding(found, host, settings) for found in dispatcher.module(host))
            for cls in module.classes.values():
                if cls.looks_like_cell:
                    class_ctx = ClassContext(cls, source, target, project)
                    drafts.extend(
                        _class_finding(found, class_ctx, settings) for found in dispatcher.cell(class_ctx)
                    )
    return drafts, len(traces)


def _modules(
    files: Mapping[str, str], project: Project, sources: Sources, shown: Sequence[str]
) -> List[Module]:
    """The modules that may hold roots, in order of their names; the shown ones are parsed for their errors too."""
    wanted = set(shown)
    found: List[Module] = []
    rest: List[str] = []
    for name in sorted(files):
        path = files[name]
        source = sources.get(path)
        if source is None:
            continue
        if _relevant(source.data):
            module = project.module(name)
            if module is not None:
                found.append(module)
        elif b"class " in source.data:
            rest.append(name)
        if path in wanted:
            sources.tree(path)
    _add_subclasses(found, rest, files, project, sources)
    return sorted(found, key=lambda module: module.name)


def _add_subclasses(
    found: List[Module], rest: List[str], files: Mapping[str, str], project: Project, sources: Sources
) -> None:
    """Adds the modules whose classes derive from a Cell of another file without ever saying so."""
    known: Set[str] = set()
    fresh = list(found)
    while fresh and rest:
        names = {
            cls.name for module in fresh for cls in module.classes.values() if cls.looks_like_cell
        } - known
        known |= names
        if not names:
            return
        mention = re.compile(b"|".join(rb"\b%s\b" % re.escape(name).encode() for name in sorted(names)))
        fresh = []
        for name in list(rest):
            source = sources.get(files[name])
            if source is not None and mention.search(source.data):
                rest.remove(name)
                module = project.module(name)
                if module is not None:
                    fresh.append(module)
        found.extend(fresh)


def _finding(found, source: SourceFile, trace: FunctionTrace, ctx, settings: Settings) -> Finding:  # type: ignore[no-untyped-def]
    return _build(
        found, source, trace.info.qualname, trace.chain, (*trace.via, *found.via), settings, _fix(found, ctx)
    )


def _fix(found, ctx) -> Optional[Fix]:  # type: ignore[no-untyped-def]
    from graphlint import fixes

    return found.fix(ctx) if found.fix else fixes.build(found, ctx)


def _class_finding(found, ctx, settings: Settings) -> Finding:  # type: ignore[no-untyped-def]
    name = ctx.cls.qualname
    return _build(found, ctx.source, name, (name,), found.via, settings, _fix(found, ctx))


def _module_finding(found, ctx, settings: Settings) -> Finding:  # type: ignore[no-untyped-def]
    return _build(found, ctx.source, found.symbol, found.chain, found.via, settings, _fix(found, ctx))


def _build(found, source, symbol, chain, via, settings, fix) -> Finding:  # type: ignore[no-untyped-def]
    line, column, end_line, end_column = source.span(found.node)
    if found.end is not None:
        _, _, end_line, end_column = source.span(found.end)
    return Finding(
        code=found.rule.code, name=found.rule.name, effect=found.effect,
        severity=severity_of(found.effect, found.confidence), path=source.path, line=line, column=column,
        end_line=end_line, end_column=end_column, symbol=symbol, chain=tuple(chain),
        message=found.message.in_(settings.lang, **found.values), help=found.help.in_(settings.lang, **found.values),
        fix=fix, confidence=found.confidence, via=tuple(via), targets=(found.rule.target.mindspore,),
    )  # fmt: skip


def _merge(per_target: Sequence[Tuple[Target, List[Finding]]]) -> List[Finding]:
    """One list from the findings for each target; where all say the same, told once with the targets it holds for."""
    merged: Dict[Tuple[object, ...], Finding] = {}
    for _, findings in per_target:
        for finding in findings:
            key = (finding.code, finding.path, finding.line, finding.column, finding.effect, finding.message)
            known = merged.get(key)
            if known is None:
                merged[key] = finding
            elif finding.targets[0] not in known.targets:
                merged[key] = known.with_(targets=(*known.targets, *finding.targets))
    only = len(per_target) == 1
    return [f.with_(targets=()) if only else f for f in merged.values()]


def _finish(
    findings: List[Finding], sources: Sources, settings: Settings, shown: Sequence[str]
) -> List[Finding]:
    """Suppressions, select and ignore, fingerprints and order."""
    from graphlint.suppressions import apply_suppressions

    by_path: Dict[str, List[Finding]] = {path: [] for path in shown}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    kept: List[Finding] = []
    for path, those in by_path.items():
        source = sources.get(path)
        if source is None:
            continue
        ordered = sorted(those, key=lambda f: f.sort_key)
        stay, unused = apply_suppressions(source, ordered, pylint=settings.pylint_comments)
        kept.extend(source.relocate(f) for f in _marked([*stay, *unused], source))
    return sorted((f for f in kept if settings.selects(f.code, f.name, f.path)), key=lambda f: f.sort_key)


def _marked(findings: List[Finding], source: SourceFile) -> Iterator[Finding]:
    seen: Dict[Tuple[str, str, str], int] = {}
    for finding in sorted(findings, key=lambda f: f.sort_key):
        text = source.segment(finding.line, finding.column, finding.end_line, finding.end_column)
        key = (finding.code, finding.symbol, text)
        seen[key] = seen.get(key, -1) + 1
        mark = fingerprint(finding.code, os.path.basename(finding.path), finding.symbol, text, seen[key])
        yield finding.with_(fingerprint=mark, text=text)
