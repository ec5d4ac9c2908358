"""Settings of one run: from `[tool.graphlint]` in pyproject.toml or from graphlint.toml, options on top."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from graphlint.dependencies import declared_lower_bound
from graphlint.errors import ConfigError, UsageError, nearest
from graphlint.finding import Severity
from graphlint.lang import LANGUAGES, default_language, say
from graphlint.target import DEVICES, LEVELS, NEWEST, Target, version_key
from graphlint.toml import read_toml, subtable

FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit", "checkstyle", "markdown")
OWN_RULES = MappingProxyType({"GL901": "unused-suppression"})
"""Rules that graphlint says about itself, known without any checker."""


@dataclass(frozen=True)
class Settings:
    """All that decides what one run does. `targets` is never empty; `root` is the project's folder."""

    targets: Tuple[Target, ...] = (Target(),)
    select: Tuple[str, ...] = ()
    extend_select: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()
    per_file_ignores: Tuple[Tuple[str, Tuple[str, ...]], ...] = ()
    include: Tuple[str, ...] = ()
    exclude: Tuple[str, ...] = ()
    output_format: str = "text"
    fail_on: Severity = Severity.WARNING
    jobs: int = 0
    cache: bool = True
    lang: str = "en"
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    verify: Mapping[str, Any] = field(default_factory=dict)
    root: str = "."
    config_path: Optional[str] = None
    target_origin: str = ""
    baseline: Optional[str] = None
    """File of known findings, None for none."""
    pylint_comments: bool = True
    """False under pylint, which obeys `# pylint: disable=` itself."""

    @property
    def target(self) -> Target:
        """The first target: the one that decides severities where only one can be shown."""
        return self.targets[0]

    def selects(self, code: str, name: str = "", path: str = "") -> bool:
        """True where the rule is on for `path`. The longer selector wins; of two alike, `ignore`."""
        chosen = max(_weight(self.select or ("ALL",), code, name), _weight(self.extend_select, code, name))
        ignored = _weight(self.ignore, code, name)
        if path and self.per_file_ignores:
            relative = relative_path(path, self.root)
            for pattern, codes in self.per_file_ignores:
                if matches(relative, (pattern,)):
                    ignored = max(ignored, _weight(codes, code, name))
        return chosen > ignored

    def selectors(self) -> Iterable[str]:
        """Every rule code, prefix and name that the settings mention."""
        yield from self.select
        yield from self.extend_select
        yield from self.ignore
        for _, codes in self.per_file_ignores:
            yield from codes


def _weight(selectors: Iterable[str], code: str, name: str) -> int:
    """How closely the best of `selectors` fits a rule: -1 not at all, 0 through ALL, else its length."""
    best = -1
    for selector in selectors:
        if selector == "ALL":
            best = max(best, 0)
        elif selector in (code, name):
            best = max(best, len(code))
        elif code.startswith(selector):
            best = max(best, len(selector))
    return best


def matches(relative: str, patterns: Iterable[str]) -> bool:
    """True where a pattern fits the whole relative path, one of its parents, or one component of it."""
    parts = relative.split("/")
    parents = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    for pattern in patterns:
        cleaned = pattern[2:] if pattern.startswith("./") else pattern
        cleaned = cleaned.rstrip("/")
        candidates = parents if "/" in cleaned else parts
        alternatives = (cleaned, cleaned[3:]) if cleaned.startswith("**/") else (cleaned,)
        if any(fnmatchcase(part, wanted) for part in [*candidates, *parents] for wanted in alternatives):
            return True
    return False


def relative_path(path: str, root: str) -> str:
    """`path` as seen from `root`, with forward slashes; absolute where it lies elsewhere."""
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute, os.path.abspath(root))
    except ValueError:
        relative = absolute
    return (absolute if relative.startswith("..") else relative).replace(os.sep, "/")


class _Key(NamedTuple):
    expected: str
    fits: Callable[[Any], bool]


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _one_of(words: Sequence[str]) -> _Key:
    return _Key("one of " + ", ".join(words), lambda value: value in words)


