"""Hard facts about MindSpore's API, each checked against the installed package when the table was made."""

from __future__ import annotations

import pytest

from graphlint.knowledge import Parameter, api, api_versions, nearest_table
from graphlint.knowledge.entries import parse_parameters
from graphlint.knowledge.names import CELL_CLASSES, star_names

ALL = ("2.0", "2.6", "2.7", "2.8", "2.9", "2.10")


def test_versions_sort_by_number() -> None:
    assert api_versions() == ALL


@pytest.mark.parametrize(
    "asked,table",
    [
        ("2.10.0", "2.10"),
        ("2.5.1", "2.0"),
        ("1.9", "2.0"),
        ("2.7.1", "2.7"),
        ("3.0", "2.10"),
        ("2.6.0.dev1", "2.6"),
    ],
)
def test_nearest_lower_table(asked: str, table: str) -> None:
    assert nearest_table(asked) == table


@pytest.mark.parametrize("version", ALL)
def test_conv2d_has_no_bias_and_pads_same(version: str) -> None:
    conv = api(version).get("mindspore.nn.Conv2d")
    assert conv is not None and conv.kind == "cell"
    bias, pad = conv.param("has_bias"), conv.param("pad_mode")
    assert bias and bias.default == "False"
    assert pad and pad.default == "'same'"
    assert not conv.accepts("bias")
    assert conv.platforms == ("Ascend", "GPU", "CPU")


@pytest.mark.parametrize("version", ALL)
def test_dense_has_a_bias(version: str) -> None:
    dense = api(version).get("mindspore.nn.Dense")
    assert dense is not None
    bias = dense.param("has_bias")
    assert bias and bias.default == "True"


@pytest.mark.parametrize("version", ALL)
def test_forbidden_in_graph_code(version: str) -> None:
    table = api(version)
    for name in (
        "mindspore.Parameter.set_data",
        "mindspore.nn.Cell.trainable_params",
        "mindspore.nn.Cell.untrainable_params",
        "mindspore.common.initializer.initializer",
    ):
        entry = table.get(name)
        assert entry is not None and entry.forbidden, name
    convolution = table.get("mindspore.nn.Conv2d")
    assert convolution is not None and not convolution.forbidden


def test_forbidden_changes_between_versions() -> None:
    assert api("2.7").get("mindspore.recompute").forbidden
    assert not api("2.10").get("mindspore.recompute").forbidden
    assert api("2.10").get("mindspore.set_context").forbidden
    assert not api("2.0").get("mindspore.set_context").forbidden


def test_names_that_come_and_go() -> None:
    assert not api("2.0").has("mindspore.nn.Linear")
    assert api("2.7").has("mindspore.nn.Linear")
    assert api("2.0").has("mindspore.ms_function")
    assert not api("2.10").has("mindspore.ms_function")
    assert api("2.7").has("mindspore.nn.TensorArray")
    assert not api("2.10").has("mindspore.nn.TensorArray")
    assert not api("2.10").has_module("mindspore.dataset.vision.c_transforms")
    assert not api("2.0").has_module("mindspore.mint")


@pytest.mark.parametrize("version", ALL)
def test_pytorch_names_are_missing(version: str) -> None:
    table = api(version)
    for name in (
        "mindspore.nn.Module",
        "mindspore.nn.Sequential",
        "mindspore.nn.functional.relu",
        "mindspore.Tensor.cuda",
        "mindspore.no_such",
    ):
        assert not table.has(name), name
    assert table.nearest("mindspore.nn.Sequential") == "mindspore.nn.SequentialCell"
    assert table.nearest("mindspore.nn.functional.relu") == "mindspore.ops.relu"


@pytest.mark.parametrize("version", ALL)
def test_what_cannot_be_known_counts_as_there(version: str) -> None:
    table = api(version)
    for name in (
        "torch.nn",
        "mindspore.nn.Dense.weight",
        "mindspore.nn.wrap.cell_wrapper.WithLossCell",
        "mindspore._c_expression.Tensor",
        "mindspore.ops._primitive_cache",
    ):
        assert table.has(name), name


