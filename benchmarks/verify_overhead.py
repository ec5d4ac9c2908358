"""What verify costs above the bare calls: processor time against the same calls in forked children by hand.

    python benchmarks/verify_overhead.py CASES --python …/bin/python --count 60

CASES is a folder of files in graphlint's case format. By hand: import MindSpore once, fork two children a
case, two PyNative calls in one, two graph calls in the other, nothing compared. Prints both times, the
share above, and Cells a minute.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from graphlint.finding import CheckResult  # noqa: E402
from graphlint.verify.cache import Cache  # noqa: E402
from graphlint.verify.run import Request, verify  # noqa: E402
from graphlint.verify.session import Plan  # noqa: E402

BY_HAND = r"""
import importlib.util, json, os, resource, sys, time
os.environ["GLOG_v"] = "3"
import mindspore as ms
began = time.time()
before = resource.getrusage(resource.RUSAGE_CHILDREN)
for path in json.load(open(sys.argv[1])):
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        pid = os.fork()
        if pid == 0:
            for number in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            name = os.path.basename(path)[:-3]
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
                ms.set_context(mode=mode)
                net = module.Net()
                for _ in range(2):
                    inputs = module.INPUTS
                    out = net(*(inputs() if callable(inputs) else inputs))
                    for item in out if isinstance(out, (list, tuple)) else [out]:
                        if isinstance(item, ms.Tensor):
                            item.asnumpy()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"cpu": cpu, "wall": time.time() - began}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    paths = []
    for path in sorted(glob.glob(os.path.join(options.cases, "*.py"))):
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        if "class Net(" in text and "\nINPUTS" in text and "CALLS" not in text and "del Net" not in text:
            paths.append(path)
    paths = paths[:: max(1, len(paths) // options.count)][: options.count]
    listing = os.path.join("/tmp", f"verify_overhead_{os.getpid()}.json")
    with open(listing, "w", encoding="utf-8") as stream:
        json.dump(paths, stream)
    done = subprocess.run(
        [options.python, "-c", BY_HAND, listing], capture_output=True, text=True, check=True
    )
    hand = json.loads(done.stdout.splitlines()[-1])
    os.remove(listing)
    began = time.time()
    before = os.times()
    plan = Plan(all_cells=True, timeout=60.0)
    request = Request(python=options.python, jobs=options.jobs)
    result = verify(CheckResult(), paths, options.cases, [], plan, request, Cache(None))
    after = os.times()
    wall = time.time() - began
    parent = after.user + after.system - before.user - before.system
    children = result.cpu
    share = (children + parent) / hand["cpu"] - 1
    print(f"{len(paths)} Cells, MindSpore {result.info['mindspore']}")
    print(f"by hand: {hand['cpu']:.1f} s processor, {hand['wall']:.1f} s wall, one after another")
    print(
        f"verify:  {children:.1f} s in children + {parent:.1f} s in the parent,",
        f"{wall:.1f} s wall, {options.jobs} jobs",
    )
    print(f"above:   {100 * share:.0f} %")
    print(f"speed:   {60 * len(paths) / (wall - result.info['seconds']):.0f} Cells a minute after the import")


if __name__ == "__main__":
    main()
