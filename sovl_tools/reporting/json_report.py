"""The report as a JSON document, for programs. Its form is a contract: version 1."""

from __future__ import annotations

import json

from sovl_tools.model.document import JSON
from sovl_tools.reporting.outcome import Outcome

_STATUSES = ("loaded", "disabled", "unavailable", "rejected")


def render(outcome: Outcome) -> str:
    """Return the document, indented."""
    return json.dumps(document(outcome), indent=2)


def lines(outcome: Outcome) -> str:
    """Return the diagnostics, a JSON object in each line."""
    return "\n".join(map(json.dumps, _diagnostics(outcome)))


def document(outcome: Outcome) -> dict[str, JSON]:
    """Return the report as a JSON value."""
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
        remedy = fix and {"applicability": fix.applicability, "message": fix.message}
        found.append({**each._asdict(), "fix": remedy})
    return found
