"""Workflow commands of GitHub Actions, which show diagnostics beside the changed lines.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os
from contextlib import suppress

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.plain import plain

# GitHub refuses a summary of more than 1 MiB
_MOST_ROWS = 2000


def render(outcome: Outcome) -> str:
    """Return one command for each diagnostic, errors first, and a notice with the summary.

    GitHub shows ten errors and ten warnings of a step; ``add_to_summary`` has the others.
    """
    commands = [_command(each) for each in (*outcome.report.errors, *outcome.report.warnings)]
    return "\n".join([*commands, f"::notice title=sovl-tools::{_data(outcome.summary)}"])


def add_to_summary(outcome: Outcome) -> None:
    """Append a table of all findings to ``$GITHUB_STEP_SUMMARY``, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    rows = [
        f"| {_cell(each._replace(path=from_workspace(each.path)).place)} | {each.code} |"
        f" {_cell(each.message)} |"
        for each in (*outcome.report.errors, *outcome.report.warnings)[:_MOST_ROWS]
    ]
    left = len(outcome.report.diagnostics) - len(rows)
    more = [f"\nand {left:,} more"] if left else []
    head = ["| place | rule | message |", "|---|---|---|"] if rows else []
    lines = ["## sovl-tools validate", "", plain(outcome.summary), "", *head, *rows, *more, ""]
    with suppress(OSError), open(path, "a", encoding="utf-8", errors="replace") as file:
        file.write("\n".join(lines))  # the findings stand in the log as well


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|").replace("<", "&lt;")


def _command(diagnostic: Diagnostic) -> str:
    fields = {
        "file": from_workspace(diagnostic.path),
        "line": str(diagnostic.line),
        "col": str(diagnostic.column),
        "title": diagnostic.code,
    }
    # colons and commas separate properties; in the message they may stay
    properties = ",".join(
        f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in fields.items()
    )
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    return f"::{diagnostic.severity} {properties}::{_data(diagnostic.message + hint)}"


def _data(text: str) -> str:
    # a line break would end the command; what follows it could be another, of a stranger's making
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return plain(escaped)
