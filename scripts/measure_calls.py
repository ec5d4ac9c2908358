"""Measures what calls do inside `construct` and merges the outcomes into graph_calls.json.

    python scripts/measure_calls.py OUT_DIR [lax] [strict] [--only PATTERN]

Run it with an interpreter that has MindSpore, once for each version; without levels it measures both. Every
call is made in PyNative first (what fails there, or has no kernel on a CPU, is `unmeasurable`), then
compiled in a forked child with 20 seconds; results are compared. The columns of other versions in the file
stay as they are.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

os.environ.setdefault("GLOG_v", "3")
sys.path.insert(0, str(Path(__file__).parent))

import calls_tried
import doc_facts
import graph_tries
from graph_tries import Outcome, Try

OUTCOMES = ["ok", "fallback", "error", "diverges", "unmeasurable", "crash", "timeout", "-", "output"]
NO_KERNEL = re.compile(
    r"Kernel select failed|Unsupported op|kernel .* unregistered|not support.* on CPU|on CPU is not|"
    r"only support.* Ascend|Unsupported.* device|platform.*CPU",
    re.I,
)
NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")
SECONDS = 120.0
OUTPUT = re.compile(r"list\[|dict |(?:Float|Int|UInt|Bool|Number|Type\w*) \w+ \|")
"""A right result of a kind that leaves any graph through the interpreter, whatever computed it."""


def make(name: str, body: str, inputs: str = "F") -> Try:
    text = body.replace("V0", "Tensor([0])").replace("V1", "Tensor([1.0])")
    text = re.sub(r"\bI\b", lambda _: calls_tried.INDEX, text) if name.startswith("Tensor.") else text
    return Try(name, text, calls_tried.INIT, calls_tried.METHODS, "", calls_tried.INPUTS[inputs])


def fixed_tries() -> List[Try]:
    """The rows of calls_tried.py."""
    found = [make("Cell." + n, body) for n, body in calls_tried.CELL.items()]
    found += [make("Parameter." + n, body) for n, body in calls_tried.PARAMETER.items()]
    found += [make("mindspore." + n, "return ms." + call) for n, call in calls_tried.MINDSPORE.items()]
    for module, calls in calls_tried.PYTHON.items():
        for call in (c.strip() for c in calls.split("|")):
            label = re.match(r"([a-z ]+)=(?!=)", call)
            text = call[label.end() :] if label else call
            if module in ("builtins-of-tensor", "list", "str", "dict", "tuple"):
                found.append(make("%s: %s" % (module, text), "return " + text))
                continue
            name = label.group(1) if label else text.split("(")[0]
            prefix = {"numpy": "np.", "builtins": ""}.get(module, module + ".")
            found.append(make(module + "." + name, "return " + prefix + text))
    found += [make(name, call + "\nreturn x") for name, call in calls_tried.STATEMENTS.items()]
    for kind, (literal, calls, use) in calls_tried.CONTAINERS.items():
        for call in (c.strip() for c in calls.split("|")):
            lines = "c = %s\n%sc.%s\nreturn %sx + %s"
            found.append(make("%s statement: %s" % (kind, call), lines % (literal, "", call, "", use)))
            found.append(
                make("%s value: %s" % (kind, call), lines % (literal, "r = ", call, "r is None, ", use))
            )
    return found


def inputs_of(one: Try) -> str:
    """The letter of a Try's input in calls_tried.INPUTS."""
    return next(letter for letter, text in calls_tried.INPUTS.items() if text == one.arguments)


def argument_lists(obj: Any, name: str) -> List[str]:
    """Argument texts to try for a Tensor method, the likeliest first."""
    lists: List[str] = []
    if name in calls_tried.BY_METHOD:
        return [calls_tried.BY_METHOD[name], *list(calls_tried.ARGUMENTS)]
    try:
        required = [p for p in list(inspect.signature(obj).parameters.values())[1:] if p.default is p.empty]
        if all(p.kind is p.POSITIONAL_OR_KEYWORD and p.name in calls_tried.BY_NAME for p in required):
            lists.append(", ".join(calls_tried.BY_NAME[p.name] for p in required))
    except (TypeError, ValueError):
        for text in doc_facts.overloads(inspect.getdoc(obj) or "", name):
            names = [part.strip() for part in text.split(",")]
            needed = [n for n in names if n.isidentifier()]
            if all(n in calls_tried.BY_NAME for n in needed) and not any(
                n.startswith("*") and n != "*" for n in names
            ):
                lists.append(", ".join(calls_tried.BY_NAME[n] for n in needed))
    return list(dict.fromkeys(lists + list(calls_tried.ARGUMENTS)))


