"""How similar two sequences are, in time that no input can blow up.

`difflib`'s ratio takes cubic time on hostile input; this is the longest common subsequence,
computed with the bits of whole rows at once (Hyyrö, "Bit-parallel LCS-length computation
revisited", 2004).
"""

from collections.abc import Sequence


def similarity(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how much is common to both, from 0 to 1, as the share of both lengths."""
    total = len(old) + len(new)
    return 2 * common_length(old, new) / total if total else 1.0


def common_length(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    positions = _positions(old)
    full = (1 << len(old)) - 1
    row = full
    for unit in new:
        met = row & positions.get(unit, 0)
        row = ((row + met) | (row - met)) & full
    return len(old) - row.bit_count()


def _positions(units: Sequence[str]) -> dict[str, int]:
    """Return where each unit stands, as the bits of one number."""
    positions: dict[str, int] = {}
    for index, unit in enumerate(units):
        positions[unit] = positions.get(unit, 0) | (1 << index)
    return positions
