"""What programs and services read: our JSON, SARIF, GitHub's commands, GitLab's report, JUnit.

Our JSON is a contract: version 1.

Sources: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, and GitHub's page
"SARIF support for code scanning";
https://docs.github.com/actions/reference/workflow-commands-for-github-actions;
GitLab's documentation, "Code Quality report format"; ``junit-10.xsd`` of Jenkins' xUnit plugin, the
dialect of JUnit that most services read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sovl_tools import __version__
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.documentation import rule_page
from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.text import plain, plain_json

_STATUSES = ("loaded", "disabled", "unavailable", "rejected")


def json_report(outcome: Outcome) -> str:
    """Return the report as a JSON document, indented."""
    return plain_json(json.dumps(_report_document(outcome), indent=2))


def json_lines(outcome: Outcome) -> str:
    """Return the diagnostics, a JSON object in each line."""
    return plain_json("\n".join(map(json.dumps, _diagnostics(outcome))))


def _report_document(outcome: Outcome) -> dict[str, JSON]:
    report, statuses = outcome.report, outcome.statuses
    return {
        "version": 1,
        "summary": {
            "folders": len(report.folders),
            **{status: statuses[status] for status in _STATUSES},
            "procedures": outcome.procedures,
            "errors": len(report.errors),
            "warnings": len(report.warnings),
        },
        "tools": [
            {"name": each.name, "path": each.path, "status": each.status} for each in report.folders
        ],
        "diagnostics": _diagnostics(outcome),
    }


def _diagnostics(outcome: Outcome) -> list[JSON]:
    found = []
    for each in outcome.report.diagnostics:
        fix = outcome.fixes.get(each)
        remedy = fix and {"applicability": fix[0], "message": fix[1]}
        found.append({**each._asdict(), "fix": remedy})
    return found


_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(outcome: Outcome) -> str:
    """Return the document, indented."""
    return plain_json(json.dumps(sarif_document(outcome), indent=2))


def sarif_document(outcome: Outcome) -> dict[str, JSON]:
    """Return the diagnostics as a JSON value: one run, with the rules that found something."""
    found = outcome.report.diagnostics
    codes = sorted({each.code for each in found})
    rules: list[dict[str, JSON]] = []
    for code in codes:
        rule = outcome.rules.get(code)
        if rule is None:
            rules.append({"id": code})
            continue
        words = {"text": rule.explanation.replace("``", "`")}
        page = rule_page(code)
        rules.append(
            {
                "id": code,
                **({"helpUri": page} if page else {}),
                "shortDescription": {"text": rule.title.replace("``", "`")},
                "fullDescription": words,
                "help": words,
                "defaultConfiguration": {"level": rule.severity},
            }
        )
    run = {
        "tool": {"driver": {"name": "sovl-tools", "version": __version__, "rules": rules}},
        # our columns count characters; many readers count UTF-16 code units by default
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, codes) for each in found],
    }
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, JSON]:
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    path = from_workspace(diagnostic.path)
    # relative to what the reader takes for the root of the sources, or nothing to do with it
    file = {"uri": quote(os.fsencode(path.replace(os.sep, "/"))), "uriBaseId": "%SRCROOT%"}
    if os.path.isabs(path):
        file = {"uri": Path(path).as_uri()}
    place = {
        "artifactLocation": file,
        "region": {"startLine": diagnostic.line, "startColumn": diagnostic.column},
    }
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": diagnostic.message + hint},
        "locations": [{"physicalLocation": place}],
    }


_GITLAB_SEVERITIES = {"error": "major", "warning": "minor"}


def gitlab(outcome: Outcome) -> str:
    """Return the diagnostics as a JSON array."""
    seen: Counter[str] = Counter()
    issues = [_gitlab_issue(each, seen) for each in outcome.report.diagnostics]
    return plain_json(json.dumps(issues, indent=2))


def _gitlab_issue(diagnostic: Diagnostic, seen: Counter[str]) -> dict[str, JSON]:
    path = from_workspace(diagnostic.path)
    # without the line, so that an issue is the same one after lines were put before it; GitLab
    # shows only one issue of a fingerprint
    identity = "\0".join((path, diagnostic.code, diagnostic.message, diagnostic.tool or ""))
    seen[identity] += 1
    fingerprint = hashlib.sha256(f"{identity}\0{seen[identity]}".encode(errors="replace"))
    hint = f" ({diagnostic.help})" if diagnostic.help else ""
    return {
        "description": f"{diagnostic.code} {diagnostic.message}{hint}",
        "check_name": diagnostic.code,
        "fingerprint": fingerprint.hexdigest(),
        "severity": _GITLAB_SEVERITIES[diagnostic.severity],
        "location": {"path": path, "lines": {"begin": diagnostic.line}},
    }


# GitHub rejects a summary of more than 1 MiB
_MAX_ROWS = 2000


def github(outcome: Outcome) -> str:
    """Return one command for each diagnostic, errors first, and a notice with the summary.

    GitHub shows ten errors and ten warnings of a step; ``add_to_summary`` has the others.
    """
    commands = [
        _github_command(each) for each in (*outcome.report.errors, *outcome.report.warnings)
    ]
    return "\n".join([*commands, f"::notice title=sovl-tools::{_workflow_data(outcome.summary)}"])


def add_to_summary(outcome: Outcome) -> None:
    """Append a table of all findings to ``$GITHUB_STEP_SUMMARY``, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    rows = [
        f"| {_table_cell(each._replace(path=from_workspace(each.path)).place)} | {each.code} |"
        f" {_table_cell(each.message)} |"
        for each in (*outcome.report.errors, *outcome.report.warnings)[:_MAX_ROWS]
    ]
    left = len(outcome.report.diagnostics) - len(rows)
    more = [f"\nand {left:,} more"] if left else []
    head = ["| place | rule | message |", "|---|---|---|"] if rows else []
    lines = [
        f"## sovl-tools {outcome.command}",
        "",
        plain(outcome.summary),
        "",
        *head,
        *rows,
        *more,
        "",
    ]
    with suppress(OSError), open(path, "a", encoding="utf-8", errors="replace") as file:
        file.write("\n".join(lines))  # the findings are in the log as well


