"""What must be drawn, checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_COLORS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#e15759",
    "#b07aa1",
    "#76b7b2",
    "#edc948",
    "#ff9da7",
    "#9c755f",
    "#bab0ac",
)
_LARGEST = 1e15


@dataclass(frozen=True, slots=True)
class Series:
    """The numbers of one series, None where there isn't one."""

    name: str
    values: Sequence[float | None]
    color: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The labels and series, and the strings around them."""

    labels: Sequence[str]
    series: Sequence[Series]
    title: str
    x_label: str
    y_label: str
    width: int
    height: int

    @property
    def numbers(self) -> list[float]:
        """All numbers of all series."""
        return [value for series in self.series for value in series.values if value is not None]


def colored(series: Sequence[Mapping[str, Any]]) -> list[Series]:
    """Return the series as values, each with its own colour."""
    if len(series) > len(_COLORS):
        raise ValueError(
            f"there are {len(series)} series, more than the {len(_COLORS)} that have a colour"
        )
    return [
        Series(given["name"], given["values"], color)
        for given, color in zip(series, _COLORS, strict=False)
    ]


def check(chart: Chart) -> None:
    """Raise ValueError if there's nothing to draw, or the series do not match the labels."""
    if not chart.labels or not chart.numbers:
        raise ValueError("there's nothing to draw: give at least one label and one number")
    for series in chart.series:
        if len(series.values) != len(chart.labels):
            raise ValueError(
                f"series {series.name!r} has {len(series.values)} values, "
                f"but there are {len(chart.labels)} labels"
            )
    if not all(abs(number) <= _LARGEST for number in chart.numbers):
        raise ValueError(f"the numbers must lie between {-_LARGEST:g} and {_LARGEST:g}")
