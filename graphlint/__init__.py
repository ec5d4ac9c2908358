"""graphlint: finds the places where a MindSpore graph breaks or silently differs from PyNative."""

__version__ = "0.1.0"


def register(linter: object) -> None:
    """Registers the pylint plugin: `load-plugins=graphlint`. Imports it only now; ImportError without pylint."""
    from graphlint.pylint_plugin import register as register_checkers

    register_checkers(linter)  # type: ignore[arg-type]
