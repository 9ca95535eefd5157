"""Findings that the files themselves ask to leave out, and requests that leave nothing out.

A manifest has ``"x-ignore": ["ST306"]`` for its whole tool. In a module or a procedure the comment
``# sovl: ignore[ST408]`` holds for its line or, where it has a line to itself, for the file.
"""

from __future__ import annotations

import json
import os
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from typing import NamedTuple

from sovl_tools.linting.rules import SelectorError, code_of, unused_suppression
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask, in_order
from sovl_tools.model.document import JSON
from sovl_tools.procedures.parse.files import SUFFIXES
from sovl_tools.reporting.text import LinesOf, read_lines

KEY = "x-ignore"
_COMMENT = re.compile(r"#\s*sovl:\s*ignore\b(?P<rules>\[[^\]]*\])?")
_SOURCES = (".py", *SUFFIXES)


class Suppression(NamedTuple):
    """One rule that is to be left out, and where that is asked.

    Attributes:
        code: the beginning of the codes that are left out; empty if no rule is named.
        words: what is said if it leaves nothing out.
        scope: a path: of a file, or of a folder with the separator at its end.
        only: the line for which alone it holds; 0 for the whole scope.
        tool: whose it is, if it is a tool's.
        path: the file in which it stands.
        line: the line in that file, from 1.
        column: the column in that line, from 1.
    """

    code: str
    words: str
    scope: str
    only: int
    tool: str | None
    path: str
    line: int
    column: int

    def names(self, found: Diagnostic) -> bool:
        """Tell whether it names the rule of a finding."""
        return bool(self.code) and found.code.startswith(self.code)


def suppress_findings(
    report: LoadReport,
    procedures: Iterable[str] = (),
    *,
    unasked: Collection[str] = (),
    lines_of: LinesOf = read_lines,
) -> LoadReport:
    """Return a report without the warnings that files ask to leave out.

    What leaves nothing out is a finding of its own, except in tools that were rejected, of which
    most was not looked at.

    Args:
        report: of a load.
        procedures: the files of procedures that were checked.
        unasked: beginnings of codes that nobody looked for in this run.
        lines_of: reads files.
    """
    rejected = {each.name for each in report.folders if each.status == "rejected"}
    asked = [each for folder in report.folders for each in _of_tool(folder, lines_of)]
    seen = {each.path for each in report.diagnostics if each.path.endswith(_SOURCES)}
    seen.difference_update(each.path for each in asked)
    if seen:
        seen.difference_update(_sources(report.folders))
    for path in (*procedures, *sorted(seen.difference(procedures))):
        asked += _comments(path, None, lines_of)
    if not asked:
        return report
    holding: dict[tuple[str, int], list[Suppression]] = {}
    for each in asked:
        holding.setdefault((each.scope, each.only), []).append(each)
    used: set[Suppression] = set()
    shown = []
    for found in report.diagnostics:
        # an error is never left out: its tool is not there
        places = _places_of(found) if found.severity != "error" else ()
        nearby = (each for place in places for each in holding.get(place, ()))
        covering = [each for each in nearby if each.names(found)]
        used.update(covering)
        shown += [] if covering else [found]
    for each in asked:
        is_excused = each.tool in rejected or (each.code and each.code.startswith(tuple(unasked)))
        if each not in used and not is_excused:
            (verdict,) = ask((unused_suppression,), each.words)
            shown.append(verdict.at(each.path, each.line, each.column, tool=each.tool))
    return report.showing(in_order(shown))


def _places_of(found: Diagnostic) -> Iterator[tuple[str, int]]:
    """Yield the scopes in which a finding lies, each with the line for which it would hold."""
    path = found.path
    yield from ((path, found.line), (path, 0))
    yield from ((path[: at + 1], 0) for at, letter in enumerate(path) if letter == os.sep)


def _sources(folders: Iterable[Candidate]) -> Iterator[str]:
    """Yield the Python files of tools: those in their folders, or the module that defines one."""
    for each in folders:
        if each.path.endswith(".py"):
            yield each.path
            continue
        with suppress(OSError):
            names = sorted(os.listdir(each.location))
            yield from (os.path.join(each.path, name) for name in names if name.endswith(".py"))


def _of_tool(tool: Candidate, lines_of: LinesOf) -> Iterator[Suppression]:
    for path in _sources([tool]):
        yield from _comments(path, tool.name, lines_of)
    path = os.path.join(tool.path, f"{tool.name}.json")
    text = "\n".join(lines_of(path))
    if KEY not in text:
        return
    try:
        document: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return  # which is a finding of its own
    if not isinstance(document, dict) or KEY not in document:
        return
    places, rules = Places(text), document[KEY]
    if not isinstance(rules, list) or not all(isinstance(each, str) for each in rules):
        words = f"{KEY} must be a list of rules, such as ['ST306']"
        place = line_and_column(text, places.offset(ManifestPlace((KEY,))))
        yield Suppression("", words, "", 0, tool.name, path, *place)
        return
    for index, selector in enumerate(rules):
        place = line_and_column(text, places.offset(ManifestPlace((KEY, index))))
        scope = os.path.join(tool.path, "")
        yield Suppression(*_resolved(selector), scope, 0, tool.name, path, *place)


def _comments(path: str, tool: str | None, lines_of: LinesOf) -> Iterator[Suppression]:
    """Yield what the comments of a module or a procedure ask to leave out."""
    lines = lines_of(path)
    if "sovl:" not in "\n".join(lines):  # a tenth of the time of asking each line
        return
    for number, column, comment in _comments_in(path, lines):
        found = _COMMENT.match(comment)
        if found is None:
            continue
        only = 0 if lines[number - 1][:column].isspace() or not column else number
        selectors = _selectors(found)
        for selector in selectors:
            yield Suppression(*_resolved(selector), path, only, tool, path, number, column + 1)
        if not selectors:
            yield Suppression("", _NO_RULE, path, only, tool, path, number, column + 1)


_NO_RULE = "the comment names no rule: write # sovl: ignore[ST408]"


def _selectors(comment: re.Match[str]) -> list[str]:
    listed = (comment["rules"] or "").strip("[]")
    return [each.strip() for each in listed.split(",") if each.strip()]


def without_idle(comment: str, words: str) -> str | None:
    """Return a comment without what leaves nothing out; None if it doesn't ask for that.

    ``words`` are what is said of it. Empty if nothing is left of the comment; what else somebody
    wrote into it is.
    """
    found = _COMMENT.match(comment)
    if found is None:
        return None
    selectors = _selectors(found)
    kept = [each for each in selectors if _resolved(each)[1] != words]
    if len(kept) == len(selectors) and (selectors or words != _NO_RULE):
        return None
    rest = comment[found.end() :]
    if kept:
        return f"{comment[: found.start('rules')]}[{', '.join(kept)}]{rest}"
    rest = rest.strip()
    return rest if not rest or rest.startswith("#") else f"# {rest}"


def _comments_in(path: str, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line, column from 0 and text of what may be comments of ours."""
    if path.endswith(".py"):
        # a string can hold such a text; where the module can't be read, what comes first counts
        with suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(StringIO("\n".join(lines)).readline):
                if token.type == tokenize.COMMENT:
                    yield *token.start, token.string
        return
    for number, line in enumerate(lines, 1):
        if found := _COMMENT.search(line):
            yield number, found.start(), found.group()


def _resolved(selector: str) -> tuple[str, str]:
    """Return the beginning of the codes that a selector names, and what is said if it is idle."""
    try:
        return code_of(selector), f"nothing of {selector} is left out by this"
    except SelectorError as error:
        return "", str(error)
