"""One line for each diagnostic, then the summary."""

from __future__ import annotations

from sovl_tools.reporting.outcome import Outcome
from sovl_tools.reporting.plain import plain


def render(outcome: Outcome) -> str:
    """Return ``path:line:column: CODE message`` lines and the summary."""
    lines = [plain(str(each)) for each in outcome.report.diagnostics]
    return "\n".join([*lines, outcome.summary])
