"""Where on the image everything goes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .chart import Chart
from .scale import format_ticks
from .svg import shorten, text_width

_EDGE = 16
_TITLE_HEIGHT = 32
_LINE_HEIGHT = 20
_SWATCH = 18
_LOWEST_PLOT = 60
_GAP = 6
_ENOUGH_FOR_A_LABEL = 80
_ROTATED_WIDTH = 110
_LEGEND_WIDTH = 180
_DIAGONAL = math.sqrt(0.5)


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One name of the legend, and where its swatch begins."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class LabelStyle:
    """How the labels of the horizontal axis are written: cut, turned, or only every so many."""

    texts: Sequence[str]
    rotated: bool
    every: int

    @property
    def reach(self) -> float:
        """How far turned labels reach down and to the left."""
        return max(map(text_width, self.texts)) * _DIAGONAL if self.rotated else 0


@dataclass(frozen=True, slots=True)
class Frame:
    """The area of the plot, and the scales of its axes."""

    left: float
    top: float
    right: float
    bottom: float
    ticks: Sequence[float]
    labels: Sequence[str]

    @property
    def slot(self) -> float:
        """The width that each label has for itself."""
        return (self.right - self.left) / len(self.labels)

    def x(self, index: int) -> float:
        """Return the middle of a label's slot."""
        return self.left + (index + 0.5) * self.slot

    def y(self, value: float) -> float:
        """Return the height at which a value stands."""
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.bottom - share * (self.bottom - self.top)


def label_style(labels: Sequence[str], slot: float) -> LabelStyle:
    """Choose how to write the labels, so that they do not run into each other."""
    too_long = sum(text_width(label) > slot - _GAP for label in labels)
    if too_long == 0 or slot >= _ENOUGH_FOR_A_LABEL or too_long <= len(labels) // 3:
        return LabelStyle([shorten(label, slot - _GAP) for label in labels], rotated=False, every=1)
    texts = [shorten(label, _ROTATED_WIDTH) for label in labels]
    return LabelStyle(texts, rotated=True, every=max(1, math.ceil(_LINE_HEIGHT / slot)))


def frame(chart: Chart, ticks: Sequence[float]) -> Frame:
    """Return the area that title, legend, axes and labels leave for the plot."""
    left = _EDGE + max(map(text_width, format_ticks(ticks))) + 8
    left += _LINE_HEIGHT if chart.y_label else 0
    right = chart.width - _EDGE
    style = label_style(chart.labels, (right - left) / len(chart.labels))
    top = (
        max((entry.y for entry in legend(chart)), default=_top(chart) - _LINE_HEIGHT)
        + _LINE_HEIGHT
        + 8
    )
    below = _EDGE + _LINE_HEIGHT + style.reach + (_LINE_HEIGHT if chart.x_label else 0)
    bottom = chart.height - below
    if bottom - top < _LOWEST_PLOT:
        raise ValueError("the image is too low for its title, legend and labels: make it higher")
    return Frame(max(left, style.reach), top, right, bottom, ticks, chart.labels)


def legend(chart: Chart) -> list[LegendEntry]:
    """Return where the names of the series go: in rows below the title, if there are several."""
    if len(chart.series) == 1:
        return []
    entries: list[LegendEntry] = []
    x, y = float(_EDGE), float(_top(chart))
    for series in chart.series:
        name = shorten(series.name, _LEGEND_WIDTH)
        width = _SWATCH + text_width(name) + _EDGE
        if entries and x + width > chart.width:
            x, y = float(_EDGE), y + _LINE_HEIGHT
        entries.append(LegendEntry(name, x, y))
        x += width
    return entries


def _top(chart: Chart) -> int:
    return _EDGE + (_TITLE_HEIGHT if chart.title else 0)
