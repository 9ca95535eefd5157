"""Shell patterns for paths, with `**` for any number of directories, in linear time."""

from collections.abc import Sequence
from fnmatch import fnmatchcase


def matches(parts: Sequence[str], glob: str) -> bool:
    """Return whether a path matches the pattern; one without a slash is for the last part alone."""
    if "/" not in glob:
        return fnmatchcase(parts[-1], glob)
    pattern = [part for part in glob.split("/") if part not in ("", ".")]
    positions = _past_stars({0}, pattern)
    for part in parts:
        positions = _past_stars(_step(part, pattern, positions), pattern)
    return len(pattern) in positions


def _step(part: str, pattern: list[str], positions: set[int]) -> set[int]:
    open_positions = [position for position in positions if position < len(pattern)]
    staying = {position for position in open_positions if pattern[position] == "**"}
    return staying | {
        position + 1 for position in open_positions if fnmatchcase(part, pattern[position])
    }


def _past_stars(positions: set[int], pattern: list[str]) -> set[int]:
    """Add the positions behind each `**`, which may represent no directory at all."""
    reached = set(positions)
    for position, part in enumerate(pattern):
        if part == "**" and position in reached:
            reached.add(position + 1)
    return reached
