"""SARIF 2.1.0, which code scanning services and editors read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, and GitHub's page
"SARIF support for code scanning".
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from sovl_tools import __version__
from sovl_tools.model.diagnostic import Diagnostic, Rule
from sovl_tools.model.document import JSON
from sovl_tools.reporting.outcome import Outcome, from_workspace

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(outcome: Outcome) -> str:
    """Return the document, indented."""
    return json.dumps(document(outcome), indent=2)


def document(outcome: Outcome) -> dict[str, JSON]:
    """Return the diagnostics as a JSON value: one run, with the rules that found something."""
    found = outcome.report.diagnostics
    codes = sorted({each.code for each in found})
    rules = [_rule(code, outcome.rules.get(code)) for code in codes]
    run = {
        "tool": {"driver": {"name": "sovl-tools", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes) for each in found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rule: Rule | None) -> dict[str, JSON]:
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": _words(rule.title),
        "fullDescription": _words(rule.explanation),
        "help": _words(rule.explanation),
        "defaultConfiguration": {"level": rule.severity},
    }


def _words(text: str) -> dict[str, JSON]:
    return {"text": text.replace("``", "`")}


def _result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, JSON]:
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    place = {
        "artifactLocation": _artifact(diagnostic.path),
        "region": {"startLine": diagnostic.line, "startColumn": diagnostic.column},
    }
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": diagnostic.message + hint},
        "locations": [{"physicalLocation": place}],
    }


def _artifact(path: str) -> dict[str, JSON]:
    """Return where a file is: relative to the sources' root, or absolute as a URI."""
    path = from_workspace(path)
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path.replace(os.sep, "/")), "uriBaseId": "%SRCROOT%"}
