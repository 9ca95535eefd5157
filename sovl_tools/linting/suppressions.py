"""Suppressions: findings that manifests, modules and procedures omit on purpose.

A manifest suppresses findings of its whole tool with ``"x-ignore": ["ST306"]``. In a module or a
procedure the comment ``# sovl: ignore[ST408]`` counts for its line or, if it is the only text on
the line, for the file. A suppression without an effect is a finding itself.
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

from sovl_tools.linting.rules import unused_suppression
from sovl_tools.linting.selection import SelectorError, code_of
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask, in_order
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import ToolFolder
from sovl_tools.procedures.parse.files import SUFFIXES
from sovl_tools.reporting.text import read_text

SUPPRESSIONS = "x-ignore"
_MARK = "sovl:"
_COMMENT = re.compile(r"#\s*sovl:\s*ignore\b(?P<rules>\[[^\]]*\])?")
_IN_YAML = re.compile(rf"(?:(?<=\s)|^){_COMMENT.pattern}")
_SOURCES = (".py", *SUFFIXES)


class Suppression(NamedTuple):
    """A request to suppress the findings of one rule.

    Attributes:
        selector: the rule as written; empty if the request names none.
        code: the beginning of the codes to suppress; empty for an unknown rule.
        words: the message if it has no effect.
        scope: the path of a file, or of a folder with the separator at its end.
        only: the one line in the scope, from 1; 0 for all lines.
        tool: the name of the tool that it belongs to; None for a procedure.
        path: the file with the request.
        line: its line in that file, from 1.
        column: its column in that line, from 1.
    """

    selector: str
    code: str
    words: str
    scope: str
    only: int
    tool: str | None
    path: str
    line: int
    column: int

    def covers(self, found: Diagnostic) -> bool:
        """Return whether it suppresses a finding; errors can't be suppressed."""
        if found.severity == "error" or not self.code or not found.code.startswith(self.code):
            return False
        if self.only:
            return (found.path, found.line) == (self.scope, self.only)
        is_folder = self.scope.endswith(os.sep)
        return found.path.startswith(self.scope) if is_folder else found.path == self.scope

    def diagnostic(self) -> Diagnostic:
        """Return the finding that it has no effect."""
        (verdict,) = ask((unused_suppression,), self.words)
        return verdict.at(self.path, self.line, self.column, tool=self.tool)


def suppress_findings(
    report: LoadReport,
    asked: Iterable[Suppression],
    procedures: Iterable[str] = (),
    *,
    unasked: Collection[str] = (),
) -> tuple[LoadReport, dict[Diagnostic, Suppression]]:
    """Return a report without the suppressed warnings, and the suppressions that are idle.

    The report has a finding for each idle suppression, except in rejected tools, whose other
    findings are unknown.

    Args:
        report: of a load.
        asked: the suppressions in the folders of tools.
        procedures: the files of procedures that were checked.
        unasked: beginnings of the codes of rules that this run didn't check.
    """
    rejected = {each.name for each in report.folders if each.status == "rejected"}
    folders = {each.path for each in report.folders if not each.line}
    owners = {each.path: each.name for each in report.folders if each.line}
    seen = {each.path for each in report.diagnostics if each.path.endswith(_SOURCES)}
    seen = {each for each in seen if os.path.dirname(each) not in folders}
    asked = [*asked]
    for path in dict.fromkeys((*owners, *procedures, *sorted(seen))):
        text = read_text(path) or ""
        if _MARK in text:
            asked += _comments(path, owners.get(path), text.split("\n"))
    if not asked:
        return report, {}
    used: set[Suppression] = set()
    shown = []
    for found in report.diagnostics:
        covering = [each for each in asked if each.covers(found)]
        used.update(covering)
        shown += [] if covering else [found]
    idle: dict[Diagnostic, Suppression] = {}
    for each in asked:
        # a part of its rules wasn't checked, or it names a part of that
        is_open = each.code and any(
            each.code.startswith(code) or code.startswith(each.code) for code in unasked
        )
        is_excused = each.tool in rejected or is_open
        if each not in used and not is_excused:
            idle[each.diagnostic()] = each
    return LoadReport(report.folders, in_order([*shown, *idle])), idle


