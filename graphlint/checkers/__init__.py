"""The rules, one module a family; each is found by walking this package."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import Iterator, Tuple, Type

from graphlint.checkers.base import Rule


@lru_cache(maxsize=1)
def all_rules() -> Tuple[Type[Rule], ...]:
    """Every rule class by code. Raises ValueError where two share a code or a name."""
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        importlib.import_module(module.name)
    rules = sorted(_concrete(Rule), key=lambda rule: rule.code)
    for field in ("code", "name"):
        seen = [getattr(rule, field) for rule in rules]
        twice = {value for value in seen if seen.count(value) > 1}
        if twice:
            raise ValueError(f"rules share a {field}: {', '.join(sorted(twice))}")
    return tuple(rules)


def _concrete(base: Type[Rule]) -> Iterator[Type[Rule]]:
    for rule in base.__subclasses__():
        if rule.code:
            yield rule
        yield from _concrete(rule)