def choose(names: Sequence[str], known: Dict[str, str]) -> Dict[str, Optional[Tuple[Try, Outcome]]]:
    """For every Tensor method a Try that PyNative accepts, and its result.

    `known`: the bodies that earlier versions took, tried first.
    """
    import mindspore as ms

    groups: Dict[str, List[Try]] = {}
    for name in names:
        raw = inspect.getattr_static(ms.Tensor, name)
        if name in calls_tried.BY_BODY:
            candidates = [("F", calls_tried.BY_BODY[name])]
        elif not callable(raw) or isinstance(raw, (property, type)):
            candidates = [("F", "return x." + name)]
        else:
            lists = argument_lists(getattr(raw, "__func__", raw), name)
            bodies = ["return x.%s(%s)" % (name, arguments) for arguments in lists]
            candidates = [(i, body) for body in bodies[:4] for i in "FSUILBVOTX"]
            candidates += [(i, body) for body in bodies[4:] for i in "FIVB"]
        inputs, _, body = known.get("Tensor." + name, "").partition(": ")
        if body:
            candidates.insert(0, (inputs, body))
        groups[name] = [make("Tensor." + name, body, i) for i, body in candidates]
    chosen: Dict[str, Optional[Tuple[Try, Outcome]]] = {}
    left = dict(groups)
    for depth in (1, 30):  # most methods take their first candidate
        tries = [one for group in left.values() for one in group[:depth]]
        outcomes = iter(graph_tries.run(tries, graph=False, seconds=SECONDS, observe=True, batch=200))
        for name, group in left.items():
            pairs = [(one, next(outcomes)) for one in group[:depth]]
            chosen[name] = next(((one, o) for one, o in pairs if o.status == "ok"), None)
        left = {name: group[depth:] for name, group in left.items() if chosen[name] is None and group[depth:]}
    return chosen


def same(name: str, left: str, right: str) -> bool:
    if left == right:
        return True
    if name in calls_tried.RANDOM:
        shapes = [re.sub(r"[-\d.e+]+", "#", re.sub(r"\s+", "", t.split(" | ")[0])) for t in (left, right)]
        return shapes[0] == shapes[1]
    if NUMBER.sub("#", left) != NUMBER.sub("#", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right))
    return all(a == b or abs(float(a) - float(b)) <= 1e-3 + 1e-3 * abs(float(b)) for a, b in pairs)


def judge(name: str, eager: Outcome, graph: Outcome) -> str:
    if eager.status != "ok":
        return "unmeasurable"
    if graph.status == "error":
        return "unmeasurable" if NO_KERNEL.search(graph.message) else "error"
    if graph.status in ("crash", "timeout"):
        return graph.status
    if not same(name, eager.text, graph.text):
        return "diverges"
    return "output" if graph.status == "fallback" and OUTPUT.match(eager.text) else graph.status


