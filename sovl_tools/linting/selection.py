"""Which findings are shown, and which the files themselves leave out.

Shown is what is selected by code, by the beginning of a code, or by the name of a rule. A manifest
leaves out findings of its whole tool with ``"x-ignore": ["ST306"]``. In a module or a procedure the
comment ``# sovl: ignore[ST408]`` holds for its line or, where it has a line to itself, for the
file. What leaves nothing out is a finding of its own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from io import StringIO
from typing import NamedTuple, TypeAlias

from sovl_tools.configuration import Configuration
from sovl_tools.linting.rules import RULES, unused_suppression
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask, in_order
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ConfigurationError, SovlToolsError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.parse.files import SUFFIXES
from sovl_tools.reporting.text import read_lines


class SelectorError(SovlToolsError, ValueError):
    """A text names no rule."""


def code_of(selector: str) -> str:
    """Return the code, or the beginning of codes, that a selector means.

    It is a name in any case, with hyphens or underscores, or a code or the beginning of one.

    Raises:
        SelectorError: there is no such rule.
    """
    code = selector.strip().upper()
    if code and any(known.startswith(code) for known in RULES):
        return code
    codes = {rule.name: code for code, rule in RULES.items()}
    name = selector.strip().lower().replace("_", "-")
    if name in codes:
        return codes[name]
    is_code = code[:2] == "ST" and code[2:].isdigit()
    hint = did_you_mean(code, RULES) if is_code else did_you_mean(name, codes)
    words = f"there is no {'code' if is_code else 'rule'} {selector!r}"
    raise SelectorError(f"{words}; {hint or 'sovl-tools explain lists them'}")


def codes_of(selectors: Iterable[str]) -> tuple[str, ...]:
    """Return the codes, or their beginnings, of several selectors.

    Raises:
        SelectorError: one of them names no rule.
    """
    return tuple(map(code_of, selectors))


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown, as codes and beginnings of codes; the longest that fits decides.

    Where one is selected and ignored at the same length, nothing is shown.

    Attributes:
        select: what is shown; all if it is empty.
        extend_select: what is shown besides.
        ignore: what is not shown.
        per_tool: what is not shown of tools whose names match a pattern.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_tool: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def shows(self, diagnostic: Diagnostic) -> bool:
        """Tell whether a diagnostic is shown."""
        code, tool = diagnostic.code, diagnostic.tool
        ignored = list(self.ignore)
        for pattern, codes in self.per_tool.items():
            if tool is not None and fnmatchcase(tool, pattern):
                ignored += codes
        selected = [*(self.select or ("ST",)), *self.extend_select]
        return _longest(code, selected) > _longest(code, ignored)

    def of(self, report: LoadReport) -> LoadReport:
        """Return a report with nothing but what is shown."""
        return LoadReport(report.folders, tuple(filter(self.shows, report.diagnostics)))


def selection_of(
    found: Configuration,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Selection:
    """Return what is shown; codes that are given here win over those of the configuration.

    Raises:
        ConfigurationError: the configuration names a rule that there is not.
    """

    def configured(key: str, selectors: Sequence[str]) -> tuple[str, ...]:
        try:
            return codes_of(selectors)
        except SelectorError as error:
            raise ConfigurationError(f"{found.file}: {key}", str(error)) from error

    return Selection(
        tuple(select) or configured("select", found.select),
        (*configured("extend-select", found.extend_select), *extend_select),
        tuple(ignore) or configured("ignore", found.ignore),
        {
            pattern: configured(f"per-tool-ignores.{pattern}", rules)
            for pattern, rules in found.per_tool_ignores.items()
        },
    )


def _longest(code: str, beginnings: Iterable[str]) -> int:
    return max((len(each) for each in beginnings if code.startswith(each)), default=0)


def strict(report: LoadReport) -> LoadReport:
    """Return a report with every warning made an error."""
    return LoadReport(report.folders, tuple(map(as_error, report.diagnostics)))


def as_error(found: Diagnostic) -> Diagnostic:
    """Return a finding as an error."""
    return found._replace(severity="error")


SUPPRESSIONS = "x-ignore"
_MARK = "sovl:"
_COMMENT = re.compile(r"#\s*sovl:\s*ignore\b(?P<rules>\[[^\]]*\])?")
_SOURCES = (".py", *SUFFIXES)


class Suppression(NamedTuple):
    """One rule that is to be left out, and where that is asked.

    Attributes:
        selector: the rule as it is written; empty if none is.
        code: the beginning of the codes that are left out; empty if there is no such rule.
        words: what is said if it leaves nothing out.
        scope: a path: of a file, or of a folder with the separator at its end.
        only: the line for which alone it holds; 0 for the whole scope.
        tool: whose it is, if it is a tool's.
        path: the file that it is in.
        line: the line in that file, from 1.
        column: the column in that line, from 1.
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
        """Tell whether it leaves a finding out; an error never is, since its tool isn't there."""
        if found.severity == "error" or not self.code or not found.code.startswith(self.code):
            return False
        if self.only:
            return (found.path, found.line) == (self.scope, self.only)
        is_folder = self.scope.endswith(os.sep)
        return found.path.startswith(self.scope) if is_folder else found.path == self.scope

    def diagnostic(self) -> Diagnostic:
        """Return the finding that it leaves nothing out."""
        (verdict,) = ask((unused_suppression,), self.words)
        return verdict.at(self.path, self.line, self.column, tool=self.tool)


