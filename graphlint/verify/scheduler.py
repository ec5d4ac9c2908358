"""Drives many generators that yield tries, as many at a time as the pool has slots."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Deque, Generator, Iterable, Iterator, Optional, Tuple

from graphlint.verify.pool import Pool
from graphlint.verify.tries import Outcome, Try

Task = Generator[Try, Outcome, Any]


def drive(pool: Pool, tasks: Iterable[Tuple[Any, Task]], finished: Callable[[Any, Any], None]) -> None:
    """Run every (key, generator) to its end; `finished(key, returned)` as each one ends, in order of ending.

    A generator goes on before a new one starts, so that partial work doesn't pile up. An exception in a
    generator is a bug of graphlint and passes through.
    """
    ready: Deque[Tuple[Any, Task, Optional[Outcome]]] = deque()
    source: Iterator[Tuple[Any, Task]] = iter(tasks)

    def advance(key: Any, task: Task, outcome: Optional[Outcome]) -> bool:
        """Send the outcome; True where the generator asked for another try."""
        try:
            attempt = task.send(outcome) if outcome is not None else next(task)
        except StopIteration as stop:
            finished(key, stop.value)
            return False
        pool.submit(attempt, lambda result: ready.append((key, task, result)))
        return True

    def more() -> bool:
        while ready:
            if advance(*ready.popleft()):
                return True
        return any(advance(key, task, None) for key, task in source)

    while True:
        pool.run(more)
        if not ready:
            return
