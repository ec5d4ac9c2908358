"""Rewrites of functions as values (GL104, GL110, GL133, GL34x): closures, decorators, lambdas, generators."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.containers import extend_instead
from graphlint.fixes.draft import (
    SAFE,
    UNSAFE,
    Draft,
    bound_names,
    is_docstring,
    loads,
    names_in,
    need,
    one_line,
    stores,
    walk_own,
)
from graphlint.project import FunctionInfo


@fixes("GL340", "GL341")
def define_later(found: Any, ctx: Any) -> Optional[Fix]:
    """The definition moves down to just before its first use, behind what it closes over."""
    draft, name = Draft(ctx), str(found.values["name"])
    function: Any = ctx.node
    while function is not None:
        fix = _moved_down(function.body, name, draft, ctx) if isinstance(function.body, list) else None
        if fix is not None:
            return fix
        function = draft.function_of(function)
    return None


def _moved_down(body: List[ast.stmt], name: str, draft: Draft, ctx: Any) -> Optional[Fix]:
    """Moves the definition in this block that reads `name` behind the statement that binds it."""
    for number, stmt in enumerate(body):
        own = _defined(stmt)
        if own is None or not any(True for _ in loads(stmt, name)):
            continue
        use = next((i for i in range(number + 1, len(body)) if any(True for _ in loads(body[i], own))), None)
        if use is None or use == number + 1:
            continue
        between, later = body[number + 1 : use], body[use:]
        changes = any(True for s in between for _ in _binds(s, name))
        if not changes or any(True for s in later for _ in _binds(s, name)):
            continue
        if (
            any(True for s in between for _ in _binds(s, own))
            or not _no_defaults(stmt)
            or not draft.alone(stmt)
        ):
            continue
        if not _free(stmt, own).isdisjoint(_rebound(later)):
            continue
        first, last = draft.start(stmt)[0], stmt.end_lineno or stmt.lineno
        lines = [draft.source.line_text(n) for n in range(first, last + 1)]
        draft.cut(first, 1, last + 1, 1)
        draft.insert(draft.start(body[use])[0], 1, "".join(line + "\n" for line in lines))
        return draft.fix(SAFE)
    return None


def _defined(stmt: ast.stmt) -> Optional[str]:
    if isinstance(stmt, ast.FunctionDef) and not stmt.decorator_list:
        return stmt.name
    if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Lambda) and len(stmt.targets) == 1:
        target = stmt.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _binds(stmt: ast.stmt, name: str) -> Any:
    if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)) and stmt.name == name:
        yield stmt
    for inner in [stmt, *walk_own(stmt)]:
        if isinstance(inner, ast.Name) and inner.id == name and not isinstance(inner.ctx, ast.Load):
            yield inner


def _no_defaults(stmt: Any) -> bool:
    spec = stmt.args if isinstance(stmt, ast.FunctionDef) else stmt.value.args
    return not spec.defaults and not any(spec.kw_defaults)


def _free(stmt: ast.stmt, own: str) -> set:
    return names_in(stmt) - bound_names(stmt) - {own}


def _rebound(body: List[ast.stmt]) -> set:
    return {
        n.id
        for s in body
        for n in [s, *walk_own(s)]
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }


@fixes("GL133", "GL343")
def lambda_apart(found: Any, ctx: Any) -> Optional[Fix]:
    """The lambda gets a statement of its own, and its name stands where it was."""
    draft = Draft(ctx)
    lambdas = [n for n in ast.walk(found.node) if isinstance(n, ast.Lambda)]
    need(lambdas and all(draft.parent(n) is not None for n in lambdas))
    node = lambdas[0]
    stmt = draft.statement(node)
    need(isinstance(stmt, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)) and not node.args.defaults)
    inner: Any = node
    while inner is not stmt:
        inner = draft.parent(inner)
        need(not isinstance(inner, (ast.Lambda, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.SetComp)))
    name = draft.fresh(*_lambda_names(node, draft))
    text = draft.text(node)
    draft.before(stmt, f"{name} = ({text})" if "\n" in text else f"{name} = {text}")
    draft.replace(node, name)
    return draft.fix(SAFE)


def _lambda_names(node: ast.Lambda, draft: Draft) -> List[str]:
    parent = draft.parent(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return ["pre_hook" if "pre_hook" in parent.func.attr else "hook", "function"]
    if isinstance(parent, ast.Dict):
        key = parent.keys[parent.values.index(node)] if node in parent.values else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
            return [f"{key.value}_function", "function"]
    return ["function"]


@fixes("GL344")
def hook_append(found: Any, ctx: Any) -> Optional[Fix]:
    """`SEEN.append(v)` in a hook becomes `SEEN.extend([v])`."""
    draft, text = Draft(ctx), found.values["text"]
    calls = [n for n in ast.walk(draft.tree) if isinstance(n, ast.Call) and ast.unparse(n)[:40] == text]
    need(len(calls) == 1)
    return extend_instead(calls[0], draft, ctx)


@fixes("GL347")
def explicit_super(found: Any, ctx: Any) -> Optional[Fix]:
    """`super()` becomes `super(Owner, self)`."""
    draft = Draft(ctx)
    call = next((n for n in ast.walk(found.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
                 and n.func.id == "super" and not n.args), None)  # fmt: skip
    owner = str(found.values["owner"])
    need(call is not None and owner.isidentifier() and owner in ctx.module.order)
    draft.replace(call, f"super({owner}, self)")
    return draft.fix(SAFE)


@fixes("GL346")
def classmethod_to_method(found: Any, ctx: Any) -> Optional[Fix]:
    """A classmethod that is only called on `self` becomes a plain method."""
    draft = Draft(ctx)
    info = getattr(ctx.value(found.node.func).target, "info", None)
    need(
        isinstance(info, FunctionInfo)
        and info.module is ctx.module
        and isinstance(info.node, ast.FunctionDef)
    )
    node: Any = info.node  # type: ignore[union-attr]
    need(len(node.decorator_list) == 1 and node.args.args)
    name = node.args.args[0].arg
    need(not any(getattr(n, "id", getattr(n, "arg", None)) == "self" for n in ast.walk(node)))
    need(len(list(stores(node, name))) == 1)
    for use in ast.walk(draft.tree):
        if isinstance(use, ast.Attribute) and use.attr == node.name:
            need(isinstance(use.value, ast.Name) and use.value.id == "self")
    need(not any(isinstance(n, ast.Call) for u in loads(node, name) for n in [draft.parent(u)]))
    decorator = node.decorator_list[0]
    need(draft.source.line_text(decorator.lineno).strip() == "@classmethod")
    draft.cut(decorator.lineno, 1, decorator.lineno + 1, 1)
    line, column, _, _ = draft.source.span(node.args.args[0])
    draft.cut(line, column, line, column + len(name), "self")
    for use in loads(node, name):
        draft.replace(use, "self")
    return draft.fix(UNSAFE, "assumes that nothing calls it on the class")


@fixes("GL342")
def fold_decorator(found: Any, ctx: Any) -> Optional[Fix]:
    """A decorator of a nested function is called after it; one of a method is folded into the method."""
    draft, node = Draft(ctx), ctx.node
    need(len(node.decorator_list) == 1)
    info, decorator = ctx.trace.info, node.decorator_list[0]
    line = decorator.lineno
    need(draft.source.line_text(line).lstrip().startswith("@") and decorator.end_lineno == line)
    _drop_decorator(draft, line, decorator)
    if "." in info.qualname and info.owner is None:
        draft.after(node, f"{node.name} = {draft.text(decorator)}({node.name})")
        return draft.fix(SAFE)
    maker = ctx.module.resolve(decorator)
    need(isinstance(maker, FunctionInfo) and maker.module is ctx.module and info.owner is not None)
    wrapper, function = _wrapper(maker.node)
    need(wrapper.args.args and wrapper.args.args[0].arg == "self" and draft.alone(node))
    plain = draft.fresh(f"_{node.name.strip('_')}_undecorated", f"{node.name}_undecorated")
    name_at = draft.source.line_text(node.lineno).index(node.name, draft.source.span(node)[1] + 2) + 1
    draft.cut(node.lineno, name_at, node.lineno, name_at + len(node.name), plain)
    text = _as_method(wrapper, function, plain, node, draft)
    draft.after(node, "", *text, indent="")
    return draft.fix(SAFE)


def _drop_decorator(draft: Draft, line: int, decorator: ast.expr) -> None:
    text = draft.source.line_text(line)
    rest = text[draft.source.span(decorator)[3] - 1 :]
    if rest.strip():
        column = len(text) - len(text.lstrip()) + 1
        draft.cut(line, column, line, len(text) - len(rest.lstrip()) + 1)
    else:
        draft.cut(line, 1, line + 1, 1)


def _wrapper(maker: Any) -> Any:
    """The wrapper function of a simple decorator and the name under which it calls what it wraps."""
    body = [s for s in maker.body if not is_docstring(s)]
    need(len(body) == 2 and isinstance(body[0], ast.FunctionDef) and isinstance(body[1], ast.Return))
    need(
        isinstance(body[1].value, ast.Name) and body[1].value.id == body[0].name and len(maker.args.args) == 1
    )
    function = maker.args.args[0].arg
    inner = ast.Module(body[0].body, [])
    need(function not in bound_names(body[0]) and body[0].name not in names_in(inner))
    return body[0], function


def _as_method(wrapper: ast.FunctionDef, function: str, plain: str, node: Any, draft: Draft) -> List[str]:
    """The wrapper's text as a method that calls the undecorated one."""
    from graphlint.finding import Edit
    from graphlint.fixes.edits import apply_edits

    edits = []
    uses = list(loads(ast.Module(wrapper.body, []), function))
    need(uses)
    for use in uses:
        call = draft.parent(use)
        need(isinstance(call, ast.Call) and call.func is use and call.args)
        first = call.args[0]
        need(isinstance(first, ast.Name) and first.id == "self")
        line, column, _, _ = draft.source.span(use)
        end = draft.source.span(call.args[1])[:2] if len(call.args) > 1 else draft.source.span(first)[2:]
        if len(call.args) == 1 and call.keywords:
            need(False)
        edits.append(Edit(line, column, *end, f"self.{plain}("))  # type: ignore[call-arg]
    text = apply_edits(draft.source.text, edits)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    need(len(lines) == len(draft.source.lines))
    outer, inner = draft.indent(wrapper), draft.indent(wrapper.body[0])
    need(not draft.string_lines() and wrapper.body[0].lineno > wrapper.lineno)
    result = [f"{draft.indent(node)}def {node.name}({ast.unparse(wrapper.args)}):"]
    target = draft.indent(node) + draft.unit()
    first = wrapper.body[0].lineno
    while first > wrapper.lineno + 1 and draft.source.line_text(first - 1).strip()[:1] in ("#", ""):
        first -= 1
    for number in range(first, (wrapper.end_lineno or 0) + 1):
        line = lines[number - 1]
        need(not line.strip() or line.startswith(inner) or line.lstrip().startswith("#"))
        result.append(target + line[len(inner) :] if line.strip() else "")
    need(inner.startswith(outer))
    return result


