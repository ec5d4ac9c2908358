"""Lists, tuples, dicts and sets as graph code writes them: displays and comprehensions."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.calls import Calls
from graphlint.graph_code.frames import Frame
from graphlint.graph_code.values import NOCONST, Ref, Value, element_of, join, sequence, to_python


class Displays(Calls):
    """The displays and comprehensions of the interpreter."""

    def eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self._display(v.TUPLE, node.elts, frame)

    def eval_List(self, node: ast.List, frame: Frame) -> Value:
        return self._display(v.LIST, node.elts, frame)

    def _display(self, kind: str, elts: List[ast.expr], frame: Frame) -> Value:
        items: Optional[List[Value]] = []
        for elt in elts:
            if isinstance(elt, ast.Starred):
                value = self.eval(elt.value, frame)
                if value.items is None:
                    items = None
                elif items is not None:
                    items.extend(value.items)
            else:
                value = self.eval(elt, frame)
                if items is not None:
                    items.append(value)
        return sequence(kind, items)

    def eval_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        made: Dict[Any, Value] = {}
        known = True
        for key_node, value_node in zip(node.keys, node.values):
            value = self.eval(value_node, frame)
            if key_node is None:
                if value.keys is not None and value.items is not None:
                    made.update(zip(value.keys, value.items))
                else:
                    known = False
                continue
            key = to_python(self.eval(key_node, frame))
            try:
                known = known and key is not NOCONST
                made[key] = value
            except TypeError:
                known = False
        if known:
            return Value(v.DICT, keys=tuple(made), items=tuple(made.values()), ref=Ref())
        values = list(made.values())
        return Value(v.DICT, element=values[0] if len(values) == 1 else None, ref=Ref())

    def eval_Set(self, node: ast.Set, frame: Frame) -> Value:
        held = [to_python(self.eval(elt, frame)) for elt in node.elts]
        try:
            return Value(v.SET, const=NOCONST if any(h is NOCONST for h in held) else set(held), ref=Ref())
        except TypeError:
            return Value(v.SET, ref=Ref())

    def eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        return self._comprehension(v.LIST, node, frame)

    def eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        return Value(v.SET, ref=Ref(), element=element_of(self._comprehension(v.LIST, node, frame)))

    def eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        made = self._comprehension(v.LIST, node, frame)
        return made.but(kind=v.TUPLE, origin="generator", ref=Ref(made=node))

    def eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        rows = self._rows(
            node.generators, frame, lambda: (self.eval(node.key, frame), self.eval(node.value, frame))
        )
        if rows is not None and all(to_python(k) is not NOCONST for k, _ in rows):
            made: Dict[Any, Value] = {}
            for key, value in rows:
                try:
                    made[to_python(key)] = value
                except TypeError:
                    return Value(v.DICT, ref=Ref())
            return Value(v.DICT, keys=tuple(made), items=tuple(made.values()), ref=Ref())
        return Value(v.DICT, ref=Ref(), element=rows[0][1] if rows else None)

    def _comprehension(self, kind: str, node: Any, frame: Frame) -> Value:
        made: List[Value] = []
        rows = self._rows(node.generators, frame, lambda: self.eval(node.elt, frame), made)
        if isinstance(node.elt, ast.Lambda) and frame.graph:
            rows = [row.but(hidden=True) for row in rows] if rows is not None else None
        if rows is not None:
            return sequence(kind, rows)
        element = made[0] if made else None
        for one in made[1:]:
            element = join(element, one) if element is not None else one
        return Value(kind, element=element, ref=Ref())

    def _rows(
        self,
        generators: List[ast.comprehension],
        frame: Frame,
        make: Callable[[], Any],
        made: Optional[List] = None,
    ) -> Optional[List[Any]]:
        """Runs a comprehension; its results in order, or None where their number isn't known (then `made` has some)."""
        before = dict(frame.env or {})
        results: List[Any] = []
        exact = self._row(generators, 0, frame, lambda: results.append(make()))
        if frame.env is not None:
            frame.env = before
        if made is not None:
            made.extend(results)
        return results if exact else None

    def _row(
        self, generators: List[ast.comprehension], depth: int, frame: Frame, emit: Callable[[], Any]
    ) -> bool:
        if depth == len(generators):
            emit()
            return True
        gen = generators[depth]
        iterable = self.eval(gen.iter, frame)
        items = self.iterate(iterable, gen.iter, frame)
        exact = items is not None and len(items) <= 40
        frame.loop_depth += 1
        for item in items if exact and items is not None else [self.loop_element(iterable, items)]:
            self.assign(gen.target, item, frame, gen.target)
            keep: Optional[bool] = True
            for test in gen.ifs:
                truth, how = self.truth(self.eval(test, frame), test, frame)
                if how == "tensor" and truth is None:
                    self.event(frame, "filtered_by_tensor", test)
                keep = truth if keep is True else keep
            exact = exact and keep is not None
            if keep is not False:
                exact = self._row(generators, depth + 1, frame, emit) and exact
        frame.loop_depth -= 1
        return exact

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST) -> None:
        raise NotImplementedError
