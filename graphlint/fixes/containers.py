"""Rewrites of lists and dicts changed in place (GL20x, GL32x): a new value is bound instead."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, atom, is_docstring, loads, need, one_line, pure, stores
from graphlint.fixes.members import is_self
from graphlint.fixes.syntax import without
from graphlint.graph_code import values as v

_READING = frozenset(
    [
        "len",
        "sum",
        "sorted",
        "list",
        "tuple",
        "min",
        "max",
        "range",
        "enumerate",
        "zip",
        "reversed",
        "any",
        "all",
        "str",
        "print",
        "set",
        "isinstance",
    ]
)
ALIAS = "assumes that no other name holds the container"


def sole_holder(name: str, draft: Draft) -> bool:
    """True where the function makes the container itself and never hands it on."""
    function = draft.ctx.node
    made = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)
    for store in stores(function, name):
        parent = draft.parent(store)
        if not (isinstance(parent, ast.Assign) and parent.targets == [store]):
            return False
        value = parent.value
        fresh = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("sorted", "list", "dict")
        )
        if not isinstance(value, (*made, ast.BinOp)) and not fresh and not _slice_of(value):
            return False
    for use in loads(function, name):
        parent = draft.parent(use)
        if (isinstance(parent, ast.Subscript) and parent.value is use) or isinstance(parent, ast.Compare):
            continue
        if isinstance(parent, ast.Attribute) or (
            isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use
        ):
            continue
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _READING:
            continue
        if (isinstance(parent, (ast.If, ast.While)) and parent.test is use) or isinstance(parent, ast.BinOp):
            continue
        return False
    return True


def _slice_of(value: ast.expr) -> bool:
    return isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)


def _held(name: str, draft: Draft) -> Any:
    return (SAFE, "") if sole_holder(name, draft) else (UNSAFE, ALIAS)


def local_call(found: Any, draft: Draft) -> Any:
    """A method call on a local container: the call, its statement and the container's name."""
    call: Any = found.node if isinstance(found.node, ast.Call) else getattr(found.node, "value", None)
    need(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute))
    need(isinstance(call.func.value, ast.Name))
    return call, draft.statement(call), call.func.value.id


@fixes("GL320")
def lost_method(found: Any, ctx: Any) -> Optional[Fix]:
    """`sort` and `remove` bind a new list, `setdefault` becomes a test and an assignment."""
    draft = Draft(ctx)
    call, stmt, name = local_call(found, draft)
    method = call.func.attr
    if method == "setdefault":
        need(len(call.args) == 2 and not call.keywords and pure(call.args[0]))
        key, value = draft.text(call.args[0]), draft.text(call.args[1])
        need("\n" not in key + value)
        if isinstance(stmt, ast.Expr) and stmt.value is call:
            draft.replace(
                stmt, f"if {key} not in {name}:\n{draft.indent(stmt)}{draft.unit()}{name}[{key}] = {value}"
            )
        else:
            need(isinstance(stmt, (ast.Assign, ast.Return)) and stmt.value is call)
            draft.before(stmt, f"if {key} not in {name}:", f"{draft.unit()}{name}[{key}] = {value}")
            draft.replace(call, f"{name}[{key}]")
        return draft.fix(SAFE)
    need(isinstance(stmt, ast.Expr) and stmt.value is call)
    if method == "sort":
        given = "".join(f", {k.arg}={one_line(draft.text(k.value))}" for k in call.keywords)
        need(not call.args and all(k.arg for k in call.keywords))
        draft.replace(stmt, f"{name} = sorted({name}{given})")
    else:
        need(method == "remove" and len(call.args) == 1 and pure(call.args[0]))
        item = one_line(draft.text(call.args[0]))
        draft.replace(stmt, f"{name} = {name}[:{name}.index({item})] + {name}[{name}.index({item}) + 1:]")
    return draft.fix(*_held(name, draft))


