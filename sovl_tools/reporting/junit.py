"""JUnit's XML, in the dialect of Jenkins that most services read.

Source: ``junit-10.xsd`` of Jenkins' xUnit plugin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.text import plain


class Failure(NamedTuple):
    """Why a case has failed: of what sort it is, one line, and all that there is to say."""

    type: str
    message: str
    text: str


class Case(NamedTuple):
    """A test case.

    Attributes:
        path: where it is; services group cases by it.
        name: its name there.
        failures: why it has failed; empty if it has not.
        output: what else there is to read.
        skipped: why it was not run; "" if it was.
        duration: in seconds, if it was measured.
    """

    path: str
    name: str
    failures: Sequence[Failure] = ()
    output: str = ""
    skipped: str = ""
    duration: float | None = None


def render(outcome: Outcome) -> str:
    """Return the document: a case for each tool and each other path with findings.

    Errors are failures; warnings stand in the output of their case.
    """
    found: dict[tuple[str, str], list[Diagnostic]] = {
        (each.path, each.name): [] for each in outcome.report.folders
    }
    paths = {name: path for path, name in found}
    for each in outcome.report.diagnostics:
        name = each.tool or each.path
        found.setdefault((paths.get(name, each.path), name), []).append(each)
    cases = [
        Case(
            path,
            name,
            [Failure(e.code, e.message, _text(e)) for e in each if e.severity == "error"],
            "\n".join(_text(e) for e in each if e.severity == "warning"),
        )
        for (path, name), each in found.items()
    ]
    return document("sovl-tools validate", cases, outcome.duration)


def document(name: str, cases: Sequence[Case], duration: float) -> str:
    """Return the document of a suite of cases, which took ``seconds``."""
    counts = {
        "tests": len(cases),
        "failures": sum(bool(each.failures) for each in cases),
        "errors": 0,
        "skipped": sum(bool(each.skipped) for each in cases),
    }
    numbers = " ".join(f'{key}="{number}"' for key, number in counts.items())
    suite = f'<testsuite name={_quoted(name)} {numbers} time="{duration:.3f}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", suite]
    return "\n".join([*lines, *map(_case, cases), "</testsuite>", "</testsuites>"])


def _case(case: Case) -> str:
    head = f"<testcase classname={_quoted(from_workspace(case.path))} name={_quoted(case.name)}"
    if case.duration is not None:
        head += f' time="{case.duration:.3f}"'
    parts = [
        f"<failure type={_quoted(each.type)} message={_quoted(each.message)}>"
        f"{_content(each.text)}</failure>"
        for each in case.failures
    ]
    if case.skipped:
        parts.append(f"<skipped message={_quoted(case.skipped)}/>")
    if case.output:
        parts.append(f"<system-out>{_content(case.output)}</system-out>")
    return "\n".join([f"{head}>", *parts, "</testcase>"]) if parts else f"{head}/>"


def _text(diagnostic: Diagnostic) -> str:
    return f"{diagnostic}\nhelp: {diagnostic.help}" if diagnostic.help else str(diagnostic)


def _content(text: str) -> str:
    return escape("\n".join(map(_allowed, text.split("\n"))))


def _quoted(text: str) -> str:
    return quoteattr(_allowed(text))


def _allowed(text: str) -> str:
    """Return the text without what no XML may hold."""
    return _FORBIDDEN.sub("?", plain(text))


_FORBIDDEN = re.compile("[\ufffe\uffff]")
