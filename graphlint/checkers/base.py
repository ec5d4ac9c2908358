"""What a rule is: one class with a page, effects by target, and handlers for nodes and events of graph code."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, TypeVar

from graphlint.finding import Confidence, Effect, Fix
from graphlint.graph_code.facts import Condition, Outside
from graphlint.graph_code.trace import Event, FunctionTrace
from graphlint.graph_code.values import Value, from_python, unknown
from graphlint.lang import Text
from graphlint.project import ClassInfo, Module, Project
from graphlint.source import SourceFile
from graphlint.target import DEVICES, LEVELS, MEASURED_VERSIONS, Target, version_key

Made = TypeVar("Made")


@dataclass(frozen=True)
class When:
    """One row of a rule's effects: holds for versions from `since` up to before `before`, at `level`, for `case`.

    The last row that fits decides. `case` tells apart what one rule says of several constructs.
    """

    effect: Effect
    since: Optional[str] = None
    before: Optional[str] = None
    level: Optional[str] = None
    device: Optional[str] = None
    case: Optional[str] = None

    def fits(self, target: Target, case: str) -> bool:
        return (
            (self.since is None or target.key >= version_key(self.since))
            and (self.before is None or target.key < version_key(self.before))
            and self.level in (None, target.level)
            and self.device in (None, target.device)
            and self.case in (None, case)
        )


def always(effect: Effect) -> Tuple[When, ...]:
    """The effects of a rule that says the same for every target."""
    return (When(effect),)


@dataclass(frozen=True)
class Found:
    """What a rule found, before the engine adds where and through which chain.

    It stands where the whole project's graph code fulfils all conditions in `when`.
    """

    rule: Rule
    node: ast.AST
    effect: Effect
    message: Text
    help: Text
    values: Dict[str, Any] = field(default_factory=dict)
    confidence: Confidence = Confidence.HIGH
    fix: Optional[Callable[[Context], Optional[Fix]]] = None
    end: Optional[ast.AST] = None
    symbol: str = ""
    chain: Tuple[str, ...] = ()
    via: Tuple[Tuple[str, int], ...] = ()
    when: Tuple[Condition, ...] = ()


class Context:
    """One function of graph code as a rule sees it."""

    def __init__(
        self,
        trace: FunctionTrace,
        source: SourceFile,
        target: Target,
        project: Project,
        traced: Callable[[ast.AST], bool] = lambda node: True,
    ) -> None:
        self.trace = trace
        self.traced = traced
        self.source = source
        self.target = target
        self.project = project
        self.module: Module = trace.info.module
        self.node = trace.info.node

    def value(self, node: ast.AST) -> Value:
        """What the expression is; `unknown` where no live path evaluates it."""
        if isinstance(node, ast.Constant):
            return from_python(node.value)
        return self.trace.values.get(node, unknown)

    def reached(self, node: ast.AST) -> bool:
        """True where a live path evaluates the expression."""
        return node in self.trace.values

    def callee(self, call: ast.Call) -> str:
        """The full name of an external function that is called (`numpy.sqrt`, `builtins.print`), else empty."""
        target = self.value(call.func).target
        return (
            target if isinstance(target, str) and self.value(call.func).kind in ("external", "class") else ""
        )

    def parent(self, node: ast.AST) -> Optional[ast.AST]:
        """The node around this one within the function."""
        return self.module.parents.get(node)

    def in_tensor_branch(self, stmt: ast.AST) -> bool:
        return stmt in self.trace.in_tensor_branch


class ClassContext:
    """One Cell class as a rule sees it: for what its `__init__` prepares."""

    def __init__(self, cls: ClassInfo, source: SourceFile, target: Target, project: Project) -> None:
        self.cls = cls
        self.module = cls.module
        self.source = source
        self.target = target
        self.project = project


class ModuleContext:
    """One module as a rule sees it: for host code around the graph.

    What graph code of other modules has to do with it isn't known yet: a finding that depends on it says `when`.
    """

    def __init__(self, module: Module, source: SourceFile, target: Target) -> None:
        self.module = module
        self.source = source
        self.target = target
        self._memo: Dict[Any, Any] = {}

    def outside(self, node: ast.AST) -> Outside:
        """The condition that no graph code holds the node."""
        around: List[Tuple[int, int]] = []
        above: Optional[ast.AST] = node
        while above is not None:
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                around.append((above.lineno, above.col_offset))
            above = self.module.parents.get(above)
        return Outside(tuple(around))

    def once(self, make: Callable[[ModuleContext], Made]) -> Made:
        """What `make` learns from this module, made once for all rules."""
        if make not in self._memo:
            self._memo[make] = make(self)
        found: Made = self._memo[make]
        return found


class Rule:
    """Base of all rules. A subclass has a docstring with the headings What, Why, Example, Instead, Fix safety.

    Handlers are found by name: `visit_<Node>(node, ctx)` for each live node of that class (each parsed one where
    `parsed` is True), `on_<event>(event, ctx)`, `enter(ctx)` once a function, `check_class(ctx)` once a Cell class,
    `check_module(ctx)` once a module.
    Each yields what `self.at(…)` makes.
    """

    code = ""
    name = ""
    effects: Tuple[When, ...] = ()
    message = Text("", "")
    help = Text("", "")
    parsed = False

    def __init__(self, target: Target) -> None:
        self.target = target

    def effect(self, case: str = "") -> Effect:
        """The effect at this rule's target; `none` where no row fits."""
        return effect_at(self.effects, self.target, case)

    def at(
        self,
        node: ast.AST,
        *,
        case: str = "",
        message: Optional[Text] = None,
        help: Optional[Text] = None,
        effect: Optional[Effect] = None,
        confidence: Confidence = Confidence.HIGH,
        fix: Optional[Callable[[Context], Optional[Fix]]] = None,
        end: Optional[ast.AST] = None,
        when: Tuple[Condition, ...] = (),
        **values: Any,
    ) -> Found:
        """A finding at `node` (up to the end of `end`); `values` fill the message and the help."""
        return Found(
            self, node, effect if effect is not None else self.effect(case), message or self.message,
            help or self.help, values, confidence, fix, end, when=when,
        )  # fmt: skip

    @classmethod
    def effects_by_target(cls) -> List[Dict[str, str]]:
        """The rule's stated effect for every measured version, level and device; one row a distinct `case`."""
        cases = sorted({row.case or "" for row in cls.effects}) or [""]
        if len(cases) > 1 and "" in cases and not any(row.case is None for row in cls.effects):
            cases.remove("")
        rows = []
        for case in cases:
            for version in MEASURED_VERSIONS:
                for level in LEVELS:
                    for device in DEVICES:
                        effect = effect_at(cls.effects, Target(version, level, device), case)
                        row = {"mindspore": version, "level": level, "device": device, "effect": effect.value}
                        if case:
                            row["case"] = case
                        rows.append(row)
        return rows


def effect_at(effects: Iterable[When], target: Target, case: str = "") -> Effect:
    found = Effect.NONE
    for row in effects:
        if row.fits(target, case):
            found = row.effect
    return found


def certain(event: Event) -> Confidence:
    """High where the event was met on a path that is surely taken."""
    return Confidence.HIGH if event.data.get("certain", True) else Confidence.MEDIUM


def later(node: Any, end: Any, ctx: Context) -> Any:
    """`end` where it stands behind `node` in the function's own body, so that a finding can reach up to it."""
    if end is None or end is ctx.node or getattr(end, "end_lineno", 0) <= node.end_lineno:
        return None
    return end


def confidence_of(*values: Value) -> Confidence:
    """High where the kinds of all these values are known for sure."""
    return Confidence.HIGH if all(v.sure for v in values) else Confidence.MEDIUM


Findings = Iterator[Found]
