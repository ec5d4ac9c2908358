"""A rewrite in the making: text edits by node and statement, and the names that they need."""

from __future__ import annotations

import ast
import re
from typing import Any, Iterator, List, Optional, Sequence, Set, Tuple

from graphlint.finding import Applicability, Edit, Fix
from graphlint.project import ClassInfo, canonical

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)


class Unfit(Exception):
    """The rewrite doesn't fit here: the finding gets none."""


def need(condition: Any) -> None:
    """Gives the rewrite up where a condition for it doesn't hold."""
    if not condition:
        raise Unfit


class Draft:
    """Collects the edits of one rewrite in one file. `ctx` is a Context or a ClassContext."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        self.source = ctx.source
        self.module = ctx.module
        self.tree: ast.Module = ctx.module.tree
        self.edits: List[Edit] = []
        self.imports: List[str] = []

    def fix(self, applicability: Applicability, note: str = "") -> Fix:
        """The rewrite; its edits in order, each once."""
        if self.imports:
            self._write_imports()
        return Fix(applicability, tuple(sorted(set(self.edits))), note)

    # Reading

    def text(self, node: Any) -> str:
        """The node's source as it stands."""
        return str(self.source.segment(*self.source.span(node)))

    def indent(self, stmt: ast.AST) -> str:
        """The white space before a statement that begins its line."""
        need(self.first_on_line(stmt))
        line = self.source.line_text(stmt.lineno)  # type: ignore[attr-defined]
        return str(line[: len(line) - len(line.lstrip())])

    def start(self, stmt: Any) -> Tuple[int, int]:
        """Line and column where a statement begins, its decorators counted."""
        decorators = getattr(stmt, "decorator_list", ())
        if decorators:
            line = min(d.lineno for d in decorators)
            text = self.source.line_text(line)
            need(text.lstrip().startswith("@"))
            return line, len(text) - len(text.lstrip()) + 1
        line, column, _, _ = self.source.span(stmt)
        return line, column

    def first_on_line(self, stmt: Any) -> bool:
        line, column = self.start(stmt)
        return not self.source.line_text(line)[: column - 1].strip()

    def rest_of_line(self, stmt: Any) -> str:
        """What follows a statement on its last line."""
        _, _, end_line, end_column = self.source.span(stmt)
        return str(self.source.line_text(end_line)[end_column - 1 :])

    def alone(self, stmt: Any) -> bool:
        """True where nothing but a comment shares the statement's lines."""
        rest = self.rest_of_line(stmt).strip()
        return self.first_on_line(stmt) and (not rest or rest.startswith("#"))

    def unit(self) -> str:
        """One step of indentation as this file has it."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For)) or not body:
                continue
            if body[0].lineno > node.lineno and self.first_on_line(body[0]):
                outer, inner = self.indent(node) if self.first_on_line(node) else "", self.indent(body[0])
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
        return "    "

    # Writing

    def replace(self, node: Any, text: str) -> None:
        """Puts `text` in the node's place."""
        self.edits.append(Edit(*self.source.span(node), text))  # type: ignore[call-arg]

    def cut(self, line: int, column: int, end_line: int, end_column: int, text: str = "") -> None:
        """Puts `text` in the place of a range."""
        self.edits.append(Edit(line, column, end_line, end_column, text))

    def insert(self, line: int, column: int, text: str) -> None:
        self.edits.append(Edit(line, column, line, column, text))

    def before(self, stmt: Any, *lines: str) -> None:
        """Writes lines before a statement, indented as it is."""
        indent = self.indent(stmt)
        line, _ = self.start(stmt)
        self.insert(line, 1, "".join(indent + text + "\n" for text in lines))

    def after(self, stmt: Any, *lines: str, indent: Optional[str] = None) -> None:
        """Writes lines after a statement, indented as it is."""
        need(self.alone(stmt) or indent is not None)
        indent = self.indent(stmt) if indent is None else indent
        end = stmt.end_lineno or stmt.lineno
        self.insert(end, len(self.source.line_text(end)) + 1, "".join("\n" + indent + text for text in lines))

    def remove(self, stmt: Any) -> None:
        """Takes a statement out: its lines, or `pass` where its block would be empty."""
        block = self.block_of(stmt)
        if (block is not None and len(block) == 1) or not self.first_on_line(stmt):
            self.cut(*self.start(stmt), *self.source.span(stmt)[2:], "pass")  # type: ignore[call-arg]
            return
        rest = self.rest_of_line(stmt)
        line, column = self.start(stmt)
        _, _, end_line, end_column = self.source.span(stmt)
        if rest.strip().startswith(";"):
            self.cut(line, column, end_line, end_column, "pass")
        elif rest.strip():
            self.cut(line, column, end_line, end_column + len(rest) - len(rest.lstrip()))
        elif end_line < len(self.source.lines):
            self.cut(line, 1, end_line + 1, 1)
        else:
            self.cut(line, 1, end_line, end_column + len(rest))

    def dedent(self, body: Sequence[ast.stmt], outer: str) -> None:
        """Moves the lines of a block out to the indentation `outer`; lines within strings stay."""
        inner = self.indent(body[0])
        need(inner.startswith(outer) and self.alone(body[-1]))
        kept = self.string_lines()
        first, last = self.start(body[0])[0], body[-1].end_lineno or 0
        for line in range(first, last + 1):
            text = self.source.line_text(line)
            if line in kept or not text.strip():
                continue
            if text.startswith(inner):
                self.cut(line, len(outer) + 1, line, len(inner) + 1)
            else:
                need(text.lstrip().startswith("#") or not self._starts_statement(body, line))

    def _starts_statement(self, body: Sequence[ast.stmt], line: int) -> bool:
        return any(isinstance(n, ast.stmt) and n.lineno == line for s in body for n in ast.walk(s))

    def string_lines(self) -> Set[int]:
        """The lines that begin within a string of several lines."""
        found: Set[int] = set()
        for node in ast.walk(self.ctx.node if hasattr(self.ctx, "node") else self.tree):
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
            ):
                found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
        return found

    def add_import(self, text: str) -> None:
        """Writes an import behind those at the module's top, after its docstring and `__future__`."""
        known = any(self.source.line_text(s.lineno).strip() == text for s in self.tree.body if is_import(s))
        if not known and text not in self.imports:
            self.imports.append(text)

    def _write_imports(self) -> None:
        lines, self.imports = _joined(self.imports), []
        last: Optional[ast.stmt] = None
        for stmt in self.tree.body:
            if is_import(stmt) or (is_docstring(stmt) and last is None):
                last = stmt
            else:
                break
        if last is not None:
            self.after(last, *lines, indent="")
        elif self.tree.body:
            self.insert(self.start(self.tree.body[0])[0], 1, "".join(line + "\n" for line in lines))

    # Names

    def api(self, dotted: str) -> str:
        """How this module spells a name of MindSpore; an import is added where it can't."""
        parts = dotted.split(".")
        for bound, full in self.module.imports.items():
            if (
                canonical(full) == dotted
                and self.module.order.get(bound) == "import"
                and not self.shadowed(bound)
            ):
                return str(bound)
        for cut in range(len(parts) - 1, 0, -1):
            owner, rest = ".".join(parts[:cut]), ".".join(parts[cut:])
            for bound, full in self.module.imports.items():
                if full == owner and not self.shadowed(bound):
                    return f"{bound}.{rest}"
        owner, _, name = dotted.rpartition(".")
        if dotted.count(".") > 1:
            owner, name = ".".join(parts[:-2]), parts[-2]
            need(name not in self.module.order and not self.shadowed(name))
            self.add_import(f"from {owner} import {name}")
            return f"{name}.{parts[-1]}"
        need(name not in self.module.order and not self.shadowed(name))
        self.add_import(f"from {owner} import {name}")
        return name

    def shadowed(self, name: str) -> bool:
        """True where the function at hand binds the name itself."""
        node = getattr(self.ctx, "node", None)
        return node is not None and name in bound_names(node)

    def fresh(self, *wanted: str) -> str:
        """The first of the names, or it with a number, that nothing in the module uses."""
        used = used_names(self.tree)
        for name in wanted:
            if name.isidentifier() and name not in used:
                return name
        number = 2
        while f"{wanted[0]}_{number}" in used:
            number += 1
        return f"{wanted[0]}_{number}"

    # Structure

    def parent(self, node: Any) -> Any:
        return parents(self.tree).get(node)

    def statement(self, node: Any) -> Any:
        """The statement that holds an expression."""
        found: Optional[ast.AST] = node
        while found is not None and not isinstance(found, ast.stmt):
            found = self.parent(found)
        need(found is not None)
        return found

    def block_of(self, stmt: Any) -> Any:
        """The list of statements that a statement stands in."""
        return block_of(stmt, self.parent(stmt))

    def function_of(self, node: Any) -> Any:
        """The innermost function around a node."""
        found = self.parent(node)
        while found is not None and not isinstance(found, FUNCTIONS):
            found = self.parent(found)
        return found