@fixes("GL327")
def repeated_change(found: Any, ctx: Any) -> Optional[Fix]:
    """`extend`, `insert`, `pop` and `reverse` of a constant list bind a new list."""
    draft = Draft(ctx)
    call, stmt, name = local_call(found, draft)
    need(isinstance(stmt, ast.Expr) and stmt.value is call and not call.keywords)  # type: ignore[attr-defined]
    method, given = call.func.attr, [one_line(draft.text(a)) for a in call.args]
    if method == "pop":
        new = without(name, call.args[0] if call.args else ast.parse("-1").body[0].value)  # type: ignore[attr-defined]
    elif method == "reverse":
        new = f"{name}[::-1]"
    elif method == "extend":
        need(len(given) == 1)
        new = f"[*{name}, *{atom(call.args[0], given[0])}]"
    else:
        need(
            method == "insert"
            and isinstance(call.args[0], ast.Constant)
            and isinstance(call.args[0].value, int)
        )
        place = call.args[0].value
        new = (
            f"[{given[1]}] + {name}" if place == 0 else f"{name}[:{place}] + [{given[1]}] + {name}[{place}:]"
        )
    draft.replace(stmt, f"{name} = {new}")
    return draft.fix(*_held(name, draft))


@fixes("GL328")
def comprehension_to_loop(found: Any, ctx: Any) -> Optional[Fix]:
    """A comprehension that only appends becomes a loop."""
    draft = Draft(ctx)
    comprehension = draft.parent(found.node)
    need(isinstance(comprehension, ast.ListComp) and comprehension.elt is found.node)
    stmt = draft.parent(comprehension)
    need(isinstance(stmt, ast.Expr) and len(comprehension.generators) == 1)
    generator = comprehension.generators[0]
    names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
    inside = set(ast.walk(comprehension))
    need(not any(isinstance(n, ast.Name) and n.id in names and n not in inside for n in ast.walk(ctx.node)))
    indent, step = draft.indent(stmt), draft.unit()
    lines = [f"for {draft.text(generator.target)} in {one_line(draft.text(generator.iter))}:"]
    for depth, test in enumerate(generator.ifs, 1):
        lines.append(step * depth + f"if {one_line(draft.text(test))}:")
    lines.append(step * (len(generator.ifs) + 1) + one_line(draft.text(found.node)))
    draft.replace(stmt, ("\n" + indent).join(lines))
    return draft.fix(SAFE)


@fixes("GL329")
def update_with_dict(found: Any, ctx: Any) -> Optional[Fix]:
    """`d.update(b=5)` becomes `d.update({"b": 5})`."""
    draft, call = Draft(ctx), found.node
    need(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update")
    need(not call.args and call.keywords and all(k.arg for k in call.keywords))
    items = ", ".join(f'"{k.arg}": {one_line(draft.text(k.value))}' for k in call.keywords)
    draft.replace(call, f"{draft.text(call.func)}({{{items}}})")
    return draft.fix(SAFE)


@fixes("GL321")
def pop(found: Any, ctx: Any) -> Optional[Fix]:
    """A list's `pop` binds the rest; a dict's reads the item and binds a dict without it."""
    draft = Draft(ctx)
    call, stmt, name = local_call(found, draft)
    need(call.func.attr == "pop" and not call.keywords)
    if ctx.value(call.func.value).kind == v.LIST:
        need(isinstance(stmt, ast.Expr) and stmt.value is call and len(call.args) < 2)  # type: ignore[attr-defined]
        draft.replace(
            stmt,
            f"{name} = {without(name, call.args[0] if call.args else ast.parse('-1').body[0].value)}",  # type: ignore[attr-defined]
        )
        return draft.fix(*_held(name, draft))
    need(call.args and pure(call.args[0]))
    key = one_line(draft.text(call.args[0]))
    a, b = draft.fresh("key", "key_"), draft.fresh("value", "value_")
    rest = f"{name} = {{{a}: {b} for {a}, {b} in {name}.items() if {a} != {key}}}"
    if isinstance(stmt, ast.Expr) and stmt.value is call:
        draft.replace(stmt, rest)
    else:
        need((isinstance(stmt, ast.Assign) and pure(stmt.value, calls=())) or stmt.value is call)
        need(isinstance(stmt, ast.Assign) and not any(True for t in stmt.targets for _ in stores(t, name)))
        default = f", {one_line(draft.text(call.args[1]))}" if len(call.args) > 1 else ""
        draft.replace(call, f"{name}.get({key}{default})" if default else f"{name}[{key}]")
        draft.after(stmt, rest)
    return draft.fix(*_held(name, draft))


@fixes("GL208")
def pop_in_loop(found: Any, ctx: Any) -> Optional[Fix]:
    """`pop` in a loop over the list: the item is read, the rest bound anew."""
    draft, loop = Draft(ctx), found.node
    calls: List[Any] = [
        c for s in loop.body for c in ast.walk(s)
        if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute) and c.func.attr == "pop"
    ]  # fmt: skip
    need(len(calls) == 1 and isinstance(calls[0].func.value, ast.Name))
    call = calls[0]
    name, stmt = call.func.value.id, draft.statement(call)
    index = call.args[0] if call.args else ast.parse("-1").body[0].value  # type: ignore[attr-defined]
    rest = f"{name} = {without(name, index)}"
    if isinstance(stmt, ast.Expr) and stmt.value is call:
        draft.replace(stmt, rest)
    else:
        need(isinstance(stmt, (ast.Assign, ast.AugAssign)) and len(list(loads(stmt, name))) == 1)
        draft.replace(call, f"{name}[{ast.unparse(index)}]")
        draft.after(stmt, rest)
    return draft.fix(*_held(name, draft))


