"""The outcome of a validation, and the table of formats that show it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import NamedTuple

from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import Diagnostic, Rule
from sovl_tools.model.suggestion import did_you_mean

STATUSES = ("loaded", "disabled", "unavailable", "waiting", "rejected")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a validation.

    Attributes:
        report: of the tools, with all diagnostics.
        duration: of the validation, in seconds.
        procedures: the number of procedures that were checked.
        rules: by their codes, for formats that explain them.
        imported: False if modules were only parsed.
        fixes: the findings that have a fix: ``"safe"`` or ``"unsafe"``, and the change in words.
        fixed: the number of findings that were fixed; None without --fix.
        roots: the real directories whose files can be quoted; None for all.
        command: the command that found it.
    """

    report: LoadReport
    duration: float = 0.0
    procedures: int = 0
    rules: Mapping[str, Rule] = field(default_factory=dict)
    imported: bool = True
    fixes: Mapping[Diagnostic, tuple[str, str]] = field(default_factory=dict)
    fixed: int | None = None
    roots: Collection[str] | None = None
    command: str = "validate"

    @property
    def statuses(self) -> Counter[str]:
        """The number of folders in each state."""
        return Counter(folder.status for folder in self.report.folders)

    @property
    def summary(self) -> str:
        """One line: the number of tools and procedures, the duration and the result."""
        count = len(self.report.folders)
        counts = self.statuses
        states = ", ".join(f"{counts[each]} {each}" for each in STATUSES if counts[each])
        what = f"{counted(self.procedures, 'procedure')} and " if self.procedures else ""
        took = f"{what}{counted(count, 'tool')} checked in {self.duration:.2f} s"
        took += ", not imported" * (count > 0 and not self.imported)
        found = {"error": len(self.report.errors), "warning": len(self.report.warnings)}
        problems = ", ".join(counted(number, noun) for noun, number in found.items() if number)
        none = "the errors are ignored" if counts["rejected"] else "no problems"
        summary = f"{took}{': ' if states else ''}{states}; {problems or none}"
        return f"{summary}{self._fixes()}"

    def _fixes(self) -> str:
        """Return how many findings have been fixed, and how many could be."""
        words = ""
        if self.fixed:
            left = len(self.report.diagnostics)
            words = f"; fixed {counted(self.fixed, 'finding')}; {left:,} left"
        kinds = Counter(applicability for applicability, _ in self.fixes.values())
        safe, unsafe = kinds["safe"], kinds["unsafe"]
        if safe and unsafe:
            return f"{words}; {safe:,} fixable with --fix, {unsafe:,} more with --unsafe-fixes"
        if unsafe:
            return f"{words}; {unsafe:,} fixable with --fix --unsafe-fixes"
        return f"{words}; {safe:,} fixable with --fix" if safe else words


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: ``1 tool``, ``2 tools``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


FORMATS = {
    "text": "sovl_tools.reporting.text:render",
    "concise": "sovl_tools.reporting.text:concise",
    "json": "sovl_tools.reporting.services:json_report",
    "jsonl": "sovl_tools.reporting.services:json_lines",
    "github": "sovl_tools.reporting.services:github",
    "gitlab": "sovl_tools.reporting.services:gitlab",
    "sarif": "sovl_tools.reporting.services:sarif",
    "junit": "sovl_tools.reporting.services:junit",
}
"""The function that renders each format, imported at its first use."""


def render(outcome: Outcome, format: str) -> str:  # noqa: A002 - the field's word
    """Return the outcome of a validation in one of ``FORMATS``, without a final newline."""
    module, _, function = FORMATS[format].partition(":")
    text: str = getattr(import_module(module), function)(outcome)
    return text


_WORKSPACES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Variables that name the directory where GitHub and GitLab check out a repository."""


def from_workspace(path: str) -> str:
    """Return a path relative to the workspace of a CI service if it's in there, else unchanged."""
    location = os.path.abspath(path)
    for workspace in filter(None, map(os.environ.get, _WORKSPACES)):
        for root in (os.path.abspath(workspace), os.path.realpath(workspace)):
            if location.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
                return os.path.relpath(location, root).replace(os.sep, "/")
    return path


class Destination(NamedTuple):
    """A format and the file that it is written into; without one, the standard output."""

    format: str
    file: str | None

    @classmethod
    def of(cls, text: str) -> Destination:
        """Return the destination that ``FORMAT`` or ``FORMAT=FILE`` names.

        Raises:
            ValueError: the format is unknown, or the file has no name.
        """
        name, is_file, file = text.partition("=")
        if name not in FORMATS:
            hint = did_you_mean(name, FORMATS) or f"the formats are {', '.join(FORMATS)}"
            raise ValueError(f"there's no format {name!r}; {hint}")
        if is_file and not file:
            raise ValueError(f"{text!r} names no file")
        return cls(name, None if file in {"", "-"} else file)


def destinations_of(texts: Iterable[str]) -> tuple[Destination, ...]:
    """Return the destinations of several ``FORMAT=FILE``.

    Raises:
        ValueError: one isn't a destination, or two write to the standard output or to one file.
    """
    found = tuple(map(Destination.of, texts))
    for file in dict.fromkeys(each.file for each in found):
        together = [each.format for each in found if each.file == file]
        if len(together) > 1:
            place = "to the standard output" if file is None else f"into {file!r}"
            words = f"{' and '.join(together)} can't both be written {place}"
            raise ValueError(f"{words}; write one into its own file: {together[-1]}=FILE")
    return found