@pytest.mark.parametrize("version", ALL)
def test_aliases_and_inherited_methods(version: str) -> None:
    table = api(version)
    for asked, own in (
        ("mindspore.ops.operations.MatMul", "mindspore.ops.MatMul"),
        ("mindspore.nn.layer.Dense", "mindspore.nn.Dense"),
        ("mindspore.context.set_context", "mindspore.set_context"),
        ("mindspore.nn.Dense.set_train", "mindspore.nn.Cell.set_train"),
        ("mindspore.train.Model.train", "mindspore.Model.train"),
        ("mindspore.Parameter.mean", "mindspore.Tensor.mean"),
        ("mindspore.dataset.GeneratorDataset.batch", "mindspore.dataset.engine.datasets.Dataset.batch"),
    ):
        entry = table.get(asked)
        assert entry is not None and entry.name == own, asked


@pytest.mark.parametrize("version", ALL)
def test_cells(version: str) -> None:
    table = api(version)
    for name in ("Cell", "Conv2d", "SGD", "CrossEntropyLoss", "SequentialCell", "TrainOneStepCell"):
        assert table.is_cell_class("mindspore.nn." + name), name
        assert name in CELL_CLASSES
    assert not table.is_cell_class("mindspore.ops.MatMul")
    assert not table.is_cell_class("mindspore.nn.Accuracy")
    assert "Accuracy" not in CELL_CLASSES


@pytest.mark.parametrize("version", ALL)
def test_star_import(version: str) -> None:
    names = api(version).star_names()
    assert {"Tensor", "Parameter", "float32", "set_context", "GRAPH_MODE"} <= names
    assert not {"nn", "ops"} & names
    assert names <= star_names("mindspore")


def test_deprecations() -> None:
    profiler = api("2.10").get("mindspore.Profiler").deprecated
    assert profiler and profiler.replacement == "mindspore.profiler.profile"
    assert api("2.10").get("mindspore.nn.FTRL").deprecated.since == "2.9.0"
    assert api("2.7").get("mindspore.nn.FTRL").deprecated is None
    assert api("2.10").get("mindspore.hal.synchronize").deprecated.when == "soon"
    context = api("2.10").get("mindspore.set_context")
    assert context.deprecated_params["device_id"] == "mindspore.set_device"
    assert context.accepts("anything")
    for version in ALL:
        for name in ("mindspore.nn.Conv2d", "mindspore.nn.Adam", "mindspore.Tensor", "mindspore.jit"):
            assert api(version).get(name).deprecated is None, (version, name)


def test_parameters_and_overloads() -> None:
    total = api("2.10").get("mindspore.Tensor.sum")
    assert total.param("axis") and total.param("dim") and total.closed
    assert api("2.10").get("mindspore.Tensor.add_").inplace
    assert not api("2.10").get("mindspore.ops.is_").inplace
    assert parse_parameters("a, /, b=(1, 2), *c, d='x', **e") == (
        Parameter("a", None, "positional-only"),
        Parameter("b", "(1, 2)", "positional"),
        Parameter("c", None, "*"),
        Parameter("d", "'x'", "keyword"),
        Parameter("e", None, "**"),
    )


def test_platforms() -> None:
    assert api("2.10").get("mindspore.nn.MaxUnpool2d").runs_on("Ascend") is False
    assert api("2.10").get("mindspore.nn.Conv2d").runs_on("Ascend") is True
    assert api("2.10").get("mindspore.Model").runs_on("Ascend") is None


@pytest.mark.parametrize("version", ALL)
def test_every_row_can_be_read(version: str) -> None:
    entries = list(api(version).entries())
    assert len(entries) > 4500
    for entry in entries:
        assert entry.platforms is None or set(entry.platforms) <= {"Ascend", "GPU", "CPU"}, entry
        assert not any("0x" in (p.default or "") for params in entry.signatures for p in params), entry
