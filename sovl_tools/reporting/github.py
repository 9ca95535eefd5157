"""Workflow commands of GitHub Actions, which show diagnostics beside the changed lines.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.plain import plain


def render(outcome: Outcome) -> str:
    """Return one command for each diagnostic and a notice with the summary."""
    commands = [_command(each) for each in outcome.report.diagnostics]
    return "\n".join([*commands, f"::notice title=sovl-tools::{_data(outcome.summary)}"])


def _command(diagnostic: Diagnostic) -> str:
    fields = {
        "file": from_workspace(diagnostic.path),
        "line": str(diagnostic.line),
        "col": str(diagnostic.column),
        "title": diagnostic.code,
    }
    properties = ",".join(
        f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in fields.items()
    )
    hint = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    return f"::{diagnostic.severity} {properties}::{_data(diagnostic.message + hint)}"


def _data(text: str) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return plain(escaped)
