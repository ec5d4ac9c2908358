"""Producers: what can be built and run so that the Cells inside show themselves, and what each run yielded.

From entries first; then, with guessing on, from factories: functions of the project that need no arguments
and return a Cell.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Generator, Iterator, List, Optional, Sequence, Set, Tuple

from graphlint.verify import factories
from graphlint.verify.entries import Entry
from graphlint.verify.targets import Catalogue, place_of
from graphlint.verify.tries import Outcome, Try

Key = Tuple[str, str]
Steps = Generator[Try, Outcome, None]
_FACTORIES = 5
"""How many factories of one file are tried for the Cells that the earlier ones didn't show."""


@dataclass
class Producer:
    """`data` is worker/harvest.py's producer."""

    name: str
    file: str
    data: Dict[str, Any]
    rung: str


@dataclass
class Harvested:
    """A Cell class that a producer's run called; `record` is its comparison in place, where there was one."""

    producer: Dict[str, Any]
    rung: str
    record: Optional[Dict[str, Any]] = None


def of_entries(entries: Sequence[Entry], root: str) -> List[Producer]:
    """One for each entry that may be harvested."""
    found = []
    for entry in entries:
        if not entry.harvest or entry.recipe.get("kind") != "spec":
            continue
        file = os.path.realpath(entry.path) if entry.path else ""
        module = place_of(entry.path, root).module if entry.path else entry.module
        data: Dict[str, Any] = {
            "module": module,
            "file": file,
            "target": entry.name,
            "entry": entry.recipe,
        }
        found.append(Producer(entry.shown, file, data, f"harvested from {entry.name}"))
    return found


def of_factories(catalogue: Catalogue, files: Set[str]) -> Iterator[Tuple[str, List[Producer]]]:
    """Per file, the factories in it, the likeliest first."""
    for path, names in factories.find(catalogue, files):
        module = place_of(path, catalogue.root).module
        found = []
        for name in names[:_FACTORIES]:
            data: Dict[str, Any] = {
                "module": module,
                "file": path,
                "target": name,
                "entry": {"kind": "spec"},
                "inputs_pool": factories.INPUTS,
            }
            found.append(Producer(name, path, data, f"harvested from {name}()"))
        yield path, found


def harvest_some(
    listed: Sequence[Producer],
    basis: Dict[str, Any],
    wanted: Set[Key],
    known: Dict[Key, Harvested],
    folder: str,
    timeout: float,
) -> Steps:
    """Run producers one after another into `known`, until every wanted class of their file is there."""
    for number, producer in enumerate(listed):
        here = {key for key in wanted if not producer.file or key[0] == producer.file}
        if here and here <= set(known):
            return
        yield from harvest(producer, basis, wanted, known, os.path.join(folder, str(number)), timeout)


def harvest(
    producer: Producer,
    basis: Dict[str, Any],
    wanted: Set[Key],
    known: Dict[Key, Harvested],
    folder: str,
    timeout: float,
) -> Steps:
    """Run a producer, then every class in it, in as few children as hold out; fills `known`."""
    os.makedirs(folder, exist_ok=True)
    records = os.path.join(folder, "records.jsonl")
    skip = [list(key) for key, one in known.items() if one.record is not None]
    data = dict(producer.data)
    taken = 0
    for _ in range(60):
        job = {**basis, "module": data["module"], "file": data["file"] or basis["file"]}
        job.update(kind="harvest", mode="pynative", producer=data, records=records, skip=skip, seconds=60.0)
        job["wanted"] = [list(key) for key in wanted]
        outcome: Outcome = yield Try(job, 4 * timeout)
        if outcome.result.get("inputs") is not None and data.get("inputs_pool"):
            data = {key: value for key, value in data.items() if key != "inputs_pool"}
            data["entry"] = {**data["entry"], "inputs": outcome.result["inputs"], "factory": True}
        for file, name in outcome.result.get("classes") or []:
            if (file, name) in wanted:
                known.setdefault((file, name), Harvested(data, producer.rung))
        done = _read(records)
        for record in done[taken:]:
            key = (record["file"], record["name"])
            known.setdefault(key, Harvested(data, producer.rung)).record = record
            skip.append([record["file"], record["name"]])
        taken = len(done)
        lost = _lost(outcome)
        if lost is not None:
            blamed = [key for key in wanted if key[1] == lost and [key[0], key[1]] not in skip]
            if not blamed:
                return
            for file, name in blamed:
                one = known.setdefault((file, name), Harvested(data, producer.rung))
                one.record = {"outcome": "suspect", "words": outcome.words, "seconds": 0.0}
                skip.append([file, name])
        elif not outcome.result.get("more"):
            return


def _read(path: str) -> List[Dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as stream:
            return [json.loads(line) for line in stream if line.endswith("\n")]
    except (OSError, ValueError):
        return []


def _lost(outcome: Outcome) -> Optional[str]:
    """The class at which the child died."""
    if outcome.death and outcome.stage.startswith("class:"):
        return outcome.stage[len("class:") :]
    return None
