"""Calls: into functions and Cells of the project, into MindSpore, and into methods of built-in types."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, List, Optional, Tuple

from graphlint.graph_code import tensors
from graphlint.graph_code import values as v
from graphlint.graph_code.builtin_calls import BuiltinCalls
from graphlint.graph_code.container_methods import container_method
from graphlint.graph_code.frames import Args, Closure, Env, Frame, Instance, local_names
from graphlint.graph_code.objects import DICT_MUTATORS, LIST_MUTATORS, SET_MUTATORS, WRITTEN_BACK
from graphlint.graph_code.registration import plain_holder, weights_of
from graphlint.graph_code.shadows import (
    content_differs,
    folded_differs,
    item_differs,
    length_differs,
    popped_differs,
    shadow_after,
    taken,
    unchanged,
)
from graphlint.graph_code.values import Ref, Value, sequence, tensor
from graphlint.project import ClassInfo, FunctionInfo, is_cell_name
from graphlint.tree import facts, walk

MAX_DEPTH = 24
_TRANSPARENT = ("mindspore.jit", "mindspore.ms_function", "mindspore.jit_class", "staticmethod", "classmethod",
                "functools.wraps", "mindspore.ops._no_grad", "mindspore.lazy_inline")  # fmt: skip
_GRADS = ("mindspore.grad", "mindspore.value_and_grad", "mindspore.ops.grad", "mindspore.ops.value_and_grad",
          "mindspore.vmap", "mindspore.jvp", "mindspore.vjp", "mindspore.jit", "mindspore.ms_function",
          "mindspore.ops.vmap", "mindspore.ops.jit", "mindspore.recompute")  # fmt: skip
HOST_DECORATORS = ("mindspore.constexpr", "mindspore.ops.constexpr", "mindspore.ops._primexpr", "mindspore._primexpr",
                   "mindspore.ops.primitive.constexpr", "mindspore.ops.primitive._primexpr")  # fmt: skip


class Calls(BuiltinCalls):
    """The call half of the interpreter."""

    def eval_Call(self, node: ast.Call, frame: Frame) -> Value:
        func = self.eval(node.func, frame)
        args = self.arguments(node, frame)
        if frame.graph:
            self.reads_of_changed(func, args)
        if func.kind == v.BOUND and func.receiver is not None:
            mutated = self.mutating_call(node, func, args, frame)
            if mutated is not None:
                return mutated
        return self.call_value(func, args, node, frame)

    def reads_of_changed(self, func: Value, args: Args) -> None:
        """Reports a list or dict handed to a call that sees what the graph holds instead."""
        if func.kind == v.FUNCTION and isinstance(func.target, Closure):
            return
        name = func.target if isinstance(func.target, str) else ""
        for held in [
            *args.all(),
            *([func.receiver] if func.kind == v.BOUND and func.receiver is not None else []),
        ]:
            if held.shadow is not None and self._sees(name, func, held, args):
                self.lost_change(held.shadow, whole=taken(held) or name.startswith("mindspore."))

    def _sees(self, name: str, func: Value, held: Value, args: Args) -> bool:
        if func.kind == v.BOUND and func.receiver is held:
            if func.target == "get" and args.pos and args.pos[0].known:
                return item_differs(held, args.pos[0].const)
            return func.target in READING and content_differs(held)
        if name in ("builtins.print", "builtins.isinstance", "builtins.type", "builtins.bool"):
            return False
        if name == "builtins.len":
            return length_differs(held)
        if name in FOLDS:
            return folded_differs(FOLDS[name], held)
        return content_differs(held)

    def arguments(self, node: ast.Call, frame: Frame) -> Args:
        args = Args()
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                value = self.eval(arg.value, frame)
                if value.items is not None and value.kind in (*v.SEQUENCES, v.CELL):
                    args.pos.extend(value.items)
                else:
                    args.open = True
            else:
                args.pos.append(self.eval(arg, frame))
        for keyword in node.keywords:
            value = self.eval(keyword.value, frame)
            if keyword.arg is not None:
                args.kw[keyword.arg] = value
            elif value.kind == v.DICT and value.keys is not None and value.items is not None:
                args.kw.update({k: x for k, x in zip(value.keys, value.items) if isinstance(k, str)})
            else:
                args.open = True
        return args

    def call_value(self, func: Value, args: Args, node: ast.AST, frame: Frame) -> Value:
        if func.kind == v.FUNCTION and isinstance(func.target, Closure):
            if func.hidden:
                made = func.target.info
                here = made.module is frame.module and func.target.home is frame
                self.event(
                    frame, "late_binding", made.node if here else node, name="", how="stored", use=node
                )
            return self.call_closure(func.target, args, node, frame, func.receiver)
        if func.kind == v.FUNCTION and isinstance(func.target, tuple):
            return self._wrapped_call(func, args, node, frame)
        if func.kind == v.CLASS and func.target is not None:
            return self.instantiate(func.target, args, node, frame)
        if func.kind in (v.CELL, v.OBJECT):
            self.registration(func, node, frame)
            return self._call_object(func, args, node, frame)
        if func.kind == v.BOUND and func.receiver is not None:
            return self.call_method(func.receiver, func.target, args, node, frame)
        if func.kind == v.EXTERNAL and isinstance(func.target, str):
            for given in args.pos if func.target in _CONSUMING else ():
                self.consume(given, frame, node)
            return self.call_external(func.target, args, node, frame)
        if func.kind == v.EXTERNAL:
            return Value(v.EXTERNAL, variable=func.variable or any(a.runtime for a in args.all()) or None)
        return v.unknown

    def _wrapped_call(self, func: Value, args: Args, node: ast.AST, frame: Frame) -> Value:
        """A call of what `grad(f)`, `vmap(f)` or `partial(f, …)` gave."""
        kind, inner, bound = func.target
        if kind == "partial":
            merged = Args([*bound.pos, *args.pos], {**bound.kw, **args.kw}, args.open or bound.open)
            return self.call_value(inner, merged, node, frame)
        self.call_value(inner, args, node, frame)
        if not kind.endswith("grad"):
            return tensor()
        if isinstance(inner.target, Closure) and inner.target.info.module is frame.module:
            for part in walk(inner.target.info.node):
                if isinstance(part, ast.Attribute) and part.attr == "register_hook":
                    self.event(frame, "hook_under_grad", part)
        return v.unknown

    # -- the project's own functions

    def call_closure(
        self, closure: Closure, args: Args, node: ast.AST, frame: Frame, receiver: Optional[Value] = None
    ) -> Value:
        info = closure.info
        decorators = info.decorator_names() if info.decorators else ()
        if any(d in HOST_DECORATORS for d in decorators):
            return self._constexpr(closure, args, node, frame, receiver)
        if (
            frame.graph
            and isinstance(info.node, ast.Lambda)
            and (closure.home is None or not closure.home.graph)
        ):
            if not info.module.syntax.alone(info.node):
                where = info.node if info.module is frame.module else node
                self.event(frame, "lambda_source", where)
        if frame.depth >= MAX_DEPTH or not self.spend(frame):
            return v.unknown
        if frame.graph and self._recurses(info, args, node, frame):
            return v.unknown
        if not frame.graph and sum(f.info.node is info.node for f in frame.frames()) > 2:
            return v.unknown
        if facts(info.node).generator and not frame.graph:
            return Value(v.GENERATOR, ref=Ref())
        env = self.bind(closure, args, frame, receiver)
        inner = self._enter_function(closure, env, node, frame, receiver)
        if isinstance(info.node, ast.Lambda):
            return self.eval(info.node.body, inner)
        self.exec_block(info.node.body, inner)
        return self.result_of(inner)

    def _enter_function(
        self, closure: Closure, env: Env, node: ast.AST, frame: Frame, receiver: Optional[Value]
    ) -> Frame:
        info = closure.info
        name = info.qualname
        if info.module is not frame.module:
            name = f"{info.module.name.rsplit('.', 1)[-1]}.{name}"
        chain = (*frame.chain, name)
        via = (*frame.via, (frame.module.path, getattr(node, "lineno", 0)))
        trace = self.recorder.enter(info, chain, via) if frame.graph else None
        return Frame(
            info, info.module, env, trace, graph=frame.graph, cls=closure.cls or frame.cls, closure=closure,
            self_value=receiver or (frame.self_value if isinstance(info.node, ast.Lambda) else None),
            caller=frame, resolver=self, chain=chain, via=via, local_names=local_names(info.node), depth=frame.depth + 1,
        )  # fmt: skip

    def _constexpr(
        self, closure: Closure, args: Args, node: ast.AST, frame: Frame, receiver: Optional[Value]
    ) -> Value:
        """A function that runs as Python when compiling: its result is a constant that we may not know."""
        graph, frame.graph = frame.graph, False
        try:
            bare = Closure(
                FunctionInfo(closure.info.node, closure.info.module, closure.info.qualname), closure.home
            )
            env = self.bind(bare, args, frame, receiver)
            inner = self._enter_function(bare, env, node, frame, receiver)
            if isinstance(closure.info.node, ast.Lambda):
                return self.eval(closure.info.node.body, inner)
            self.exec_block(closure.info.node.body, inner)
            return self.result_of(inner).but(sure=False)
        finally:
            frame.graph = graph

    def _recurses(self, info: FunctionInfo, args: Args, node: ast.AST, frame: Frame) -> bool:
        """True for a recursive call that must not be followed; tells those that a Tensor would have to stop."""
        running = [f for f in frame.frames() if f.info.node is info.node]
        if not running:
            return False
        outer = running[0]
        inside = frame.frames()[: frame.frames().index(outer) + 1]
        if any(f.stack for f in inside) or any(r.stack for f in inside for r in f.returns):
            if info.owner is None:
                return True
            self.event(frame, "recursion_on_tensor", node, name=info.qualname)
            return True
        return len(running) > 20 or self.uncertain > 0

    def bind(self, closure: Closure, args: Args, frame: Frame, receiver: Optional[Value]) -> Env:
        """The names a call starts with."""
        spec = closure.info.node.args
        pos = list(args.pos)
        if receiver is not None:
            pos.insert(0, receiver)
        names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        env: Env = {}
        for name, value in zip(names, pos):
            env[name] = value
        if spec.vararg is not None:
            rest = pos[len(names) :]
            env[spec.vararg.arg] = sequence(v.TUPLE, None if args.open else rest)
        extra: Dict[str, Value] = {}
        every = {*names, *(a.arg for a in spec.kwonlyargs)}
        for name, value in args.kw.items():
            if name in every:
                env[name] = value
            else:
                extra[name] = value
        if spec.kwarg is not None:
            held = None if args.open else tuple(extra.values())
            env[spec.kwarg.arg] = Value(
                v.DICT, keys=tuple(extra) if held is not None else None, items=held, ref=Ref()
            )
        self._defaults(closure, env, names, args, frame)
        return env

    def _defaults(self, closure: Closure, env: Env, names: List[str], args: Args, frame: Frame) -> None:
        spec = closure.info.node.args
        defaults: List[Tuple[str, Optional[ast.expr]]] = list(
            zip(reversed(names), reversed([*[None] * (len(names) - len(spec.defaults)), *spec.defaults]))
        )
        defaults += [(a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults)]
        for name, default in defaults:
            if name in env:
                continue
            if default is None or args.open:
                env[name] = v.unknown
                continue
            home = closure.home if closure.home is not None and closure.home.env is not None else None
            value = self.eval(default, home or self.host_frame(closure.info.module))
            if value.kind in (v.LIST, v.DICT, v.SET):
                value = value.but(ref=Ref("default", name))
            env[name] = value

    # -- objects

    def instantiate(self, target: Any, args: Args, node: ast.AST, frame: Frame) -> Value:
        if isinstance(target, str):
            return self._external_cell(target, args)
        cls: ClassInfo = target
        if any(base in ("collections.namedtuple", "typing.NamedTuple") for base in cls.external_bases):
            return Value(v.OBJECT, variable=None, origin="namedtuple", ref=Ref())
        instance = Instance(cls)
        kind = v.CELL if cls.looks_like_cell else v.OBJECT
        held = args.all()
        value = Value(
            kind, target=instance, ref=Ref(), variable=any(a.runtime for a in held) if kind == v.OBJECT else False,
            sure=cls.is_cell or kind == v.OBJECT,
        )  # fmt: skip
        instance.given = args
        return value

    def run_init(self, instance: Instance, value: Value, args: Args, node: ast.AST, frame: Frame) -> None:
        """Runs `__init__` (and, for a dataclass, what it would do) to learn the attributes."""
        instance.initialised = True
        found = instance.cls.find("__init__")
        if found is None:
            for name, arg in zip([*instance.cls.assigns], args.pos):
                instance.attrs[name] = arg
            fields = [
                s.target.id
                for s in instance.cls.node.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            for name, arg in [*zip(fields, args.pos), *args.kw.items()]:
                instance.attrs[name] = arg
            return
        graph, uncertain, frame.graph, self.uncertain = frame.graph, self.uncertain, False, 0
        try:
            self.call_closure(Closure(found, cls=found.owner), args, node, frame, value)
        finally:
            frame.graph, self.uncertain = graph, uncertain

    def _external_cell(self, dotted: str, args: Args) -> Value:
        tail = dotted.rsplit(".", 1)[-1]
        items: Optional[Tuple[Value, ...]] = None
        keys: Optional[Tuple[Any, ...]] = None
        if tail in ("CellList", "SequentialCell", "CellDict"):
            given = args.pos
            if tail == "CellDict" and given and given[0].kind == v.DICT:
                items, keys = given[0].items, given[0].keys
            elif len(given) == 1 and given[0].kind in v.SEQUENCES:
                items = given[0].items
            elif not args.open and all(g.kind == v.CELL for g in given):
                items = tuple(given)
        return Value(v.CELL, target=dotted, items=items, keys=keys, ref=Ref(), element=None)

    def _call_object(self, func: Value, args: Args, node: ast.AST, frame: Frame) -> Value:
        if isinstance(func.target, Instance):
            instance: Instance = func.target
            self.initialise(instance)
            override = instance.cls.find("__call__") if func.kind == v.CELL and frame.graph else None
            if override is not None:
                self.event(
                    frame, "call_override", node, info=override, plain=instance.cls.find("construct") is None
                )
            found = instance.cls.find("construct" if func.kind == v.CELL else "__call__")
            if found is not None:
                key = _signature(instance, found, args) if frame.graph and not frame.stack else None
                if key is not None and key in self.memo:
                    return self.memo[key].but(ref=Ref())
                result = self.call_closure(Closure(found, cls=found.owner), args, node, frame, func)
                if key is not None and not self.exhausted:
                    self.memo[key] = result
                return result
            if func.kind == v.CELL and any(b.endswith("SequentialCell") for b in instance.cls.external_bases):
                return tensor()
            return v.unknown
        if isinstance(func.target, str):
            return self.call_layer(func, args, node, frame)
        return v.unknown

    def registration(self, cell: Value, node: ast.AST, frame: Frame) -> None:
        """Notes the second of two Cells with like-named Parameters that only a plain container holds."""
        if isinstance(cell.target, Instance):
            self.initialise(cell.target)
        weights = weights_of(cell) if frame.graph and cell.kind == v.CELL else None
        owner = frame.self_value.target if frame.self_value is not None else None
        if weights is None or cell.ref is None or not isinstance(owner, Instance):
            return
        held = plain_holder(owner, cell.ref)
        if held is None or not self.reached.clashes(weights, cell.ref):
            return
        place, module = owner.assigned_at.get(held[0], (node, frame.module))
        self.event(
            frame, "plain_cells", place if module is frame.module else node, container=held[1], use=node
        )

    def call_layer(self, layer: Value, args: Args, node: ast.AST, frame: Frame) -> Value:
        """A call of one of MindSpore's own Cells or Primitives."""
        tail = str(layer.target).rsplit(".", 1)[-1]
        first = args.pos[0] if args.pos else v.unknown
        if not is_cell_name(str(layer.target)):
            return self.call_primitive(tail, args, first)
        if tail == "SequentialCell" and layer.items is not None:
            value = first
            for item in layer.items:
                value = self.call_value(item, Args([value]), node, frame)
            return value
        if tail in ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "MultiheadAttention", "Transformer"):
            return v.unknown
        dtype = first.dtype if first.kind == v.TENSOR and first.dtype in tensors.FLOATS else None
        same = tail in _SAME_SHAPE
        shared = Ref(base=first.ref) if tail == "Identity" else Ref()
        return tensor(
            dtype,
            first.shape if same else None,
            first.rank if same or tail in _SAME_RANK else None,
            ref=shared,
        )

    def call_primitive(self, tail: str, args: Args, first: Value) -> Value:
        """A call of a Primitive object: `ops.Shape()(x)`, `ops.ReduceSum()(x, 0)`."""
        if tail in _ATTRIBUTES and first.maybe_tensor:
            return tensors.attribute(first, _ATTRIBUTES[tail]) or v.unknown
        if tail in _MANY:
            return Value(v.TUPLE, element=tensor(first.dtype), ref=Ref())
        name = _CAMEL.sub("_", tail).lower()
        found = self.operation(_RENAMED.get(name, name), args, args.pos[0] if args.pos else None)
        if name in tensors.UNCHANGED and found.kind == v.TENSOR:
            return found.but(ref=Ref(base=first.ref, link="fold"))
        return found

    # -- methods of built-in types -----------------------------------------------------------------------------------

    def mutating_call(self, node: ast.Call, func: Value, args: Args, frame: Frame) -> Optional[Value]:
        """`path.method(…)` that changes its object in Python; None for all other calls."""
        receiver, name = func.receiver, func.target
        assert receiver is not None
        table = {v.LIST: LIST_MUTATORS, v.DICT: DICT_MUTATORS, v.SET: SET_MUTATORS}.get(receiver.kind)
        if table is None or name not in table or not isinstance(node.func, ast.Attribute):
            return None
        new, result = container_method(receiver, name, args)
        if unchanged(receiver, new) and receiver.shadow is None and frame.graph:
            quiet = name in ("setdefault", "reverse", "sort") or name == "pop" and receiver.kind == v.DICT
            if quiet:
                self.event(frame, "container_call", node, receiver=receiver, method=name, args=args, new=receiver,
                           statement=getattr(node, "_graphlint_statement", False), changed=False)  # fmt: skip
                return result
        if frame.graph:
            shadow = shadow_after(
                node, frame, receiver, name, args, self.target.strict or not self.target.since("2.6")
            )
            new = new.but(shadow=shadow)
            if shadow is not None and name == "pop" and popped_differs(receiver, new, args):
                self.event(frame, "popped_again", node)
        statement = frame.graph and getattr(node, "_graphlint_statement", False)
        back = new.shadow is not None or statement and name in WRITTEN_BACK
        self.event(
            frame, "container_call", node, receiver=receiver, method=name, args=args, statement=statement, new=new,
            in_tensor_branch=frame.in_tensor_branch, in_loop=frame.loop_depth > 0,
        )  # fmt: skip
        self.written(
            receiver,
            new,
            node.func.value,
            f".{name}()",
            frame,
            node,
            back or not frame.graph or name == "pop",
        )
        return result


