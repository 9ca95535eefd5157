"""A unified diff of two texts, and how similar they are."""

import difflib
from collections.abc import Callable, Sequence

from .similarity import similarity

_MAXIMUM_LINES = 2000
_MAXIMUM_UNITS = 20_000
_UNITS: dict[str, Callable[[str], Sequence[str]]] = {
    "lines": str.splitlines,
    "words": str.split,
    "characters": str,
}


def text_diff(
    *, before: str, after: str, context_lines: int = 3, compare_by: str = "words"
) -> dict[str, object]:
    """Return the differences of two texts; raise ValueError if they are too long to compare."""
    split = _UNITS[compare_by]
    old_units, new_units = split(before), split(after)
    _check_size(old_units, new_units, limit=_MAXIMUM_UNITS, unit=compare_by)
    old_lines, new_lines = _lines(before), _lines(after)
    _check_size(old_lines, new_lines, limit=_MAXIMUM_LINES, unit="lines")
    diff = list(difflib.unified_diff(old_lines, new_lines, "before", "after", n=context_lines))
    return {
        "identical": before == after,
        "similarity": round(similarity(old_units, new_units), 4),
        "lines_added": _count(diff, "+"),
        "lines_removed": _count(diff, "-"),
        "diff": "".join(diff),
    }


def _check_size(old: Sequence[str], new: Sequence[str], *, limit: int, unit: str) -> None:
    longest = max(len(old), len(new))
    if longest > limit:
        raise ValueError(f"a text has {longest} {unit}, more than the {limit} that can be compared")


def _lines(text: str) -> list[str]:
    """Split at line feeds only, and mark a last line without one the way `diff` does."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()
    return lines if last == "\n" else [*lines, f"{last}\\ No newline at end of file\n"]


def _count(diff: Sequence[str], sign: str) -> int:
    # The first two lines name the texts.
    return sum(line.startswith(sign) for line in diff[2:])
