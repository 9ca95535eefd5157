"""What must be said about one column."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence

_MISSING = {"", "na", "n/a", "nan", "null", "none"}
# A leading zero marks a code, such as a postal code, that is no quantity.
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 100
_LARGEST = 1e150
_EXACT_IN_A_FLOAT = 2**53
_COMMON = 5
_SHOWN_CHARACTERS = 100

Summary = dict[str, object]


def summarize(name: str, cells: Sequence[str]) -> Summary:
    """Return the statistics of a column, by what its cells hold: numbers, strings or nothing."""
    stripped = [cell.strip() for cell in cells]
    values = [cell for cell in stripped if cell.casefold() not in _MISSING]
    kind, found = _statistics(values)
    counts = {"count": len(values), "missing": len(cells) - len(values)}
    return {"name": name, "kind": kind} | counts | found


def _statistics(values: Sequence[str]) -> tuple[str, Summary]:
    if not values:
        return "empty", {}
    if all(map(_is_number, values)):
        return "number", _of_numbers([float(value) for value in values])
    return "text", _of_texts(values)


def _is_number(value: str) -> bool:
    """Tell plain decimal numbers, of a size whose square is still a float, from other strings."""
    if len(value) > _LONGEST_NUMBER or not _NUMBER.fullmatch(value):
        return False
    return abs(float(value)) < _LARGEST


def _of_numbers(numbers: Sequence[float]) -> Summary:
    mean = math.fsum(numbers) / len(numbers)
    return {
        "min": _plain(min(numbers)),
        "max": _plain(max(numbers)),
        "mean": _plain(mean),
        "median": _plain(statistics.median(numbers)),
        "stdev": _deviation(numbers, mean),
    }


def _deviation(numbers: Sequence[float], mean: float) -> float | None:
    if len(numbers) == 1:
        return None
    squares = math.fsum((number - mean) ** 2 for number in numbers)
    return _plain(math.sqrt(squares / (len(numbers) - 1)))


def _plain(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < _EXACT_IN_A_FLOAT else number


def _of_texts(values: Sequence[str]) -> Summary:
    counts = Counter(values)
    frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_COMMON]
    return {
        "distinct": len(counts),
        "most_common": [
            {"value": value[:_SHOWN_CHARACTERS], "count": count} for value, count in frequent
        ],
    }
