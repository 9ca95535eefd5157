from __future__ import annotations

import json

from sovl_tools.reporting.outcome import render
from tests.reporting.findings import ODD, WRONG, diagnostic, outcome


def test_an_issue_has_what_gitlab_documents() -> None:
    (issue, odd) = json.loads(render(outcome(WRONG, ODD), "gitlab"))
    assert len(issue.pop("fingerprint")) == 64
    assert issue == {
        "description": "ST201 a comma is missing",
        "check_name": "ST201",
        "severity": "major",
        "location": {"path": "tools/echo/x.json", "lines": {"begin": 4}},
    }
    assert odd["severity"] == "minor"
    assert odd["description"] == "ST202 'timout' isn't a key (did you mean 'timeout'?)"


def test_a_fingerprint_is_its_own_and_outlives_a_move() -> None:
    issues = json.loads(render(outcome(WRONG, WRONG, diagnostic(path="other")), "gitlab"))
    moved = json.loads(render(outcome(diagnostic(line=90)), "gitlab"))
    assert len({each["fingerprint"] for each in issues}) == 3
    assert moved[0]["fingerprint"] == issues[0]["fingerprint"]
