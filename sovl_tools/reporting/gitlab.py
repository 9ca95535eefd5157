"""GitLab's code quality report, which merge requests show.

Source: GitLab's documentation, "Code Quality report format".
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.reporting.outcome import Outcome, from_workspace

_SEVERITIES = {"error": "major", "warning": "minor"}


def render(outcome: Outcome) -> str:
    """Return the diagnostics as a JSON array."""
    seen: Counter[str] = Counter()
    return json.dumps([_issue(each, seen) for each in outcome.report.diagnostics], indent=2)


def _issue(diagnostic: Diagnostic, seen: Counter[str]) -> dict[str, JSON]:
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
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {"path": path, "lines": {"begin": diagnostic.line}},
    }
