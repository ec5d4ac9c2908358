"""What calls inside construct were measured to do."""

from __future__ import annotations

import pytest

from graphlint.knowledge import graph_calls, why_error

MEASURED = [
    (version, level) for version in ("2.6", "2.7", "2.8", "2.9", "2.10") for level in ("lax", "strict")
]
OUTCOMES = {"ok", "fallback", "output", "error", "diverges", "unmeasurable", "crash", "timeout"}


@pytest.mark.parametrize("version,level", MEASURED)
def test_outcomes_are_known_words(version: str, level: str) -> None:
    calls = graph_calls(version, level)
    assert len(calls) > 800
    assert set(calls.values()) <= OUTCOMES


@pytest.mark.parametrize("version", ("2.7", "2.10"))
def test_lax_leaves_to_python_what_strict_refuses(version: str) -> None:
    lax, strict = graph_calls(version, "lax"), graph_calls(version, "strict")
    for name in ("Tensor.asnumpy", "Tensor.tolist", "builtins-of-tensor: sorted(x[0])[0]"):
        assert lax[name] == "fallback", name
        assert strict[name] == "error", name


@pytest.mark.parametrize("version,level", MEASURED)
def test_plain_tensor_code_is_ok(version: str, level: str) -> None:
    calls = graph_calls(version, level)
    for name in (
        "Tensor.mean",
        "Tensor.shape",
        "Tensor.reshape",
        "Tensor.abs",
        "Tensor.sum",
        "Cell.training",
    ):
        assert calls[name] == "ok", name


@pytest.mark.parametrize("version,level", MEASURED)
def test_what_the_graph_refuses(version: str, level: str) -> None:
    calls = graph_calls(version, level)
    for name in (
        "Cell.trainable_params",
        "Cell.get_parameters",
        "Parameter.set_data",
        "mindspore.set_context",
        "mindspore.set_seed",
        "mindspore.save_checkpoint",
        "mindspore.log.info",
        "mindspore.Parameter",
        "mindspore.common.initializer.initializer",
    ):
        assert calls[name] == "error", name
        assert why_error(version, name, level)


@pytest.mark.parametrize("version", ("2.7", "2.10"))
def test_silent_list_methods(version: str) -> None:
    calls = graph_calls(version, "lax")
    for name in ("sort()", "remove(1)"):
        assert calls["list statement: " + name] == "diverges", name
    assert calls["list statement: append(x)"] == "ok"
    assert calls["list value: append(x)"] == "diverges"


def test_a_version_between_takes_the_lower_one() -> None:
    assert graph_calls("2.7.1", "lax") is graph_calls("2.7.0", "lax")
    assert why_error("2.10", "Tensor.mean") is None
