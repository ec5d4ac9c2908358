"""Reads the graph compiler's own lists out of the installed MindSpore and writes compiler-<major.minor>.json.

    python scripts/read_compiler.py OUT_DIR

Lists that the package keeps in Python are read. What only its C++ part knows (statement and expression nodes
that the parser takes, exceptions that `raise` takes, attributes that a Tensor has in a graph) is measured:
one small Cell each, compiled in a forked child. Run it with an interpreter that has MindSpore; a second run
writes the same bytes.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).parent))

import graph_tries

STATEMENTS = {
    "Expr": "self.helper(x)",
    "Return": "if x.shape[0] > 1:\n    return x",
    "Return-then-code": "return x\ny = x",
    "If": "if x.shape[0] > 1:\n    x = x + 1",
    "Assign": "y = x",
    "AnnAssign": "y: int = 1",
    "AugAssign": "x += 1",
    "While": "while x.shape[0] > 9:\n    x = x + 1",
    "For": "for i in range(2):\n    x = x + i",
    "FunctionDef": "def f(v):\n    return v\nx = f(x)",
    "Global": "global G",
    "Break": "for i in range(2):\n    break",
    "Continue": "for i in range(2):\n    continue",
    "Pass": "pass",
    "Raise": "if x.shape[0] > 9:\n    raise ValueError('m')",
    "Assert": "assert x.shape[0] == 2, 'm'",
    "With": "with CTX as c:\n    x = x + c",
    "Try": "try:\n    x = x + 1\nexcept ValueError:\n    pass",
    "TryStar": "try:\n    x = x + 1\nexcept* ValueError:\n    pass",
    "Import": "import math",
    "Nonlocal": None,
    "ImportFrom": "from math import pi",
    "Delete": "y = x\ndel y",
    "ClassDef": "class A:\n    pass",
    "AsyncFunctionDef": "async def f():\n    pass",
    "AsyncFor": None,
    "AsyncWith": None,
    "Match": "match x.shape[0]:\n    case 1:\n        x = x + 1",
    "TypeAlias": "type A = int",
    "While-else": "while x.shape[0] > 9:\n    x = x + 1\nelse:\n    pass",
    "For-else": "for i in range(2):\n    x = x + i\nelse:\n    x = x + 1",
}
EXPRESSIONS = {
    "BinOp": "x + 1",
    "Name": "x",
    "Constant": "1",
    "Call": "self.helper(x)",
    "IfExp": "x if x.shape[0] > 1 else 1",
    "Attribute": "x.shape",
    "Compare": "x.shape[0] > 1",
    "BoolOp": "x.shape[0] and 1",
    "Lambda": "(lambda v: v)(x)",
    "Tuple": "(x, 1)",
    "List": "[x, 1]",
    "Subscript": "x[0]",
    "Slice": "x[0:1]",
    "UnaryOp": "-x",
    "Dict": "{'a': x}",
    "Ellipsis": "x[..., 0]",
    "DictComp": "{i: x for i in range(2)}",
    "ListComp": "[x + i for i in range(2)]",
    "GeneratorExp": "tuple(x + i for i in range(2))",
    "JoinedStr": "f'{1}'",
    "Starred": "(*(1, 2), 3)",
    "Set": "{1, 2}",
    "SetComp": "{i for i in range(2)}",
    "Yield": "(yield x)",
    "YieldFrom": "(yield from (x,))",
    "Await": None,
    "NamedExpr": "(y := x)",
    "Constant-bytes": "b'a'",
    "Constant-complex": "1j",
    "ListComp-two-for": "[i + j for i in (1, 2) for j in (1, 2)]",
    "ListComp-if": "[i for i in (1, 2) if i > 1]",
    "Call-starred": "self.helper(*(x,))",
    "Call-double-starred": "self.helper(**{'v': x})",
    "Compare-chained": "1 < x.shape[0] < 3",
    "Constant-str": "'a'",
    "Constant-None": "None",
    "MatMult": "x @ x.T",
}
WITH_HEAD = """
@ms.jit_class
class Ctx:
    def __enter__(self):
        return 1

    def __exit__(self, kind, value, traceback):
        return None