def merge(
    path: Path, column: str, outcomes: Dict[str, str], messages: Dict[str, str], bodies: Dict[str, str]
) -> None:
    table: Dict[str, Any] = {"columns": [], "outcomes": OUTCOMES, "calls": {}, "messages": {}, "bodies": {}}
    if path.exists():
        table = json.loads(path.read_text(encoding="utf-8"))
    old = table["columns"]
    columns = sorted(
        set(old) | {column}, key=lambda c: ([-int(n) for n in re.findall(r"\d+", c)], c.split()[-1])
    )
    calls = {}
    for name in sorted(set(table["calls"]) | set(outcomes)):
        row = table["calls"].get(name)
        values = {c: OUTCOMES[row[old.index(c)]] if row else "-" for c in old}
        values[column] = outcomes.get(name, values.get(column, "-"))
        calls[name] = [OUTCOMES.index(values.get(c, "-")) for c in columns]
    newest = columns[0] == column
    for kind, fresh in (("messages", messages), ("bodies", bodies)):
        kept = table[kind]
        table[kind] = {**kept, **fresh} if newest else {**fresh, **kept}
    table["messages"] = {
        n: m
        for n, m in table["messages"].items()
        if any(OUTCOMES[i] in ("error", "diverges") for i in calls.get(n, ()))
    }
    table.update(columns=columns, calls=calls)
    rows = [
        '"%s":{\n%s\n}'
        % (
            key,
            ",\n".join(
                "%s:%s" % (json.dumps(k), json.dumps(v, separators=(",", ":")))
                for k, v in sorted(table[key].items())
            ),
        )
        for key in ("bodies", "calls", "messages")
    ]
    head = ['"columns":' + json.dumps(columns), '"outcomes":' + json.dumps(OUTCOMES)]
    path.write_text("{" + ",\n".join(head + rows) + "}\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    words = list(arguments)
    only = re.compile(words.pop(words.index("--only") + 1) if "--only" in words else "")
    words = [w for w in words if w != "--only"]
    if not words or any(w not in graph_tries.LEVELS for w in words[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    os.environ["MS_DEV_FALLBACK_DUMP_NODE"] = "1"
    import mindspore as ms

    methods = [n for n in sorted(dir(ms.Tensor)) if not n.startswith("_") and only.search("Tensor." + n)]
    path = Path(words[0]) / "graph_calls.json"
    known = json.loads(path.read_text(encoding="utf-8"))["bodies"] if path.exists() else {}
    chosen = choose(methods, known)
    common: Dict[str, Any] = {"head": calls_tried.HEAD, "seconds": SECONDS, "observe": True}
    fixed = [one for one in fixed_tries() if only.search(one.name)]
    alone = [one for one in fixed if calls_tried.ALONE.search(one.name)]
    shared = [one for one in fixed if not calls_tried.ALONE.search(one.name)]
    tries = alone + shared + [pick[0] for pick in chosen.values() if pick]
    eager = graph_tries.run(alone, graph=False, **common)
    eager += graph_tries.run(shared, graph=False, batch=40, **common)
    eager += [pick[1] for pick in chosen.values() if pick]
    version = ".".join(re.findall(r"\d+", ms.__version__)[:2])
    for level in words[1:] or list(graph_tries.LEVELS):
        live = [(one, e) for one, e in zip(tries, eager) if e.status == "ok"]
        first = sum(1 for one, _ in live if one in alone)
        graph = graph_tries.run([one for one, _ in live[:first]], level, **common)
        graph += graph_tries.run([one for one, _ in live[first:]], level, batch=40, **common)
        outcomes = {one.name: "unmeasurable" for one in tries}
        outcomes.update({"Tensor." + n: "unmeasurable" for n, pick in chosen.items() if not pick})
        bodies = {one.name: inputs_of(one) + ": " + one.body for one in tries}
        messages = {}
        for (one, before), after in zip(live, graph):
            name = one.name
            outcomes[name] = judge(name, before, after)
            if outcomes[name] == "error":
                messages[name] = ("%s: %s" % (after.kind, after.message))[:160]
            elif outcomes[name] == "diverges":
                messages[name] = difference(before.text, after.text)
        merge(path, version + " " + level, outcomes, messages, bodies)
        print(version, level, {o: list(outcomes.values()).count(o) for o in OUTCOMES})
    return 0


def difference(eager: str, graph: str) -> str:
    """Both results, or, where they are the same, what differs in the Cell's state or in the arguments."""
    results = eager.split(" | ")[0], graph.split(" | ")[0]
    if results[0] == results[1]:
        start = next((i for i, (a, b) in enumerate(zip(eager, graph)) if a != b), 0)
        results = eager[max(start - 20, 0) :], graph[max(start - 20, 0) :]
    return "PyNative %s; graph %s" % (results[0][:80], results[1][:80])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
