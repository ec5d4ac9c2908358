"""Interprets graph code from its roots: each construct, each jitted function, each function handed to jit."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Sequence, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args, Closure, Env, Frame, Instance, local_names
from graphlint.graph_code.registration import Reached
from graphlint.graph_code.roots import Root
from graphlint.graph_code.shadows import content_differs, length_differs
from graphlint.graph_code.statements import Statements
from graphlint.graph_code.values import (
    NOCONST,
    Ref,
    Value,
    element_of,
    join,
    number,
    sequence,
    string,
    tensor,
)
from graphlint.project import ClassInfo, FunctionInfo, Module, Project
from graphlint.target import Target


class Interpreter(Statements):
    """Runs roots one after the other and keeps what it learned in `recorder`."""

    def __init__(self, project: Project, target: Target) -> None:
        super().__init__(project, target)
        self._host_frames: Dict[str, Frame] = {}

    # -- roots

    def run(self, root: Root, inputs: Optional[Args] = None) -> None:
        """Interprets one root as the top of a graph, with the arguments that are known of."""
        if root.cls is not None:
            self.run_method(root.cls, root.info.name, inputs)
        else:
            self.run_function(root.info, inputs)

    def run_method(self, cls: ClassInfo, name: str, inputs: Optional[Args] = None) -> None:
        """Interprets a method of a fresh instance of `cls` as the top of a graph."""
        found = cls.find(name)
        if found is None:
            return
        self._reset()
        host = self.host_frame(cls.module)
        instance = Instance(cls)
        receiver = Value(
            v.CELL if cls.looks_like_cell else v.OBJECT, target=instance, ref=Ref("self", "self")
        )
        self.run_init(instance, receiver, Args(open=True), cls.node, host)
        self._run(Closure(found, cls=found.owner), f"{cls.qualname}.{name}", inputs, receiver)

    def run_function(self, info: FunctionInfo, inputs: Optional[Args] = None) -> None:
        """Interprets a function as the top of a graph."""
        self._reset()
        self._run(Closure(info, cls=info.owner), info.qualname, inputs, None)

    def _reset(self) -> None:
        self.steps = 0
        self.exhausted = False
        self.uncertain = 0
        self.globals_written.clear()
        self.reached = Reached()

    def _run(self, closure: Closure, name: str, inputs: Optional[Args], receiver: Optional[Value]) -> None:
        info = closure.info
        chain = (name,)
        trace = self.recorder.enter(info, chain, ())
        host = self.host_frame(info.module)
        env = self._root_env(closure, inputs, host, receiver)
        frame = Frame(
            info, info.module, env, trace, cls=closure.cls, self_value=receiver, chain=chain,
            local_names=local_names(info.node), closure=None, resolver=self,
        )  # fmt: skip
        if isinstance(info.node, ast.Lambda):
            self.eval(info.node.body, frame)
            return
        self.exec_block(info.node.body, frame)
        self.result_of(frame)

    def _root_env(
        self, closure: Closure, inputs: Optional[Args], host: Frame, receiver: Optional[Value]
    ) -> Env:
        from graphlint.graph_code.arguments import describe

        env = self.bind(closure, inputs or Args(), host, receiver)
        spec = closure.info.node.args
        given = set()
        names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        offset = 1 if receiver is not None else 0
        if inputs is not None:
            given = {*names[: len(inputs.pos) + offset], *inputs.kw}
        for i, arg in enumerate([*spec.posonlyargs, *spec.args, *spec.kwonlyargs]):
            if receiver is not None and i == 0:
                continue
            if arg.arg in given:
                env[arg.arg] = _from_outside(env[arg.arg], arg.arg)
                continue
            default = env.get(arg.arg, v.unknown)
            if inputs is not None and default.kind != v.UNKNOWN:
                continue
            env[arg.arg] = describe(arg, default, closure.info)
        if spec.vararg is not None and not (inputs is not None and inputs.pos):
            env[spec.vararg.arg] = Value(
                v.TUPLE, element=Value(v.INPUT, variable=None, sure=False, ref=Ref("input"))
            )
        if spec.kwarg is not None and not (inputs is not None and inputs.kw):
            env[spec.kwarg.arg] = Value(
                v.DICT, element=Value(v.INPUT, variable=None, sure=False), ref=Ref("input")
            )
        return env

    def initialise(self, instance: Instance) -> None:
        """Learns an instance's attributes from its `__init__`, once they are asked for."""
        if not instance.initialised:
            kind = v.CELL if instance.cls.looks_like_cell else v.OBJECT
            receiver = Value(kind, target=instance, ref=Ref())
            args = instance.given if instance.given is not None else Args(open=True)
            self.run_init(instance, receiver, args, instance.cls.node, self.host_frame(instance.cls.module))

    def host_frame(self, module: Module) -> Frame:
        """A frame for code that runs as plain Python: module level and `__init__`."""
        found = self._host_frames.get(module.name)
        if found is None:
            node = ast.parse("def __module__(): pass").body[0]
            assert isinstance(node, ast.FunctionDef)
            info = FunctionInfo(node, module, "<module>")
            found = self._host_frames[module.name] = Frame(info, module, {}, None, graph=False)
        found.env = {}
        return found

    # -- bindings

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self._assign_name(target.id, value, frame, node)
        elif isinstance(target, ast.Attribute):
            self.store_attribute(target, value, frame, node)
        elif isinstance(target, ast.Subscript):
            self.store_item(target, value, frame, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, frame, node)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, frame, node)

    def _assign_name(self, name: str, value: Value, frame: Frame, node: ast.AST) -> None:
        if name in frame.globals_:
            symbol = frame.module.lookup(name)
            self.event(
                frame, "global_write", node, name=name, value=value, old=self.symbol_value(symbol, frame)
            )
            if frame.graph:
                self.globals_written[(frame.module.name, name)] = value.but(const=NOCONST, graph=NOCONST)
        elif name in frame.nonlocals and frame.closure is not None and frame.closure.home is not None:
            frame.closure.home.set(name, value)
        else:
            frame.set(name, value, node)

    def _unpack(self, targets: Sequence[ast.expr], value: Value, frame: Frame, node: ast.AST) -> None:
        items = self.iterate(value, None, frame)
        star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        if items is not None and star is None and len(items) == len(targets):
            for target, item in zip(targets, items):
                self.assign(target, item, frame, node)
        elif items is not None and star is not None and len(items) >= len(targets) - 1:
            after = len(targets) - star - 1
            rest = items[star : len(items) - after]
            parts = [*items[:star], sequence(v.LIST, rest), *items[len(items) - after :]]
            for target, part in zip(targets, parts):
                self.assign(target, part, frame, node)
        else:
            element = self.loop_element(value, None)
            for target in targets:
                starred = isinstance(target, ast.Starred)
                part = Value(v.LIST, element=element, ref=Ref()) if starred else element
                self.assign(target, part, frame, node)

    def augment(self, stmt: ast.AugAssign, frame: Frame) -> None:
        target = stmt.target
        load: Any = target
        old = self.eval(load, frame) if not isinstance(target, ast.Name) else self.eval_Name(target, frame)
        right = self.eval(stmt.value, frame)
        new = self.operate(stmt.op, old, right, stmt, frame)
        if frame.trace is not None and frame.graph:
            frame.trace.record(stmt, new)
        made = frame.assigned_at.get(target.id) if isinstance(target, ast.Name) else None
        self.event(frame, "augmented", stmt, old=old, right=right, new=new, target=target, made=made)
        if old.kind in (v.LIST, v.DICT, v.SET) and new.kind == old.kind:
            if frame.graph:
                self.written(old, new, target, "+=", frame, stmt, back=False)
            new = new.but(ref=Ref(old.ref.origin, old.ref.path) if old.ref is not None else Ref())
        elif old.kind == v.TENSOR and frame.graph and self.aug_writes(stmt.op):
            self.written(old, new, target, "aug", frame, stmt, back=False)
            new = new.but(ref=old.ref, dtype=old.dtype or new.dtype)
        self.assign(target, new, frame, stmt)

    def aug_writes(self, op: ast.operator) -> bool:
        """True where the graph turns an augmented assignment to a Tensor into a write in place (2.8 and later)."""
        return self.target.since("2.8") and isinstance(
            op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
        )

    def bare_expression(self, stmt: ast.Expr, frame: Frame) -> None:
        if isinstance(stmt.value, ast.Call):
            stmt.value._graphlint_statement = True  # type: ignore[attr-defined]
        self.eval(stmt.value, frame)

    def entered(self, context: Value) -> Value:
        if not isinstance(context.target, Instance):
            return v.unknown
        enter = context.target.cls.find("__enter__")
        if enter is None:
            return context
        returned = [node.value for node in ast.walk(enter.node) if isinstance(node, ast.Return)]
        itself = returned and all(isinstance(value, ast.Name) and value.id == "self" for value in returned)
        return context if itself else v.unknown

    def endless_loop(self, stmt: ast.While, frame: Frame) -> None:
        self.event(frame, "endless_loop", stmt)

    # -- what loops and conditions ask

    def iterate(self, value: Value, node: Optional[ast.AST], frame: Frame) -> Optional[List[Value]]:
        """The items that iterating gives, or None where their number isn't known."""
        if (
            value.shadow is not None
            and node is not None
            and frame.graph
            and content_differs(value, whole=False)
        ):
            self.lost_change(value.shadow)
        self.consume(value, frame, node)
        if value.kind in v.SEQUENCES or value.kind == v.CELL:
            if value.kind == v.CELL and value.keys is not None:
                return [v.from_python(k) for k in value.keys]
            return list(value.items) if value.items is not None else None
        if value.kind == v.DICT and value.keys is not None:
            return [v.from_python(k) for k in value.keys]
        if value.kind == v.RANGE and isinstance(value.const, range):
            if len(value.const) > 4096:
                return None
            return [number(i, shape_derived=value.shape_derived) for i in value.const]
        if value.kind == v.STR and isinstance(value.const, str):
            return [string(c) for c in value.const]
        if value.kind == v.SET and isinstance(value.const, (set, frozenset)):
            try:
                return [v.from_python(c) for c in sorted(value.const)]
            except TypeError:
                return None
        if (
            value.kind == v.TENSOR
            and value.shape
            and isinstance(value.shape[0], int)
            and value.shape[0] <= 64
        ):
            return [tensor(value.dtype, value.shape[1:], sure=value.sure, ref=Ref(base=value.ref, link="copy"))
                    for _ in range(value.shape[0])]  # fmt: skip
        return None

    def loop_element(self, value: Value, items: Optional[List[Value]]) -> Value:
        """What one item is where their number isn't known (or too large to unroll)."""
        if value.kind == v.RANGE:
            return number(
                pytype="int",
                shape_derived=value.shape_derived,
                dynamic=value.dynamic,
                variable=value.variable,
            )
        if items:
            found = items[0]
            for item in items[1:8]:
                found = join(found, item)
            return found.but(const=NOCONST, graph=NOCONST) if found.kind in (v.NUMBER, v.STR) else found
        if value.kind == v.TENSOR:
            rank = value.rank - 1 if value.rank else None
            return tensor(value.dtype, rank=rank, sure=value.sure, ref=Ref(base=value.ref, link="copy"))
        if value.kind == v.INPUT:
            return Value(v.INPUT, variable=None, sure=False, ref=Ref(base=value.ref))
        if value.kind == v.STR:
            return string()
        return value.element or (element_of(value) if value.items else v.unknown)

    def truth(self, value: Value, node: Optional[ast.AST], frame: Frame) -> Tuple[Optional[bool], str]:
        """Which way a condition goes when compiling, or None with how it is decided.

        `const`: known here; `static`: known to the compiler only; `tensor`: when the graph runs; `unknown`.
        """
        if value.kind == v.NUMBER:
            if value.known:
                return bool(value.const), "const"
            return None, "tensor" if value.variable else "unknown" if value.variable is None else "static"
        if value.kind == v.TENSOR:
            return None, "tensor" if value.sure else "unknown"
        if value.kind == v.NONE:
            return False, "const"
        if value.kind == v.STR:
            return (bool(value.const), "const") if value.known else (None, "static")
        if value.kind in (v.LIST, v.TUPLE, v.DICT) and value.items is not None:
            if value.shadow is not None and frame.graph and length_differs(value):
                self.lost_change(value.shadow)
            return len(value.items) > 0, "const"
        if value.kind == v.CELL and value.items is not None:
            return len(value.items) > 0, "const"
        if value.kind in (v.FUNCTION, v.MODULE, v.CLASS) or value.kind == v.CELL and value.sure:
            if value.kind == v.CELL and str(value.target).endswith(("CellList", "CellDict")):
                return None, "static"
            return True, "const"
        if value.kind == v.SET and value.known:
            return bool(value.const), "const"
        if value.kind in (v.DTYPE, v.LIST, v.TUPLE, v.DICT, v.SET, v.OBJECT, v.RANGE):
            return None, "static"
        return None, "unknown"


def _from_outside(value: Value, name: str) -> Value:
    """An argument of the graph's top function: what it holds belongs to the caller."""
    if value.ref is None:
        return value
    return value.but(ref=Ref("input", name))
