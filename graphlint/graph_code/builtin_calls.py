"""Python's built-in functions, methods of its types, and functions of MindSpore, NumPy and others, on abstract values."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

from graphlint.graph_code import numbers, tensors
from graphlint.graph_code import values as v
from graphlint.graph_code.container_methods import container_method
from graphlint.graph_code.frames import Args, Frame, Instance
from graphlint.graph_code.objects import ObjectSemantics
from graphlint.graph_code.string_methods import string_method
from graphlint.graph_code.texts import applied
from graphlint.graph_code.values import (
    NOCONST,
    Ref,
    Value,
    element_of,
    from_python,
    number,
    sequence,
    string,
    tensor,
    to_python,
)
from graphlint.project import ClassInfo

_PURE = {
    "len": len, "abs": abs, "min": min, "max": max, "sum": sum, "sorted": sorted, "round": round, "divmod": divmod,
    "pow": pow, "all": all, "any": any, "str": str, "repr": repr, "hex": hex, "oct": oct, "bin": bin, "chr": chr,
    "ord": ord, "hash": hash, "format": format, "ascii": ascii,
}  # fmt: skip
_WHOLE = frozenset(["floor", "ceil", "trunc"])
_TEXTS: Dict[str, Callable[..., Any]] = {"str": str, "format": format}
_TYPES = {
    "int": v.NUMBER, "float": v.NUMBER, "bool": v.NUMBER, "complex": v.NUMBER, "str": v.STR, "list": v.LIST,
    "tuple": v.TUPLE, "dict": v.DICT, "set": v.SET, "frozenset": v.SET,
}  # fmt: skip


class BuiltinCalls(ObjectSemantics):
    """What calls of built-in and foreign functions give."""

    # -- built-in functions ----------------------------------------------------------------------------------------

    def call_builtin(self, name: str, args: Args, node: ast.AST, frame: Frame) -> Value:
        handler = getattr(self, "call_" + name + "_", None)
        if handler is not None:
            found: Value = handler(args, node, frame)
            return found
        if name in ("int", "float", "bool"):
            return self._convert(name, args, frame)
        if name in _PURE:
            return self._pure(name, args)
        if name in ("print", "setattr", "delattr", "exec"):
            return v.none
        if name in (
            "id",
            "hash",
            "input",
            "eval",
            "compile",
            "open",
            "memoryview",
            "bytes",
            "bytearray",
            "object",
        ):
            return Value(v.EXTERNAL, variable=any(a.runtime for a in args.all()), origin=name)
        if name == "super":
            return self._super(args, node, frame)
        return v.unknown

    def _super(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        if args.pos and args.pos[0].kind == v.CLASS and len(args.pos) > 1:
            return Value(v.SUPER, target=(args.pos[0].target, args.pos[1]))
        inner: Optional[Frame] = frame
        while inner is not None and inner.self_value is None:
            inner = inner.closure.home if inner.closure is not None else None
        receiver = inner.self_value if inner is not None else None
        if (
            inner is not None
            and inner.cls is not None
            and isinstance(getattr(receiver, "target", None), Instance)
        ):
            own = receiver.target.cls  # type: ignore[union-attr]
            if own is not inner.cls:
                self.event(
                    frame,
                    "super_in_inherited",
                    node,
                    method=frame.info.qualname,
                    cls=own.name,
                    owner=inner.cls.name,
                )
        return Value(v.SUPER, target=(inner.cls if inner is not None else frame.cls, receiver))

    def _convert(self, name: str, args: Args, frame: Frame) -> Value:
        if not args.pos:
            return number({"int": 0, "float": 0.0, "bool": False}[name])
        x = args.pos[0]
        if x.kind == v.TENSOR:
            return number(pytype=name, variable=True, sure=x.sure)
        if x.kind == v.NUMBER or x.kind == v.STR and x.known:
            return numbers.convert(name, x)
        if name == "bool":
            truth, _ = self.truth(x, None, frame)
            if truth is not None:
                return number(truth)
        variable = x.variable
        return number(pytype=name, variable=variable, sure=x.sure)

    def _pure(self, name: str, args: Args) -> Value:
        values = args.all()
        if any(a.kind == v.TENSOR for a in values) and name in ("abs", "sum", "max", "min", "pow", "round"):
            first = next(a for a in values if a.kind == v.TENSOR)
            return tensor(first.dtype, sure=first.sure)
        if (
            values
            and values[0].kind in (*v.SEQUENCES, v.CELL, v.DICT)
            and values[0].items is not None
            and name == "len"
        ):
            return number(len(values[0].items))
        if name == "len" and values and values[0].kind == v.TENSOR:
            x = values[0]
            first_dim = x.shape[0] if x.shape else None
            return number(
                first_dim if first_dim is not None else NOCONST, "int", shape_derived=True, dynamic=x.dynamic
            )
        if values and values[0].kind in v.SEQUENCES and name in ("min", "max", "sum"):
            if any(i.kind == v.TENSOR for i in values[0].items or ()):
                return tensor()
        if values and values[0].kind == v.SET and name == "len" and values[0].known:
            return number(len(values[0].const))
        known = [to_python(a) for a in args.pos]
        if not args.kw and not args.open:
            found = applied(_TEXTS[name], *args.pos) if name in _TEXTS else numbers.builtin(name, args.pos)
            if found is not None:
                return found.but(shape_derived=any(x.shape_derived for a in values for x in a.walk(1)))
        if not any(k is NOCONST for k in known) and not args.open:
            kw = {k: to_python(x) for k, x in args.kw.items()}
            if not any(k is NOCONST for k in kw.values()):
                try:
                    result = _PURE[name](*known, **kw)  # type: ignore[operator]
                except Exception:  # whatever Python raises here it raises in PyNative too
                    return v.unknown
                value = from_python(result)
                return (
                    value.but(shape_derived=any(a.shape_derived for a in values))
                    if value.kind == v.NUMBER
                    else value
                )
        variable = (
            True
            if any(a.runtime for a in values)
            else None
            if any(a.variable is None for a in values)
            else False
        )
        shape = any(x.shape_derived for a in values for x in a.walk(1))
        dynamic = any(x.dynamic for a in values for x in a.walk(1))
        if name in ("str", "repr", "hex", "oct", "bin", "chr", "format", "ascii"):
            return string(variable=variable, shape_derived=shape)
        if name in ("all", "any"):
            return number(pytype="bool", variable=variable)
        if name == "sorted":
            return Value(
                v.LIST, element=element_of(args.pos[0]) if args.pos else None, ref=Ref(), variable=variable
            )
        if name == "divmod":
            return sequence(v.TUPLE, [number(variable=variable), number(variable=variable)])
        return number(
            pytype="int" if name == "len" else None, variable=variable, shape_derived=shape, dynamic=dynamic
        )

    def call_range_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        known = [a.const for a in args.pos]
        shape = any(a.shape_derived for a in args.pos)
        dynamic = any(a.dynamic for a in args.pos)
        if known and all(isinstance(k, int) for k in known):
            try:
                return Value(v.RANGE, const=range(*known), shape_derived=shape, dynamic=dynamic)
            except (TypeError, ValueError):
                return v.unknown
        variable = any(a.runtime for a in args.pos)
        return Value(v.RANGE, variable=variable, shape_derived=shape, dynamic=dynamic)

    def call_enumerate_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        made = self._paired(args, frame, lambda items: [
            sequence(v.TUPLE, [number(i), x]) for i, x in enumerate(items[0])
        ], lambda elements: sequence(v.TUPLE, [number(pytype="int"), elements[0]]))  # fmt: skip
        return _once(made, node)

    def call_zip_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        made = self._paired(args, frame, lambda items: [sequence(v.TUPLE, list(xs)) for xs in zip(*items)],
                            lambda elements: sequence(v.TUPLE, elements))  # fmt: skip
        return _once(made, node)

    def _paired(
        self, args: Args, frame: Frame, known: Callable[[Any], List[Value]], open_: Callable[[Any], Value]
    ) -> Value:
        pools = [self.iterate(a, None, frame) for a in args.pos]
        if pools and all(p is not None for p in pools):
            return sequence(v.TUPLE, known(pools))
        return Value(
            v.TUPLE, element=open_([self.loop_element(a, None) for a in args.pos] or [v.unknown]), ref=Ref()
        )

    def call_reversed_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        items = self.iterate(args.pos[0], None, frame) if args.pos else None
        if items is not None:
            return sequence(v.TUPLE, list(reversed(items)))
        return Value(v.TUPLE, element=self.loop_element(args.pos[0], None) if args.pos else None, ref=Ref())

    def call_list_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        return self._collect(v.LIST, args, node, frame)

    def call_tuple_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        return self._collect(v.TUPLE, args, node, frame)

    def _collect(self, kind: str, args: Args, node: ast.AST, frame: Frame) -> Value:
        if not args.pos:
            return sequence(kind, [])
        items = self.iterate(args.pos[0], node, frame)
        if items is not None:
            return sequence(kind, items, Ref(folded=args.pos[0].kind != v.LIST))
        return Value(
            kind, element=self.loop_element(args.pos[0], None), ref=Ref(), variable=args.pos[0].variable
        )

    def call_dict_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        if not args.pos and not args.open:
            return Value(v.DICT, keys=tuple(args.kw), items=tuple(args.kw.values()), ref=Ref())
        if len(args.pos) == 1 and args.pos[0].kind == v.DICT:
            copy = args.pos[0].but(ref=Ref())
            return (
                copy
                if not args.kw
                else container_method(copy, "update", Args([self.call_dict_(Args(kw=args.kw), node, frame)]))[
                    0
                ]
            )
        return Value(v.DICT, ref=Ref())

    def call_set_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        held = to_python(args.pos[0]) if args.pos else ()
        try:
            return Value(v.SET, const=set(held) if held is not NOCONST else NOCONST, ref=Ref())
        except TypeError:
            return Value(v.SET, ref=Ref())

    call_frozenset_ = call_set_

    def call_map_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        pools = [self.iterate(a, None, frame) for a in args.pos[1:]]
        if args.pos and pools and all(p is not None for p in pools):
            rows = list(zip(*[p for p in pools if p is not None]))[:40]
            made = [self.call_value(args.pos[0], Args(list(row)), node, frame) for row in rows]
            return _once(sequence(v.TUPLE, made), node)
        if args.pos:
            self.call_value(
                args.pos[0], Args([self.loop_element(a, None) for a in args.pos[1:]]), node, frame
            )
        return Value(v.TUPLE, ref=Ref())

    def call_filter_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        if len(args.pos) > 1:
            element = self.loop_element(args.pos[1], None)
            if self.call_value(args.pos[0], Args([element]), node, frame).runtime:
                self.event(frame, "filtered_by_tensor", node)
            return _once(Value(v.TUPLE, element=element, ref=Ref()), node)
        return v.unknown

    def call_iter_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        return Value(
            v.ITERATOR, element=self.loop_element(args.pos[0], None) if args.pos else None, ref=Ref()
        )

    def call_next_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        return args.pos[0].element or v.unknown if args.pos else v.unknown

    def call_type_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        x = args.pos[0] if args.pos else v.unknown
        if isinstance(x.target, Instance):
            return Value(v.CLASS, target=x.target.cls)
        return Value(v.EXTERNAL, variable=x.variable, origin="type", ref=Ref())

    def call_isinstance_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        if len(args.pos) < 2:
            return v.unknown
        found = _isinstance(args.pos[0], args.pos[1])
        return number(found) if found is not None else number(pytype="bool", origin="isinstance")

    def call_callable_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        return number(pytype="bool")

    def call_hasattr_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        x, name = args.get(0), args.get(1)
        if x is not None and name is not None and name.known and isinstance(x.target, Instance):
            self.initialise(x.target)
            has = name.const in x.target.attrs or x.target.cls.find(name.const) is not None
            if has or not x.target.open:
                return number(has or name.const in x.target.cls.assigns)
        return number(pytype="bool")

    def call_getattr_(self, args: Args, node: ast.AST, frame: Frame) -> Value:
        x, name = args.get(0), args.get(1)
        if x is not None and name is not None and isinstance(name.const, str):
            return self.load_attribute(x, name.const, node, frame)
        return v.unknown

    # -- methods of built-in types -----------------------------------------------------------------------------------

    def call_method(self, x: Value, name: str, args: Args, node: ast.AST, frame: Frame) -> Value:
        """`x.name(args)` for a value that is no object of the project."""
        if x.kind == v.TENSOR:
            return tensors.method(x, name, args)
        if x.kind == v.INPUT:
            return tensors.method(x.but(kind=v.TENSOR), name, args).but(sure=False)
        if x.kind == v.STR:
            return string_method(x, name, args)
        if x.kind in (v.LIST, v.DICT, v.SET):
            return container_method(x, name, args)[1]
        if x.kind == v.TUPLE and name in ("index", "count"):
            return number(pytype="int")
        if x.kind == v.CELL and isinstance(x.target, str) and name in ("items", "keys", "values"):
            return container_method(x.but(kind=v.DICT), name, args)[1]
        if x.kind == v.EXTERNAL:
            variable = True if x.variable or any(a.runtime for a in args.all()) else None
            shape = None
            if x.origin == "numpy":
                return self._array_method(x, name, args)
            return Value(v.EXTERNAL, variable=variable, origin=x.origin, shape=shape)
        return v.unknown

    def _array_method(self, x: Value, name: str, args: Args) -> Value:
        if name == "astype":
            return x.but(dtype=tensors.dtype_of(args.get(0, "dtype")))
        if name == "reshape":
            dims = [a.const for a in (args.pos[0].items or args.pos if args.pos else [])]
            return x.but(
                shape=tuple(d if isinstance(d, int) and d >= 0 else None for d in dims), rank=len(dims)
            )
        if name == "copy":
            return x
        if name in ("item", "tolist"):
            return Value(v.EXTERNAL, variable=x.variable)
        return Value(v.EXTERNAL, variable=x.variable, origin="numpy")

    # -- functions from elsewhere

    def call_external(self, dotted: str, args: Args, node: ast.AST, frame: Frame) -> Value:
        if dotted.startswith("builtins."):
            return self.call_builtin(dotted[9:], args, node, frame)
        if dotted.startswith("mindspore."):
            return self._mindspore(dotted, args, node, frame)
        if dotted in ("functools.partial", "mindspore.ops.partial") and args.pos:
            return Value(
                v.FUNCTION, target=("partial", args.pos[0], Args(args.pos[1:], args.kw, args.open)), ref=Ref()
            )
        runtime = any(a.runtime for a in args.all())
        if dotted.startswith("math.") and args.pos and not runtime:
            return self._math(dotted[5:], args)
        if dotted.startswith("numpy."):
            return self._numpy(dotted[6:], args, runtime, frame)
        if dotted in ("copy.copy", "copy.deepcopy") and args.pos:
            return args.pos[0].but(ref=Ref())
        if dotted.startswith("collections.namedtuple"):
            return Value(v.EXTERNAL, origin="namedtuple", target="collections.namedtuple()")
        if dotted == "collections.OrderedDict":
            return self.call_dict_(args, node, frame)
        if dotted.startswith("operator.") and any(a.kind == v.TENSOR for a in args.pos):
            return tensor()
        variable = True if runtime else None if any(a.variable is None for a in args.all()) else False
        return Value(v.EXTERNAL, variable=variable, origin=dotted)

    def _math(self, name: str, args: Args) -> Value:
        known = [to_python(a) for a in args.pos]
        shape = any(a.shape_derived for a in args.pos)
        dynamic = any(a.dynamic for a in args.pos)
        kind = "int" if name in ("ceil", "floor", "gcd", "lcm", "trunc", "prod") else "float"
        if not any(k is NOCONST for k in known):
            more = {} if len(args.pos) != len(known) else {key: to_python(x) for key, x in args.kw.items()}
            flat = all(a.kind == v.NUMBER for a in args.pos) and hasattr(math, name)
            run = numbers.scalar_call if name in _WHOLE else numbers.call
            made = None
            if flat:
                made = run(
                    lambda *xs: getattr(math, name)(*xs, **more), args.pos, shape_derived=shape, origin="math"
                )
            if made is not None:
                return made
            if flat:
                return v.unknown
        return number(
            pytype=kind, shape_derived=shape, dynamic=dynamic, variable=any(a.variable for a in args.pos)
        )

    def _numpy(self, name: str, args: Args, runtime: bool, frame: Frame) -> Value:
        first = args.pos[0] if args.pos else None
        dtype = tensors.dtype_of(args.get(1, "dtype"))
        shape: Any = None
        if name in ("ones", "zeros", "empty", "full") and first is not None:
            dims = to_python(first)
            shape = (
                (dims,) if isinstance(dims, int) else tuple(dims) if isinstance(dims, (tuple, list)) else None
            )
            dtype = dtype or "float64"
        elif name == "array" and first is not None:
            data = to_python(first)
            if data is not NOCONST:
                shape = tensors.nested_shape(data)
            elif first.items is not None:
                shape = (len(first.items),)
        elif name == "arange" and first is not None:
            known = [to_python(a) for a in args.pos]
            if all(isinstance(k, int) for k in known):
                shape, dtype = (len(range(*known)),), dtype or "int64"
        elif name.startswith("random.") and name in ("random.rand", "random.randn") and args.pos:
            shape = tuple(a.const if isinstance(a.const, int) else None for a in args.pos)
        elif name in ("prod", "max", "min", "sum") and first is not None and not runtime:
            return number(pytype=None, shape_derived=any(x.shape_derived for x in first.walk(1)))
        elif (
            name in ("float32", "float64", "int32", "int64") and first is not None and first.kind == v.NUMBER
        ):
            return first.but(graph=NOCONST)
        if shape is not None and not all(d is None or isinstance(d, int) for d in shape):
            shape = None
        rank = len(shape) if shape is not None else None
        return Value(
            v.EXTERNAL, origin="numpy", dtype=dtype, shape=shape, rank=rank, variable=runtime, target=None
        )

    def _mindspore(self, dotted: str, args: Args, node: ast.AST, frame: Frame) -> Value:
        tail = dotted.rsplit(".", 1)[-1]
        first = args.pos[0] if args.pos else None
        if dotted in tensors.FACTORIES:
            return tensors.factory(dotted, args)
        if (
            tail in ("grad", "value_and_grad", "vmap", "jit", "ms_function", "recompute")
            and first is not None
        ):
            return Value(v.FUNCTION, target=(tail, first, Args()), ref=Ref())
        if tail == "mutable" and first is not None:
            late = {"const": NOCONST, "graph": NOCONST, "variable": True, "origin": "mutable"}
            return first.but(**late) if first.kind == v.NUMBER else first
        if tail[:1].isupper():
            return Value(v.CELL, target=dotted, ref=Ref())
        if tail in ("shape", "size", "rank", "dtype") and first is not None:
            name = {"rank": "ndim"}.get(tail, tail)
            return tensors.attribute(first if first.kind == v.TENSOR else tensor(), name) or v.unknown
        if tail in ("is_tensor", "is_floating_point"):
            return (
                number(first.kind == v.TENSOR)
                if first is not None and first.sure and tail == "is_tensor"
                else number(pytype="bool")
            )
        if tail in tensors.CREATION:
            shape = tensors._shape_arg(args, 0) if tail in ("zeros", "ones", "rand", "randn") else None
            if (
                first is not None
                and first.kind == v.NUMBER
                and tail in ("zeros", "ones")
                and len(args.pos) > 1
            ):
                shape = tensors._shape_arg(Args([first]), 0)
            return tensor(tensors.dtype_of(args.get(1, "dtype")), shape)
        if dotted.startswith(("mindspore.ops.", "mindspore.mint.", "mindspore.numpy.")):
            return self.operation(tail, args, first)
        if tail in ("get_context", "get_auto_parallel_context"):
            return v.unknown
        return v.unknown

    def operation(self, tail: str, args: Args, first: Optional[Value]) -> Value:
        if first is not None and first.kind in v.SEQUENCES and tail in tensors.GROWING:
            held = element_of(first)
            return tensor(held.dtype if held.kind == v.TENSOR else None, sure=True, origin="grown")
        if tail in ("assign", "assign_add", "assign_sub") and first is not None:
            return first
        if tail in ("where", "select") and len(args.pos) > 1:
            return tensor(args.pos[1].dtype if args.pos[1].kind == v.TENSOR else None)
        if tail in ("max", "min") and first is not None and first.maybe_tensor:
            return sequence(v.TUPLE, [tensor(first.dtype), tensor()])
        if first is not None and first.kind == v.TENSOR:
            return tensors.apply(tail, first, args, 1)
        if first is not None and first.kind == v.INPUT:
            return tensors.apply(tail, first.but(kind=v.TENSOR, sure=True), args, 1)
        if tail in tensors.LISTS or tail in tensors.PAIRS or tail == "unique":
            return Value(v.TUPLE, element=tensor(), ref=Ref())
        return tensor()

    # -- what loops and conditions ask

    def iterate(self, value: Value, node: Optional[ast.AST], frame: Frame) -> Optional[List[Value]]:
        raise NotImplementedError

    def loop_element(self, value: Value, items: Optional[List[Value]]) -> Value:
        raise NotImplementedError

    def truth(self, value: Value, node: Optional[ast.AST], frame: Frame) -> Tuple[Optional[bool], str]:
        raise NotImplementedError


def _once(made: Value, node: ast.AST) -> Value:
    """What Python gives as an iterator, to be used once, and the graph as a tuple."""
    return made.but(origin="generator", ref=Ref(made=node))


def _isinstance(x: Value, cls: Value) -> Optional[bool]:
    """What `isinstance(x, cls)` is when compiling; None where it isn't known."""
    if cls.kind == v.TUPLE and cls.items is not None:
        found = [_isinstance(x, c) for c in cls.items]
        return True if True in found else None if None in found else False
    if not x.sure or x.kind in (v.UNKNOWN, v.INPUT, v.BOUND, v.EXTERNAL):
        return None
    name = cls.target if isinstance(cls.target, str) else None
    if name in ("mindspore.Tensor", "mindspore.common.Tensor"):
        return x.kind == v.TENSOR
    if name == "mindspore.Parameter":
        return x.parameter if x.kind == v.TENSOR else False
    if cls.kind == v.CLASS and isinstance(cls.target, ClassInfo) and isinstance(x.target, Instance):
        return cls.target in x.target.cls.mro
    if name is not None and name.startswith("builtins."):
        tail = name[9:]
        if tail not in _TYPES:
            return None
        if x.kind == v.NUMBER:
            if x.dtype is None:
                return None if tail in ("int", "float", "bool") else False
            return x.dtype == tail or (tail == "int" and x.dtype == "bool")
        return x.kind == _TYPES[tail]
    return None