def suppress_findings(
    report: LoadReport,
    asked: Iterable[Suppression],
    procedures: Iterable[str] = (),
    *,
    unasked: Collection[str] = (),
) -> tuple[LoadReport, dict[Diagnostic, Suppression]]:
    """Return a report without the warnings that files ask to leave out, and what is idle in that.

    What leaves nothing out is a finding of its own, except in tools that were rejected, which
    were hardly looked at.

    Args:
        report: of a load.
        asked: what the folders of tools ask to leave out.
        procedures: the files of procedures that were checked.
        unasked: beginnings of codes that nobody looked for in this run.
    """
    rejected = {each.name for each in report.folders if each.status == "rejected"}
    folders = {each.path for each in report.folders if not each.line}
    owners = {each.path: each.name for each in report.folders if each.line}
    seen = {each.path for each in report.diagnostics if each.path.endswith(_SOURCES)}
    seen = {each for each in seen if os.path.dirname(each) not in folders}
    asked = [*asked]
    for path in dict.fromkeys((*owners, *procedures, *sorted(seen))):
        lines = read_lines(path)
        if any(_MARK in line for line in lines):
            asked += _comments(path, owners.get(path), lines)
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
        is_excused = each.tool in rejected or (each.code and each.code.startswith(tuple(unasked)))
        if each not in used and not is_excused:
            idle[each.diagnostic()] = each
    return LoadReport(report.folders, in_order([*shown, *idle])), idle


def suppressions_of(folder: ToolFolder) -> Iterator[Suppression]:
    """Yield what the manifest and the modules of a folder ask to leave out."""
    with suppress(OSError):
        for name in sorted(os.listdir(folder.location)):
            if name != folder.manifest_name and not name.endswith(".py"):
                continue
            path = os.path.join(folder.path, name)
            lines = read_lines(os.path.join(folder.location, name))
            if name == folder.manifest_name:
                yield from _in_manifest(folder, path, "\n".join(lines))
            elif any(_MARK in line for line in lines):
                yield from _comments(path, folder.name, lines)


def _in_manifest(tool: ToolFolder, path: str, text: str) -> Iterator[Suppression]:
    if SUPPRESSIONS not in text:
        return
    try:
        document: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return  # the rules about the text say so
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
    """Yield what the comments of a module or a procedure ask to leave out."""
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

    A comment with other rules or other words stays, and a line goes with its comment if nothing
    else is on it.
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
    """Yield line, column from 0 and text of what may be comments of ours."""
    if path.endswith(".py"):
        import tokenize  # noqa: PLC0415 - 5 ms, where a module may have such a comment

        # a string can hold such a text; where the module can't be read, what comes first counts
        with suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(StringIO("\n".join(lines)).readline):
                if token.type == tokenize.COMMENT:
                    yield *token.start, token.string
        return
    if path.endswith(".json"):
        return  # which has no comments
    strings = _strings_in(lines)
    for number, line in enumerate(lines, 1):
        for found in _COMMENT.finditer(line):
            place = number, found.start()
            if not any(start <= place < end for start, end in strings):
                yield *place, found.group()
                break


_LinePlace: TypeAlias = tuple[int, int]
"""A line, from 1, and a column, from 0."""


def _strings_in(lines: Sequence[str]) -> list[tuple[_LinePlace, _LinePlace]]:
    """Return where the strings of a YAML text begin and end, as far as it can be read."""
    import yaml  # noqa: PLC0415 - 10 ms, where a file may have such a comment

    found = []
    with suppress(yaml.YAMLError, ValueError, OverflowError):  # of escapes that are no character
        for token in yaml.scan("\n".join(lines)):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark, token.end_mark
                # behind the sign that begins a block, before its text, there may be a comment
                is_block = token.style in {"|", ">"}
                begin = (start.line + 2, 0) if is_block else (start.line + 1, start.column)
                found.append((begin, (end.line + 1, end.column)))
    return found


def _resolved(selector: str) -> tuple[str, str, str]:
    """Return a selector, the beginning of its codes, and what is said if it is idle."""
    try:
        return selector, code_of(selector), f"nothing of {selector} is left out by this"
    except SelectorError as error:
        return selector, "", str(error)
