"""Findings about tools, the rules that make them, and diagnostics with places."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import Path

_LOGGER = logging.getLogger("sovl_tools")

MAX_FINDINGS = 100
"""The number of findings of one rule that are reported for a subject."""

FILE_SUFFIXES = (".json", ".py", ".yaml", ".yml", ".toml")
"""Suffixes of the files that diagnostics point into and quote."""

Severity: TypeAlias = Literal["error", "warning"]


class ManifestPlace(NamedTuple):
    """A key or a value of the manifest, named by its path from the root.

    ``occurrence`` counts equal keys from 1; 0 is the last one.
    """

    path: Path = ()
    of: Literal["key", "value"] = "value"
    occurrence: int = 0


class ModulePlace(NamedTuple):
    """A name in the module, or a part of its value.

    Attributes:
        name: the name; None for the whole module.
        parameter: a parameter of the function with that name.
        item: an index of the list, or a key of the dictionary, with that name.
        otherwise: the name to point at if the module doesn't bind the first one.
    """

    name: str | None = None
    parameter: str | None = None
    item: Any = None
    otherwise: str | None = None


class Position(NamedTuple):
    """A fixed place; ``path`` is relative to the tool's folder, empty for the folder."""

    path: str = ""
    line: int = 1
    column: int = 1


Place: TypeAlias = ManifestPlace | ModulePlace | Position


class Finding(NamedTuple):
    """A rule's finding and its place, before its line is computed.

    ``other`` is the other side of a contradiction; its place ends the help.
    """

    place: Place
    message: str
    help: str | None = None
    other: Place | None = None


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

    @property
    def has_line(self) -> bool:
        """Whether it is in a file; a folder and a package have no lines."""
        return self.path.endswith(FILE_SUFFIXES) or (self.line, self.column) != (1, 1)

    @property
    def place(self) -> str:
        """Its place in words: ``path:line:column``, or only the path."""
        return f"{self.path}:{self.line}:{self.column}" if self.has_line else self.path

    def __str__(self) -> str:
        """Return the line that other programs read: ``path:line:column: CODE message``.

        Without a path it begins with the tool's name: ``name: CODE message``.
        """
        place = f"{self.place}: " if self.path else ""
        named = f"{self.tool}: " if self.tool and not self.path else ""
        return f"{place}{named}{self.code} {self.message}"


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics ordered by file and place."""
    return tuple(sorted(found, key=_PLACE))


_PLACE = attrgetter("path", "line", "column", "code")


class Rule(NamedTuple):
    """A question about a subject, and the code of its findings.

    Attributes:
        code: such as ``"ST402"``.
        severity: of all its findings.
        check: a generator function that yields findings. It reads only its argument. Its
            docstring is what ``sovl-tools explain CODE`` prints.
    """

    code: str
    severity: Severity
    check: Callable[[Any], Iterator[Finding]]

    @property
    def name(self) -> str:
        """What people call it, such as ``missing-description``."""
        return self.check.__name__.replace("_", "-")

    @property
    def title(self) -> str:
        """The first line of the explanation."""
        return self.explanation.partition("\n")[0]

    @property
    def explanation(self) -> str:
        """The rule's explanation: what it finds, why that hurts, and what to do."""
        return inspect.getdoc(self.check) or ""


class Verdict(NamedTuple):
    """A finding together with the rule that made it."""

    rule: Rule
    finding: Finding

    def at(self, path: str, line: int = 1, column: int = 1, *, tool: str | None) -> Diagnostic:
        """Return the diagnostic at a place in a file of a tool, or of a source of tools."""
        maker, (_, message, advice, _) = self
        return Diagnostic(maker.code, maker.severity, message, advice, tool, path, line, column)


def rule(
    code: str, severity: Severity = "error"
) -> Callable[[Callable[[Any], Iterator[Finding]]], Rule]:
    """Return a decorator that makes a generator function the rule of that code."""
    return lambda check: Rule(code, severity, check)


def ask(
    rules: Iterable[Rule], *subjects: object, severity: Severity | None = None
) -> list[Verdict]:
    """Return the findings of each rule in turn; with a severity, only those rules run.

    The first hundred findings of each rule are reported; one more says where others begin. A rule
    that fails is an internal error, as severe as the rule; the next rules still run.
    """
    found: list[Verdict] = []
    for each in rules:
        if severity not in {None, each.severity}:
            continue
        before = len(found)
        try:
            # lazily, so that a rule with thousands of findings stops after a hundred
            for finding in chain.from_iterable(map(each.check, subjects)):
                # locating each finding takes time, and no one reads more of them
                if len(found) - before == MAX_FINDINGS:
                    words = f"and more from here on, next to the {MAX_FINDINGS} that are shown"
                    advice = "fix those first, then check again"
                    found.append(Verdict(each, Finding(finding.place, words, advice)))
                    break
                found.append(Verdict(each, finding))
        except Exception as error:  # noqa: BLE001 - the barrier: a failing rule doesn't stop the next
            rule, finding = internal_verdict(error)
            found.append(Verdict(rule._replace(severity=each.severity), finding))
    return found


@rule("ST001")
def internal_error(error: Exception) -> Iterator[Finding]:
    """sovl-tools itself failed at this tool; the other tools are not concerned.

    It is a mistake of ours, most likely about an unexpected form of the tool. The
    message names the exception and the function of sovl-tools that raised it, or a package that
    sovl-tools needs and that is not installed. It is a warning where a rule failed that only warns.
    Report it with the tool and the traceback, which ``sovl-tools -v`` shows and the logger
    ``sovl_tools`` has at level ERROR.
    """
    # a missing module of ours is our mistake; any other is one of the installation
    package = str(getattr(error, "name", None)).partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package != __name__.partition(".")[0]:
        words = f"the package {package!r} is not installed, which sovl-tools needs"
        yield Finding(Position(), words, "install sovl-tools again, with its dependencies")
        return
    shown = traceback.format_exception_only(error)[-1].strip()[:500]
    words = f"internal error: {shown}, in {_origin(error)}"
    advice = "this is a mistake of sovl-tools: please report it, with the tool and its traceback"
    yield Finding(Position(), words, advice)


def internal_verdict(error: Exception) -> Verdict:
    """Return the finding that this package failed, and log the traceback."""
    _LOGGER.error("internal error", exc_info=error)
    (finding,) = internal_error.check(error)
    return Verdict(internal_error, finding)


def internal_diagnostic(error: Exception, path: str, tool: str | None = None) -> Diagnostic:
    """Return the diagnostic that this package failed at a tool, or at a source of tools."""
    return internal_verdict(error).at(path, tool=tool)


def _origin(error: Exception) -> str:
    """Return the innermost function of this package in a traceback."""
    ours = [
        frame
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]
    ]
    return (
        f"{ours[-1].f_globals['__name__']}.{ours[-1].f_code.co_qualname}" if ours else "no function"
    )


def has_errors(verdicts: Collection[Verdict]) -> bool:
    """Return True if any of the verdicts keeps a tool from being loaded."""
    return any(verdict.rule.severity == "error" for verdict in verdicts)
