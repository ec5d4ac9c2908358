"""Rewrites of statements and expressions that the parser refuses (GL10x, GL11x)."""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
from typing import Any, Iterator, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.blocks import (
    drop_header,
    drop_keyword,
    drop_statements,
    end_line,
    keyword_line,
    own,
    own_jumps,
)
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
    pure,
    stores,
)
from graphlint.graph_code import values as v

_EARLY = frozenset(
    [
        "math",
        "os",
        "sys",
        "time",
        "random",
        "functools",
        "itertools",
        "operator",
        "collections",
        "copy",
        "json",
        "re",
        "typing",
        "warnings",
        "numbers",
        "logging",
        "datetime",
        "string",
        "enum",
        "dataclasses",
        "contextlib",
        "abc",
        "numpy",
        "mindspore",
    ]
)


@fixes("GL101")
def unwrap_try(found: Any, ctx: Any) -> Optional[Fix]:
    """The body stays, the handlers go; `else` and `finally` follow the body."""
    stmt, draft = found.node, Draft(ctx)
    outer = draft.indent(stmt)
    jumps = list(own(stmt.body + stmt.orelse, ast.Return, ast.Break, ast.Continue))
    need(not (stmt.finalbody and jumps))
    drop_header(draft, stmt, stmt.body)
    draft.dedent(stmt.body, outer)
    last, after = end_line(stmt.body), stmt.end_lineno
    following = stmt.orelse or stmt.finalbody
    if stmt.handlers:
        first = stmt.handlers[0].lineno
        end = end_line(stmt.handlers)
        need(draft.first_on_line(stmt.handlers[0]) and draft.alone(stmt.handlers[-1].body[-1]))
        drop_statements(draft, first, end if following else after)
        last = end
    for word, block in (("else", stmt.orelse), ("finally", stmt.finalbody)):
        if block:
            drop_keyword(draft, word, last, draft.start(block[0])[0])
            draft.dedent(block, outer)
            last = end_line(block)
    if _cannot_raise(stmt.body, ctx):
        return draft.fix(SAFE)
    if not stmt.handlers:
        return draft.fix(
            UNSAFE, "assumes that the body doesn't raise: `finally` would run before the error passes on"
        )
    kinds = sorted({ast.unparse(h.type) if h.type is not None else "an exception" for h in stmt.handlers})
    return draft.fix(UNSAFE, f"assumes that the body doesn't raise {', '.join(kinds)}")


def _cannot_raise(body: List[ast.stmt], ctx: Any) -> bool:
    for stmt in body:
        if isinstance(stmt, (ast.Assign, ast.Return, ast.AnnAssign)):
            targets = stmt.targets if isinstance(stmt, ast.Assign) else []
            if (
                not all(isinstance(t, ast.Name) for t in targets)
                or stmt.value is None
                or not _plain(stmt.value, ctx)
            ):
                return False
        elif not isinstance(stmt, ast.Pass):
            return False
    return True


def _plain(node: ast.expr, ctx: Any) -> bool:
    """True for names, numbers, and sums and products of numbers and of a Tensor of known dtype with a
    number.
    """
    value = ctx.value(node)
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return bool(value.sure and value.kind in (v.TENSOR, v.NUMBER))
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        sides = [ctx.value(node.left), ctx.value(node.right)]
        arithmetic = all(
            (s.kind == v.NUMBER and s.dtype in ("int", "float"))
            or (s.kind == v.TENSOR and s.dtype not in (None, "bool"))
            for s in sides
        )
        tensors = sum(s.kind == v.TENSOR for s in sides)
        return arithmetic and tensors < 2 and _plain(node.left, ctx) and _plain(node.right, ctx)
    return False


@fixes("GL102")
def move_import(found: Any, ctx: Any) -> Optional[Fix]:
    """The import goes to the module's top."""
    stmt, draft = found.node, Draft(ctx)
    function = draft.function_of(stmt)
    for alias in stmt.names:
        need(alias.name != "*")
        bound = (alias.asname or alias.name).split(".")[0]
        need(not hasattr(builtins, bound) and len(list(stores(function, bound))) == 0)
        if bound in ctx.module.order:
            need(ctx.module.imports.get(bound) == _meant(stmt, alias, ctx))
    draft.remove(stmt)
    draft.add_import(one_line(draft.text(stmt)))
    root = (stmt.names[0].name if isinstance(stmt, ast.Import) else stmt.module or "").split(".")[0]
    if root in _EARLY and getattr(stmt, "level", 0) == 0:
        return draft.fix(SAFE)
    return draft.fix(UNSAFE, "assumes that importing at start-up is possible: no circular import")