def _table_cell(text: str) -> str:
    # no table, HTML, link or image of a stranger's making
    return re.sub(r"[|\[\]`]", r"\\\g<0>", plain(text)).replace("<", "&lt;")


def _github_command(diagnostic: Diagnostic) -> str:
    place = {"line": str(diagnostic.line), "col": str(diagnostic.column)}
    fields = {
        "file": from_workspace(diagnostic.path),
        **(place if diagnostic.has_line else {}),
        "title": diagnostic.code,
    }
    # colons and commas separate properties; in the message they may stay
    properties = ",".join(
        f"{key}={_workflow_data(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in fields.items()
    )
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    return f"::{diagnostic.severity} {properties}::{_workflow_data(diagnostic.message + hint)}"


def _workflow_data(text: str) -> str:
    # a line break would end the command; what follows it could be another, of a stranger's making
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    # it never begins a line, where colons would have to be escaped
    return plain(f"x{escaped}")[1:]


class Failure(NamedTuple):
    """The failure of a case: its type, one line, and the details."""

    type: str
    message: str
    text: str


class Case(NamedTuple):
    """A test case.

    Attributes:
        path: where it is; services group cases by it.
        name: its name there.
        failures: why it has failed; empty if it has not.
        output: other strings about it.
        skipped: why it was not run; "" if it was.
        duration: in seconds, if it was measured.
    """

    path: str
    name: str
    failures: Sequence[Failure] = ()
    output: str = ""
    skipped: str = ""
    duration: float | None = None


def junit(outcome: Outcome) -> str:
    """Return the document: a case for each tool and each other path with findings.

    Errors are failures; warnings are in the output of their case.
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
            [Failure(e.code, e.message, _junit_text(e)) for e in each if e.severity == "error"],
            "\n".join(_junit_text(e) for e in each if e.severity == "warning"),
        )
        for (path, name), each in found.items()
    ]
    return junit_document(f"sovl-tools {outcome.command}", cases, outcome.duration)


def junit_document(name: str, cases: Sequence[Case], duration: float) -> str:
    """Return the document of a suite of cases, which took ``seconds``."""
    counts = {
        "tests": len(cases),
        "failures": sum(bool(each.failures) for each in cases),
        "errors": 0,
        "skipped": sum(bool(each.skipped) for each in cases),
    }
    numbers = " ".join(f'{key}="{number}"' for key, number in counts.items())
    suite = f'<testsuite name={_xml_quoted(name)} {numbers} time="{duration:.3f}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", suite]
    return "\n".join([*lines, *map(_junit_case, cases), "</testsuite>", "</testsuites>"])


def _junit_case(case: Case) -> str:
    place = _xml_quoted(from_workspace(case.path))
    head = f"<testcase classname={place} name={_xml_quoted(case.name)}"
    if case.duration is not None:
        head += f' time="{case.duration:.3f}"'
    parts = [
        f"<failure type={_xml_quoted(each.type)} message={_xml_quoted(each.message)}>"
        f"{_xml_content(each.text)}</failure>"
        for each in case.failures
    ]
    if case.skipped:
        parts.append(f"<skipped message={_xml_quoted(case.skipped)}/>")
    if case.output:
        parts.append(f"<system-out>{_xml_content(case.output)}</system-out>")
    return "\n".join([f"{head}>", *parts, "</testcase>"]) if parts else f"{head}/>"


def _junit_text(diagnostic: Diagnostic) -> str:
    return f"{diagnostic}\nhelp: {diagnostic.help}" if diagnostic.help else str(diagnostic)


def _xml_content(text: str) -> str:
    return escape("\n".join(map(_xml_allowed, text.split("\n"))))


def _xml_quoted(text: str) -> str:
    return quoteattr(_xml_allowed(text))


def _xml_allowed(text: str) -> str:
    """Return the text without characters that XML can't contain."""
    return re.sub("[\ufffe\uffff]", "?", plain(text))
