"""One module, analysed: what its graphs, its Cells and its host code give, for each target."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from graphlint.config import Settings
from graphlint.engine.sources import Sources
from graphlint.finding import FileError, Finding, severity_of
from graphlint.graph_code.facts import Condition, GraphFacts, gather
from graphlint.lang import say
from graphlint.layout import Layout
from graphlint.project import FunctionInfo, Module, Project
from graphlint.source import SourceError, SourceFile
from graphlint.target import Target
from graphlint.tree import Syntax

PARSED_BYTES = 1_000_000
"""How much source is held parsed at a time (some 40 bytes of memory a byte)."""


class Job(NamedTuple):
    """A module to work on; `whole` is False for one that is only parsed, for its errors."""

    name: str
    path: str
    whole: bool


class Draft(NamedTuple):
    """A finding that stands where the project's graph code fulfils all of `when`."""

    finding: Finding
    when: Tuple[Condition, ...] = ()


@dataclass
class Part:
    """What a module gives for one target; `drafts` may lie in other files, which its graph code runs through."""

    drafts: List[Draft] = field(default_factory=list)
    facts: GraphFacts = field(default_factory=GraphFacts)


@dataclass
class Unit:
    """What a module gives for each target, the errors met, and the trail (see `Project.followed`) that it rests on.

    `whole` as in its job: a unit that isn't holds errors alone.
    """

    name: str
    whole: bool
    parts: List[Part]
    errors: List[FileError]
    trail: Tuple[str, ...]


class Analyst:
    """Works on modules one by one; files parsed for one serve the next, up to a budget."""

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        sources: Sources,
        mentions: Callable[[bytes], Tuple[str, ...]],
    ) -> None:
        from graphlint.checkers import all_rules
        from graphlint.checkers.walk import Dispatcher

        self.layout = layout
        self.settings = settings
        self.sources = sources
        self.mentions = mentions
        self._targets = [(t, Dispatcher([rule(t) for rule in all_rules()])) for t in settings.targets]
        self._begin()

    def _begin(self) -> None:
        self._parsed = 0
        self._files: Dict[str, Optional[SourceFile]] = {}
        self._errors: Dict[str, FileError] = {}
        self._project = Project(self.layout, self._syntax, self.mentions)

    def _again(self) -> None:
        self._begin()
        gc.collect()

    def unit(self, job: Job) -> Unit:
        """What the module gives; nothing but its errors where it can't be parsed."""
        if self._parsed > PARSED_BYTES:
            self._again()
        project = self._project
        if not job.whole:
            self._syntax(job.path)
            errors = [self._errors[job.path]] if job.path in self._errors else []
            return Unit(job.name, False, [], errors, ("=" + job.name,))
        with project.followed() as trail:
            module = project.module(job.name)
            parts: List[Part] = []
            failures: Dict[str, FileError] = {}
            if module is not None:
                parts = [self._part(module, target, rules, failures) for target, rules in self._targets]
        errors = [self._errors[job.path]] if job.path in self._errors else list(failures.values())
        return Unit(job.name, True, parts, errors, tuple(sorted(trail)))

    def _syntax(self, path: str) -> Optional[Syntax]:
        source = self._source(path)
        if source is None:
            return None
        self._parsed += len(source.data)
        try:
            return Syntax(source.tree)
        except SourceError as error:
            self._errors[path] = error.error
            return None

    def _source(self, path: str) -> Optional[SourceFile]:
        if path not in self._files:
            try:
                self._files[path] = self.sources.source(path)
            except SourceError as error:
                self._errors[path] = error.error
                self._files[path] = None
        return self._files[path]

    def _part(self, module: Module, target: Target, rules: Any, failures: Dict[str, FileError]) -> Part:
        from graphlint.checkers.base import ClassContext, Context, ModuleContext
        from graphlint.graph_code.inputs import declared_inputs
        from graphlint.graph_code.interpreter import Interpreter
        from graphlint.graph_code.roots import roots_of

        interpreter = Interpreter(self._project, target)
        for root in roots_of(module):
            try:
                interpreter.run(root, declared_inputs(module, root, interpreter))
            except Exception as error:  # one function that can't be analysed must not cost the others
                if os.environ.get("GRAPHLINT_DEBUG"):
                    raise
                failures.setdefault(module.path, self._failure(module.path, root.info, error))
        traces = interpreter.recorder.traces
        drafts: List[Draft] = []
        for trace in traces.values():
            source = self._source(trace.info.module.path)
            if source is not None:
                ctx = Context(trace, source, target, self._project, traces.__contains__)
                name, chain = trace.info.qualname, trace.chain
                for found in rules.function(ctx):
                    drafts.append(self._draft(found, ctx, name, chain, (*trace.via, *found.via)))
        source = self._source(module.path)
        if source is not None:
            host = ModuleContext(module, source, target)
            for found in rules.module(host):
                drafts.append(self._draft(found, host, found.symbol, found.chain, found.via))
            for cls in module.classes.values():
                if cls.looks_like_cell:
                    cell = ClassContext(cls, source, target, self._project)
                    for found in rules.cell(cell):
                        drafts.append(self._draft(found, cell, cls.qualname, (cls.qualname,), found.via))
        return Part(drafts, gather(traces.values()))

    def _failure(self, path: str, info: FunctionInfo, error: Exception) -> FileError:
        """graphlint's own fault in one function, told with the file's errors."""
        key = "too-deep" if isinstance(error, RecursionError) else "not-analysed"
        detail = f"{type(error).__name__}: {error}"
        message = say(key, self.settings.lang, name=info.qualname, detail=detail)
        return FileError(path, message, getattr(info.node, "lineno", None))

    def _draft(
        self, found: Any, ctx: Any, symbol: str, chain: Tuple[str, ...], via: Tuple[Any, ...]
    ) -> Draft:
        from graphlint import fixes

        source: SourceFile = ctx.source
        line, column, end_line, end_column = source.span(found.node)
        if found.end is not None:
            _, _, end_line, end_column = source.span(found.end)
        lang, values = self.settings.lang, found.values
        finding = Finding(
            code=found.rule.code, name=found.rule.name, effect=found.effect,
            severity=severity_of(found.effect, found.confidence), path=source.path, line=line, column=column,
            end_line=end_line, end_column=end_column, symbol=symbol, chain=tuple(chain),
            message=found.message.in_(lang, **values), help=found.help.in_(lang, **values),
            fix=found.fix(ctx) if found.fix else fixes.build(found, ctx), confidence=found.confidence,
            via=tuple(via), targets=(found.rule.target.mindspore,),
            text=source.segment(line, column, end_line, end_column),
        )  # fmt: skip
        return Draft(finding, found.when)
