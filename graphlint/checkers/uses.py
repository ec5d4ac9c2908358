"""What a module uses of MindSpore and PyTorch: names, calls and imports, found in one walk."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

from graphlint.checkers.base import ModuleContext
from graphlint.project import ClassInfo, External, Module, Symbol
from graphlint.tree import walk

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
Place = Union[ast.expr, ast.stmt]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
OWNERS = ("mindspore", "torch", "torchvision")


class Use(NamedTuple):
    """A name of MindSpore's or PyTorch's where it is read: `nn.Dense`; `name` is `mindspore.nn.Dense`."""

    node: Place
    name: str
    call: Optional[ast.Call] = None

    @property
    def owner(self) -> str:
        return self.name.partition(".")[0]

    @property
    def short(self) -> str:
        """The name as one says it: `nn.Dense`."""
        return short(self.name)


@dataclass
class Uses:
    """All uses in one module, in the order of the text, and its calls of methods by the method's name."""

    names: List[Use] = field(default_factory=list)
    methods: Dict[str, List[ast.Call]] = field(default_factory=dict)
    owners: Set[str] = field(default_factory=set)
    _calls: Optional[List[Use]] = None

    def calls(self) -> List[Use]:
        """The calls of MindSpore's names."""
        if self._calls is None:
            self._calls = [use for use in self.names if use.call is not None and use.owner == "mindspore"]
        return self._calls


def short(name: str) -> str:
    """`mindspore.nn.Dense` as `nn.Dense`, `mindspore.set_context` as `mindspore.set_context`."""
    tail = name[len("mindspore.") :] if name.startswith("mindspore.") else name
    return tail if "." in tail else name


def uses(ctx: ModuleContext) -> Uses:
    """What the module uses, found once for all rules.

    A name that a function binds itself doesn't count, unless the function imports it.
    """
    return ctx.once(_uses)


def _uses(ctx: ModuleContext) -> Uses:
    module = ctx.module
    found = Uses()
    known: Dict[str, Optional[str]] = {}
    local: Dict[str, List[ast.AST]] = {}
    parents = module.parents
    roots: List[Tuple[ast.Name, str]] = []
    imported = _function_imports(module)
    for node in module.nodes:
        kind = type(node)
        if kind is ast.Name:
            name = node.id  # type: ignore[attr-defined]
            if name not in known:
                known[name] = _owned(module, name)
            dotted = known[name]
            if dotted is not None or name in imported:
                if isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                    roots.append((node, dotted or ""))  # type: ignore[arg-type]
                elif _function(node, parents) is not None:
                    local.setdefault(name, []).append(_function(node, parents))  # type: ignore[arg-type]
        elif kind is ast.arg:
            local.setdefault(node.arg, []).append(_function(node, parents))  # type: ignore[attr-defined, arg-type]
        elif kind is ast.Call and isinstance(node.func, ast.Attribute):  # type: ignore[attr-defined]
            found.methods.setdefault(node.func.attr, []).append(node)  # type: ignore[attr-defined, arg-type]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.names.extend(_imported(node, module))
    for root, dotted in roots:
        name = dotted
        if root.id in local or root.id in imported:
            name = _bound(root, dotted, local.get(root.id, ()), imported.get(root.id, {}), parents)
        if name:
            found.names.append(_use(root, name, parents))
    found.owners = {use.owner for use in found.names}
    found.owners.update(base.partition(".")[0] for base in module.stars if base.startswith(OWNERS))
    return found


def _function_imports(module: Module) -> Dict[str, Dict[ast.AST, str]]:
    """Name → function that imports it → full name; empty for what is neither MindSpore's nor PyTorch's."""
    found: Dict[str, Dict[ast.AST, str]] = {}
    for node in module.nodes:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        function = _function(node, module.parents)
        if function is None:
            continue
        for alias in node.names:
            bound, dotted = alias.asname or alias.name, alias.name
            if isinstance(node, ast.Import):
                bound = alias.asname or bound.partition(".")[0]
                dotted = dotted if alias.asname else bound
            else:
                dotted = f"{module.absolute(node.module or '', node.level)}.{alias.name}"
            symbol = module.project.resolve_dotted(dotted, module)
            found.setdefault(bound, {})[function] = _owned_by(symbol) or ""
    return found


def _bound(
    root: ast.Name,
    dotted: str,
    local: Sequence[ast.AST],
    imported: Mapping[ast.AST, str],
    parents: Dict[ast.AST, ast.AST],
) -> str:
    """The full name that a name has where it stands: the innermost function that binds it decides."""
    for function in _functions(root, parents):
        if function in local:
            return ""
        if function in imported:
            return imported[function]
    return dotted


