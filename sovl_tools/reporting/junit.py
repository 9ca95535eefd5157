"""JUnit's XML, in the dialect of Jenkins that most services read: a test case for each file.

Source: ``junit-10.xsd`` of Jenkins' xUnit plugin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.plain import plain


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
    cases = [_case(path, name, each) for (path, name), each in found.items()]
    failures = sum(any(one.severity == "error" for one in each) for each in found.values())
    counts = f'tests="{len(found)}" failures="{failures}" errors="0"'
    suite = f'<testsuite name="sovl-tools validate" {counts} time="{outcome.duration:.3f}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", suite, *cases]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"])


def _case(path: str, name: str, found: Sequence[Diagnostic]) -> str:
    head = f"<testcase classname={_quoted(from_workspace(path))} name={_quoted(name)}"
    errors = [_failure(each) for each in found if each.severity == "error"]
    warnings = "\n".join(_text(each) for each in found if each.severity == "warning")
    output = [f"<system-out>{warnings}</system-out>"] if warnings else []
    if not errors and not output:
        return f"{head}/>"
    return "\n".join([f"{head}>", *errors, *output, "</testcase>"])


def _failure(diagnostic: Diagnostic) -> str:
    attributes = f"type={_quoted(diagnostic.code)} message={_quoted(diagnostic.message)}"
    return f"<failure {attributes}>{_text(diagnostic)}</failure>"


def _text(diagnostic: Diagnostic) -> str:
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    return escape("\n".join(map(_allowed, f"{diagnostic}{hint}".split("\n"))))


def _quoted(text: str) -> str:
    return quoteattr(_allowed(text))


def _allowed(text: str) -> str:
    """Return the text without what no XML may hold."""
    return _FORBIDDEN.sub("?", plain(text))


_FORBIDDEN = re.compile("[\ufffe\uffff]")
