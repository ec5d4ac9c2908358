"""Rewrites of printing, logging, time and randomness (GL30x), and of `with` and `raise` (GL117, GL130)."""

from __future__ import annotations

import ast
import builtins
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.blocks import drop_header, own
from graphlint.fixes.draft import SAFE, UNSAFE, Draft, loads, need, one_line, pure
from graphlint.fixes.state import print_instead
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance
from graphlint.project import ClassInfo


@fixes("GL301")
def print_keywords(found: Any, ctx: Any) -> Optional[Fix]:
    """The keywords of `print` go."""
    node, draft = found.node, Draft(ctx)
    need(all(k.arg in ("sep", "end", "flush") and pure(k.value) for k in node.keywords))
    if node.args:
        _, _, line, column = draft.source.span(node.args[-1])
        tail = draft.source.line_text(line)[column - 1 :]
        need(tail.lstrip().startswith(",") or tail.strip().startswith("#") or not tail.strip())
    else:
        line, column = draft.source.span(node.func)[2:]
        column += draft.source.line_text(line)[column - 1 :].index("(") + 1
    end_line, end = draft.source.span(node.keywords[-1].value)[2:]
    rest = draft.source.line_text(end_line)[end - 1 :]
    end += (
        len(rest) - len(rest.lstrip(" ,"))
        if rest.lstrip(" ,").startswith(")") and "," in rest.split(")")[0]
        else 0
    )
    need("#" not in draft.source.segment(line, column, end_line, end))
    draft.cut(line, column, end_line, end)
    return draft.fix(UNSAFE, "the printed text changes: parts are set apart by a space, and a line ends")


@fixes("GL303")
def print_parts(found: Any, ctx: Any) -> Optional[Fix]:
    """`print(f"x={x}")` becomes `print("x=", x)`."""
    node, draft = found.node, Draft(ctx)
    call = draft.parent(node)
    need(
        isinstance(node, ast.JoinedStr)
        and isinstance(call, ast.Call)
        and ctx.callee(call) == "builtins.print"
    )
    need(not call.keywords and "{{" not in draft.text(node) and "}}" not in draft.text(node))
    parts: List[str] = []
    for piece in node.values:
        if isinstance(piece, ast.Constant):
            text = str(piece.value).strip(" ")
            need(text.isprintable() and '"' not in text and "\\" not in text)
            if text:
                parts.append(f'"{text}"')
        else:
            need(piece.format_spec is None and piece.conversion == -1)
            parts.append(ast.unparse(piece.value))
    draft.replace(node, ", ".join(parts))
    return draft.fix(UNSAFE, "the printed text changes by spaces")


@fixes("GL305")
def write_to_print(found: Any, ctx: Any) -> Optional[Fix]:
    """`sys.stdout.write("text\\n")` and `logger.info("text")` become `print("text")`."""
    draft, call = Draft(ctx), found.node
    need("print" not in ctx.module.order)
    if ctx.callee(call) != "sys.stdout.write":
        return print_instead(call, draft, ctx)
    stmt = draft.statement(call)
    need(isinstance(stmt, ast.Expr) and len(call.args) == 1 and isinstance(call.args[0], ast.Constant))
    text, written = call.args[0].value, draft.text(call.args[0])
    need(
        isinstance(text, str)
        and text.endswith("\n")
        and written.count("\\n") == 1
        and written[-3:-1] == "\\n"
    )
    draft.replace(call, f"print({written[:-3]}{written[-1]})")
    return draft.fix(UNSAFE, "the graph prints when it runs, not in step with Python's own output")


_RANDOM = {
    "random.random": "rand(1)", "numpy.random.rand": "rand(1)", "numpy.random.random": "rand(1)",
    "numpy.random.randn": "randn(1)", "numpy.random.standard_normal": "randn(1)",
}  # fmt: skip


@fixes("GL306")
def random_operator(found: Any, ctx: Any) -> Optional[Fix]:
    """`random.random()` becomes `ops.rand(1)`; not where a seed fixes the numbers."""
    draft, call = Draft(ctx), found.node
    need(ctx.callee(call) in _RANDOM and not call.args and not call.keywords)
    need(
        not any(isinstance(n, ast.Attribute) and n.attr in ("seed", "set_seed") for n in ast.walk(draft.tree))
    )
    parent = draft.parent(call)
    number = isinstance(parent, ast.Call) and ctx.callee(parent) in ("builtins.float", "builtins.int")
    other = [s for s in (parent.left, parent.right) if s is not call] if isinstance(parent, ast.BinOp) else []
    need(number or any(ctx.value(s).kind == v.TENSOR for s in other))
    draft.replace(call, f"{draft.api('mindspore.ops')}.{_RANDOM[ctx.callee(call)]}")
    return draft.fix(UNSAFE, "the operator draws other numbers, under MindSpore's seed")


