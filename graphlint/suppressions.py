"""Comments that silence findings, and the report (GL901) of those that silence nothing.

`# graphlint: ignore[GL101, try-in-graph]`, `# graphlint: ignore` and `# graphlint: ignore-file[...]` count,
and so do `# noqa`, `# noqa: GL101` and `# pylint: disable=...` with pylint's scopes.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from graphlint.errors import nearest
from graphlint.finding import Applicability, Edit, Effect, Finding, Fix, Severity
from graphlint.lang import say

if TYPE_CHECKING:
    from graphlint.source import SourceFile

CODE, NAME = "GL901", "unused-suppression"

_MARKER = re.compile(rb"graphlint:|noqa|pylint:", re.IGNORECASE)
_OWN = re.compile(
    r"#\s*graphlint:\s*(?P<kind>ignore-file|ignore)\b(?:\s*\[(?P<codes>[^\]]*)\])?(?P<rest>[^#]*)"
)
_NOQA = re.compile(r"#\s*noqa(?::\s*(?P<codes>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?", re.IGNORECASE)
_PYLINT = re.compile(
    r"#.*?\bpylint:\s*(?P<kind>disable-next|disable|enable|skip-file)(?:\s*=\s*(?P<codes>[\w\-,\s]+))?"
)
_PYLINT_ID = re.compile(r"[A-Z]7(\d{3})$")
_OWN_CODE = re.compile(r"GL\d{3}$")


@dataclass
class Suppression:
    """One comment, the lines that it silences (both ends included), and which of its codes did so.

    `codes` is None for a comment that silences everything; `ours` is true where it speaks to graphlint alone,
    so that it can be reported as unused.
    """

    comment: str
    line: int
    column: int
    first: int
    last: int
    codes: Optional[Tuple[str, ...]]
    ours: bool
    pylint: bool = False
    used: Set[str] = field(default_factory=set)

    def silence(self, finding: Finding) -> bool:
        """True where the finding's lines and code fall under this comment, which then counts as used."""
        end = finding.line if self.pylint else finding.end_line
        if end < self.first or finding.line > self.last:
            return False
        if self.codes is None:
            self.used.add("")
            return True
        hits = {code for code in self.codes if fits(code, finding)}
        self.used |= hits
        return bool(hits)


def fits(code: str, finding: Finding) -> bool:
    """True where `code` is the finding's code, the beginning of it, its name, or its pylint id."""
    if code in (finding.code, finding.name):
        return True
    pylint_id = _PYLINT_ID.match(code)
    if pylint_id is not None:
        return finding.code == "GL" + pylint_id[1]
    return code.startswith("GL") and finding.code.startswith(code)


def apply_suppressions(
    source: SourceFile,
    findings: Iterable[Finding],
    rules: Optional[Mapping[str, str]] = None,
    selected: Callable[[str], bool] = lambda code: True,
    pylint: bool = True,
) -> Tuple[List[Finding], List[Finding]]:
    """The findings that stay, and a GL901 for each graphlint suppression that silenced nothing.

    `findings` are those of `source` alone, in lines of its text, before select and ignore; `rules` maps codes
    to names (all rules by default); a code that isn't `selected` is not called unused; without `pylint`,
    pylint's comments are left alone.
    """
    if not may_suppress(source.data):
        return list(findings), []
    comments = [c for c in read_suppressions(source) if pylint or not c.pylint]
    kept = [finding for finding in findings if not silenced(finding, comments)]
    own = [comment for comment in comments if comment.ours]
    if not own:
        return kept, []
    if rules is None:
        from graphlint.config import known_rules

        rules = known_rules()
    unused = [finding for comment in own for finding in _unused(comment, source, rules, selected)]
    allowing = [comment for comment in comments if comment.codes is not None]
    return kept, [finding for finding in unused if not silenced(finding, allowing)]


def may_suppress(data: bytes) -> bool:
    """False for a file whose bytes hold no word of a suppression."""
    return _MARKER.search(data) is not None


def silenced(finding: Finding, comments: Iterable[Suppression]) -> bool:
    """True where one of the comments silences the finding; every comment that does counts as used."""
    hit = False
    for comment in comments:
        hit = comment.silence(finding) or hit
    return hit


def read_suppressions(source: SourceFile) -> List[Suppression]:
    """Every suppression in the file, in the order of its lines."""
    found: List[Suppression] = []
    end = len(source.lines) + 1
    for comment, line, column, alone in _comments(source.text):
        for match in _OWN.finditer(comment):
            codes = _split(match["codes"])
            first, last = (1, end) if match["kind"] == "ignore-file" else _reach(source, line, alone)
            shown = match[0][: match.start("rest") - match.start()].strip()
            found.append(Suppression(shown, line, column + match.start(), first, last, codes, ours=True))
        for match in _NOQA.finditer(comment):
            codes = _split(match["codes"].upper() if match["codes"] else None)
            ours = codes is not None and all(_OWN_CODE.match(code) for code in codes)
            found.append(Suppression(match[0], line, column + match.start(), line, line, codes, ours))
        for match in _PYLINT.finditer(comment):
            _read_pylint(match, line, column, alone, source, found)
    return found


def _reach(source: SourceFile, line: int, alone: bool) -> Tuple[int, int]:
    """A comment after code speaks of its own line, one that stands alone of the next line of code."""
    if not alone:
        return line, line
    for number in range(line + 1, len(source.lines) + 1):
        text = source.line_text(number).strip()
        if text and not text.startswith("#"):
            return line, number
    return line, line