@fixes("GL322")
def rebind_other_name(found: Any, ctx: Any) -> Optional[Fix]:
    """After a write through one of two names the other is bound to it, or the helper returns what it
    changed.
    """
    draft = Draft(ctx)
    stmt, through = draft.statement(found.node), str(found.values["through"])
    name = written_name(found.node)
    need(name is not None)
    if name in {a.arg for a in ctx.node.args.args} and (
        name == through or not any(True for _ in loads(ctx.node, through))
    ):
        return _return_argument(name, draft, ctx)  # type: ignore[arg-type]
    return alias_back(name, through, stmt, draft, ctx)  # type: ignore[arg-type]


def written_name(node: Any) -> Optional[str]:
    """The name through which a statement or a call changes something."""
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.Call):
        node = node.func.value if isinstance(node.func, ast.Attribute) else None
    elif isinstance(node, ast.Assign):
        node = node.targets[0] if len(node.targets) == 1 else None
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        node = node.target
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def alias_back(name: str, through: str, stmt: Any, draft: Draft, ctx: Any) -> Optional[Fix]:
    """Binds `through` to `name` after the statement, where both surely name one object there."""
    need(through.isidentifier() and through != name)
    need(_same_object(name, through, stmt, draft))
    draft.after(stmt, f"{through} = {name}")
    if stmt in ctx.trace.in_tensor_branch or stmt in ctx.trace.in_loop:
        return draft.fix(UNSAFE, f"assumes that '{through}' and '{name}' name one object here")
    return draft.fix(SAFE)


def _same_object(name: str, through: str, stmt: ast.stmt, draft: Draft) -> bool:
    """True where one is bound to the other once, or both in one statement, and neither anew before `stmt`."""
    for one, other in ((name, through), (through, name)):
        bound = list(stores(draft.ctx.node, one))
        if len(bound) != 1:
            continue
        link = draft.parent(bound[0])
        if not isinstance(link, ast.Assign) or link.end_lineno >= stmt.lineno:  # type: ignore[operator]
            continue
        chained = {t.id for t in link.targets if isinstance(t, ast.Name)}
        direct = isinstance(link.value, ast.Name) and link.value.id == other
        others = [getattr(s, "lineno", 0) for s in stores(draft.ctx.node, other)]
        if (direct or {one, other} <= chained) and all(
            line <= link.lineno or line > stmt.lineno for line in others
        ):
            block = draft.block_of(link)
            return block is not None and any(s is stmt or stmt in ast.walk(s) for s in block)
    return False


def _return_argument(name: str, draft: Draft, ctx: Any) -> Optional[Fix]:
    """The helper returns the argument that it changes, and each caller binds it."""
    node = ctx.node
    need(isinstance(node, ast.FunctionDef) and not node.decorator_list and len(list(stores(node, name))) == 1)
    returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
    need(
        not any(r.value is not None for r in returns)
        and not any(isinstance(n, (ast.Yield, ast.Lambda)) for n in ast.walk(node))
    )
    method = ctx.trace.info.owner is not None
    index = [a.arg for a in node.args.args].index(name) - (1 if method else 0)
    calls: List[Any] = []
    for use in ast.walk(draft.tree):
        hit = isinstance(use, ast.Attribute) and use.attr == node.name if method else (
            isinstance(use, ast.Name) and use.id == node.name)  # fmt: skip
        if hit:
            call = draft.parent(use)
            need(isinstance(call, ast.Call) and call.func is use)
            calls.append(call)
    need(calls)
    for call in calls:
        stmt = draft.parent(call)
        need(isinstance(stmt, ast.Expr) and len(call.args) > index and isinstance(call.args[index], ast.Name))
        line, column, *_ = draft.source.span(stmt)
        draft.insert(line, column, f"{call.args[index].id} = ")
    for bare in returns:
        draft.replace(bare, f"return {name}")
    last = node.body[-1]
    if not isinstance(last, ast.Return):
        draft.after(last, f"return {name}")
    return draft.fix(UNSAFE, f"assumes that no other file calls '{node.name}'")


