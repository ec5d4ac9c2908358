"""Attributes, items and in-place changes: who else holds an object, and which writes the graph loses."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.graph_code import tensors
from graphlint.graph_code import values as v
from graphlint.graph_code.core import Core
from graphlint.graph_code.frames import Args, Closure, Env, Frame, Instance, Stale
from graphlint.graph_code.shadows import item_differs, taken
from graphlint.graph_code.values import NOCONST, Ref, Value, join, number
from graphlint.project import (
    Assigned,
    ClassInfo,
    External,
    FunctionInfo,
    ModuleRef,
    Symbol,
    canonical,
    is_cell_name,
)
from graphlint.tree import walk

WRITTEN_BACK = frozenset("append insert clear reverse extend update".split())
LIST_MUTATORS = frozenset("append insert clear reverse extend sort remove pop".split())
DICT_MUTATORS = frozenset("update setdefault pop popitem clear".split())
SET_MUTATORS = frozenset("add discard remove pop clear update".split())
_CELL_FLAGS = frozenset({"training", "requires_grad", "phase", "cls_name", "param_prefix", "bprop_debug"})


class ObjectSemantics(Core):
    """Reads and writes of attributes, items and module variables."""

    # -- names

    def symbol_value(self, symbol: Optional[Symbol], frame: Frame) -> Value:
        """The value of what a module-level name means."""
        if symbol is None:
            return v.unknown
        if isinstance(symbol, External):
            return self.external_value(canonical(symbol.dotted))
        if isinstance(symbol, ModuleRef):
            return Value(v.MODULE, target=symbol.module)
        if isinstance(symbol, FunctionInfo):
            return Value(v.FUNCTION, target=Closure(symbol, cls=symbol.owner))
        if isinstance(symbol, ClassInfo):
            return Value(v.CLASS, target=symbol)
        return self.module_variable(symbol, frame)

    def external_value(self, dotted: str) -> Value:
        if dotted.startswith(("mindspore.", "numpy.")):
            tail = dotted.rsplit(".", 1)[-1]
            if tail in tensors.DTYPES:
                return Value(v.DTYPE, const=tensors._DTYPE_ALIAS.get(tail, tail), target=dotted)
        constants = {"math.pi": 3.141592653589793, "math.e": 2.718281828459045, "math.inf": float("inf"),
                     "math.nan": float("nan"), "numpy.pi": 3.141592653589793, "numpy.inf": float("inf"),
                     "mindspore.GRAPH_MODE": 0, "mindspore.PYNATIVE_MODE": 1}  # fmt: skip
        if dotted in constants:
            return number(constants[dotted])
        if is_cell_name(dotted):
            return Value(v.CLASS, target=dotted)
        return Value(v.EXTERNAL, target=dotted)

    def module_variable(self, symbol: Assigned, frame: Frame) -> Value:
        """The value of a module-level variable; changing ones are known by kind only."""
        key = (symbol.module.name, symbol.name)
        if key in self.globals:
            return self.globals[key]
        self.globals[key] = v.unknown
        found: Optional[Value] = None
        for expr in symbol.values:
            one = self.eval(expr, self.host_frame(symbol.module))
            found = one if found is None else join(found, one)
        value = found if found is not None else v.unknown
        if symbol.rebound or len(symbol.values) > 1:
            value = value.but(const=NOCONST, graph=NOCONST) if value.kind in (v.NUMBER, v.STR) else value
        if value.ref is not None:
            value = value.but(ref=Ref("global", symbol.name))
        self.globals[key] = value
        return value

    # -- attributes

    def load_attribute(self, base: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """What `base.name` is."""
        if base.kind in (v.TENSOR, v.INPUT):
            return self._tensor_attribute(base, name, node)
        if base.kind == v.MODULE:
            return self.symbol_value(
                base.target.lookup(name) or self.project.submodule(base.target, name), frame
            )
        if base.kind == v.EXTERNAL and isinstance(base.target, str) and not base.variable:
            return self.external_value(canonical(f"{base.target}.{name}"))
        if base.kind in (v.CELL, v.OBJECT) and isinstance(base.target, Instance):
            return self.instance_attribute(base, name, node, frame)
        if base.kind == v.CLASS and isinstance(base.target, ClassInfo):
            return self._class_attribute(base.target, name, frame)
        if base.kind == v.CLASS and isinstance(base.target, str):
            return (
                self.external_value(f"{base.target}.{name}") if not is_cell_name(base.target) else v.unknown
            )
        if base.kind == v.SUPER:
            return self._super_attribute(base, name, frame)
        if base.kind == v.CELL and name in _CELL_FLAGS:
            return number(pytype="bool", origin="flag")
        return Value(v.BOUND, target=name, receiver=base, variable=base.variable, sure=base.sure)

    def _tensor_attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        known = tensors.attribute(base, name)
        if known is not None:
            return known if base.kind == v.TENSOR else known.but(sure=False)
        return Value(v.BOUND, target=name, receiver=base, variable=True, sure=base.sure)

    def instance_attribute(self, base: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        instance: Instance = base.target
        self.initialise(instance)
        if name in instance.attrs:
            if frame.graph and name in instance.written:
                self._maybe_stale(instance, name, frame)
            return instance.attrs[name]
        found = instance.cls.find(name)
        if found is not None:
            closure = Closure(found, cls=found.owner)
            if any(d in ("property", "functools.cached_property") for d in self.plain_decorators(found)):
                return self.call_closure(closure, Args(), node, frame, receiver=base)
            if "staticmethod" in self.plain_decorators(found):
                return Value(v.FUNCTION, target=closure)
            return Value(v.FUNCTION, target=closure, receiver=base)
        for cls in instance.cls.mro:
            if isinstance(cls, ClassInfo) and name in cls.assigns:
                value = self.eval(cls.assigns[name], self.host_frame(cls.module))
                return value.but(ref=Ref("self", f"self.{name}")) if value.ref is not None else value
        if base.kind == v.CELL and name in _CELL_FLAGS:
            return number(pytype="bool", origin="flag")
        if base.kind == v.CELL:
            return Value(v.BOUND, target=name, receiver=base, sure=False)
        return v.unknown

    def _maybe_stale(self, instance: Instance, name: str, frame: Frame) -> None:
        """Reports an attribute that a function called from here has written: this read was resolved before."""
        node, writer = instance.written[name]
        if writer.info.node is frame.info.node or _encloses(frame, writer) or _encloses(writer, frame):
            return
        if not instance.attrs[name].parameter:
            self.event(writer, "stale_attribute", node, text=f"self.{name}", reader=frame.info.qualname)

    def quiet_attribute(self, instance: Instance, name: str, frame: Frame) -> Optional[Value]:
        """An attribute's value where reading it notes nothing."""
        self.initialise(instance)
        if name in instance.attrs:
            return instance.attrs[name]
        if name == "training":
            return number(pytype="bool", origin="flag")
        return self.quietly(
            lambda: self.instance_attribute(Value(v.CELL, target=instance), name, ast.Pass(), frame), frame
        )

    def quiet_symbol_attribute(self, symbol: Any, name: str, frame: Frame) -> Optional[Value]:
        """An attribute of a class or module where reading it notes nothing."""
        if isinstance(symbol, External):
            return number(False) if (symbol.dotted, name) == ("typing", "TYPE_CHECKING") else None
        base = self.symbol_value(symbol, frame)
        return self.quietly(lambda: self.load_attribute(base, name, ast.Pass(), frame), frame)

    def quietly(self, read: Any, frame: Frame) -> Value:
        graph, frame.graph = frame.graph, False
        try:
            found: Value = read()
            return found
        finally:
            frame.graph = graph

    def plain_decorators(self, info: FunctionInfo) -> List[str]:
        """The decorators' names, built-ins too."""
        return [d.id if isinstance(d, ast.Name) else (info.module.dotted(d) or "") for d in info.decorators]

    def _class_attribute(self, cls: ClassInfo, name: str, frame: Frame) -> Value:
        found = cls.find(name)
        if found is not None:
            bound = Value(v.CLASS, target=cls) if "classmethod" in self.plain_decorators(found) else None
            return Value(v.FUNCTION, target=Closure(found, cls=found.owner), receiver=bound)
        for base in cls.mro:
            if isinstance(base, ClassInfo) and name in base.assigns:
                if self.is_enum(cls):
                    return Value(v.OBJECT, const=f"{cls.qualname}.{name}", origin="enum", target=cls)
                return self.eval(base.assigns[name], self.host_frame(base.module))
        return v.unknown

    def is_enum(self, cls: ClassInfo) -> bool:
        return any(base.startswith("enum.") for base in cls.external_bases)

    def _super_attribute(self, base: Value, name: str, frame: Frame) -> Value:
        start, receiver = base.target
        if receiver is not None and isinstance(receiver.target, Instance) and start is not None:
            found = receiver.target.cls.find_after(start, name)
            if found is not None:
                closure = Closure(found, cls=found.owner)
                if "property" in self.plain_decorators(found):
                    return self.call_closure(closure, Args(), found.node, frame, receiver=receiver)
                return Value(v.FUNCTION, target=closure, receiver=receiver)
        return Value(v.BOUND, target=name, receiver=base, sure=False)

    def store_attribute(self, target: ast.Attribute, value: Value, frame: Frame, node: ast.AST) -> None:
        base = self.eval(target.value, frame)
        if base.kind in (v.CELL, v.OBJECT) and isinstance(base.target, Instance):
            instance: Instance = base.target
            if not frame.graph:
                self._host_store(instance, target.attr, value, base)
                instance.assigned_at.setdefault(target.attr, (node, frame.module))
                return
            self.initialise(instance)
            setter = instance.cls.find(f"{target.attr}.setter")
            if setter is not None:
                self.call_closure(
                    Closure(setter, cls=setter.owner), Args([value]), node, frame, receiver=base
                )
                return
            old = instance.attrs.get(target.attr)
            self.event(
                frame, "attribute_write", node, base=base, attr=target.attr, old=old, value=value, instance=instance,
                branched=instance.branched_on.get(target.attr), target=target,
            )  # fmt: skip
            instance.written[target.attr] = (node, frame)
            new = value if old is None or not (self.uncertain or frame.stack) else join(old, value)
            if old is None or not old.parameter:
                instance.attrs[target.attr] = new.but(variable=True) if new.kind == v.NUMBER else new
                if new.kind == v.NUMBER:
                    instance.attrs[target.attr] = instance.attrs[target.attr].but(
                        const=NOCONST, graph=NOCONST
                    )
        else:
            self.event(
                frame,
                "foreign_attribute_write",
                node,
                base=base,
                attr=target.attr,
                value=value,
                target=target,
            )

    def _host_store(self, instance: Instance, name: str, value: Value, base: Value) -> None:
        if self.uncertain and name in instance.attrs:
            value = join(instance.attrs[name], value)
        if value.ref is not None and value.kind in (v.LIST, v.DICT, v.SET, v.TENSOR, v.OBJECT):
            value = _owned(value.but(ref=Ref("self", f"self.{name}")), f"self.{name}")
        instance.attrs[name] = value

    def remember_branch(self, test: ast.expr, frame: Frame) -> None:
        """Notes which attributes a branch was decided on: writing one later is baked into the graph."""
        if not frame.graph:
            return
        for part in walk(test):
            if (
                isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and isinstance(part.ctx, ast.Load)
            ):
                base = (frame.env or {}).get(part.value.id)
                if base is not None and isinstance(base.target, Instance):
                    base.target.branched_on.setdefault(part.attr, test)

    # -- items

    def load_item(self, base: Value, key: Value, node: ast.AST, frame: Frame) -> Value:
        """What `base[key]` is."""
        if base.kind in (v.TENSOR, v.INPUT):
            found = tensors.index(base, key)
            return (
                found
                if base.kind == v.TENSOR
                else v.Value(v.INPUT, variable=None, sure=False, ref=Ref(base=base.ref))
            )
        if (
            base.shadow is not None
            and frame.graph
            and (key.known and item_differs(base, key.const) or key.kind == v.SLICE)
        ):
            self.lost_change(base.shadow, whole=base.kind == v.LIST and taken(base))
        if base.kind in v.SEQUENCES or base.kind == v.CELL and base.items is not None:
            return self._sequence_item(base, key)
        if base.kind == v.DICT and base.keys is not None and base.items is not None and key.known:
            try:
                place = base.keys.index(key.const)
            except ValueError:
                self.event(frame, "missing_key", node, base=base, key=key)
                return v.unknown
            return base.items[place]
        if base.kind == v.DICT:
            return base.element or v.unknown
        if base.kind == v.STR:
            return v.string()
        if base.kind == v.RANGE and base.const is not NOCONST and isinstance(key.const, int):
            return number(base.const[key.const]) if key.const < len(base.const) else v.unknown
        if base.kind == v.OBJECT and isinstance(base.target, Instance):
            found_method = base.target.cls.find("__getitem__")
            if found_method is not None:
                return self.call_closure(
                    Closure(found_method, cls=found_method.owner), Args([key]), node, frame, base
                )
        if base.kind == v.EXTERNAL:
            return Value(v.EXTERNAL, variable=base.variable, origin=base.origin)
        return v.unknown

    def _sequence_item(self, base: Value, key: Value) -> Value:
        if base.items is not None and isinstance(key.const, (int, bool)) and key.kind == v.NUMBER:
            if -len(base.items) <= key.const < len(base.items):
                return base.items[key.const]
            return v.unknown
        if key.kind == v.SLICE:
            items = base.items
            if items is not None and isinstance(key.const, slice):
                return base.but(items=items[key.const], ref=Ref(), const=NOCONST)
            return base.but(items=None, element=v.element_of(base), ref=Ref(), const=NOCONST)
        return v.element_of(base).but(sure=False)

    def store_item(self, target: ast.Subscript, value: Value, frame: Frame, node: ast.AST) -> None:
        """`target = value` for an item: rebinds the name at the root of the target, as the graph does."""
        base = self.eval(target.value, frame)
        key = self.eval_index(target.slice, frame)
        self.event(frame, "item_write", node, base=base, key=key, value=value, target=target)
        changed = self._with_item(base, key, value)
        self.written(base, changed, target.value, "item", frame, node)

    def _with_item(self, base: Value, key: Value, value: Value) -> Value:
        if base.kind in v.SEQUENCES and base.items is not None and isinstance(key.const, int):
            if -len(base.items) <= key.const < len(base.items):
                items = list(base.items)
                items[key.const] = value
                return base.but(items=tuple(items))
        if base.kind == v.DICT and base.items is not None and base.keys is not None and key.known:
            keys, items = list(base.keys), list(base.items)
            if key.const in keys:
                items[keys.index(key.const)] = value
            else:
                keys.append(key.const)
                items.append(value)
            return base.but(items=tuple(items), keys=tuple(keys))
        if base.kind in (v.LIST, v.DICT):
            return base.but(items=None, keys=None, element=join(v.element_of(base), value))
        return base

    # -- in-place changes ------------------------------------------------------------------------------------------

    def written(
        self, old: Value, new: Value, path: ast.expr, how: str, frame: Frame, node: ast.AST, back: bool = True
    ) -> None:
        """An object was changed through the expression `path`.

        The graph makes a new value and binds it to the name at the path's root (`back`), so that every other holder
        keeps the old one: a read of theirs is reported, and an object from outside the function stays as it was.
        """
        root = _root_name(path)
        if (
            frame.graph
            and isinstance(path, ast.Subscript)
            and old.kind in (v.LIST, v.DICT)
            and root in (frame.env or {})
        ):
            if sum(part.ref is old.ref for part in (frame.env or {})[root].walk(2)) > 1:
                self.event(frame, "alias_write", node, how=how, through=root)
        if not frame.graph:
            if back:
                self.rebind(path, new, frame, node)
            return
        ref = old.ref
        if ref is not None:
            self._report_outside(ref, old, path, how, frame, node)
            self._leave_stale(ref, old, root, how, frame, node)
        if back:
            folded = how == "item" or (ref is not None and ref.folded)
            origin, held = (ref.origin, ref.path) if ref is not None else ("local", "")
            fresh = new.but(ref=Ref(origin, held, folded=folded))
            self.rebind(path, fresh, frame, node)

    def _report_outside(
        self, ref: Ref, old: Value, path: ast.expr, how: str, frame: Frame, node: ast.AST
    ) -> None:
        origin = ref.root_for(how).origin
        if origin != "local":
            self.event(
                frame, "outside_write", node, origin=origin, path=ref.root_for(how).path, value=old, how=how, target=path,
                view=ref.base is not None,
            )  # fmt: skip

    def _leave_stale(
        self, ref: Ref, old: Value, root: Optional[str], how: str, frame: Frame, node: ast.AST
    ) -> None:
        """Marks all other names for the same object, or for what it is a view of."""
        related = {ref, *ref.bases(how)} if old.kind == v.TENSOR else {ref}
        for other in frame.frames():
            if other.env is None:
                continue
            for name, held in list(other.env.items()):
                if other is frame and name == root or held.stale is not None:
                    continue
                if any(_touches(part, ref, related, how) for part in held.walk(2)):
                    stale = Stale(node, frame, how, name, old.kind == v.TENSOR)
                    other.env[name] = held.but(stale=stale)
            if (
                other.closure is not None
                and other.closure.home is not None
                and other.closure.home.env is not None
            ):
                self._stale_home(other.closure.home.env, ref, related, old, how, frame, node)

    def _stale_home(
        self, env: Env, ref: Ref, related: Any, old: Value, how: str, frame: Frame, node: ast.AST
    ) -> None:
        for name, held in list(env.items()):
            if held.stale is None and any(_touches(part, ref, related, how) for part in held.walk(2)):
                env[name] = held.but(stale=Stale(node, frame, how, name, old.kind == v.TENSOR))

    def rebind(self, path: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        """Binds the changed value at its path: a name, an attribute of an object, or an item of another value."""
        if isinstance(path, ast.Name) and frame.env is not None:
            if path.id in frame.env:
                frame.env[path.id] = value.but(stale=None)
        elif isinstance(path, ast.Attribute):
            base = self.peek(path.value, frame)
            if base is not None and isinstance(base.target, Instance):
                base.target.attrs[path.attr] = value
        elif isinstance(path, ast.Subscript):
            base = self.peek(path.value, frame)
            key = self.peek(path.slice, frame)
            if base is not None and key is not None:
                self.rebind(path.value, self._with_item(base, key, value), frame, node)

    def peek(self, node: ast.expr, frame: Frame) -> Optional[Value]:
        """The value of an expression that was just evaluated, without noting anything again."""
        if isinstance(node, ast.Name):
            return (frame.env or {}).get(node.id)
        graph, frame.graph = frame.graph, False
        try:
            return self.eval(node, frame)
        finally:
            frame.graph = graph

    def eval_index(self, node: ast.expr, frame: Frame) -> Value:
        return self.eval(node, frame)

    def initialise(self, instance: Instance) -> None:
        raise NotImplementedError

    def host_frame(self, module: Any) -> Frame:
        raise NotImplementedError


def _owned(value: Value, path: str) -> Value:
    """The value with the lists and dicts inside it held at `path` too."""
    if value.kind not in (v.LIST, v.DICT) or value.items is None:
        return value
    items = [
        _owned(x.but(ref=Ref("self", path)), path) if x.kind in (v.LIST, v.DICT) else x for x in value.items
    ]
    return value.but(items=tuple(items))


def _encloses(outer: Frame, inner: Frame) -> bool:
    """True where `inner` runs a function that is nested in that of `outer`."""
    while inner.closure is not None and inner.closure.home is not None:
        inner = inner.closure.home
        if inner is outer:
            return True
    return False


def _root_name(path: ast.expr) -> Optional[str]:
    while isinstance(path, (ast.Attribute, ast.Subscript)):
        path = path.value
    return path.id if isinstance(path, ast.Name) else None


def _touches(held: Value, ref: Ref, related: Any, how: str) -> bool:
    """True where `held` is the changed object, what it looks into, or a view of it."""
    if held.ref is None:
        return False
    return held.ref in related or ref in held.ref.bases(how)
