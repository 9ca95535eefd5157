"""Axes with round numbers."""

import math
from collections.abc import Sequence

_INTERVALS = 5
_STEPS = (1, 2, 2.5, 5, 10)
_ROUNDING = 1e-9
# Differences that no label could show: of twelve digits, and next to the end of what floats hold.
_INDISTINCT, _SMALLEST_SPAN = 1e-11, 1e-300
_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


def ticks(values: Sequence[float], *, from_zero: bool) -> list[float]:
    """Return about six round numbers, evenly spaced, that span the values."""
    low, high = _span(values, from_zero=from_zero)
    step = _step((high - low) / _INTERVALS)
    first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
    return [number * step for number in range(first, last + 1)]


def format_number(value: float) -> str:
    """Return a number for people: thousands parted, noise of floats omitted."""
    return f"{value:,.12g}".replace("-", "−")  # noqa: RUF001


def format_ticks(numbers: Sequence[float]) -> list[str]:
    """Return the numbers for people, large ones in millions (M), billions (B) or trillions (T)."""
    largest = max(map(abs, numbers))
    unit, sign = next((scale for scale in _SCALES if largest >= 10 * scale[0]), (1, ""))
    return [f"{format_number(number / unit)}{sign if number else ''}" for number in numbers]


def _span(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    low, high = min(values), max(values)
    indistinct = high - low <= _INDISTINCT * max(abs(low), abs(high))
    if from_zero or indistinct or _near_zero(low, high):
        low, high = min(low, 0), max(high, 0)
    return (low, high) if high - low > _SMALLEST_SPAN else (0, 1)


def _near_zero(low: float, high: float) -> bool:
    """Return whether zero is so close that the axis had better begin there."""
    return 0 < low < high / 2 or low / 2 < high < 0


def _step(interval: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(interval))
    return next(
        factor * magnitude for factor in _STEPS if factor * magnitude >= interval * (1 - _ROUNDING)
    )
