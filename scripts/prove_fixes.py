"""Proves the rewrites with the real compiler: over measured cases, the rewritten form compiled against
PyNative.

    python scripts/prove_fixes.py TRUTH [--cases NAME…] [--keep FOLDER]
    python scripts/prove_fixes.py --pair BEFORE AFTER …

Needs MindSpore. TRUTH holds `cases/*.py` and `outcomes.jsonl` (rows: case, mindspore, level, outcome,
pynative,
device_bound). Over the `error` and `diverges` cases at 2.10 lax that PyNative runs, it makes all safe and
unsafe
rewrites, compiles the result and compares it with what PyNative gives for the original: on the case's
inputs, on these
scaled and negated, and on ones of another shape. Inputs with which the original itself fails in PyNative
prove nothing
and are left out. A case whose PyNative results depend on random numbers or the time has to compile only.
Prints one line a case and the two figures; exit code 1 where an applied rewrite fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

VARIANTS = ("given", "scaled", "reshaped")
ASSUMED = {"GL702": ("reshaped",)}
"""Inputs that a rewrite's stated assumption rules out: `ops.assign` keeps a Parameter's shape."""


class Case(NamedTuple):
    """A case and its rewritten text, None where nothing was rewritten."""

    name: str
    path: str
    after: Optional[str]
    codes: Tuple[str, ...]
    left: Tuple[str, ...]


def rewrite(path: str, version: str, level: str) -> Tuple[Optional[str], Tuple[str, ...], Tuple[str, ...]]:
    """The text after all safe and unsafe rewrites, the codes that they settle, the errors that are left."""
    from graphlint import engine, fixes
    from graphlint.config import Settings
    from graphlint.finding import Severity
    from graphlint.target import Target

    alone = tempfile.mkdtemp(prefix="prove-fixes-")
    path = shutil.copy(path, alone)
    settings = Settings(targets=(Target(version, level, "CPU"),), unsafe_fixes=True, root=alone)
    before = {f.code for f in engine.check([path], settings).findings if f.fix is not None}
    outcome = fixes.apply([path], settings)
    left = tuple(sorted({f.code for f in outcome.result.findings if f.severity is Severity.ERROR}))
    if not outcome.changes:
        return None, (), left
    after = {f.code for f in outcome.result.findings}
    return outcome.changes[0].after.decode("utf-8"), tuple(sorted(before - after)), left


def eligible(truth: Path, version: str, level: str) -> Dict[str, str]:
    """The cases that the bar counts, with their outcome."""
    found = {}
    for line in (truth / "outcomes.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["mindspore"].startswith(version) or row["level"] != level or row["pynative"] != "ok":
            continue
        if row["outcome"] in ("error", "diverges") and not row.get("device_bound"):
            found[row["case"]] = row["outcome"]
    return found


# In the children


def load(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def plan(module: Any, variant: str) -> List[Any]:
    """The argument lists of the calls, made afresh."""
    calls = getattr(module, "CALLS", None)
    if calls is not None and not isinstance(calls, int):
        made = [list(a) for a in (calls() if callable(calls) else calls)]
    else:
        inputs = module.INPUTS
        made = [list(inputs() if callable(inputs) else inputs) for _ in range(calls or 2)]
    return [[vary(a, variant) for a in args] for args in made]


def vary(value: Any, variant: str) -> Any:
    """The argument, scaled and negated or of another shape where it is a float Tensor."""
    import mindspore as ms
    import numpy as np

    if isinstance(value, (list, tuple)):
        return type(value)(vary(v, variant) for v in value)
    if not isinstance(value, ms.Tensor):
        return value
    data = value.asnumpy()
    if data.dtype.kind == "f" and variant == "scaled":
        data = data * -1.75 + 0.5
    elif data.dtype.kind == "f" and variant == "reshaped" and data.ndim:
        data = np.concatenate([data, data[:1] * 0.5], axis=0)
    return ms.Tensor(data.copy(), value.dtype)


def seed(number: int) -> None:
    import mindspore as ms
    import numpy as np

    ms.set_seed(number)
    np.random.seed(number)
    random.seed(number)


def freeze(value: Any, depth: int = 0) -> Any:
    """A value as plain data that compares across processes."""
    import mindspore as ms
    import numpy as np

    if depth > 6:
        return "…"
    if isinstance(value, ms.Tensor):
        data = value.astype(ms.float32).asnumpy() if value.dtype == ms.bfloat16 else value.asnumpy()
        return np.array(data)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.array(value)
    if isinstance(value, (bool, int, float)):
        return np.array(value)
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return [freeze(v, depth + 1) for v in value]
    if isinstance(value, dict):
        return {str(k): freeze(v, depth + 1) for k, v in value.items()}
    return type(value).__name__


def same(a: Any, b: Any) -> bool:
    import numpy as np

    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape and not a.size == b.size == 1:
            return False
        try:
            return bool(np.allclose(a.ravel().astype(complex), b.ravel().astype(complex), 1e-3, 1e-5, True))
        except (TypeError, ValueError):
            return bool((a == b).all())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def attempt(path: str, graph: bool, variant: str, draw: int) -> Any:
    """The frozen results of all calls, or the exception's text."""
    import mindspore as ms

    try:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        seed(1)
        module = load(path, f"case_{variant}_{draw}_{int(graph)}")
        net = module.Net() if hasattr(module, "Net") else None
        ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
        call = net if net is not None else ms.jit(module.fn) if graph else module.fn
        if hasattr(module, "WRAP"):
            call = module.WRAP(call, net)
        calls = plan(module, variant)
        seed(draw)
        keywords = dict(getattr(module, "KWARGS", {}) or {})
        return [freeze(call(*args, **keywords)) for args in calls]
    except Exception as error:  # whatever the compiler raises is a result here
        return f"{type(error).__name__}: {str(error).strip()}"


