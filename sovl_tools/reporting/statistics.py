"""How many findings there are of each rule, the most frequent first."""

from __future__ import annotations

import json
from collections import Counter

from sovl_tools.reporting.outcome import Outcome


def table(outcome: Outcome) -> str:
    """Return a line for each rule that found something, and the summary."""
    rows = _rows(outcome)
    width = max((len(f"{count:,}") for count, *_ in rows), default=0)
    lines = [
        f"{count:>{width},}  {code}  {severity:7}  {name}" for count, code, severity, name in rows
    ]
    return "\n".join([*lines, outcome.summary])


def document(outcome: Outcome) -> str:
    """Return the same as a JSON array."""
    rows = [
        {"code": code, "name": name, "severity": severity, "count": count}
        for count, code, severity, name in _rows(outcome)
    ]
    return json.dumps(rows, indent=2)


def _rows(outcome: Outcome) -> list[tuple[int, str, str, str]]:
    counts = Counter((each.code, each.severity) for each in outcome.report.diagnostics)
    names = {code: rule.name for code, rule in outcome.rules.items()}
    rows = [(count, *key, names.get(key[0], "")) for key, count in counts.items()]
    return sorted(rows, key=lambda row: (-row[0], row[1]))
