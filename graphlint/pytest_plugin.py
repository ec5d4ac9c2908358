"""The pytest plugin: `--graphlint-verify` makes each Cell a test, `assert_graph_equal` compares the modes.

Nothing of graphlint's is imported before the option or the fixture asks for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, List, Optional

import pytest

if TYPE_CHECKING:
    from graphlint.pytest_verify import CellFile

OPTION = "--graphlint-verify"
MARK = "graphlint"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the group `graphlint`."""
    group = parser.getgroup("graphlint", "MindSpore graph mode")
    group.addoption(OPTION, action="store_true", help="Compile each Cell as a graph; each is a test.")
    group.addoption("--graphlint-device", metavar="N[,N]", help="Ascend device numbers (default: the CPU).")
    group.addoption("--graphlint-device-target", metavar="NAME", help="Ascend, CPU or GPU.")
    group.addoption("--graphlint-timeout", type=float, metavar="SECONDS", help="For one try (default: 60).")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker; without arguments the configuration's `include` is collected too."""
    config.addinivalue_line("markers", f"{MARK}: a Cell that graphlint verifies ({OPTION})")
    if not config.getoption(OPTION):
        return
    from graphlint.pytest_verify import run_of

    settings = run_of(config).settings
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        known = {os.path.realpath(argument) for argument in config.args}
        config.args.extend(path for path in settings.include if os.path.realpath(path) not in known)


def pytest_collect_file(file_path: Any, parent: pytest.Collector) -> Optional[CellFile]:
    """Each module with Cells, besides what pytest itself collects from it."""
    if file_path.suffix != ".py" or not parent.config.getoption(OPTION):
        return None
    from graphlint.pytest_verify import CellFile, run_of

    if not run_of(parent.config).targets(str(file_path)):
        return None
    file: CellFile = CellFile.from_parent(parent, path=file_path)
    return file


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends the workers."""
    if config.getoption(OPTION, False):
        from graphlint.pytest_verify import close

        close(config)


@pytest.fixture
def assert_graph_equal() -> Iterator[Any]:
    """`assert_graph_equal(net, *inputs, calls=2)`: runs the Cell in PyNative and as a graph and compares.

    Compared are results, arguments after the call, Parameters and attributes, with tolerances by dtype. Both
    runs start from the same state, which is put back at the end. Fails the test where the graph refuses or
    differs; what PyNative itself raises is raised.
    """
    from graphlint.verify.worker import framework
    from graphlint.verify.worker.compare import compare

    found: List[Any] = []

    def check(net: Any, *inputs: Any, calls: int = 2, level: str = "lax") -> None:
        from graphlint.graph_equal import observe, state_of

        __tracebackhide__ = True
        first = state_of(net)
        expected = observe(net, inputs, calls, "pynative", level, first)
        try:
            got = observe(net, inputs, calls, "graph", level, first)
        except Exception as error:
            pytest.fail(
                f"the graph refuses {type(net).__name__}: {type(error).__name__}: {error}", pytrace=False
            )
        found[:] = compare(expected, got)
        if found:
            lines = [
                f"{d['where']} ({d['kind']}): PyNative {d['pynative']}, graph {d['graph']}" for d in found
            ]
            pytest.fail("\n".join([f"{type(net).__name__} differs as a graph:", *lines]), pytrace=False)

    mode = framework.ms.get_context("mode")
    try:
        yield check
    finally:
        framework.use_mode("graph", "lax")
        framework.ms.set_context(mode=mode)