def _joined(imports: Sequence[str]) -> List[str]:
    """Import lines, those that take names from one module as one."""
    names: dict = {}
    for text in imports:
        owner, found, name = text.partition(" import ")
        names.setdefault(owner if found and owner.startswith("from ") else text, []).append(name)
    return [
        f"{owner} import {', '.join(sorted(given))}" if owner not in imports else owner
        for owner, given in names.items()
    ]


def block_of(stmt: ast.stmt, parent: Optional[ast.AST]) -> Optional[List[ast.stmt]]:
    for name in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and stmt in block:
            return block
    return None


_PARENTS = "_graphlint_parents"
_USED = "_graphlint_used"


def parents(tree: ast.AST) -> dict:
    """Each node's parent."""
    found: Optional[dict] = getattr(tree, _PARENTS, None)
    if found is None:
        found = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        setattr(tree, _PARENTS, found)
    return found


def used_names(tree: ast.AST) -> Set[str]:
    """Every name, argument, attribute and keyword in a tree."""
    found: Optional[Set[str]] = getattr(tree, _USED, None)
    if found is None:
        found = set()
        for node in ast.walk(tree):
            for field in ("id", "arg", "attr", "name", "asname"):
                value = getattr(node, field, None)
                if isinstance(value, str):
                    found.add(value)
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                found.update(node.names)
        setattr(tree, _USED, found)
    return found