def _owned(module: Module, name: str) -> Optional[str]:
    return _owned_by(module.lookup(name))


def _owned_by(symbol: Optional[Symbol]) -> Optional[str]:
    if isinstance(symbol, External) and symbol.dotted.partition(".")[0] in OWNERS:
        return symbol.dotted
    return None


def _use(root: ast.expr, dotted: str, parents: Dict[ast.AST, ast.AST]) -> Use:
    node, above = root, parents.get(root)
    while isinstance(above, ast.Attribute):
        dotted = f"{dotted}.{above.attr}"
        node, above = above, parents.get(above)
    call = above if isinstance(above, ast.Call) and above.func is node else None
    return Use(node, dotted, call)


def _imported(stmt: Union[ast.Import, ast.ImportFrom], module: Module) -> Iterator[Use]:
    if isinstance(stmt, ast.Import):
        for alias in stmt.names:
            if alias.name.partition(".")[0] in OWNERS:
                yield Use(stmt, alias.name)
    elif stmt.level == 0 and (stmt.module or "").partition(".")[0] in OWNERS:
        for alias in stmt.names:
            if alias.name != "*":
                yield Use(stmt, f"{stmt.module}.{alias.name}")


def _functions(node: ast.AST, parents: Dict[ast.AST, ast.AST]) -> Iterator[Function]:
    above: Optional[ast.AST] = node
    while above is not None:
        if isinstance(above, FUNCTIONS):
            yield above
        above = parents.get(above)


def _function(node: ast.AST, parents: Dict[ast.AST, ast.AST]) -> Optional[Function]:
    return next(_functions(node, parents), None)


def function_of(node: ast.AST, module: Module) -> Optional[Function]:
    """The innermost function around the node (or itself)."""
    return _function(node, module.parents)


def class_of(node: ast.AST, module: Module) -> Optional[ClassInfo]:
    """The top-level class around the node."""
    above: Optional[ast.AST] = node
    while above is not None:
        if isinstance(above, ast.ClassDef) and above.name in module.classes:
            found = module.classes[above.name]
            if found.node is above:
                return found
        above = module.parents.get(above)
    return None


def loop_of(node: ast.AST, module: Module) -> Optional[ast.AST]:
    """The innermost loop that runs the node again and again within its own function."""
    child, above = node, module.parents.get(node)
    while above is not None and not isinstance(above, FUNCTIONS):
        if (
            isinstance(above, LOOPS)
            and child not in above.orelse
            and child is not getattr(above, "iter", None)
        ):
            return above
        child, above = above, module.parents.get(above)
    if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in above.decorator_list:
        return loop_of(above, module)
    return None


def bindings(name: str, at: ast.AST, module: Module) -> List[ast.expr]:
    """The expressions assigned to `name` in the function around `at`, else at the module's top level."""
    function = function_of(at, module)
    while function is not None:
        if any(a.arg == name for a in walk(function.args) if isinstance(a, ast.arg)):
            return []
        found = _assigned(name, function)
        if found:
            return found
        above = module.parents.get(function)
        function = function_of(above, module) if above is not None else None
    return list(module.assigned.get(name, ()))


def _assigned(name: str, function: Function) -> List[ast.expr]:
    found: List[ast.expr] = []
    for node in walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
            found.append(value)
    return found


def made_by(expr: ast.expr, module: Module) -> str:
    """The full name of the one call that made a name's value (`mindspore.nn.SGD`), else empty."""
    if isinstance(expr, ast.Name):
        values = bindings(expr.id, expr, module)
        if len(values) != 1:
            return ""
        expr = values[0]
    if isinstance(expr, ast.Call):
        return module.dotted(expr.func) or ""
    return ""


def class_made(expr: ast.expr, module: Module) -> Optional[ClassInfo]:
    """The project's class whose instance a name holds, or that a call makes; None where that isn't plain."""
    if isinstance(expr, ast.Name):
        values = bindings(expr.id, expr, module)
        if len(values) != 1:
            return None
        expr = values[0]
    if isinstance(expr, ast.Call):
        symbol = module.resolve(expr.func)
        return symbol if isinstance(symbol, ClassInfo) else None
    return None


def constant(node: Optional[ast.AST]) -> object:
    """The number, text, bool or None that the expression is; Ellipsis where it isn't a constant."""
    if isinstance(node, ast.Constant):
        return node.value
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return -value if isinstance(value, (int, float)) else ...
    return ...


def keyword(call: ast.Call, name: str) -> Optional[ast.expr]:
    """The value of a keyword argument."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def has_stars(call: ast.Call) -> bool:
    """True where the call spreads `*args` or `**kwargs`, so that what is given isn't all to be seen."""
    return any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)