_DROPPED = {
    "contextlib.nullcontext": "",
    "contextlib.suppress": "assumes that the body doesn't raise what is suppressed",
    "threading.Lock": "the lock is no longer taken", "threading.RLock": "the lock is no longer taken",
    "warnings.catch_warnings": "warnings are no longer caught here",
}  # fmt: skip


@fixes("GL117")
def without_with(found: Any, ctx: Any) -> Optional[Fix]:
    """The body moves out of the `with`; what it leaves under no-grad passes through `ops.stop_gradient`."""
    draft = Draft(ctx)
    stmt = draft.statement(found.node)
    need(isinstance(stmt, ast.With) and len(stmt.items) == 1)
    item = stmt.items[0]
    manager = item.context_expr
    instance = ctx.value(manager).target
    if isinstance(instance, Instance):
        return _jit_class(instance.cls, draft, ctx)
    need(item.optional_vars is None)
    outer = draft.indent(stmt)
    if isinstance(manager, ast.Call) and (ctx.module.dotted(manager.func) or "").rsplit(".", 1)[-1] in (
        "_no_grad",
        "no_grad",
    ):
        note = _stop_gradients(stmt, draft, ctx)
    else:
        note = _reason(manager, ctx)
    drop_header(draft, stmt, stmt.body)
    draft.dedent(stmt.body, outer)
    return draft.fix(UNSAFE if note else SAFE, note)


def _reason(manager: ast.expr, ctx: Any) -> str:
    made: Any = manager
    if isinstance(manager, ast.Name):
        given = ctx.module.assigned.get(manager.id, [])
        need(len(given) == 1)
        made = given[0]
    need(isinstance(made, ast.Call) and pure(ast.Tuple(made.args, ast.Load())))
    name = ctx.module.dotted(made.func)
    need(name in _DROPPED)
    return _DROPPED[name]


def _stop_gradients(stmt: Any, draft: Draft, ctx: Any) -> str:
    """Adds `y = ops.stop_gradient(y)` for the Tensors that the block binds."""
    names: List[str] = []
    for inner in own(stmt.body, ast.Name):
        if isinstance(inner.ctx, ast.Store) and inner.id not in names:
            names.append(inner.id)
    need(all(isinstance(s, (ast.Assign, ast.Return)) for s in stmt.body))
    ops = draft.api("mindspore.ops")
    last = stmt.body[-1]
    if isinstance(last, ast.Return):
        need(last.value is not None and ctx.value(last.value).kind == v.TENSOR)
        draft.replace(last.value, f"{ops}.stop_gradient({draft.text(last.value)})")
        return "gradients are stopped at what is returned"
    for name in names:
        held = [ctx.value(n).kind for n in loads(ctx.node, name) if ctx.reached(n)]
        need(held and all(k == v.TENSOR for k in held))
    draft.after(last, *(f"{name} = {ops}.stop_gradient({name})" for name in names), indent=draft.indent(stmt))
    return "gradients are stopped at what the block leaves"


def _jit_class(cls: ClassInfo, draft: Draft, ctx: Any) -> Optional[Fix]:
    """Puts the context manager's class under `@jit_class`."""
    need(cls.module is ctx.module and not cls.node.decorator_list and not cls.node.bases)
    draft.before(cls.node, f"@{draft.api('mindspore.jit_class')}")
    return draft.fix(UNSAFE, f"what the methods of '{cls.name}' write to attributes is not kept")


_RAISABLE = (
    "ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "NotImplementedError",
    "AttributeError",
    "StopIteration", "ZeroDivisionError", "OSError", "AssertionError", "OverflowError", "KeyboardInterrupt",
    "UnboundLocalError", "NameError", "MemoryError", "Exception", "BaseException",
)  # fmt: skip


@fixes("GL130")
def raise_base(found: Any, ctx: Any) -> Optional[Fix]:
    """The nearest ancestor that the graph can raise takes the exception's place."""
    node, draft = found.node, Draft(ctx)
    need(node.exc is not None)
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    symbol = ctx.module.resolve(target)
    names: List[str] = []
    if isinstance(symbol, ClassInfo):
        need("__init__" not in symbol.methods)
        for base in symbol.mro:
            names += (
                [base.name] if isinstance(base, ClassInfo) else [base.dotted.rsplit(".", 1)[-1].lstrip("?")]
            )
    elif isinstance(target, ast.Name):
        kind = getattr(builtins, target.id, None)
        names = [k.__name__ for k in getattr(kind, "__mro__", ())]
    chosen = next((n for n in names if n in _RAISABLE), None)
    need(chosen is not None)
    draft.replace(target, str(chosen))
    return draft.fix(UNSAFE, f"whoever catches {one_line(draft.text(target))} has to catch {chosen}")