def bound_names(node: ast.AST) -> Set[str]:
    """Every name that a function, or one within it, binds."""
    found: Set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            found.add(inner.arg)
        elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and inner is not node:
            found.add(inner.name)
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in inner.names)
    return found


def loads(node: Any, name: Any) -> Iterator[ast.Name]:
    """The places in a tree that read a name."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Load):
            yield inner


def stores(node: Any, name: Any) -> Iterator[ast.AST]:
    """The places in a tree that bind a name, parameters and definitions counted."""
    for inner in ast.walk(node):
        if (
            (isinstance(inner, ast.Name) and inner.id == name and not isinstance(inner.ctx, ast.Load))
            or (isinstance(inner, ast.arg) and inner.arg == name)
            or (
                isinstance(inner, (ast.FunctionDef, ast.ClassDef))
                and inner.name == name
                and inner is not node
            )
        ):
            yield inner


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes under one, those of functions and classes within it left out."""
    todo: List[ast.AST] = list(ast.iter_child_nodes(node))
    while todo:
        inner = todo.pop(0)
        yield inner
        if not isinstance(inner, SCOPES):
            todo.extend(ast.iter_child_nodes(inner))


def is_import(stmt: ast.AST) -> bool:
    return isinstance(stmt, (ast.Import, ast.ImportFrom))


def is_docstring(stmt: ast.AST) -> bool:
    return (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Constant)
        and isinstance(stmt.value.value, str)
    )


def atom(node: ast.AST, text: str) -> str:
    """An expression's text fit to be followed by `.name`, `[…]` or an operator."""
    tight = (
        ast.Name,
        ast.Attribute,
        ast.Call,
        ast.Subscript,
        ast.List,
        ast.Dict,
        ast.Tuple,
        ast.Set,
        ast.ListComp,
    )
    if isinstance(node, tight) and not (isinstance(node, ast.Tuple) and not text.startswith("(")):
        return text if "\n" not in text or text[-1:] in ")]}" else f"({text})"
    return f"({text})"


def pure(node: ast.AST, *, calls: Sequence[str] = ()) -> bool:
    """True where evaluating an expression changes nothing and can be done at another place or twice."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)):
            return False
        if isinstance(inner, ast.Call) and not (isinstance(inner.func, ast.Name) and inner.func.id in calls):
            return False
    return True


def names_in(node: Any) -> Set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def cell_class(ctx: Any) -> ClassInfo:
    """The class whose method is at hand; Unfit elsewhere."""
    if hasattr(ctx, "cls"):
        return ctx.cls  # type: ignore[no-any-return]
    owner: Optional[ClassInfo] = ctx.trace.info.owner
    need(owner is not None and owner.module is ctx.module and owner.looks_like_cell)
    return owner  # type: ignore[return-value]


def one_line(text: str) -> str:
    """Source text of several lines as one; Unfit where it holds a comment or a string of several lines."""
    if "\n" not in text:
        return text
    need("#" not in text and '"""' not in text and "'''" not in text and "\\" not in text)
    return re.sub(r"\s*\n\s*", " ", text)