def in_child(path: str, graph: bool, timeout: float) -> Dict[Any, Any]:
    """Runs a case in a process of its own; results by (variant, draw)."""
    folder = tempfile.mkdtemp(prefix="prove-")
    out = os.path.join(folder, "out")
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.chdir(folder)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        draws = (1,) if graph else (1, 2)
        results: Dict[Any, Any] = {}
        for variant in VARIANTS:
            for draw in draws:
                results[variant, draw] = attempt(path, graph, variant, draw)
                with open(out + ".part", "wb") as stream:
                    pickle.dump(results, stream)
                os.replace(out + ".part", out)
        os._exit(0)
    limit = time.time() + timeout
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.time() > limit:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.02)
    try:
        with open(out, "rb") as stream:
            return dict(pickle.load(stream))
    except OSError:
        return {}


def judge(before: Dict[Any, Any], after: Dict[Any, Any], codes: Sequence[str] = ()) -> Tuple[str, str]:
    """`proven`, `compiles` (PyNative's results are random), `failed` or `unrunnable`, and the reason."""
    proven = 0
    for variant in VARIANTS:
        expected, again = before.get((variant, 1)), before.get((variant, 2))
        if expected is None or isinstance(expected, str) or any(variant in ASSUMED.get(c, ()) for c in codes):
            continue
        got = after.get((variant, 1), "no result in time")
        if isinstance(got, str):
            return "failed", f"{variant}: {got[:300]}"
        if not same(expected, again):
            proven += 1
            continue
        if not same(expected, got):
            return "failed", f"{variant}: PyNative {str(expected)[:120]}, graph {str(got)[:120]}"
        proven += 2
    if not proven:
        return "unrunnable", str(before.get(("given", 1)))[:200]
    return ("compiles" if proven < 4 and proven % 2 else "proven"), ""


def prove_pairs(files: List[Path], timeout: float) -> int:
    """Proves files that stand in pairs of before and after; 1 where one fails."""
    import mindspore as ms

    ms.set_context(device_target="CPU")
    failed = 0
    for before, after in zip(files[::2], files[1::2]):
        verdict, reason = judge(
            in_child(str(before.resolve()), False, timeout),
            in_child(str(after.resolve()), True, timeout),
            (before.parent.name,),
        )
        failed += verdict == "failed"
        print(f"{verdict:11} {before}  {reason}", flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truth", type=Path, nargs="?")
    parser.add_argument(
        "--pair", type=Path, nargs="+", metavar="FILE", help="prove these files: before, after, …"
    )
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--keep", type=Path, help="folder for the rewritten files")
    parser.add_argument("--version", default="2.10.0")
    parser.add_argument("--level", default="lax")
    parser.add_argument("--timeout", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.pair:
        return prove_pairs(options.pair, options.timeout)
    if options.truth is None:
        parser.error("name the folder of measured cases, or --pair")
    keep = options.keep or Path(tempfile.mkdtemp(prefix="prove-fixes-"))
    keep.mkdir(parents=True, exist_ok=True)
    cases: List[Case] = []
    for name in sorted(eligible(options.truth, options.version[:4], options.level)):
        if not options.cases or name in options.cases:
            path = str((options.truth / "cases" / f"{name}.py").resolve())
            cases.append(Case(name, path, *rewrite(path, options.version, options.level)))
    import mindspore as ms

    ms.set_context(device_target="CPU")
    counts: Dict[str, int] = {}
    for case in cases:
        verdict, reason = "no rewrite", ", ".join(case.left)
        if case.after is not None:
            target = keep / f"{case.name}.py"
            target.write_bytes(case.after.encode("utf-8"))
            verdict, reason = judge(
                in_child(case.path, False, options.timeout),
                in_child(str(target), True, options.timeout),
                case.codes,
            )
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict:11} {case.name:36} {', '.join(case.codes)}  {reason}", flush=True)
    rewritten = len(cases) - counts.get("no rewrite", 0)
    share = 100 * rewritten / max(len(cases), 1)
    print(f"{rewritten} of {len(cases)} cases are rewritten ({share:.1f} %): {counts}")
    return 1 if counts.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
