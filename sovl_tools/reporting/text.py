"""For people: each diagnostic with the line of the file that it speaks of."""

from __future__ import annotations

from functools import lru_cache

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.excerpt import LinesOf, excerpt, read_lines
from sovl_tools.reporting.outcome import Outcome
from sovl_tools.reporting.plain import plain

_BOLD, _RED, _YELLOW, _CYAN, _GREEN = "1", "1;31", "1;33", "36", "32"


def render(outcome: Outcome) -> str:
    """Return the diagnostics with excerpts and help, and the summary in the last line."""
    lines_of = lru_cache(maxsize=8)(read_lines)  # several findings in a row speak of one file
    found = outcome.report.diagnostics
    blocks = [block(each, color=outcome.color, lines_of=lines_of) for each in found]
    return "\n".join([*blocks, _summary(outcome)])


def block(diagnostic: Diagnostic, *, color: bool = False, lines_of: LinesOf = read_lines) -> str:
    """Return one diagnostic with its excerpt and help; the last of its lines is empty."""
    tint = _RED if diagnostic.severity == "error" else _YELLOW
    place = f"{diagnostic.path}:{diagnostic.line}:{diagnostic.column}"
    code = painted(diagnostic.code, tint, color=color)
    lines = [f"{painted(plain(place), _BOLD, color=color)}: {code} {plain(diagnostic.message)}"]
    shown = excerpt(diagnostic, lines_of)
    if shown is not None:
        edge = " " * len(str(diagnostic.line))
        bar = painted("|", _CYAN, color=color)
        caret = painted("^" * shown.length, tint, color=color)
        lines += [
            f"{edge} {bar}",
            f"{painted(str(diagnostic.line), _CYAN, color=color)} {bar} {shown.source}",
            f"{edge} {bar} {' ' * shown.indent}{caret}",
        ]
    if diagnostic.help:
        lines.append(f"{painted('help', _CYAN, color=color)}: {plain(diagnostic.help)}")
    return "\n".join([*lines, ""])


def _summary(outcome: Outcome) -> str:
    tint = _RED if outcome.report.errors else _YELLOW if outcome.report.warnings else _GREEN
    return painted(outcome.summary, tint, color=outcome.color)


def painted(text: str, tint: str, *, color: bool) -> str:
    """Return the text in a colour, which is a number of the terminal's such as ``"1;31"``."""
    return f"\x1b[{tint}m{text}\x1b[0m" if color else text