@fixes("GL323")
def outside_container(found: Any, ctx: Any) -> Optional[Fix]:
    """The caller's list is copied first; the Cell's is bound anew; a module's `append` becomes `extend`."""
    draft, owner = Draft(ctx), found.values["owner"]
    node = found.node
    stmt, path = draft.statement(node), str(found.values["path"])
    if owner == "the caller":
        return _copy_first(node, draft, ctx)
    if owner == "the Cell":
        need(not ctx.target.strict)
        return _bind_attribute(node, stmt, path, draft, ctx)
    if owner == "the module":
        return extend_instead(node, draft, ctx)
    if owner == "the function's default argument":
        return _default_to_attribute(node, stmt, draft, ctx)
    return None


def _copy_first(node: Any, draft: Draft, ctx: Any) -> Optional[Fix]:
    name = written_name(node)
    need(name is not None and len(ctx.trace.chain) == 1 and name in {a.arg for a in ctx.node.args.args})
    need(isinstance(ctx.node.body, list) and len(list(stores(ctx.node, name))) == 1)
    kind = next((ctx.value(n).kind for n in loads(ctx.node, name) if ctx.reached(n)), "")
    maker = {v.LIST: "list", v.DICT: "dict"}.get(kind)
    need(maker is not None)
    first = next((s for s in ctx.node.body if not is_docstring(s)), None)
    need(first is not None)
    draft.before(first, f"{name} = {maker}({name})")
    return draft.fix(UNSAFE, f"the caller's {kind} then stays as it was, in PyNative too")


def _bind_attribute(node: Any, stmt: ast.stmt, path: str, draft: Draft, ctx: Any) -> Optional[Fix]:
    name = written_name(stmt)
    if name is not None:
        sources = [draft.parent(s) for s in stores(ctx.node, name)]
        need(
            len(sources) == 1
            and isinstance(sources[0], ast.Assign)
            and isinstance(sources[0].value, ast.Attribute)
        )
        need(is_self(sources[0].value, sources[0].value.attr) and ctx.value(sources[0].value).kind == v.LIST)
        draft.after(stmt, f"{draft.text(sources[0].value)} = {name}")
        return draft.fix(UNSAFE, ALIAS)
    need(path.startswith("self.") and path.count(".") == 1)
    new = _new_value(stmt, path, draft, ctx)
    draft.replace(stmt, f"{path} = {new}")
    return draft.fix(UNSAFE, ALIAS)


def _new_value(stmt: Any, path: str, draft: Draft, ctx: Any) -> str:
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        call = stmt.value
        method = call.func.attr  # type: ignore[attr-defined]
        need(ctx.value(call.func.value).kind == v.LIST and not call.keywords)  # type: ignore[attr-defined]
        if method == "append" and len(call.args) == 1:
            return f"{path} + [{one_line(draft.text(call.args[0]))}]"
        need(method == "clear" and not call.args)
        return "[]"
    target = (
        stmt.targets[0]
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1
        else getattr(stmt, "target", None)
    )
    need(isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant))
    need(ctx.value(target.value).kind == v.LIST)  # type: ignore[union-attr]
    index = target.slice.value  # type: ignore[union-attr]
    need(isinstance(index, int) and not isinstance(index, bool) and index >= 0)
    value = one_line(draft.text(stmt.value))
    if isinstance(stmt, ast.AugAssign):
        operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
        need(type(stmt.op) in operators)
        value = f"{path}[{index}] {operators[type(stmt.op)]} {atom(stmt.value, value)}"
    head = f"{path}[:{index}] + " if index else ""
    return f"{head}[{value}] + {path}[{index + 1}:]"


