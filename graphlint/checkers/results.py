"""GL22x: what a graph gives back to Python."""

from __future__ import annotations

from graphlint.checkers.base import Context, Findings, Rule, When, certain
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.trace import Event
from graphlint.lang import Text


class StrictResult(Rule):
    """
    What
        A dict, or a tuple with None in it, returned from the top of a graph at the strict level.

    Why
        Strict returns the dict's values as a tuple and drops None from a tuple (measured on 2.6 to 2.10);
        lax returns what PyNative returns.

    Example
        return {"boxes": boxes, "scores": scores}

    Instead
        return boxes, scores

    Fix safety
        Unsafe: callers have to unpack a tuple.
    """

    code = "GL220"
    name = "strict-result"
    effects = (When(Effect.NONE), When(Effect.DIVERGES, level="strict", since="2.6"))
    message = Text(
        "the strict level returns this dict as a tuple of its values",
        "strict 级别会把该字典作为其值组成的元组返回",
    )
    dropped = Text("the strict level drops None from this tuple", "strict 级别会从该元组中去掉 None")
    help = Text("return a tuple of Tensors", "返回由 Tensor 组成的元组")

    def on_top_return(self, event: Event, ctx: Context) -> Findings:
        value = event.data["value"]
        if not self.target.strict or not value.sure:
            return
        if value.kind == v.DICT:
            yield self.at(event.node, confidence=certain(event))
        elif value.kind in v.SEQUENCES and len(value.items or ()) > 1:
            inside = {part.kind for item in value.items or () for part in item.walk() if part.sure}
            if v.NONE in inside:
                yield self.at(event.node, message=self.dropped, confidence=certain(event))
            elif v.DICT in inside:
                yield self.at(event.node, confidence=certain(event))