@fixes("GL104")
def return_nonlocal(found: Any, ctx: Any) -> Optional[Fix]:
    """The nested function gets the variable as a parameter and returns it; each call binds it."""
    draft, node = Draft(ctx), draft_function(found, ctx)
    need(isinstance(node, ast.FunctionDef) and len(found.node.names) == 1 and not node.decorator_list)
    name = found.node.names[0]
    outer = draft.function_of(node)
    need(
        isinstance(outer, ast.FunctionDef)
        and not node.args.defaults
        and not node.args.vararg
        and not node.args.kwarg
    )
    need(not any(isinstance(n, (ast.Yield, ast.FunctionDef, ast.Lambda)) for n in walk_own(node)))
    calls = [draft.parent(u) for u in loads(outer, node.name)]
    need(calls and all(isinstance(c, ast.Call) and not c.keywords for c in calls))
    own = list(node.args.args)
    if own:
        _, _, line, column = draft.source.span(own[-1])
        draft.insert(line, column, f", {name}")
    else:
        text = draft.source.line_text(node.lineno)
        opening = text.index("(", text.index(node.name, draft.source.span(node)[1] + 2))
        draft.insert(node.lineno, opening + 2, name)
    returns = [n for n in walk_own(node) if isinstance(n, ast.Return)]
    value = any(r.value is not None for r in returns)
    draft.remove(found.node)
    need(len(node.body) > 1)
    for one in returns:
        if one.value is None:
            draft.replace(one, f"return None, {name}" if value else f"return {name}")
        else:
            draft.replace(one.value, f"{draft.text(one.value)}, {name}")
            need(not isinstance(one.value, ast.Tuple) or draft.text(one.value).startswith("("))
    if not isinstance(node.body[-1], ast.Return):
        need(not value)
        draft.after(node.body[-1], f"return {name}")
    for number, call in enumerate(calls):
        _bind_call(call, name, value, number, draft)
    return draft.fix(SAFE)