def extend_instead(node: Any, draft: Draft, ctx: Any) -> Optional[Fix]:
    """`LOG.append(v)` as `LOG.extend([v])`, which the interpreter keeps; where the function doesn't read the
    list.
    """
    call = node.value if isinstance(node, ast.Expr) else node
    need(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append")
    need(isinstance(call.func.value, ast.Name) and len(call.args) == 1 and not call.keywords)  # type: ignore[union-attr]
    name = call.func.value.id  # type: ignore[union-attr]
    need(name in ctx.module.assigned and all(isinstance(a, ast.List) for a in ctx.module.assigned[name]))
    function = draft.function_of(call)
    need(function is not None and len(list(loads(function, name))) == 1)
    others = [
        t for t in ast.walk(draft.tree) if isinstance(t, ast.FunctionDef) and call not in list(ast.walk(t))
    ]
    need(not any(True for other in others for _ in loads(other, name)))
    line, column, end_line, end = draft.source.span(call.args[0])  # type: ignore[union-attr]
    _, _, attr_line, attr_end = draft.source.span(call.func)  # type: ignore[union-attr]
    draft.cut(attr_line, attr_end - len("append"), attr_line, attr_end, "extend")
    draft.insert(line, column, "[")
    draft.insert(end_line, end, "]")
    return draft.fix(SAFE)


def _default_to_attribute(node: Any, stmt: ast.stmt, draft: Draft, ctx: Any) -> Optional[Fix]:
    """The list that a default argument keeps from call to call becomes an attribute."""
    from graphlint.fixes.members import add_to_init, attribute_free

    need(not ctx.target.strict and ctx.trace.info.owner is not None)
    name = written_name(stmt)
    spec = ctx.node.args
    need(
        name is not None
        and spec.args
        and spec.args[-1].arg == name
        and not spec.kwonlyargs
        and not spec.vararg
    )
    default = spec.defaults[-1]
    keywords = {n.arg for n in ast.walk(draft.tree) if isinstance(n, ast.keyword)}
    need(isinstance(default, ast.List) and name not in keywords)
    attr = attribute_free(draft, name)  # type: ignore[arg-type]
    call: Any = stmt.value if isinstance(stmt, ast.Expr) else None
    need(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append")
    item = one_line(draft.text(call.args[0]))
    need(name not in {n.id for n in ast.walk(call.args[0]) if isinstance(n, ast.Name)})
    draft.replace(stmt, f"self.{attr} = self.{attr} + [{item}]")
    for use in loads(ctx.node, name):
        if draft.statement(use) is not stmt:
            draft.replace(use, f"self.{attr}")
    previous = spec.args[-2]
    _, _, line, column = draft.source.span(
        spec.defaults[-2] if len(spec.defaults) > 1 else previous.annotation or previous
    )
    _, _, end_line, end_column = draft.source.span(default)
    draft.cut(line, column, end_line, end_column)
    add_to_init(draft, f"self.{attr} = {one_line(draft.text(default))}")
    return draft.fix(UNSAFE, f"assumes that no caller passes '{name}'")


@fixes("GL324")
def membership(found: Any, ctx: Any) -> Optional[Fix]:
    """`x in [a, b]` over Tensors of one element each becomes comparisons joined by `or`."""
    node, draft = found.node, Draft(ctx)
    need(
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.comparators[0], (ast.List, ast.Tuple))
    )
    need(pure(node.left) and all(pure(e) for e in node.comparators[0].elts) and node.comparators[0].elts)
    left = draft.text(node.left)
    parts = [f"({atom(node.left, left)} == {atom(e, draft.text(e))}).all()" for e in node.comparators[0].elts]
    text = "(" + " or ".join(parts) + ")"
    draft.replace(node, text if isinstance(node.ops[0], ast.In) else f"(not {text})")
    return draft.fix(UNSAFE, "assumes that all elements have to be equal")


@fixes("GL325")
def dict_merge(found: Any, ctx: Any) -> Optional[Fix]:
    """`{**a, **b}`."""
    node, draft = found.node, Draft(ctx)
    need(all(ctx.value(side).kind == v.DICT for side in (node.left, node.right)))
    draft.replace(
        node, f"{{**{atom(node.left, draft.text(node.left))}, **{atom(node.right, draft.text(node.right))}}}"
    )
    return draft.fix(SAFE)
