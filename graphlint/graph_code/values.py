"""What an expression of graph code is, as far as the source tells: the values of the abstract interpretation.

A `Value` is immutable. `const` is the Python value where it is known when compiling; `graph` is what the graph's own
arithmetic (float32, int64) makes of it where that differs. `variable` is True where the value depends on a Tensor's
data at run time, None where that is unknown. `sure` is False where the kind is a guess (an argument that nobody
described); findings that rest on a guess are told as warnings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

UNKNOWN = "unknown"
INPUT = "input"
TENSOR = "tensor"
NUMBER = "number"
STR = "str"
NONE = "none"
LIST = "list"
TUPLE = "tuple"
DICT = "dict"
SET = "set"
RANGE = "range"
SLICE = "slice"
FUNCTION = "function"
CLASS = "class"
MODULE = "module"
CELL = "cell"
OBJECT = "object"
DTYPE = "dtype"
GENERATOR = "generator"
ITERATOR = "iterator"
EXTERNAL = "external"
BOUND = "bound"
SUPER = "super"

SEQUENCES = (LIST, TUPLE)
MUTABLE = (LIST, DICT, SET, OBJECT, CELL)


class _NoConst:
    def __repr__(self) -> str:
        return "NOCONST"

    def __bool__(self) -> bool:
        return False


NOCONST: Any = _NoConst()


@dataclass(eq=False)
class Ref:
    """The identity of an object: where it was made and who else holds it.

    `origin`: `local`, `self`, `global`, `input`, `default`, `closure`; `path` is how the source reaches it
    (`self.seen`); `base` is the object that a tensor view looks into; `folded` a list that the graph keeps as a tuple.
    """

    origin: str = "local"
    path: str = ""
    base: Optional[Ref] = None
    link: str = ""
    literal: bool = False
    folded: bool = False
    written: int = 0
    consumed: int = 0
    made: Any = None
    changed_attrs: Optional[Dict[str, Any]] = None

    @property
    def root(self) -> Ref:
        """The object that an item written through this one changes in PyNative."""
        return self.root_for("item")

    def root_for(self, how: str) -> Ref:
        """The object whose data a write of the kind `how` reaches."""
        found = self.bases(how)
        return found[-1] if found else self

    def bases(self, how: str = "item") -> Tuple[Ref, ...]:
        """What a write through this reference reaches beside itself, the nearest first."""
        apart = "copy" if how == "aug" else "fold"
        found = []
        ref = self
        while ref.base is not None and ref.link != apart:
            ref = ref.base
            found.append(ref)
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Value:
    """See the module's text. Which fields mean something depends on `kind`.

    dtype: of a tensor (`float32`) or the Python type of a number (`int`, `float`, `bool`); rank and shape: of a
    tensor, where known; items: of a list or tuple of known length, values of a dict (with `keys`); element: what a
    sequence of unknown length holds; target: the function, class, module or external name; receiver: of a bound
    method; attrs: of a plain object.
    """

    kind: str
    const: Any = NOCONST
    graph: Any = NOCONST
    variable: Optional[bool] = False
    sure: bool = True
    dtype: Optional[str] = None
    rank: Optional[int] = None
    shape: Optional[Tuple[Optional[int], ...]] = None
    items: Optional[Tuple[Value, ...]] = None
    keys: Optional[Tuple[Any, ...]] = None
    element: Optional[Value] = None
    target: Any = None
    receiver: Optional[Value] = None
    ref: Optional[Ref] = None
    parameter: bool = False
    shape_derived: bool = False
    dynamic: bool = False
    hidden: bool = False
    stale: Any = None
    conflict: Any = None
    shadow: Any = None
    origin: str = ""

    def but(self, **changes: Any) -> Value:
        """A copy with some fields changed."""
        made = object.__new__(Value)
        fields = made.__dict__
        fields.update(self.__dict__)
        fields.update(changes)
        return made

    @property
    def known(self) -> bool:
        """True where the value itself is known when compiling."""
        return self.const is not NOCONST

    @property
    def graph_const(self) -> Any:
        """The constant as the graph computes it."""
        return self.graph if self.graph is not NOCONST else self.const

    @property
    def is_tensor(self) -> bool:
        return self.kind == TENSOR

    @property
    def maybe_tensor(self) -> bool:
        return self.kind in (TENSOR, INPUT)

    @property
    def is_sequence(self) -> bool:
        return self.kind in SEQUENCES

    def walk(self, depth: int = 3) -> Iterator[Value]:
        """This value and the ones it holds."""
        yield self
        if depth:
            for item in self.items or ():
                yield from item.walk(depth - 1)
            if self.element is not None:
                yield from self.element.walk(depth - 1)

    def holds(self, test: Callable[[Value], bool]) -> bool:
        return any(test(v) for v in self.walk())

    @property
    def runtime(self) -> bool:
        """True where the value, or one that it holds, is only known when the graph runs."""
        return self.holds(lambda v: v.kind == TENSOR or v.variable is True)


unknown = Value(UNKNOWN, variable=None, sure=False)
none = Value(NONE, const=None)
undefined = Value(UNKNOWN, variable=None, sure=False, origin="undefined")


def tensor(
    dtype: Optional[str] = None,
    shape: Optional[Tuple[Optional[int], ...]] = None,
    rank: Optional[int] = None,
    sure: bool = True,
    **more: Any,
) -> Value:
    """A Tensor; `shape` may hold None for a dimension that isn't known."""
    if shape is not None:
        rank = len(shape)
    more.setdefault("ref", Ref())
    return Value(TENSOR, variable=True, sure=sure, dtype=dtype, shape=shape, rank=rank, **more)


