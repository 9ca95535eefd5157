"""Selecting the findings that are shown: by code, by the beginning of a code, or by name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sovl_tools.configuration import Configuration
from sovl_tools.linting.rules import RULES
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.errors import ConfigurationError, SovlToolsError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.reporting.text import is_within


class SelectorError(SovlToolsError, ValueError):
    """A selector names no rule."""


def code_of(selector: str) -> str:
    """Return the code, or the beginning of codes, that a selector means.

    A selector is a code, the beginning of one, or a name with hyphens or underscores, in any case.

    Raises:
        SelectorError: it names no rule.
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
    words = f"there's no {'code' if is_code else 'rule'} {selector!r}"
    raise SelectorError(f"{words}; {hint or 'sovl-tools explain lists them'}")


def codes_of(selectors: Iterable[str]) -> tuple[str, ...]:
    """Return the codes, or their beginnings, of several selectors.

    Raises:
        SelectorError: a selector names no rule.
    """
    return tuple(map(code_of, selectors))


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules whose findings are shown, as codes and beginnings of codes.

    The longest beginning that matches a code decides; of two equally long ones, ``ignore`` wins.

    Attributes:
        select: the rules to show; all if it's empty.
        extend_select: more rules to show.
        ignore: the rules to hide.
        per_tool: the rules to hide for tools whose names match a pattern.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_tool: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def shows(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic is shown."""
        code, tool = diagnostic.code, diagnostic.tool
        ignored = list(self.ignore)
        for pattern, codes in self.per_tool.items():
            if tool is not None and fnmatchcase(tool, pattern):
                ignored += codes
        selected = [*(self.select or ("ST",)), *self.extend_select]
        return _longest(code, selected) > _longest(code, ignored)

    def of(self, report: LoadReport) -> LoadReport:
        """Return a report with only the diagnostics that are shown."""
        return LoadReport(report.folders, tuple(filter(self.shows, report.diagnostics)))


def selection_of(
    found: Configuration,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Selection:
    """Return the selection of a configuration; codes from the command line win over it.

    Raises:
        ConfigurationError: the configuration names an unknown rule.
    """

    def configured(key: str, selectors: Sequence[str]) -> tuple[str, ...]:
        try:
            return codes_of(selectors)
        except SelectorError as error:
            raise ConfigurationError(f"{found.file}: {key}", str(error)) from error

    return Selection(
        tuple(select) or configured("select", found.select),
        configured("extend-select", found.extend_select),
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


def unquoted(report: LoadReport, roots: Collection[str]) -> LoadReport:
    """Return a report without words from files that are in none of some real directories."""
    return LoadReport(report.folders, tuple(_unquoted(each, roots) for each in report.diagnostics))


def _unquoted(found: Diagnostic, roots: Collection[str]) -> Diagnostic:
    # a finding in one file of a tool may quote the other one
    parts = [f"{os.path.dirname(found.path)}/{found.tool}.{suffix}" for suffix in ("json", "py")]
    # one about a folder may quote names in it
    files = filter(os.path.isfile if found.tool is None else os.path.exists, (found.path, *parts))
    if found.code not in RULES or all(is_within(each, roots) for each in files):
        return found
    advice = "a link leads out of the tools directory, so the file isn't quoted"
    return found._replace(message=RULES[found.code].name.replace("-", " "), help=advice)
