"""Compiles many small Cells, each in a forked child, and says what became of each. Used by the programs
beside it.

MindSpore is imported once; a child is forked before any operation ran (after one, a fork hangs).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import textwrap
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

LEVELS = {"strict": "0", "lax": "2"}
FALLBACK = re.compile(r"After Optimizer Phase \(total: (\d+)\)")


@dataclass(frozen=True)
class Try:
    """One Cell: `name` says what is tried, `body` is construct's, `init` and `methods` complete the class."""

    name: str
    body: str
    init: str = ""
    methods: str = ""
    head: str = ""
    arguments: str = "(ms.Tensor(np.array([[1., 2., 3.], [4., 5., 6.]], np.float32)),)"


@dataclass(frozen=True)
class Outcome:
    """`status`: ok, fallback, error, crash or timeout; `kind` and `message` of the exception; `text`: the
    result."""

    status: str
    kind: str = ""
    message: str = ""
    text: str = ""


def indented(text: str, spaces: int) -> str:
    return textwrap.indent(text, " " * spaces) + "\n"


def source(number: int, one: Try) -> str:
    lines = one.head + ("\n" if one.head else "") + "class N%d(nn.Cell):\n" % number
    lines += "    def __init__(self):\n        super().__init__()\n"
    lines += indented(one.init, 8) if one.init else ""
    lines += "    def construct(self, x):\n" + indented(one.body, 8)
    return lines + (indented(one.methods, 4) if one.methods else "") + "\n\n"


def load(tries: Sequence[Try], folder: Path, more: str = "") -> List[Any]:
    """One module for all: a child inherits it already read."""
    head = (
        "import mindspore as ms\nimport numpy as np\nfrom mindspore import nn, ops, Tensor, Parameter\n"
        "from mindspore.common.initializer import initializer, Normal\n" + more + "\nG = 1\n\n\n"
    )
    path = folder / "graph_tries_cells.py"
    path.write_text(head + "".join(source(i, one) for i, one in enumerate(tries)), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("graph_tries_cells", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["graph_tries_cells"] = module
    spec.loader.exec_module(module)
    return [getattr(module, "N%d" % i) for i in range(len(tries))]


def short(text: str) -> str:
    """The first line of a message, without paths and addresses."""
    first = next(
        (line.strip() for line in text.splitlines() if line.strip() and not set(line.strip()) <= set("-=")),
        "",
    )
    first = re.sub(r"0x[0-9a-f]+", "0x", first)
    return re.sub(r"/[\w./-]+/", "", first)[:300]


def describe(value: Any) -> str:
    """A result as text: kinds, shapes and numbers; the kinds that Python tells apart and a graph does not
    (numpy's scalars and Python's) read the same."""
    if type(value).__module__ == "numpy" and type(value).__name__ != "ndarray" and hasattr(value, "item"):
        value = value.item()
    if hasattr(value, "asnumpy"):
        array = value.asnumpy()
        return "Tensor %s %s %s" % (array.dtype, array.shape, array.tolist())
    if isinstance(value, (list, tuple)):
        return type(value).__name__.strip("_").lower() + "[" + ", ".join(describe(v) for v in value) + "]"
    return "%s %s" % (type(value).__name__, re.sub(r"0x[0-9a-f]+", "0x", str(value))[:300])


def state(cell: Any) -> str:
    """What a call may have changed on the Cell."""
    parameters = [
        (p.name, p.requires_grad, str(p.dtype), p.asnumpy().tolist()) for p in cell.get_parameters()
    ]
    rest = {k: cell.__dict__.get(k) for k in ("n", "items")}
    return " | %s %s %s %s" % (cell.training, parameters, rest, sorted(cell.name_cells()))


def run_one(cls: Any, one: Try, observe: bool) -> Outcome:
    """One call, and with `observe` what it left on the Cell and (but for in-place methods, which a CPU's
    PyNative doesn't carry out) in its arguments."""
    try:
        cell = cls()
        arguments = eval(one.arguments, vars(sys.modules[cls.__module__]))
        text = describe(cell(*arguments))
        if observe:
            text += state(cell) + ("" if one.name.endswith("_") else describe(list(arguments)))
        return Outcome("ok", text=text)
    except BaseException as error:  # whatever it is, it is the outcome
        return Outcome("error", type(error).__name__, short(str(error)))


def write_rows(
    jobs: Sequence[Tuple[int, Any, Try]], rows: Path, seconds: float, graph: bool, observe: bool
) -> None:
    """Runs in a forked child: one row a job, appended as it is known; leaves after the first compile
    error."""
    log = rows.with_name("log")
    with open(log, "wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.chdir(rows.parent)
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE, device_target="CPU")
    for number, cls, one in jobs:
        signal.alarm(int(seconds))
        before = log.stat().st_size
        outcome = run_one(cls, one, observe)
        if graph and outcome.status == "ok":
            sys.stderr.flush()
            logged = log.read_bytes()[before:].decode("utf-8", "replace")
            if any(int(total) for total in FALLBACK.findall(logged)):
                outcome = replace(outcome, status="fallback")
        with open(rows, "a", encoding="utf-8") as file:
            file.write(json.dumps([number, *astuple(outcome)]) + "\n")
        if graph and outcome.status == "error":
            break


def in_children(
    jobs: List[Tuple[int, Any, Try]], batch: int, folder: Path, seconds: float, graph: bool, observe: bool
) -> Dict[int, Outcome]:
    """The outcome of every job: up to `batch` of them share a forked child, until one fails to compile or
    dies."""
    found: Dict[int, Outcome] = {}
    rows = folder / "rows"
    while jobs:
        now = jobs[:batch]
        rows.write_text("", encoding="utf-8")
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            try:
                write_rows(now, rows, seconds, graph, observe)
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        for line in rows.read_text(encoding="utf-8").splitlines():
            number, *fields = json.loads(line)
            found[number] = Outcome(*fields)
        if os.WIFSIGNALED(status) or now[0][0] not in found:
            number = next((n for n, _, _ in now if n not in found), now[-1][0])
            timed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
            found.setdefault(number, Outcome("timeout" if timed else "crash"))
        jobs = [job for job in jobs if job[0] not in found]
    return found


def run(
    tries: Sequence[Try],
    level: str = "lax",
    graph: bool = True,
    precompile: bool = False,
    seconds: float = 20.0,
    head: str = "",
    observe: bool = False,
    batch: int = 1,
) -> List[Outcome]:
    """The outcomes of all `tries`, in order. `precompile`: the front end only, no kernels; `batch`: how many
    may share a child; `observe`: the Cell's own state is part of the result."""
    settings: Dict[str, str] = {"MS_DEV_JIT_SYNTAX_LEVEL": LEVELS[level], "MS_DEV_FALLBACK_DUMP_NODE": "1"}
    if precompile:
        settings["MS_DEV_PRECOMPILE_ONLY"] = "1"
    os.environ.update(settings)
    if not precompile:
        os.environ.pop("MS_DEV_PRECOMPILE_ONLY", None)
    import mindspore  # noqa: F401 - imported before the forks

    folder = Path(tempfile.mkdtemp(prefix="graph-tries-"))
    try:
        jobs = [(i, cls, one) for i, (cls, one) in enumerate(zip(load(tries, folder, head), tries))]
        found = in_children(jobs, batch, folder, seconds, graph, observe)
        return [found[i] for i in range(len(tries))]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