def _meant(stmt: Any, alias: ast.alias, ctx: Any) -> str:
    if isinstance(stmt, ast.Import):
        return alias.name if alias.asname else alias.name.split(".")[0]
    return f"{ctx.module.absolute(stmt.module or '', stmt.level)}.{alias.name}"


@fixes("GL103")
def drop_del(found: Any, ctx: Any) -> Optional[Fix]:
    """`del` of a name goes; of an item or a slice: the rest is bound anew."""
    stmt, draft = found.node, Draft(ctx)
    lines: List[str] = []
    note = ""
    for target in stmt.targets:
        if isinstance(target, ast.Attribute):
            note = "the attribute stays"
        elif isinstance(target, ast.Subscript):
            lines.append(_without_item(target, draft, ctx))
            note = note or "assumes that no other name holds the container"
        else:
            need(isinstance(target, ast.Name))
            need(not any(isinstance(n, (ast.Try,)) for n in ast.walk(ctx.node)))
    if not lines:
        draft.remove(stmt)
    else:
        draft.replace(stmt, ("\n" + draft.indent(stmt)).join(lines))
    return draft.fix(UNSAFE if note else SAFE, note)


def _without_item(target: ast.Subscript, draft: Draft, ctx: Any) -> str:
    need(isinstance(target.value, ast.Name))
    name, kind, key = draft.text(target.value), _kind_of(target.value.id, ctx), target.slice  # type: ignore[attr-defined]
    if kind == v.DICT:
        need(pure(key))
        a, b = draft.fresh("key", "key_"), draft.fresh("value", "value_")
        return f"{name} = {{{a}: {b} for {a}, {b} in {name}.items() if {a} != {draft.text(key)}}}"
    need(kind == v.LIST)
    if isinstance(key, ast.Slice):
        need(
            key.step is None
            and all(_index(p) is not None and _index(p) >= 0 for p in (key.lower, key.upper) if p)  # type: ignore[operator]
        )
        head = f"{name}[:{draft.text(key.lower)}]" if key.lower else ""
        tail = f"{name}[{draft.text(key.upper)}:]" if key.upper else ""
        return f"{name} = " + (" + ".join(p for p in (head, tail) if p) or "[]")
    return f"{name} = {without(name, key)}"


def _kind_of(name: str, ctx: Any) -> str:
    """What a name of the function holds, told from where it is read or bound."""
    kinds = {ctx.value(n).kind for n in loads(ctx.node, name) if ctx.reached(n)}
    for stmt in ast.walk(ctx.node):
        if isinstance(stmt, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in stmt.targets
        ):
            kinds.add(ctx.value(stmt.value).kind)
    return kinds.pop() if len(kinds) == 1 else ""


def without(name: str, key: ast.expr) -> str:
    """The list `name` without the item at a constant index."""
    index = _index(key)
    need(index is not None and index >= -1)
    if index in (0, -1):
        return f"{name}[1:]" if index == 0 else f"{name}[:-1]"
    return f"{name}[:{index}] + {name}[{index + 1}:]"  # type: ignore[operator]


def _index(node: Optional[ast.expr]) -> Optional[int]:
    try:
        value = ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@fixes("GL105")
def move_class(found: Any, ctx: Any) -> Optional[Fix]:
    """The class goes in front of the function or class that holds it."""
    node, draft = found.node, Draft(ctx)
    need(draft.alone(node) and node.name not in ctx.module.order and not node.decorator_list)
    function = draft.function_of(node)
    free = set().union(*(names_in(n) for n in [*node.bases, *node.body, *[k.value for k in node.keywords]]))
    need(
        function is not None and not (free - bound_names(node)) & (_outer_names(function, node) - {node.name})
    )
    for part in ast.walk(function):
        if (
            isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id == node.name
        ):
            need(isinstance(part.ctx, ast.Load))
    indent, kept = draft.indent(node), draft.string_lines()
    lines = [draft.source.line_text(n) for n in range(node.lineno, node.end_lineno + 1)]
    need(not kept & set(range(node.lineno, node.end_lineno + 1)))
    need(all(not line.strip() or line.startswith(indent) for line in lines))
    top = _top(draft, node)
    draft.insert(draft.start(top)[0], 1, "".join(line[len(indent) :] + "\n" for line in lines) + "\n\n")
    draft.remove(node)
    if all(
        isinstance(s, (ast.FunctionDef, ast.Pass)) or is_docstring(s) or _constant_assign(s)
        for s in node.body
    ):
        return draft.fix(SAFE)
    return draft.fix(UNSAFE, "one class serves all calls: what it holds is made once")