_LIST = _Key("a list of strings", _strings)
_FLAG = _Key("true or false", lambda value: isinstance(value, bool))
_KEYS: Dict[str, _Key] = {
    "target-version": _Key(
        "a version or a list of versions",
        lambda value: isinstance(value, str) or (_strings(value) and bool(value)),
    ),
    "syntax-level": _one_of(LEVELS),
    "device-target": _one_of(DEVICES),
    "select": _LIST,
    "extend-select": _LIST,
    "ignore": _LIST,
    "per-file-ignores": _Key(
        "a table of pattern = [codes]",
        lambda value: isinstance(value, dict) and all(_strings(codes) for codes in value.values()),
    ),
    "include": _LIST,
    "exclude": _LIST,
    "output-format": _one_of(FORMATS),
    "fail-on": _one_of([severity.value for severity in Severity]),
    "jobs": _Key(
        "a whole number, 0 for as many as there are cores",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    ),
    "cache": _FLAG,
    "baseline": _Key("the name of a file", lambda value: isinstance(value, str) and bool(value)),
    "lang": _one_of(LANGUAGES),
    "fix": _FLAG,
    "unsafe-fixes": _FLAG,
    "verify": _Key("a table", lambda value: isinstance(value, dict)),
}


def load(
    start: Optional[str] = None,
    *,
    isolated: bool = False,
    options: Optional[Mapping[str, Any]] = None,
    lang: Optional[str] = None,
) -> Settings:
    """The settings for a run that begins at `start` (a file or folder; the working directory by default).

    `options` holds what the command line says under the configuration's keys, None for what it leaves open.
    Raises ConfigError or UsageError for what graphlint doesn't know; rule codes are checked by `check_rules`.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    spoken = lang or given.get("lang") or default_language()
    folder = _folder(start)
    table: Dict[str, Any] = {}
    config_path: Optional[Path] = None
    if not isolated:
        config_path, table = _find_table(folder, spoken)
        if config_path is not None:
            _validate(table, str(config_path), spoken)
    spoken = given.get("lang") or lang or table.get("lang") or default_language()
    merged = {**table, **given}
    if "select" in given:
        merged["ignore"] = list(given.get("ignore", ()))
        merged["extend-select"] = list(given.get("extend-select", ()))
    else:
        merged["ignore"] = [*table.get("ignore", ()), *given.get("ignore", ())]
        merged["extend-select"] = [*table.get("extend-select", ()), *given.get("extend-select", ())]
    root = project_root(folder)
    origin, versions = _versions(merged, "target-version" in given, config_path, root, isolated, spoken)
    level, device = merged.get("syntax-level", "lax"), merged.get("device-target", "Ascend")
    base = config_path.parent if config_path is not None else root
    return Settings(
        targets=tuple(Target(version, level, device) for version in versions),
        select=tuple(merged.get("select", ())),
        extend_select=tuple(merged["extend-select"]),
        ignore=tuple(merged["ignore"]),
        per_file_ignores=tuple((p, tuple(codes)) for p, codes in merged.get("per-file-ignores", {}).items()),
        include=tuple(os.path.relpath(base / path) for path in merged.get("include", ())),
        exclude=tuple(merged.get("exclude", ())),
        output_format=merged.get("output-format", "text"),
        fail_on=Severity(merged.get("fail-on", "warning")),
        jobs=merged.get("jobs", 0),
        cache=merged.get("cache", True),
        lang=spoken,
        fix=merged.get("fix", False),
        unsafe_fixes=merged.get("unsafe-fixes", False),
        diff=merged.get("diff", False),
        verify=merged.get("verify", {}),
        root=str(root),
        config_path=str(config_path) if config_path is not None else None,
        target_origin=origin,
        baseline=_baseline(table, given, base),
    )


def _baseline(table: Mapping[str, Any], given: Mapping[str, Any], base: Path) -> Optional[str]:
    """The option as given, else the configuration's file, which stands beside the configuration."""
    if given.get("no-baseline"):
        return None
    if "baseline" in given:
        return str(given["baseline"])
    return os.path.relpath(base / table["baseline"]) if "baseline" in table else None


def with_options(settings: Settings, **changes: Any) -> Settings:
    """A copy of the settings with some fields changed."""
    return replace(settings, **changes)


