"""What a call returned beside what an example says it returns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice, zip_longest

from sovl_tools.model.document import JSON, Path, json_path, kind
from sovl_tools.reporting.text import cut
from sovl_tools.schema.problem import shown

MATCHES = ("subset", "exact", "schema", "approx")
"""How an example's ``output_match`` may say that outputs are compared; the first is the default."""

TOLERANCE = 1e-6
"""By how much of itself a number may differ for ``approx``."""
_NEAR_ZERO = 1e-12
_MOST_LINES = 20
_WIDEST_LINE = 200
_SHORT, _CONTEXT = 50, 10
"""The length up to which texts are shown whole, and how much of others before they differ."""
_MISSING = object()


def differences(expected: JSON, actual: JSON, match: str = "subset") -> list[str]:
    """Return how a value differs from the expected one, a line or more for each place.

    Args:
        expected: what an example says.
        actual: what a call returned.
        match: ``"subset"``: the members that are expected have to be there, in objects in objects
            as well; arrays and scalars are compared whole. ``"approx"``: so too, but numbers may
            differ by a millionth. ``"exact"``: nothing may differ.
    """
    return _bounded(_differences(expected, actual, (), match))


def _differences(expected: JSON, actual: JSON, path: Path, match: str) -> Iterator[str]:
    place = json_path(path)
    if actual is _MISSING:
        yield f"{place} is missing, expected {shown(expected)}"
    elif expected is _MISSING:
        yield f"{place} is {shown(actual)}, which is not expected"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        others = () if match != "exact" else actual.keys() - expected.keys()
        for key in [*expected, *sorted(others)]:
            pair = expected.get(key, _MISSING), actual.get(key, _MISSING)
            yield from _differences(*pair, (*path, key), match)
    elif isinstance(expected, list) and isinstance(actual, list):
        # what lies in an array is a whole, but for the last digits of its numbers
        inner = "exact" if match == "subset" else match
        for index, pair in enumerate(zip_longest(expected, actual, fillvalue=_MISSING)):
            yield from _differences(*pair, (*path, index), inner)
    elif _equal(expected, actual, match):
        return
    elif isinstance(expected, str) and isinstance(actual, str):
        yield from _of_texts(expected, actual, place)
    else:
        yield f"{place} is {shown(actual)}, expected {shown(expected)}"


def _of_texts(expected: str, actual: str, place: str) -> Iterator[str]:
    """Yield how two texts differ: by lines if they have several, else from where they differ."""
    if "\n" in expected or "\n" in actual:
        yield f"{place} is another text (- expected, + returned):"
        lines = unified_diff(expected.splitlines(), actual.splitlines(), n=1, lineterm="")
        yield from (f"  {cut(line, _WIDEST_LINE)}".rstrip() for line in islice(lines, 2, None))
    else:
        pairs = enumerate(zip(expected, actual, strict=False))
        same = next((at for at, (a, b) in pairs if a != b), min(len(expected), len(actual)))
        start = max(0, same - _CONTEXT) if max(len(expected), len(actual)) > _SHORT else 0
        where = f" from character {start + 1} on" if start else ""
        words = f"{shown(actual[start:])}, expected {shown(expected[start:])}"
        yield f"{place} is{where} {words}"


def _equal(expected: JSON, actual: JSON, match: str) -> bool:
    """Tell whether two values are equal; 8.0 equals 8, but no number equals true."""
    numbers = [each for each in (expected, actual) if kind(each) in {"integer", "number"}]
    if match == "approx" and len(numbers) == len((expected, actual)):
        try:
            return math.isclose(expected, actual, rel_tol=TOLERANCE, abs_tol=_NEAR_ZERO)
        except OverflowError:  # an integer beyond every double
            return bool(expected == actual)
    is_comparable = len(numbers) == len((expected, actual)) or kind(expected) == kind(actual)
    return is_comparable and bool(expected == actual)


def _bounded(lines: Iterator[str]) -> list[str]:
    found = [line for line, _ in zip(lines, range(_MOST_LINES + 1), strict=False)]
    return found if len(found) <= _MOST_LINES else [*found[:_MOST_LINES], "… and more"]