def _split(codes: Optional[str]) -> Optional[Tuple[str, ...]]:
    return (
        None if codes is None else tuple(dict.fromkeys(code for code in re.split(r"[,\s]+", codes) if code))
    )


def _comments(text: str) -> Iterator[Tuple[str, int, int, bool]]:
    """Each comment with its line, its column from 1, and whether it stands alone on its line."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                line, offset = token.start
                yield token.string, line, offset + 1, not token.line[:offset].strip()
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return


def _read_pylint(
    match: re.Match[str], line: int, column: int, alone: bool, source: SourceFile, found: List[Suppression]
) -> None:
    kind, codes = match["kind"], _split(match["codes"])
    if kind == "skip-file":
        found.append(
            Suppression(match[0], line, column, 1, len(source.lines) + 1, None, ours=False, pylint=True)
        )
    elif codes is None:
        return
    elif kind == "enable":
        for earlier in found:
            named = earlier.codes is None or set(earlier.codes) & set(codes) or "all" in codes
            if earlier.pylint and earlier.first <= line <= earlier.last and named:
                earlier.last = line - 1
    else:
        if kind == "disable-next":
            first = last = line + 1
        else:
            first, last = _pylint_scope(source, line, alone)
        everything = "all" in codes
        found.append(
            Suppression(
                match[0], line, column, first, last, None if everything else codes, ours=False, pylint=True
            )
        )


def _pylint_scope(source: SourceFile, line: int, alone: bool) -> Tuple[int, int]:
    """The lines that pylint takes a `disable` on `line` to cover.

    On the head of a block, the block; alone on its line, the rest of the block that it stands in, or all of a
    function, class or module when it comes before the first statement; after a simple statement, its line.
    """
    end = len(source.lines) + 1
    holder: ast.AST = source.tree
    while True:
        inner = next(
            (child for child in _statements(holder) if child.lineno <= line <= (child.end_lineno or 0)), None
        )
        if inner is None:
            break
        holder = inner
    if isinstance(holder, ast.Module):
        first = holder.body[0].lineno if holder.body else end
        return (1 if line < first else line), end
    start, last = holder.lineno, holder.end_lineno or line  # type: ignore[attr-defined]
    body = getattr(holder, "body", None)
    if not isinstance(body, list):
        return line, (line if not alone else last)
    if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (start if line < _first_line(body) else line), last
    for name in ("body", "orelse", "finalbody"):
        block = getattr(holder, name, None)
        if block and line <= (block[-1].end_lineno or 0):
            return line, block[-1].end_lineno
    return line, last


def _first_line(body: Sequence[ast.stmt]) -> int:
    """The line of the first statement that isn't a docstring."""
    first = body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_docstring and len(body) > 1:
        return body[1].lineno
    return (first.end_lineno or first.lineno) + 1 if is_docstring else first.lineno


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler,)) or type(child).__name__ == "match_case":
            yield from _statements(child)


def _unused(
    comment: Suppression, source: SourceFile, rules: Mapping[str, str], selected: Callable[[str], bool]
) -> Iterator[Finding]:
    """The GL901 findings about one comment: codes that don't exist, and codes that silenced nothing."""
    lang = source.lang
    if comment.codes is None:
        if not comment.used:
            yield _finding(
                comment, source, say("unused-all", lang, comment=comment.comment), say("unused-help", lang)
            )
        return
    idle = [code for code in comment.codes if code not in comment.used]
    unknown = [code for code in idle if not _known(code, rules)]
    for code in unknown:
        close = nearest(code, [*rules, *rules.values()])
        advice = say("unknown-help", lang, nearest=close) if close else ""
        yield _finding(comment, source, say("unknown-codes", lang, codes=code), advice, removable=False)
    codes_of: Dict[str, str] = {name: code for code, name in rules.items()}
    useless = [code for code in idle if code not in unknown and selected(codes_of.get(code, code))]
    if useless:
        message = say("unused-codes", lang, codes=", ".join(useless))
        yield _finding(comment, source, message, say("unused-help", lang), len(useless) == len(comment.codes))


def _known(code: str, rules: Mapping[str, str]) -> bool:
    pylint_id = _PYLINT_ID.match(code)
    if pylint_id is not None:
        code = "GL" + pylint_id[1]
    return code in rules.values() or (code.startswith("GL") and any(rule.startswith(code) for rule in rules))


def _finding(
    comment: Suppression, source: SourceFile, message: str, advice: str, removable: bool = True
) -> Finding:
    start, stop = comment.column, comment.column + len(comment.comment)
    fix = None
    text = source.line_text(comment.line)
    if removable and not text[stop - 1 :].strip():
        kept = len(text[: start - 1].rstrip())
        if kept:
            edit = Edit(comment.line, kept + 1, comment.line, len(text) + 1, "")
        else:
            edit = Edit(comment.line, 1, comment.line + 1, 1, "")
        fix = Fix(Applicability.SAFE, (edit,))
    return Finding(
        code=CODE,
        name=NAME,
        effect=Effect.NONE,
        severity=Severity.WARNING,
        path=source.path,
        line=comment.line,
        column=start,
        end_line=comment.line,
        end_column=stop,
        symbol="",
        chain=(),
        message=message,
        help=advice,
        fix=fix,
    )