def _outer_names(function: Any, node: ast.ClassDef) -> set:
    """What the function around a class binds outside of it."""
    inside = set(ast.walk(node))
    return {getattr(s, "arg", getattr(s, "id", getattr(s, "name", ""))) for n in bound_names(function)
            for s in stores(function, n) if s not in inside}  # fmt: skip


def _constant_assign(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant)


def _top(draft: Draft, node: ast.AST) -> Any:
    """The statement of the module that holds a node."""
    found: Any = node
    while found is not None and draft.parent(found) is not draft.tree:
        found = draft.parent(found)
    need(found is not None)
    return found


@fixes("GL108")
def unfold_walrus(found: Any, ctx: Any) -> Optional[Fix]:
    """The assignment gets a line of its own before the statement."""
    node, draft = found.node, Draft(ctx)
    stmt = draft.statement(node)
    need(isinstance(node.target, ast.Name))
    line = f"{node.target.id} = {_bracketed(node.value, draft)}"
    if isinstance(stmt, ast.While):
        need(_first_evaluated(node, stmt.test, draft) and not stmt.orelse)
        need(not list(own_jumps(stmt.body, ast.Continue)) and draft.alone(stmt.body[-1]))
        need("\n" not in line)
        draft.before(stmt, line)
        _name_only(node, draft)
        draft.after(stmt.body[-1], line)
        return draft.fix(SAFE)
    place = _evaluated(stmt)
    need(place is not None and _first_evaluated(node, place, draft))
    need(not _is_elif(stmt, draft))
    draft.before(stmt, line)
    _name_only(node, draft)
    return draft.fix(SAFE)


def _bracketed(node: ast.expr, draft: Draft) -> str:
    text = draft.text(node)
    return f"({text})" if "\n" in text else text


def _evaluated(stmt: ast.stmt) -> Optional[ast.expr]:
    """The expression that a statement evaluates once and first."""
    if isinstance(stmt, ast.If):
        return stmt.test
    if isinstance(stmt, (ast.Return, ast.Expr, ast.Assign, ast.AnnAssign)):
        return stmt.value
    if isinstance(stmt, ast.For):
        return stmt.iter
    return None


def _is_elif(stmt: ast.stmt, draft: Draft) -> bool:
    return isinstance(stmt, ast.If) and draft.text(stmt).startswith("elif")


def _first_evaluated(node: ast.AST, root: ast.AST, draft: Draft) -> bool:
    """True where nothing that has an effect is evaluated before `node` in `root`, and `node` always is."""
    child: Any = node
    while child is not root:
        parent = draft.parent(child)
        if parent is None or isinstance(parent, (ast.Lambda, ast.comprehension)):
            return False
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return False
        if isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return False
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            return False
        if isinstance(parent, ast.Compare) and child in parent.comparators[1:]:
            return False
        for sibling in ast.iter_child_nodes(parent):
            if sibling is child:
                break
            if not pure(sibling) or any(
                True for _ in loads(sibling, getattr(getattr(node, "target", None), "id", ""))
            ):
                return False
        child = parent
    return True


def _name_only(node: Any, draft: Draft) -> None:
    """Puts the name in the place of the assignment expression, and of parentheses right around it."""
    line, column, last, end = draft.source.span(node)
    before, after = draft.source.line_text(line)[: column - 1], draft.source.line_text(last)[end - 1 :]
    callee = before[:-1].rstrip()[-1:]
    if (
        before.endswith("(") and after.startswith(")") and not (callee.isalnum() or callee in ("_", ")", "]"))
    ) or (
        before.endswith("(")
        and after.startswith(")")
        and before[:-1].split()[-1:] in (["if"], ["while"], ["return"])
    ):
        spaced = not before[:-1] or before[:-1][-1:].isspace() or not (before[:-1][-1:].isalnum())
        if spaced:
            draft.cut(line, column - 1, last, end + 1, node.target.id)
            return
    draft.replace(node, node.target.id)


@fixes("GL109")
def set_display(found: Any, ctx: Any) -> Optional[Fix]:
    """A tuple after `in`, `set([…])` elsewhere."""
    node, draft = found.node, Draft(ctx)
    line, column, last, end = draft.source.span(node)
    parent = draft.parent(node)
    member = (
        isinstance(parent, ast.Compare)
        and node in parent.comparators
        and isinstance(parent.ops[parent.comparators.index(node)], (ast.In, ast.NotIn))
    )
    constants = isinstance(node, ast.Set) and all(isinstance(e, ast.Constant) for e in node.elts)
    if member and constants:
        comma = "," if len(node.elts) == 1 and not draft.text(node)[:-1].rstrip().endswith(",") else ""
        opening, closing = "(", comma + ")"
    else:
        need("set" not in ctx.module.order and not draft.shadowed("set"))
        opening, closing = "set([", "])"
    draft.cut(line, column, line, column + 1, opening)
    draft.cut(last, end - 1, last, end, closing)
    return draft.fix(SAFE)


