"""Scores the verifier's oracle on a directory of measured cases.

    python benchmarks/verify_truth.py TRUTH --python …/bin/python --version 2.10.0 --level lax

TRUTH holds `cases/*.py` and `outcomes.jsonl` (one row per case, version and level). Prints the share of
definite verdicts and every disagreement.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from graphlint.verify import guessing, oracle
from graphlint.verify.pool import Pool, Settings
from graphlint.verify.scheduler import drive
from graphlint.verify.targets import Catalogue, Target


def agrees(row, judgement):
    """Does the verdict fit the row? Rows of other cases than `r…` weren't searched for fallback and
    recompilation."""
    mine = "error" if judgement.outcome == "broken" else judgement.outcome
    if mine == row["outcome"]:
        return True
    searched = row["case"].startswith("r") and row["case"][1:2].isdigit()
    return row["outcome"] == "ok" and mine in ("fallback", "recompiles") and not searched


def judged(job, scratch):
    """As a Cell without an entry: constructor arguments and inputs are guessed."""
    subject = Target(job["file"], job["target"], 1, job["target"] != "fn")
    catalogue = Catalogue([job["file"]], os.path.dirname(job["file"]))
    recipe, words = yield from guessing.guess(job, subject, catalogue, 60.0)
    if recipe is None:
        return oracle.Judgement("not-tried", words)
    return (yield from oracle.judge({**job, "entry": recipe}, scratch, 60.0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--version", default="2.10.0")
    parser.add_argument("--level", default="lax")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--guess", action="store_true", help="don't use INPUTS: guess")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    rows = {}
    with open(os.path.join(options.truth, "outcomes.jsonl"), encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            if (row["mindspore"], row["level"]) == (options.version, options.level) and options.only in row[
                "case"
            ]:
                rows[row["case"]] = row
    began = time.time()
    verdicts = {}
    with Pool(Settings(python=options.python, jobs=options.jobs)) as pool:
        info = pool.start()

        def tasks():
            for case in rows:
                path = os.path.join(options.truth, "cases", case + ".py")
                with open(path, encoding="utf-8") as stream:
                    text = stream.read()
                target = "Net" if "\nclass Net(" in text and "\ndel Net" not in text else "fn"
                job = {
                    "kind": "try",
                    "level": options.level,
                    "device": "CPU",
                    "module": case,
                    "file": path,
                    "sys_path": [os.path.dirname(path)],
                    "target": target,
                    "entry": {"kind": "case"},
                }
                scratch = os.path.join(pool.scratch, "j-" + case)
                yield case, judged(job, scratch) if options.guess else oracle.judge(job, scratch, 60.0)

        drive(pool, tasks(), verdicts.__setitem__)
        cpu = pool.cpu
    seconds = time.time() - began
    eligible = {case: row for case, row in rows.items() if row["pynative"] == "ok"}
    definite = [case for case in eligible if verdicts[case].definite]
    agree = [case for case in definite if agrees(eligible[case], verdicts[case])]
    for case, row in rows.items():
        judgement = verdicts[case]
        if case not in eligible:
            if options.verbose or judgement.outcome != "pynative-fails":
                print(
                    "NOT ELIGIBLE", case, row["outcome"], "| mine:", judgement.outcome, judgement.words[:150]
                )
        elif case not in definite:
            print("INDEFINITE  ", case, row["outcome"], "| mine:", judgement.outcome, judgement.words[:200])
        elif case not in agree:
            bound = "device-bound " if row.get("device_bound") else ""
            detail = row.get("detail") or row.get("differs") or row.get("message") or ""
            print(
                "DISAGREES   ",
                bound + case,
                row["outcome"],
                str(detail)[:60],
                "| mine:",
                judgement.outcome,
                judgement.words[:220],
            )
        elif options.verbose:
            print("agrees      ", case, row["outcome"], judgement.words[:120])
    print(Counter(judgement.outcome for judgement in verdicts.values()))
    print(
        f"MindSpore {info['mindspore']} {options.level}: {len(rows)} cases, {len(eligible)} run in PyNative"
    )
    print(
        f"definite {len(definite)} of {len(eligible)} ({100 * len(definite) / max(1, len(eligible)):.1f} %)"
    )
    print(f"agree    {len(agree)} of {len(definite)} ({100 * len(agree) / max(1, len(definite)):.1f} %)")
    print(
        f"{seconds:.0f} s wall, {cpu:.0f} s processor in children,",
        f"{60 * len(rows) / seconds:.0f} cases a minute",
    )


if __name__ == "__main__":
    main()
