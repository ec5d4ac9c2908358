"""Producers: what can be built and run so that the Cells inside show themselves, and what each run yielded.

From entries first; then, with guessing on, from factories: functions of the project that need no arguments and return a Cell.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from graphlint.verify import factories
from graphlint.verify.entries import Entry
from graphlint.verify.pool import Pool
from graphlint.verify.targets import Catalogue, place_of
from graphlint.verify.tries import Outcome, Try

Key = Tuple[str, str]


@dataclass
class Producer:
    """`data` is worker/harvest.py's producer; `always` where an entry asks for it."""

    name: str
    file: str
    data: Dict[str, Any]
    rung: str
    always: bool = False


@dataclass
class Harvested:
    """A Cell class that a producer's run called; `record` is its comparison in place, where there was one."""

    producer: Dict[str, Any]
    rung: str
    record: Optional[Dict[str, Any]] = None


def producers(
    entries: Sequence[Entry], catalogue: Catalogue, wanted: Set[Key], guess: bool
) -> Iterator[Producer]:
    """In the order in which to try them."""
    for entry in entries:
        if not entry.harvest or entry.recipe.get("kind") != "spec":
            continue
        file = os.path.realpath(entry.path) if entry.path else ""
        module = place_of(entry.path, catalogue.root).module if entry.path else entry.module
        data: Dict[str, Any] = {"module": module, "file": file, "target": entry.name, "entry": entry.recipe}
        yield Producer(entry.shown, file, data, f"harvested from {entry.name}", always=True)
    if not guess:
        return
    for path, names in factories.find(catalogue, {file for file, _ in wanted}):
        module = place_of(path, catalogue.root).module
        for name in names[:6]:
            data = {
                "module": module,
                "file": path,
                "target": name,
                "entry": {"kind": "spec"},
                "inputs_pool": factories.INPUTS,
            }
            yield Producer(name, path, data, f"harvested from {name}()")


def harvest(
    pool: Pool, producer: Producer, basis: Dict[str, Any], wanted: Set[Key], folder: str
) -> Dict[Key, Harvested]:
    """Run a producer, then every class in it, in as few children as hold out. Blocks until done."""
    records = os.path.join(folder, "records.jsonl")
    skip: List[List[str]] = []
    found: Dict[Key, Harvested] = {}
    producer_data = dict(producer.data)
    for _ in range(60):
        outcome = _once(
            pool,
            {
                **basis,
                "kind": "harvest",
                "mode": "pynative",
                "producer": producer_data,
                "records": records,
                "skip": skip,
                "seconds": 60.0,
            },
        )
        done = _read(records)
        classes = outcome.result.get("classes")
        if classes is not None:
            for file, name in classes:
                if (file, name) in wanted:
                    found.setdefault((file, name), Harvested(producer_data, producer.rung))
        if outcome.result.get("inputs") is not None and producer_data.get("inputs_pool"):
            producer_data = {key: value for key, value in producer_data.items() if key != "inputs_pool"}
            producer_data["entry"] = {
                **producer_data["entry"],
                "inputs": outcome.result["inputs"],
                "factory": True,
            }
            for one in found.values():
                one.producer = producer_data
        for record in done:
            key = (record["file"], record["name"])
            if key in wanted:
                found.setdefault(key, Harvested(producer_data, producer.rung)).record = record
        skip = [[record["file"], record["name"]] for record in done]
        lost = _lost(outcome)
        if lost is not None:
            known = [key for key in found if key[1].replace(" ", "") == lost]
            if not known:
                known = [(file, lost) for file, name in wanted if name == lost]
            if not known:
                break
            with open(records, "a", encoding="utf-8") as stream:
                for file, name in known:
                    found.setdefault((file, name), Harvested(producer_data, producer.rung))
                    stream.write(
                        json.dumps({"file": file, "name": name, "outcome": "suspect", "words": outcome.words})
                        + "\n"
                    )
            continue
        if not outcome.result.get("more"):
            break
    return found


def _once(pool: Pool, job: Dict[str, Any]) -> Outcome:
    got: List[Outcome] = []
    pool.submit(Try(job, 240.0), got.append)
    pool.run()
    return got[0]


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
