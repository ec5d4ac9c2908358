"""One call of one function during the interpretation: its names, its closure and how it was entered."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple

from graphlint.graph_code.trace import FunctionTrace
from graphlint.graph_code.values import Value
from graphlint.project import ClassInfo, FunctionInfo, Module
from graphlint.tree import facts

Env = Dict[str, Value]


@dataclass(eq=False)
class Instance:
    """An object of a class of the project: its attributes, as `__init__` and the class body leave them."""

    cls: ClassInfo
    attrs: Dict[str, Value] = field(default_factory=dict)
    written: Dict[str, Tuple[ast.AST, Frame]] = field(default_factory=dict)
    assigned_at: Dict[str, Tuple[ast.AST, Module]] = field(default_factory=dict)
    branched_on: Dict[str, ast.AST] = field(default_factory=dict)
    initialised: bool = False
    open: bool = False
    given: Optional[Args] = None


@dataclass(eq=False)
class Closure:
    """A function value: its definition, and the names around it as they stood when it was defined."""

    info: FunctionInfo
    home: Optional[Frame] = None
    captured: Dict[str, Value] = field(default_factory=dict)
    cls: Optional[ClassInfo] = None


@dataclass
class Args:
    """The arguments of a call; `open` where a star argument of unknown length takes part."""

    pos: List[Value] = field(default_factory=list)
    kw: Dict[str, Value] = field(default_factory=dict)
    open: bool = False

    def get(self, index: int, *names: str) -> Optional[Value]:
        """The argument at that place or under one of those names."""
        if index < len(self.pos):
            return self.pos[index]
        for name in names:
            if name in self.kw:
                return self.kw[name]
        return None

    def all(self) -> List[Value]:
        return [*self.pos, *self.kw.values()]


@dataclass
class Return:
    value: Value
    node: ast.AST
    stack: Tuple[Tuple[ast.AST, int], ...]


@dataclass
class Loop:
    """The loop being unrolled: the states that its `break` and `continue` leave with."""

    depth: int
    breaks: List[Env] = field(default_factory=list)
    continues: List[Env] = field(default_factory=list)
    tensor_exit: bool = False


@dataclass(eq=False)
class Frame:
    """`env` is None where no path goes on. `graph` is False while `__init__` or module code is evaluated."""

    info: FunctionInfo
    module: Module
    env: Optional[Env]
    trace: Optional[FunctionTrace]
    graph: bool = True
    cls: Optional[ClassInfo] = None
    self_value: Optional[Value] = None
    closure: Optional[Closure] = None
    caller: Optional[Frame] = None
    chain: Tuple[str, ...] = ()
    via: Tuple[Tuple[str, int], ...] = ()
    returns: List[Return] = field(default_factory=list)
    stack: List[Tuple[ast.AST, int]] = field(default_factory=list)
    loops: List[Loop] = field(default_factory=list)
    globals_: Set[str] = field(default_factory=set)
    nonlocals: Set[str] = field(default_factory=set)
    assigned_at: Dict[str, ast.AST] = field(default_factory=dict)
    local_names: FrozenSet[str] = frozenset()
    loop_depth: int = 0
    depth: int = 0
    resolver: Any = None

    @property
    def in_tensor_branch(self) -> bool:
        return bool(self.stack)

    def set(self, name: str, value: Value, node: Optional[ast.AST] = None) -> None:
        if self.env is not None:
            self.env[name] = value
            if node is not None:
                self.assigned_at[name] = node

    def attribute_value(self, holder: Instance, name: str) -> Optional[Value]:
        """The value of an attribute of an object, through the interpreter that runs this frame."""
        return self.resolver.quiet_attribute(holder, name, self) if self.resolver is not None else None

    def symbol_attribute(self, symbol: Any, name: str) -> Optional[Value]:
        """The value of an attribute of a class or module."""
        return self.resolver.quiet_symbol_attribute(symbol, name, self) if self.resolver is not None else None

    def frames(self) -> List[Frame]:
        """This frame and its callers, the innermost first."""
        found: List[Frame] = []
        frame: Optional[Frame] = self
        while frame is not None:
            found.append(frame)
            frame = frame.caller
        return found


@dataclass(eq=False)
class Conflict:
    """Why a name can't be read, or only not be returned, after two paths met; see joins.Unlike."""

    node: ast.AST
    reason: str
    name: str = ""
    values: Tuple[Value, ...] = ()
    outcome: str = "error"
    returned_only: bool = False
    end: Optional[ast.AST] = None


@dataclass(eq=False)
class Stale:
    """A write through another name that this one doesn't see."""

    node: ast.AST
    frame: Any
    how: str
    through: str = ""
    tensor: bool = False


def local_names(node: ast.AST) -> FrozenSet[str]:
    """The names that a function binds itself: its parameters and what it assigns."""
    return facts(node).local_names