def number(
    const: Any = NOCONST, pytype: Optional[str] = None, variable: Optional[bool] = False, **more: Any
) -> Value:
    """A Python number of graph code: a constant, or computed at run time where `variable`."""
    if const is not NOCONST and pytype is None:
        pytype = type(const).__name__
    return Value(NUMBER, const=const, dtype=pytype, variable=variable, **more)


def string(const: Any = NOCONST, variable: Optional[bool] = False, **more: Any) -> Value:
    return Value(STR, const=const, variable=variable, **more)


def sequence(kind: str, items: Optional[Iterable[Value]], ref: Optional[Ref] = None, **more: Any) -> Value:
    """A list or tuple; `items` None where the length isn't known."""
    held = None if items is None else tuple(items)
    return Value(kind, items=held, ref=ref or Ref(), **more)


def from_python(const: Any) -> Value:
    """The Value of a Python constant; `unknown` for types that graph code has no name for."""
    if const is None:
        return none
    if isinstance(const, (bool, int, float, complex)):
        return number(const)
    if isinstance(const, str):
        return string(const)
    if isinstance(const, bytes):
        return Value(EXTERNAL, const=const, origin="bytes")
    if isinstance(const, (tuple, list)):
        return sequence(TUPLE if isinstance(const, tuple) else LIST, [from_python(c) for c in const])
    if isinstance(const, dict):
        return Value(DICT, keys=tuple(const), items=tuple(from_python(v) for v in const.values()), ref=Ref())
    if isinstance(const, (set, frozenset)):
        return Value(SET, const=const, ref=Ref())
    if isinstance(const, range):
        return Value(RANGE, const=const)
    if const is Ellipsis:
        return Value(SLICE, const=const)
    return unknown


def to_python(value: Value) -> Any:
    """The Python value of a Value whose every part is known, else NOCONST."""
    if value.kind in SEQUENCES and value.items is not None:
        parts = [to_python(v) for v in value.items]
        if any(p is NOCONST for p in parts):
            return NOCONST
        return tuple(parts) if value.kind == TUPLE else parts
    if value.kind == DICT and value.items is not None and value.keys is not None:
        parts = [to_python(v) for v in value.items]
        if any(p is NOCONST for p in parts):
            return NOCONST
        return dict(zip(value.keys, parts))
    return value.const


def same_const(a: Any, b: Any) -> bool:
    if a is NOCONST or b is NOCONST:
        return a is b
    return type(a) is type(b) and (a == b or (a != a and b != b))


def join(a: Value, b: Value) -> Value:
    """The least that is true of both: what a name holds after two paths met, told from neither."""
    if a is b:
        return a
    if a.kind != b.kind:
        if INPUT in (a.kind, b.kind) and TENSOR in (a.kind, b.kind):
            return tensor(sure=False)
        if {a.kind, b.kind} <= {LIST, TUPLE}:
            return Value(LIST, element=_join_elements(a, b), ref=a.ref, sure=False)
        return unknown.but(variable=True if a.variable and b.variable else None)
    if a.kind in (UNKNOWN, INPUT):
        return a.but(sure=False)
    sure = a.sure and b.sure
    if a.kind == TENSOR:
        shape = None
        if a.shape is not None and b.shape is not None and len(a.shape) == len(b.shape):
            shape = tuple(x if x == y else None for x, y in zip(a.shape, b.shape))
        return tensor(
            a.dtype if a.dtype == b.dtype else None,
            shape,
            a.rank if a.rank == b.rank else None,
            sure,
            parameter=a.parameter and b.parameter,
            ref=a.ref if a.ref is b.ref else Ref(),
            stale=a.stale or b.stale,
            dynamic=a.dynamic or b.dynamic,
        )
    const = a.const if same_const(a.const, b.const) else NOCONST
    graph = a.graph if same_const(a.graph, b.graph) else NOCONST
    variable = (
        a.variable if a.variable == b.variable else (True if True in (a.variable, b.variable) else None)
    )
    if a.kind in SEQUENCES:
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            items = tuple(join(x, y) for x, y in zip(a.items, b.items))
            return a.but(items=items, sure=sure, stale=a.stale or b.stale, shadow=a.shadow or b.shadow)
        element, shadow = _join_elements(a, b), a.shadow or b.shadow
        return a.but(items=None, element=element, sure=sure, stale=a.stale or b.stale, shadow=shadow)
    if a.kind == DICT:
        if a.keys == b.keys and a.items is not None and b.items is not None:
            return a.but(items=tuple(join(x, y) for x, y in zip(a.items, b.items)), sure=sure)
        return a.but(items=None, keys=None, element=_join_elements(a, b), sure=sure)
    if a.kind in (FUNCTION, CLASS, MODULE, CELL, OBJECT, BOUND, EXTERNAL):
        if a.target is b.target or a.target == b.target:
            return a if a.ref is b.ref else a.but(ref=Ref(), sure=sure)
        return Value(a.kind, sure=False, variable=variable)
    return a.but(
        const=const,
        graph=graph,
        variable=variable,
        sure=sure,
        dtype=a.dtype if a.dtype == b.dtype else None,
        shape_derived=a.shape_derived or b.shape_derived,
        dynamic=a.dynamic or b.dynamic,
    )


def element_of(value: Value) -> Value:
    """What one item of a sequence is, all items joined."""
    if value.items:
        found = value.items[0]
        for item in value.items[1:]:
            found = join(found, item)
        return found
    return value.element or unknown


def _join_elements(a: Value, b: Value) -> Optional[Value]:
    parts = [element_of(v) for v in (a, b) if v.items or v.element is not None]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else join(parts[0], parts[1])
