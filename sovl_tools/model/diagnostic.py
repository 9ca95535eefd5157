"""What a tool's author got wrong: findings, the rules that make them, located diagnostics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import Path

MAX_FINDINGS = 100
"""How many findings of one rule are told; a file that has more is of another kind."""

Severity: TypeAlias = Literal["error", "warning"]


class ManifestPlace(NamedTuple):
    """A key or a value of the manifest, named by its path from the root.

    ``occurrence`` tells which of several equal keys is meant, counted from 1; 0 is the last.
    """

    path: Path = ()
    of: Literal["key", "value"] = "value"
    occurrence: int = 0


class ModulePlace(NamedTuple):
    """A name that the module binds, or a part of what it is bound to.

    Attributes:
        name: the name; None for the module as a whole.
        parameter: a parameter of the function of that name.
        item: an index of the list or a key of the dictionary of that name.
        otherwise: the name to point at where the first one is not bound.
    """

    name: str | None = None
    parameter: str | None = None
    item: Any = None
    otherwise: str | None = None


class Position(NamedTuple):
    """A place known outright; ``path`` is relative to the tool's folder, empty for the folder."""

    path: str = ""
    line: int = 1
    column: int = 1


Place: TypeAlias = ManifestPlace | ModulePlace | Position


class Finding(NamedTuple):
    """What a rule found, and where, before anybody knows the line."""

    place: Place
    message: str
    help: str | None = None


class Diagnostic(NamedTuple):
    """A finding with its code and its place: ``line`` and ``column`` count from 1."""

    code: str
    severity: Severity
    message: str
    help: str | None
    tool: str | None
    path: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return the line that other programs read: ``path:line:column: CODE message``."""
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"


class Rule(NamedTuple):
    """A question that is asked of one shape, and the code that its findings carry.

    ``check`` is a generator function: it yields findings, reads nothing but its argument and
    never raises. Its docstring is what ``sovl-tools explain CODE`` prints.
    """

    code: str
    severity: Severity
    check: Callable[[Any], Iterator[Finding]]

    @property
    def title(self) -> str:
        """The first line of the explanation."""
        return self.explanation.partition("\n")[0]

    @property
    def explanation(self) -> str:
        """What the rule finds, why that hurts, and what to do."""
        return inspect.getdoc(self.check) or ""


class Verdict(NamedTuple):
    """A finding together with the rule that made it."""

    rule: Rule
    finding: Finding


def rule(
    code: str, severity: Severity = "error"
) -> Callable[[Callable[[Any], Iterator[Finding]]], Rule]:
    """Return a decorator that makes a generator function the rule of that code."""
    return lambda check: Rule(code, severity, check)


def ask(rules: Iterable[Rule], *subjects: object) -> list[Verdict]:
    """Return what each rule in turn finds in the subjects.

    Of each rule the first hundred findings are told; one more says where others begin.
    """
    return [
        Verdict(each, finding)
        for each in rules
        for finding in _first(found for subject in subjects for found in each.check(subject))
    ]


def _first(findings: Iterable[Finding]) -> Iterator[Finding]:
    for number, finding in enumerate(findings):
        if number == MAX_FINDINGS:
            message = f"and more from here on, beside the {MAX_FINDINGS} that are told"
            yield Finding(finding.place, message, "mend those first, then look again")
            return
        yield finding


def has_errors(verdicts: Iterable[Verdict]) -> bool:
    """Tell whether any of the verdicts keeps a tool from being loaded."""
    return any(verdict.rule.severity == "error" for verdict in verdicts)