READING = frozenset(["index", "count", "copy", "items", "keys", "values"])
FOLDS = {
    "builtins.sum": sum,
    "builtins.max": max,
    "builtins.min": min,
    "builtins.sorted": sorted,
    "builtins.set": set,
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ATTRIBUTES = {"Shape": "shape", "Rank": "ndim", "Size": "size", "DType": "dtype"}
_MANY = frozenset(
    "Split Unstack TopK ArgMaxWithValue ArgMinWithValue Meshgrid Unique Sort BatchNorm LSTM".split()
)
_RENAMED = {"re_lu": "relu", "re_lu6": "relu6", "soft_max": "softmax", "mat_mul": "matmul", "ge_lu": "gelu"}
_CONSUMING = frozenset(f"builtins.{n}" for n in "sum max min any all sorted dict set frozenset".split())
_SAME_SHAPE = frozenset(
    "ReLU ReLU6 GELU Sigmoid Tanh SiLU Softmax LogSoftmax ELU LeakyReLU PReLU Dropout BatchNorm1d BatchNorm2d "
    "BatchNorm3d LayerNorm GroupNorm InstanceNorm2d Identity HSwish HSigmoid Mish Softplus Hardtanh Dropout2d CELU "
    "SeLU LogSigmoid Softsign Threshold FastGelu".split()
)
_SAME_RANK = frozenset(
    "Dense Linear Conv1d Conv2d Conv3d MaxPool2d AvgPool2d AdaptiveAvgPool2d Upsample Conv2dTranspose Pad "
    "PixelShuffle ReflectionPad2d ZeroPad2d MaxPool1d AvgPool1d".split()
)


_PLAIN = (v.TENSOR, v.INPUT, v.UNKNOWN, v.NONE, v.NUMBER, v.STR)


def _signature(instance: Instance, construct: FunctionInfo, args: Args) -> Any:
    """What decides a sub-Cell's result, where its constructor and its call got simple values alone; else None."""
    given = instance.given
    if instance.written or args.open or given is None or given.open:
        return None
    parts: List[Any] = [instance.cls, construct.node]
    for held in (given, args):
        for name, value in [*((str(i), p) for i, p in enumerate(held.pos)), *sorted(held.kw.items())]:
            if value.kind not in _PLAIN or value.stale is not None or value.conflict is not None:
                return None
            const = value.const if isinstance(value.const, (int, float, str, bool, type(None))) else None
            parts.append((name, value.kind, type(const).__name__, repr(const), value.dtype, value.shape, value.rank,
                          value.sure, value.variable, value.dynamic, value.parameter))  # fmt: skip
    return tuple(parts)
