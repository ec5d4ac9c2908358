"""Hard facts about the graph compiler's own lists, per version."""

from __future__ import annotations

import pytest

from graphlint.knowledge import compiler

ALL = ("2.0", "2.6", "2.7", "2.8", "2.9", "2.10")
REFUSED = ("Try", "Import", "ImportFrom", "Delete", "ClassDef", "AsyncFunctionDef", "While-else", "For-else")
TAKEN = ("Expr", "If", "Assign", "AugAssign", "While", "For", "FunctionDef", "Raise", "Assert", "With")


@pytest.mark.parametrize("version", ALL)
def test_statements(version: str) -> None:
    tables = compiler(version)
    for node in (*REFUSED, "Match", "TryStar", "TypeAlias", "Nonlocal"):
        assert tables.refuses_statement(node), node
    for node in TAKEN:
        assert tables.refuses_statement(node) is None, node


@pytest.mark.parametrize("version", ALL)
def test_expressions(version: str) -> None:
    tables = compiler(version)
    for node in ("Set", "SetComp", "NamedExpr", "Yield", "YieldFrom", "Await", "Constant-complex"):
        assert tables.refuses_expression(node), node
    for node in ("ListComp", "Lambda", "JoinedStr", "Dict", "IfExp", "GeneratorExp"):
        assert tables.refuses_expression(node) is None, node


def test_what_2_0_refuses_alone() -> None:
    old, new = compiler("2.0"), compiler("2.10")
    for node in ("DictComp", "Starred", "Compare-chained"):
        assert old.refuses_expression(node) and new.refuses_expression(node) is None
    assert old.refuses_statement("AnnAssign") and new.refuses_statement("AnnAssign") is None
    assert old.refuses_statement("Return-then-code") and new.refuses_statement("Return-then-code") is None


@pytest.mark.parametrize("version", ALL)
def test_write_back(version: str) -> None:
    methods = {"append", "insert", "clear", "reverse", "extend", "update"}
    assert compiler(version).write_back - {"register_hook"} == methods
    assert ("register_hook" in compiler(version).write_back) == (version != "2.0")
    assert not {"sort", "remove", "pop", "setdefault"} & compiler(version).write_back


@pytest.mark.parametrize("version", ALL)
def test_builtins(version: str) -> None:
    tables = compiler(version)
    assert {"set", "dict", "slice", "complex", "reversed", "type"} == tables.unsupported_builtin_types
    assert {"print", "len", "range", "enumerate", "zip", "map", "isinstance"} <= tables.graph_builtins
    assert not {"sorted", "any", "all"} & tables.graph_builtins


@pytest.mark.parametrize("version", ALL)
def test_forbidden(version: str) -> None:
    tables = compiler(version)
    assert "mindspore.common.parameter.Parameter.set_data" in tables.forbidden_methods
    assert "mindspore.nn.cell.Cell.trainable_params" in tables.forbidden_methods
    assert "mindspore.common.initializer" in tables.forbidden_modules
    assert ("mindspore.context" in tables.forbidden_modules) == (version != "2.0")


@pytest.mark.parametrize("version", ALL)
def test_exceptions(version: str) -> None:
    assert {"ValueError", "TypeError", "RuntimeError", "AssertionError"} <= compiler(version).exceptions
    assert "ArithmeticError" not in compiler(version).exceptions


@pytest.mark.parametrize("version", ALL[1:])
def test_tensor_attributes(version: str) -> None:
    tables = compiler(version)
    assert {"shape", "dtype", "T", "mean", "reshape", "abs"} <= tables.tensor_attributes
    assert {"asnumpy", "set_dtype", "init_data"} <= tables.tensor_fallback
    assert not tables.tensor_attributes & tables.tensor_fallback