def check_rules(settings: Settings, rules: Optional[Mapping[str, str]] = None) -> None:
    """Raises ConfigError where the settings mention a rule that doesn't exist; `rules` maps codes to names.

    The checkers are imported only where the settings mention rules at all.
    """
    mentioned = list(dict.fromkeys(settings.selectors()))
    if not mentioned:
        return
    known = known_rules() if rules is None else rules
    for selector in mentioned:
        if not is_rule(selector, known):
            raise ConfigError(unknown_rule(selector, known, settings.lang))


def known_rules() -> Dict[str, str]:
    """Code → name of every rule, graphlint's own included; imports the checkers."""
    from graphlint.checkers import all_rules

    return dict(sorted({**OWN_RULES, **{rule.code: rule.name for rule in all_rules()}}.items()))


def is_rule(selector: str, known: Mapping[str, str]) -> bool:
    """True for `ALL`, a code, the beginning of a code (`GL1`) or a name."""
    if selector == "ALL" or selector in known.values():
        return True
    return selector.startswith("GL") and any(code.startswith(selector) for code in known)


def unknown_rule(selector: str, known: Mapping[str, str], lang: str) -> str:
    """The sentence that says that `selector` is no rule, and which one is nearest."""
    return say("unknown-rule", lang, rule=selector) + _hint(selector, [*known, *known.values()], lang)


def _hint(word: str, known: Iterable[str], lang: str) -> str:
    close = nearest(word, known)
    return say("did-you-mean", lang, nearest=f"`{close}`") if close else ""


def _folder(start: Optional[str]) -> Path:
    path = Path(os.path.abspath(start or "."))
    while not path.is_dir():
        path = path.parent
    return path


def project_root(start: Path) -> Path:
    """The nearest folder from `start` upwards with a pyproject.toml or a .git, else `start` itself."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or (folder / ".git").exists():
            return folder
    return start


def _find_table(folder: Path, lang: str) -> Tuple[Optional[Path], Dict[str, Any]]:
    """The nearest configuration upwards: graphlint.toml before pyproject.toml in the same folder."""
    for place in (folder, *folder.parents):
        own = place / "graphlint.toml"
        if own.is_file():
            return own, read_toml(own, lang)
        shared = place / "pyproject.toml"
        if shared.is_file():
            table = subtable(read_toml(shared, lang), "tool").get("graphlint")
            if table is not None:
                return shared, table
        if (place / ".git").exists():
            break
    return None, {}


def _validate(table: Mapping[str, Any], where: str, lang: str) -> None:
    shown = os.path.relpath(where)
    if not isinstance(table, dict):
        raise ConfigError(
            say("bad-value", lang, where=shown, key="tool.graphlint", expected="a table", value=table)
        )
    for key, value in table.items():
        known = _KEYS.get(key)
        if known is None:
            raise ConfigError(say("unknown-key", lang, where=shown, key=key) + _hint(key, _KEYS, lang))
        if not known.fits(value):
            raise ConfigError(
                say("bad-value", lang, where=shown, key=key, expected=known.expected, value=repr(value))
            )


def _versions(
    merged: Mapping[str, Any], by_option: bool, config: Optional[Path], root: Path, isolated: bool, lang: str
) -> Tuple[str, List[str]]:
    """Where the target versions come from, and the versions themselves."""
    wanted = merged.get("target-version")
    if wanted is not None:
        listed = [wanted] if isinstance(wanted, str) else list(wanted)
        origin = "" if by_option or config is None else os.path.relpath(config)
        return origin, list(dict.fromkeys(full_version(version, lang) for version in listed))
    if not isolated:
        declared = declared_lower_bound(root)
        if declared is not None:
            return f"{os.path.relpath(declared.path)} ({declared.requirement})", [
                full_version(declared.version, lang)
            ]
    return "", [NEWEST]


def full_version(version: str, lang: str = "en") -> str:
    """`2.7` as `2.7.0`; UsageError for what isn't a version."""
    try:
        return ".".join(str(part) for part in version_key(version))
    except ValueError as error:
        raise UsageError(say("bad-version", lang, version=version)) from error
