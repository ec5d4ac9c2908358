"""Rewrites of what the rules find, one module a family of rewrites; each is found by walking this package.

A builder takes what a rule found and its context and gives a `Fix`, or None where the rewrite isn't sure
to be right
there. It says what its rewrite rests on: `safe` is proven for every input, `unsafe` holds under the
assumption in
the fix's note, `display` is a sketch that is never applied.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import Any, Callable, Dict, List, Optional, Tuple

from graphlint.finding import Fix
from graphlint.fixes.draft import Unfit

Builder = Callable[[Any, Any], Optional[Fix]]
_builders: Dict[str, List[Builder]] = {}


def fixes(*codes: str) -> Callable[[Builder], Builder]:
    """Registers a builder for the findings of these rules. Where a rule has several, the first that fits
    decides.
    """

    def register(builder: Builder) -> Builder:
        for code in codes:
            _builders.setdefault(code, []).append(builder)
        return builder

    return register


@lru_cache(maxsize=1)
def _all() -> Dict[str, List[Builder]]:
    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        importlib.import_module(module.name)
    return _builders


def codes() -> Tuple[str, ...]:
    """The codes of the rules that have a rewrite."""
    return tuple(sorted(_all()))


def build(found: Any, ctx: Any) -> Optional[Fix]:
    """The rewrite of a `Found` in its `Context` or `ClassContext`; None where there is none."""
    for builder in _all().get(found.rule.code, ()):
        try:
            fix = builder(found, ctx)
        except Unfit:
            continue
        if fix is not None:
            return fix
    return None


def apply(paths: Any, settings: Any, stdin: Any = None) -> Any:
    """The rewrites of all findings in `paths`; see `graphlint.fixes.rounds`. Writes no file."""
    from graphlint.fixes.rounds import run

    return run(paths, settings, stdin)