CTX = Ctx()
"""
NAMESPACES = ("mindspore.graph._parse", "mindspore._extends.parse")


def part(name: str) -> Any:
    """A module of the parser, wherever this version keeps it."""
    for prefix in NAMESPACES:
        try:
            module = importlib.import_module(prefix + "." + name)
        except ImportError:
            continue
        if len(vars(module)) > 12 or name != "parser":
            return module
    return None


def name_of(obj: Any) -> str:
    """`builtins.len`, `mindspore.COOTensor`: what a key of the compiler's maps is called."""
    module = getattr(obj, "__module__", None) or ""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__
    if re.search(r"\.trope$", module):
        return "operator." + name
    module = {"_operator": "operator"}.get(module, module)
    return module + "." + name if module else name


def value_of(obj: Any) -> str:
    if type(obj).__module__.startswith("mindspore"):
        return str(getattr(obj, "name", type(obj).__name__))
    return str(getattr(obj, "__name__", type(obj).__name__))


def python_lists() -> Dict[str, Any]:
    """The tables that the package keeps in Python."""
    parser, resources, standard = part("parser"), part("resources"), part("standard_method")
    tables: Dict[str, Any] = {
        "write_back": sorted(parser.parse_expr_statement_white_list),
        "unsupported_builtin_types": sorted(t.__name__ for t in parser._unsupported_python_builtin_type),
        "fallback_unsupported_builtins": sorted(
            f.__name__ for f in getattr(parser, "_fallback_unsupported_python_builtin_type", ())
        ),
        "convert_object_map": {name_of(k): value_of(v) for k, v in resources.convert_object_map.items()},
        "constant_fold": sorted({name_of(f) for f in getattr(resources, "constant_fold_functions", ())}),
        "class_to_function": sorted(
            re.findall(r"'(\w+)'", " ".join(getattr(resources, "convert_class_to_function_map", {})))
        ),
        "binary_operators": sorted(k.__name__ for k in resources.parse_object_map if isinstance(k, type)),
        "standard_methods": sorted(
            n
            for n, f in vars(standard).items()
            if callable(f) and not n.startswith("_") and getattr(f, "__module__", "") == standard.__name__
        ),
    }
    for path in ("mindspore.graph._utils.check_jit_forbidden_api", "mindspore._check_jit_forbidden_api"):
        try:
            lists = importlib.import_module(path)
            tables["forbidden_methods"] = sorted(lists.get_jit_forbidden_method())
            tables["forbidden_modules"] = sorted(lists.get_jit_forbidden_module())
            break
        except (ImportError, AttributeError):
            tables.setdefault("forbidden_methods", [])
            tables.setdefault("forbidden_modules", [])
    third = part("jit_fallback_modules.third_party_modules") or part("jit_fallback_modules")
    tables["third_party_modules"] = sorted(
        set(
            getattr(third, "third_party_modules_whitelist", ())
            or getattr(third, "jit_fallback_third_party_modules_whitelist", ())
        )
    )
    tables["third_party_side_effects"] = side_effects(parser)
    return tables


def side_effects(parser: Any) -> Dict[str, List[str]]:
    """The functions of other packages that the parser keeps in order: a literal in its source."""
    tree = ast.parse(Path(parser.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Dict)
            and node.targets[0].id == "side_effect_attrs"
        ):
            return {k: sorted(v) for k, v in ast.literal_eval(node.value).items()}
    return {}


def node_tries() -> List[Tuple[str, str, str]]:
    """(table, name, body of construct) for every node that this Python can write."""
    found = []
    for name, text in STATEMENTS.items():
        if text is not None:
            found.append(("statements", name, text + "\nreturn x"))
    for name, text in EXPRESSIONS.items():
        if text is not None:
            found.append(("expressions", name, "z = %s\nreturn z" % text))
    return found


def compiles_here(body: str) -> bool:
    try:
        ast.parse("def f(self, x):\n" + graph_tries.indented(body, 4))
    except SyntaxError:
        return False
    return True


