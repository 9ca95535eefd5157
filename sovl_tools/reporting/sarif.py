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
from sovl_tools.model.diagnostic import Diagnostic
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
    rules: list[dict[str, JSON]] = []
    for code in codes:
        rule = outcome.rules.get(code)
        if rule is None:
            rules.append({"id": code})
            continue
        words = {"text": rule.explanation.replace("``", "`")}
        rules.append(
            {
                "id": code,
                "shortDescription": {"text": rule.title.replace("``", "`")},
                "fullDescription": words,
                "help": words,
                "defaultConfiguration": {"level": rule.severity},
            }
        )
    run = {
        "tool": {"driver": {"name": "sovl-tools", "version": __version__, "rules": rules}},
        # our columns count characters; many readers count UTF-16 code units unless they are told
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes) for each in found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, JSON]:
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    path = from_workspace(diagnostic.path)
    # relative to what the reader takes for the root of the sources, or nothing to do with it
    file = {"uri": quote(path.replace(os.sep, "/")), "uriBaseId": "%SRCROOT%"}
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