def draft_function(found: Any, ctx: Any) -> Any:
    return Draft(ctx).function_of(found.node)


def _bind_call(call: Any, name: str, value: bool, number: int, draft: Draft) -> None:
    """Passes the variable to a call and binds what comes back."""
    stmt = draft.statement(call)
    given = ", ".join([*(one_line(draft.text(a)) for a in call.args), name])
    text = f"{draft.text(call.func)}({given})"
    if isinstance(stmt, ast.Expr) and stmt.value is call:
        draft.replace(stmt, f"_, {name} = {text}" if value else f"{name} = {text}")
        return
    need(value and isinstance(stmt, (ast.Assign, ast.Return)))
    if (
        isinstance(stmt, ast.Assign)
        and stmt.value is call
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], ast.Name)
    ):
        draft.replace(stmt, f"{stmt.targets[0].id}, {name} = {text}")
        return
    need(
        len([n for n in ast.walk(stmt) if isinstance(n, ast.Call)]) == 1
        and not any(True for _ in loads(stmt, name))
    )
    result = draft.fresh("result", f"result_{number}")
    draft.before(stmt, f"{result}, {name} = {text}")
    draft.replace(call, result)


_EATERS = frozenset(["list", "tuple", "sum", "max", "min", "sorted", "enumerate", "zip", "any", "all"])