@fixes("GL111")
def loop_else(found: Any, ctx: Any) -> Optional[Fix]:
    """The `else` part follows the loop; where the loop can break, under a flag."""
    stmt, draft = found.node, Draft(ctx)
    outer = draft.indent(stmt)
    breaks = list(own_jumps(stmt.body, ast.Break))
    if not breaks:
        drop_keyword(draft, "else", end_line(stmt.body), draft.start(stmt.orelse[0])[0])
        draft.dedent(stmt.orelse, outer)
        return draft.fix(SAFE)
    flag = draft.fresh("broken", "left_early")
    draft.before(stmt, f"{flag} = False")
    for jump in breaks:
        draft.before(jump, f"{flag} = True")
    line = keyword_line(draft, "else", end_line(stmt.body), draft.start(stmt.orelse[0])[0])
    text = draft.source.line_text(line)
    column = len(text) - len(text.lstrip()) + 1
    draft.cut(line, column, line, column + 4, f"if not {flag}")
    return draft.fix(SAFE)


@fixes("GL113")
def complex_constant(found: Any, ctx: Any) -> Optional[Fix]:
    """`2j` becomes `complex(0.0, 2.0)`."""
    draft = Draft(ctx)
    need("complex" not in ctx.module.order and not draft.shadowed("complex"))
    draft.replace(found.node, f"complex(0.0, {found.node.value.imag!r})")
    return draft.fix(SAFE)


@fixes("GL114")
def big_integer(found: Any, ctx: Any) -> Optional[Fix]:
    """The integer becomes a float, in the graph or where the attribute gets it."""
    node, draft = found.node, Draft(ctx)
    if isinstance(node, ast.Constant):
        need(node.value < 10**38)  # type: ignore[operator]
        draft.replace(node, draft.text(node).replace("_", "") + ".0")
    else:
        from graphlint.fixes.members import assignment

        value = assignment(ctx, node.attr).value
        draft.replace(value, f"float({one_line(draft.text(value))})")
    return draft.fix(UNSAFE, "a float holds some 7 digits in the graph")


@fixes("GL115")
def drop_slash(found: Any, ctx: Any) -> Optional[Fix]:
    """The `/` among the parameters goes."""
    draft = Draft(ctx)
    node = ctx.node
    need(not isinstance(node, ast.Lambda) and node.args.kwarg is None)
    last = node.args.posonlyargs[-1]
    line, column, *_ = draft.source.span(last)
    slash = next(
        (t for t in _tokens_from(draft, line, column) if t.string == "/" and t.type == tokenize.OP), None
    )
    need(slash is not None and slash.start[0] == line)
    text = draft.source.line_text(line)
    start = end = slash.start[1]  # type: ignore[union-attr]
    end += 1
    before = text[:start].rstrip()
    need(before.endswith(","))
    draft.cut(line, len(before), line, end + 1)
    return draft.fix(SAFE)


def _tokens_from(draft: Draft, line: int, column: int) -> Iterator[tokenize.TokenInfo]:
    """The tokens from a place on; columns count from 0 within the file's lines."""
    text = "\n".join(
        [" " * (column - 1) + draft.source.line_text(line)[column - 1 :], *draft.source.lines[line:]]
    )
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = (token.start[0] + line - 1, token.start[1])
            yield token._replace(start=start, end=(token.end[0] + line - 1, token.end[1]))
    except (tokenize.TokenError, IndentationError):
        return


@fixes("GL116")
def rename_self(found: Any, ctx: Any) -> Optional[Fix]:
    """The first parameter and all its uses become `self`."""
    draft, node = Draft(ctx), ctx.node
    name = found.node.arg
    need(not any(getattr(n, "id", getattr(n, "arg", None)) == "self" for n in ast.walk(node)))
    need(len(list(stores(node, name))) == 1 and not any(isinstance(n, ast.Global) for n in ast.walk(node)))
    line, column, _, _ = draft.source.span(found.node)
    draft.cut(line, column, line, column + len(name), "self")
    for use in loads(node, name):
        draft.replace(use, "self")
    return draft.fix(SAFE)
