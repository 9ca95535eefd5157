"""Workflow commands of GitHub Actions, which show diagnostics beside the changed lines.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from sovl_tools.reporting.outcome import Outcome, from_workspace
from sovl_tools.reporting.plain import plain


def render(outcome: Outcome) -> str:
    """Return one command for each diagnostic and a notice with the summary."""
    commands = []
    for each in outcome.report.diagnostics:
        fields = {
            "file": from_workspace(each.path),
            "line": str(each.line),
            "col": str(each.column),
            "title": each.code,
        }
        # colons and commas separate properties; in the message they may stay
        properties = ",".join(
            f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}"
            for key, value in fields.items()
        )
        hint = f"\nhelp: {each.help}" if each.help else ""
        commands.append(f"::{each.severity} {properties}::{_data(each.message + hint)}")
    return "\n".join([*commands, f"::notice title=sovl-tools::{_data(outcome.summary)}"])


def _data(text: str) -> str:
    # a line break would end the command; what follows it could be another, of a stranger's making
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return plain(escaped)
