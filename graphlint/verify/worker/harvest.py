"""Sub-Cells with their real inputs, from one PyNative run of something that was built.

A producer builds and calls a model: {"module", "file", "target", "entry": a recipe, "inputs_pool":
[[spec…]…]}, or runs the examples in a class's docstring: {"module", "file", "target", "doctest": true}.
While it runs, every call of a Cell is seen; the first call of the first instance of each class is kept with
its arguments.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import json
import os
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, cast

import numpy

from graphlint.verify.worker import framework, inputs, load, recipe, values


class Captured(BaseException):
    """Raised to end the producer's run as soon as the wanted instance has been called."""


class Kept:
    """An instance and the arguments of its first call."""

    def __init__(self, cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        self.cell, self.args, self.kwargs = cell, args, kwargs


def where(cls: type) -> Tuple[str, str]:
    """File and qualified name of a class; the file is empty where it has no source."""
    try:
        file = inspect.getfile(cls)
    except (TypeError, OSError):
        file = ""
    return os.path.realpath(file) if file else "", cls.__qualname__


@contextlib.contextmanager
def watching(seen: Callable[[Any, Tuple[Any, ...], Dict[str, Any]], None]) -> Iterator[None]:
    """Call `seen(cell, args, kwargs)` before every call of a Cell."""
    cell_class = framework.nn.Cell
    original = cell_class.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen(self, args, kwargs)
        return original(self, *args, **kwargs)

    cell_class.__call__ = call
    try:
        yield
    finally:
        cell_class.__call__ = original


def produce(
    producer: Dict[str, Any], log: Any, again: Optional[Callable[[], None]] = None
) -> Optional[List[Dict[str, Any]]]:
    """Run the producer once in PyNative; returns the inputs that it ran with (None for a docstring).

    Raises what it raises. `again` is called before each attempt with other inputs.
    """
    module = load.import_file(producer["module"], producer["file"])
    framework.set_seed(1)
    if producer.get("doctest"):
        run_docstring(load.resolve(module, producer["target"]), module)
        return None
    entry = producer["entry"]
    scope = vars(module)
    given = None
    if entry.get("made_by"):
        made = load.resolve(module, entry["made_by"])()
        parts = made if isinstance(made, tuple) else (made,)
        subject, given = parts[0], list(parts[1:])
    else:
        subject = recipe.make_subject(
            load.resolve(module, producer["target"]), {**entry, "factory": True}, scope
        )
    if entry.get("train") is not None and framework.is_cell(subject):
        subject.set_train(bool(entry["train"]))
    if not framework.is_cell(subject):
        raise TypeError(f"{producer['target']} gave a {type(subject).__name__}, not a Cell")
    log.enter("inputs")
    keywords = {key: inputs.make(spec, scope) for key, spec in entry.get("keywords", {}).items()}
    pool = producer.get("inputs_pool") or [entry.get("inputs", [])]
    last: Optional[Exception] = None
    for specs in pool:
        if again is not None:
            again()
        arguments = recipe.argument_lists({**entry, "inputs": specs, "calls": 1}, scope, given)[0]
        log.enter("execute")
        framework.set_seed(1)
        try:
            values.settled(subject(*arguments, **keywords))
            return cast("List[Dict[str, Any]]", specs)
        except Captured:
            raise
        except Exception as error:
            last = error
    raise last if last is not None else RuntimeError("no inputs to try")


def run_docstring(cls: Any, module: Any) -> None:
    """Execute the examples of a docstring; an example that fails ends it quietly, what was called before
    counts."""
    text = inspect.getdoc(cls) or ""
    scope = {**vars(framework.ms), **vars(module)}
    scope.update(ms=framework.ms, mindspore=framework.ms, nn=framework.nn, ops=framework.ms.ops)
    scope.update(Tensor=framework.ms.Tensor, Parameter=framework.ms.Parameter, np=numpy)
    scope["__name__"] = module.__name__
    for example in doctest.DocTestParser().get_examples(text):
        if (
            "set_context" in example.source
            or "set_device" in example.source
            or example.source.startswith("print(")
        ):
            continue
        try:
            exec(compile(example.source, "<docstring>", "exec"), scope)
        except Captured:
            raise
        except Exception:
            return


def build(job: Dict[str, Any], module: Any, log: Any) -> Any:
    """A build.Target for job["entry"]: {"kind": "harvest", "producer", "class": [file, qualified name]}."""
    from graphlint.verify.worker.build import Target

    wanted = tuple(job["entry"]["class"])
    kept: List[Kept] = []

    def seen(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        if where(type(cell)) == wanted:
            kept.append(Kept(cell, args, kwargs))
            raise Captured

    framework.use_mode("pynative", job.get("level", "lax"))
    with watching(seen), contextlib.suppress(Captured):
        produce(job["entry"]["producer"], log)
    if not kept:
        raise LookupError(f"{wanted[1]} was not called")
    framework.use_mode(job["mode"], job.get("level", "lax"))
    log.enter("inputs")
    target = Target()
    target.cell = kept[0].cell
    target.keywords = values.fresh(dict(kept[0].kwargs))
    arguments = values.fresh(tuple(kept[0].args))
    target.argument_lists = [arguments, arguments]
    return target


def run(job: Dict[str, Any], log: Any, result: Dict[str, Any]) -> None:
    """Job kind `harvest`: run the producer, then compile every class found, one after the other, in this
    process.

    Appends one JSON line to job["records"] per class: file, class, outcome (`ok`, or `suspect` for anything
    that must be looked at alone), words, seconds. Ends after the first refusal (MindSpore's list of
    fallback nodes isn't cleared by a failed compile) and when job["seconds"] are over; result["more"] is
    True where classes are left.
    """
    log.enter("device")
    if job.get("device"):
        framework.use_device(job["device"], int(job.get("device_id", 0)))
    framework.use_mode("pynative", job.get("level", "lax"))
    framework.count_compilations()
    log.enter("import")
    load.prepare(job)
    log.enter("build")
    root = job["root"].rstrip(os.sep) + os.sep
    kept: Dict[Tuple[str, str], Kept] = {}

    def seen(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        key = where(type(cell))
        if key in kept or not key[0].startswith(root):
            return
        kept[key] = Kept(cell, values.fresh(tuple(args)), values.fresh(dict(kwargs)))

    with watching(seen):
        result["inputs"] = produce(job["producer"], log, kept.clear)
    result["classes"] = [list(key) for key in kept]
    done = {tuple(item) for item in job.get("skip", [])}
    wanted = {tuple(item) for item in job.get("wanted", [])}
    began = time.perf_counter()
    result["more"] = False
    for key, item in kept.items():
        if key in done or key not in wanted:
            continue
        if time.perf_counter() - began > float(job.get("seconds", 60)):
            result["more"] = True
            return
        log.enter("class:" + key[1].replace(" ", ""))
        record = compare_in_place(item, job, log)
        record.update(file=key[0], name=key[1])
        with open(job["records"], "a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        if record["refused"]:
            result["more"] = True
            return


def compare_in_place(item: Kept, job: Dict[str, Any], log: Any) -> Dict[str, Any]:
    """PyNative and graph on one instance, its Parameters put back in between."""
    from graphlint.verify.worker import compare
    from graphlint.verify.worker import run as runner

    record: Dict[str, Any] = {"outcome": "suspect", "words": "", "refused": False}
    began = time.perf_counter()
    saved = {
        name: (parameter, parameter.asnumpy().copy()) for name, parameter in item.cell.parameters_and_names()
    }
    try:
        framework.use_mode("pynative", job.get("level", "lax"))
        values.remember(item.cell)
        attributes = values.attributes(item.cell)
        first = _calls(item)
        if compare.compare(attributes, values.attributes(item.cell)):
            record["words"] = "its attributes change in PyNative"
            return record
        _restore(saved)
        runner.flush()
        err = runner.size_of("err")
        framework.use_mode("graph", job.get("level", "lax"))
        compiled = framework.COUNTS.compilations
        try:
            second = _calls(item)
        except Exception as error:
            record["refused"] = True
            record["words"] = f"{type(error).__name__}: {error}"[:300]
            return record
        runner.flush()
        differences = compare.compare(first, second) or compare.compare(
            attributes, values.attributes(item.cell)
        )
        nodes = runner.parse_fallback(runner.read_from("err", err, 1 << 22))
        if differences:
            record["words"] = (
                f"{differences[0]['where']}: {differences[0]['pynative']} and {differences[0]['graph']}"
            )
        elif nodes:
            record["words"] = f"{len(nodes)} Python interpreter nodes"
        elif framework.COUNTS.compilations - compiled > 1:
            record["words"] = "compiled anew for the same arguments"
        else:
            record["outcome"], record["words"] = "ok", "same results, arguments and Parameters as in PyNative"
    except Exception as error:
        record["words"] = f"{type(error).__name__}: {error}"[:300]
    finally:
        framework.use_mode("pynative", job.get("level", "lax"))
        _restore(saved)
        record["seconds"] = round(time.perf_counter() - began, 3)
    return record


def _calls(item: Kept) -> Any:
    results = []
    for _ in range(2):
        arguments, keywords = values.fresh(item.args), values.fresh(item.kwargs)
        returned = item.cell(*arguments, **keywords)
        results.append(("tuple", [values.settled(returned), values.encode(list(arguments))], 2))
    return ("tuple", [*results, ("dict", values.parameters(item.cell))], 3)


def _restore(saved: Dict[str, Tuple[Any, Any]]) -> None:
    for parameter, data in saved.values():
        parameter.set_data(framework.ms.Tensor(data, parameter.dtype))