def suppressions_of(folder: ToolFolder) -> Iterator[Suppression]:
    """Yield the suppressions in the manifest and the modules of a folder."""
    with suppress(OSError):
        for name in sorted(os.listdir(folder.location)):
            if name != folder.manifest_name and not name.endswith(".py"):
                continue
            path = os.path.join(folder.path, name)
            text = read_text(os.path.join(folder.location, name)) or ""
            if name == folder.manifest_name:
                yield from _in_manifest(folder, path, text)
            elif _MARK in text:
                yield from _comments(path, folder.name, text.split("\n"))


def _in_manifest(tool: ToolFolder, path: str, text: str) -> Iterator[Suppression]:
    if SUPPRESSIONS not in text:
        return
    try:
        document: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return  # the rules about the text report it
    if not isinstance(document, dict) or SUPPRESSIONS not in document:
        return
    places, rules = Places(text), document[SUPPRESSIONS]
    if not isinstance(rules, list) or not all(isinstance(each, str) for each in rules):
        words = f"{SUPPRESSIONS} must be a list of rules, such as ['ST306']"
        place = line_and_column(text, places.offset(ManifestPlace((SUPPRESSIONS,))))
        yield Suppression("", "", words, "", 0, tool.name, path, *place)
        return
    scope = os.path.join(tool.path, "")
    for selector in dict.fromkeys(rules):
        item = ManifestPlace((SUPPRESSIONS, rules.index(selector)))
        place = line_and_column(text, places.offset(item))
        yield Suppression(*_resolved(selector), scope, 0, tool.name, path, *place)


def _comments(path: str, tool: str | None, lines: Sequence[str]) -> Iterator[Suppression]:
    """Yield the suppressions in the comments of a module or a procedure."""
    for number, column, comment in _comments_in(path, lines):
        found = _COMMENT.match(comment)
        if found is None:
            continue
        only = 0 if lines[number - 1][:column].isspace() or not column else number
        selectors = _selectors(found)
        for selector in dict.fromkeys(selectors):
            yield Suppression(*_resolved(selector), path, only, tool, path, number, column + 1)
        if not selectors:
            yield Suppression("", "", _NO_RULE, path, only, tool, path, number, column + 1)


_NO_RULE = "the comment names no rule: write # sovl: ignore[ST408]"


def _selectors(comment: re.Match[str]) -> list[str]:
    listed = (comment["rules"] or "").strip("[]")
    return [each.strip() for each in listed.split(",") if each.strip()]


def without_suppression(idle: Suppression, text: str) -> str:
    """Return a module's or a procedure's text without one of its suppressions.

    A comment with other rules or other words stays, and a line is removed with its comment if it
    has no else is on it.
    """
    mark = text[:1] if text.startswith("\ufeff") else ""
    lines = text.removeprefix(mark).split("\n")
    line, end = lines[idle.line - 1].removesuffix("\r"), "\r" * lines[idle.line - 1].endswith("\r")
    code, comment = line[: idle.column - 1], line[idle.column - 1 :]
    found = _COMMENT.match(comment)
    if found is None:
        return text
    kept = [each for each in _selectors(found) if each != idle.selector]
    rest = comment[found.end() :]
    if kept:
        changed = f"{code}{comment[: found.start('rules')]}[{', '.join(kept)}]{rest}"
    else:
        rest = rest.strip()
        changed = (
            f"{code}{rest if rest.startswith('#') else f'# {rest}'}" if rest else code.rstrip()
        )
    lines[idle.line - 1 : idle.line] = [changed + end] if changed.strip() else []
    return mark + "\n".join(lines)


def _comments_in(path: str, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line, column from 0 and text of each comment that can be a suppression."""
    if path.endswith(".py"):
        # a string can contain such a string; of a module with syntax errors the beginning counts
        with suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(StringIO("\n".join(lines)).readline):
                if token.type == tokenize.COMMENT:
                    yield *token.start, token.string
    elif not path.endswith(".json"):
        for number, line in enumerate(lines, 1):
            found = _IN_YAML.search(line)
            if found is not None:
                yield number, found.start(), found.group()


def _resolved(selector: str) -> tuple[str, str, str]:
    """Return a selector, the beginning of its codes, and the message if it has no effect."""
    try:
        return selector, code_of(selector), f"nothing of {selector} is omitted by this"
    except SelectorError as error:
        return selector, "", str(error)