@fixes("GL110")
def generator_to_list(found: Any, ctx: Any) -> Optional[Fix]:
    """A generator that is only looped over returns a list of its items."""
    draft, node = Draft(ctx), found.node
    need(isinstance(node, ast.FunctionDef) and not node.decorator_list)
    yields = [n for n in walk_own(node) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    need(all(isinstance(draft.parent(y), ast.Expr) and y.value is not None for y in yields))
    need(not any(isinstance(n, ast.While) and isinstance(n.test, ast.Constant) for n in walk_own(node)))
    returns = [n for n in walk_own(node) if isinstance(n, ast.Return)]
    need(not any(r.value is not None for r in returns))
    named = [n for n in ast.walk(draft.tree) if isinstance(n, (ast.Name, ast.Attribute))]
    uses = [n for n in named if getattr(n, "id", getattr(n, "attr", "")) == node.name]
    need(uses)
    for use in uses:
        call = draft.parent(use)
        need(isinstance(call, ast.Call) and call.func is use)
        around = draft.parent(call)
        looped = isinstance(around, (ast.For, ast.comprehension)) and around.iter is call
        eaten = (
            isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _EATERS
        )
        need(looped or eaten)
    items = draft.fresh("items", "collected")
    first = next(s for s in node.body if not is_docstring(s))
    draft.before(first, f"{items} = []")
    for one in yields:
        method = "extend" if isinstance(one, ast.YieldFrom) else "append"
        draft.replace(draft.parent(one), f"{items}.{method}({draft.text(one.value)})")
    for bare in returns:
        draft.replace(bare, f"return {items}")
    if not isinstance(node.body[-1], ast.Return):
        last = node.body[-1]
        draft.after(last, f"return {items}")
    return draft.fix(UNSAFE, "all items are computed before the first is used")