def finished(tries: List[graph_tries.Try], **options: Any) -> List[graph_tries.Outcome]:
    """The outcomes; no table may rest on a try that ran out of time or died."""
    outcomes = graph_tries.run(tries, seconds=300, **options)
    for one, outcome in zip(tries, outcomes):
        if outcome.status in ("timeout", "crash"):
            raise SystemExit("%s: %s" % (one.name, outcome.status))
    return outcomes


def nodes() -> Dict[str, Dict[str, str]]:
    """For every node `ok`, or the parser's refusal in its own words; `unwritable` where this Python has no
    such node."""
    tables: Dict[str, Dict[str, str]] = {"statements": {}, "expressions": {}}
    tries, order = [], []
    for table, name, body in node_tries():
        if not compiles_here(body):
            tables[table][name] = "unwritable"
            continue
        order.append((table, name))
        tries.append(
            graph_tries.Try(
                name,
                body,
                methods="def helper(self, v):\n    return v",
                head=WITH_HEAD if name == "With" else "",
            )
        )
    for (table, name), outcome in zip(order, finished(tries, precompile=True, batch=20)):
        refused = re.search(
            r"Unsupported (?:statement|expression|Constant type)\b.*|.*is not supported now.*|"
            r".*supports? (?:only )?1? ?'?comprehension.*|.*[Uu]nsupported.*",
            outcome.message,
        )
        tables[table][name] = (
            refused.group(0)[:120].strip()
            if outcome.status == "error" and refused
            else ("ok" if outcome.status != "error" else "error: " + outcome.message[:100])
        )
    return tables


def exceptions() -> List[str]:
    """The built-in exceptions that `raise` takes in graph code, all tried."""
    names = sorted(
        n
        for n, e in vars(builtins).items()
        if isinstance(e, type) and issubclass(e, Exception) and not issubclass(e, Warning) and e.__name__ == n
    )
    tries = [graph_tries.Try(n, "if x.shape[0] > 1:\n    raise %s('graphlint')\nreturn x" % n) for n in names]
    outcomes = finished(tries)
    return [
        n
        for n, o in zip(names, outcomes)
        if o.kind == n and "graphlint" in o.message and "nsupported" not in o.message
    ]


def tensor_attributes(level: str) -> Dict[str, List[str]]:
    """What `x.NAME` is in a graph: in the compiler's own table, an error, or (lax) left to Python."""
    import mindspore

    names = sorted(n for n in dir(mindspore.Tensor) if not n.startswith("_"))
    tries = [graph_tries.Try(n, "if x.%s is None:\n    return 1\nreturn x" % n) for n in names]
    found: Dict[str, List[str]] = {"known": [], "unknown": []}
    for name, outcome in zip(names, finished(tries, level=level, batch=60)):
        missing = outcome.status == "error" and re.search(
            r"cannot get attributes|has no attribute|does not have attribute|not supported in 'construct'",
            outcome.message,
        )
        found["unknown" if missing else "known"].append(name)
    return found


def compact(table: Dict[str, Any]) -> str:
    """One key a line."""
    rows = [
        "%s:%s" % (json.dumps(k), json.dumps(table[k], sort_keys=True, separators=(",", ":")))
        for k in sorted(table)
    ]
    return "{" + ",\n".join(rows) + "}\n"


def main(arguments: Sequence[str]) -> Optional[int]:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    os.environ.setdefault("GLOG_v", "4")
    import mindspore

    table: Dict[str, Any] = {"mindspore": mindspore.__version__}
    table.update(nodes())
    table["exceptions"] = exceptions()
    attributes = tensor_attributes("strict")
    table["tensor_attributes"], table["tensor_fallback"] = attributes["known"], attributes["unknown"]
    table.update(python_lists())
    version = ".".join(re.findall(r"\d+", mindspore.__version__)[:2])
    path = Path(arguments[0]) / ("compiler-%s.json" % version)
    path.write_text(compact(table), encoding="utf-8")
    print("%s: MindSpore %s, %d KB" % (path, mindspore.__version__, path.stat().st_size // 1024))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
