"""Which Cells and functions there are, from the source alone: places, module names, graphlint's own case
format."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from typing import Dict, FrozenSet, Iterable, List, Optional, Sequence, Set, Tuple

from graphlint.finding import Finding

CASE_NAMES = frozenset({"INPUTS", "INPUTS2", "CALLS"})
_CELL_BASES = frozenset(
    {"Cell", "GraphCell", "SequentialCell", "TrainOneStepCell", "WithLossCell", "LossBase"}
)


@dataclass(frozen=True)
class Place:
    """How a file is imported: its dotted name and what must be on sys.path."""

    module: str
    sys_path: Tuple[str, ...]


@dataclass
class Target:
    """A Cell class or function to verify. `findings` holds indexes into the run's list of findings."""

    path: str
    name: str
    line: int
    is_cell: bool
    findings: List[int] = field(default_factory=list)

    @property
    def key(self) -> Tuple[str, str]:
        return os.path.realpath(self.path), self.name


@dataclass
class FileFacts:
    """What one file defines at its top level."""

    path: str
    cells: Dict[str, int] = field(default_factory=dict)
    ends: Dict[str, int] = field(default_factory=dict)
    bases: Dict[str, Tuple[str, ...]] = field(default_factory=dict)
    functions: Dict[str, int] = field(default_factory=dict)
    jitted: FrozenSet[str] = frozenset()
    names: FrozenSet[str] = frozenset()
    imports: Tuple[str, ...] = ()
    broken: bool = False

    @property
    def is_case(self) -> bool:
        return bool(CASE_NAMES & self.names)


def place_of(path: str, root: str = "") -> Place:
    """The dotted name by the packages (`__init__.py`) around the file; a loose file is imported by its
    stem."""
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        parts.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    places = [folder]
    if root and os.path.realpath(root) not in places:
        places.append(os.path.realpath(root))
    return Place(".".join(parts) or stem, tuple(places))


def read_file(path: str) -> FileFacts:
    """Never raises: a file that can't be read or parsed is `broken`."""
    facts = FileFacts(path)
    try:
        with open(path, encoding="utf-8-sig") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        facts.broken = True
        return facts
    names: Set[str] = set()
    jitted: Set[str] = set()
    imports: List[str] = []
    for node in _top_level(tree.body):
        if isinstance(node, ast.ClassDef):
            facts.bases[node.name] = tuple(_last_name(base) for base in node.bases)
            facts.cells[node.name] = node.lineno
            facts.ends[node.name] = node.end_lineno or node.lineno
        elif isinstance(node, ast.FunctionDef):
            facts.functions[node.name] = node.lineno
            facts.ends[node.name] = node.end_lineno or node.lineno
            if any(_last_name(item) in ("jit", "ms_function") for item in node.decorator_list):
                jitted.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    facts.cells.pop(target.id, None)
        elif isinstance(node, ast.Import):
            imports.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            imports.append(module)
            imports.extend(
                f"{module}{'' if module.endswith('.') else '.'}{alias.name}" for alias in node.names
            )
    facts.names = frozenset(names | set(facts.functions))
    facts.jitted = frozenset(jitted)
    facts.imports = tuple(imports)
    return facts


def _top_level(body: Sequence[ast.stmt]) -> Iterable[ast.stmt]:
    """Statements that run when the module is imported, also under `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _top_level([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _top_level([*node.body, *node.orelse, *node.finalbody])


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


class Catalogue:
    """The files of a project: their facts, and which classes are Cells, also through bases in other files."""

    def __init__(self, paths: Iterable[str], root: str) -> None:
        self.root = os.path.realpath(root)
        self.files: Dict[str, FileFacts] = {}
        for path in paths:
            self.files.setdefault(os.path.realpath(path), read_file(path))
        self._bases: Dict[str, List[Tuple[str, ...]]] = {}
        for facts in self.files.values():
            for name, bases in facts.bases.items():
                self._bases.setdefault(name, []).append(bases)
        self._known: Dict[str, bool] = {}
        self._by_name: Dict[str, str] = {}

    def file(self, path: str) -> FileFacts:
        real = os.path.realpath(path)
        if real not in self.files:
            self.files[real] = read_file(path)
            for name, bases in self.files[real].bases.items():
                self._bases.setdefault(name, []).append(bases)
            self._known.clear()
        return self.files[real]

    def is_cell(self, name: str, depth: int = 0) -> bool:
        """By name: MindSpore's Cell, or a class with such a base. Classes of one name count together."""
        if name in _CELL_BASES or name.endswith("Cell"):
            return True
        if depth > 12:
            return False
        if name not in self._known:
            self._known[name] = False
            self._known[name] = any(
                self.is_cell(base, depth + 1) for bases in self._bases.get(name, []) for base in bases
            )
        return self._known[name]

    def cells(self) -> List[Target]:
        """Every Cell class and jit function at the top level of a file."""
        found = []
        for facts in self.files.values():
            for name, line in facts.cells.items():
                if any(self.is_cell(base) for base in facts.bases[name]):
                    found.append(Target(facts.path, name, line, True))
            for name in sorted(facts.jitted):
                found.append(Target(facts.path, name, facts.functions[name], False))
            if facts.is_case and "fn" in facts.functions and "fn" not in facts.jitted:
                found.append(Target(facts.path, "fn", facts.functions["fn"], False))
        return sorted(found, key=lambda target: (target.path, target.line))

    def target_of(self, finding: Finding) -> Optional[Target]:
        """The Cell or function from whose compilation the finding comes: the first link of its chain."""
        chain = finding.chain or (finding.symbol,)
        path = finding.via[0][0] if finding.via else finding.path
        facts = self.file(path)
        found = self._named(facts, chain[0].split(".")[0] if chain[0] else "")
        if found is None and not finding.via:
            inside = [
                name
                for name, line in {**facts.functions, **facts.cells}.items()
                if line <= finding.line <= facts.ends.get(name, line)
            ]
            found = self._named(facts, inside[0]) if inside else None
        return found

    @staticmethod
    def _named(facts: FileFacts, name: str) -> Optional[Target]:
        if name in facts.cells:
            return Target(facts.path, name, facts.cells[name], True)
        if name in facts.functions:
            return Target(facts.path, name, facts.functions[name], False)
        return None

    def imports_of(self, path: str) -> List[str]:
        """The project's files that a file imports, directly or through others, itself included."""
        by_name = self._names()
        waiting, seen = [os.path.realpath(path)], set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            facts = self.file(current)
            package = place_of(current).module.split(".")
            if not current.endswith("__init__.py"):
                package = package[:-1]
            for name in facts.imports:
                level = len(name) - len(name.lstrip("."))
                full = name.lstrip(".")
                if level:
                    base = package[: len(package) - level + 1]
                    full = ".".join([*base, full] if full else base)
                for candidate in (full, full.rpartition(".")[0]):
                    if candidate in by_name:
                        waiting.append(by_name[candidate])
        return sorted(seen)

    def _names(self) -> Dict[str, str]:
        if not self._by_name:
            for path in self.files:
                module = place_of(path).module
                self._by_name.setdefault(module, path)
                relative = os.path.splitext(os.path.relpath(path, self.root))[0].replace(os.sep, ".")
                self._by_name.setdefault(relative, path)
        return self._by_name
