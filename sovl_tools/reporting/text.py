"""For people: each diagnostic with the line of the file that it speaks of."""

from __future__ import annotations

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.excerpt import excerpt
from sovl_tools.reporting.outcome import Outcome
from sovl_tools.reporting.plain import plain

_BOLD, _RED, _YELLOW, _CYAN, _GREEN = "1", "1;31", "1;33", "36", "32"


def render(outcome: Outcome) -> str:
    """Return the diagnostics with excerpts and help, and the summary in the last line."""
    blocks = [_block(each, outcome) for each in outcome.report.diagnostics]
    return "\n".join([*blocks, _summary(outcome)])


def _block(diagnostic: Diagnostic, outcome: Outcome) -> str:
    tint = _RED if diagnostic.severity == "error" else _YELLOW
    place = f"{diagnostic.path}:{diagnostic.line}:{diagnostic.column}"
    code = _painted(diagnostic.code, tint, outcome)
    lines = [f"{_painted(plain(place), _BOLD, outcome)}: {code} {plain(diagnostic.message)}"]
    shown = excerpt(diagnostic)
    if shown is not None:
        edge = " " * len(str(diagnostic.line))
        bar = _painted("|", _CYAN, outcome)
        lines += [
            f"{edge} {bar}",
            f"{_painted(str(diagnostic.line), _CYAN, outcome)} {bar} {shown.source}",
            f"{edge} {bar} {' ' * shown.indent}{_painted('^' * shown.length, tint, outcome)}",
        ]
    if diagnostic.help:
        lines.append(f"{_painted('help', _CYAN, outcome)}: {plain(diagnostic.help)}")
    return "\n".join([*lines, ""])


def _summary(outcome: Outcome) -> str:
    tint = _RED if outcome.report.errors else _YELLOW if outcome.report.warnings else _GREEN
    return _painted(outcome.summary, tint, outcome)


def _painted(text: str, tint: str, outcome: Outcome) -> str:
    return f"\x1b[{tint}m{text}\x1b[0m" if outcome.color else text
