"""The parts of a chart: its heading, axes, legend, bars and lines."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from .chart import Chart, Series
from .layout import Frame, label_style, legend
from .scale import format_number, format_ticks
from .svg import element, shorten, text, tooltip

_GRID, _AXIS, _INK = "#e4e4e4", "#666666", "#222222"
_TITLE_SIZE = 18
_GROUP_SHARE = 0.8
_ROOM_FOR_DOTS = 10

# A point of a series: which label it stands at, and its value.
Point = tuple[int, float]


def heading(chart: Chart) -> Iterator[str]:
    """Yield the title, and the swatches and names of the legend."""
    if chart.title:
        title = shorten(chart.title, chart.width - 32, _TITLE_SIZE * 1.1)
        yield text(title, 16, 34, font_size=_TITLE_SIZE, font_weight="bold", fill=_INK)
    for entry, series in zip(legend(chart), chart.series, strict=False):
        yield element("rect", x=entry.x, y=entry.y, width=12, height=12, rx=2, fill=series.color)
        yield text(entry.name, entry.x + 18, entry.y + 10.5)


def value_axis(frame: Frame) -> Iterator[str]:
    """Yield a grid line and a number for each tick, the line of zero darker."""
    for tick, label in zip(frame.ticks, format_ticks(frame.ticks), strict=True):
        y = frame.y(tick)
        color = _GRID if tick else _AXIS
        yield element("line", x1=frame.left, y1=y, x2=frame.right, y2=y, stroke=color)
        yield text(label, frame.left - 8, y + 4, text_anchor="end")


def label_axis(frame: Frame) -> Iterator[str]:
    """Yield the labels below the plot."""
    style = label_style(frame.labels, frame.slot)
    for index, label in list(enumerate(style.texts))[:: style.every]:
        x, y = frame.x(index), frame.bottom + 18
        if style.rotated:
            turned = f"rotate(-45 {x:.2f} {y:.2f})"
            yield text(label, x, y, text_anchor="end", transform=turned)
        else:
            yield text(label, x, y, text_anchor="middle")


def axis_titles(chart: Chart, frame: Frame) -> Iterator[str]:
    """Yield what the axes show."""
    if chart.x_label:
        x = (frame.left + frame.right) / 2
        name = shorten(chart.x_label, frame.right - frame.left)
        yield text(name, x, chart.height - 14, text_anchor="middle", fill=_INK)
    if chart.y_label:
        y = (frame.top + frame.bottom) / 2
        name = shorten(chart.y_label, frame.bottom - frame.top)
        turned = f"rotate(-90 24 {y:.2f})"
        yield text(name, 24, y, text_anchor="middle", fill=_INK, transform=turned)


def bars(chart: Chart, frame: Frame) -> Iterator[str]:
    """Yield a bar for each value, those of one label side by side."""
    group = frame.slot * _GROUP_SHARE
    width = group / len(chart.series)
    for number, series in enumerate(chart.series):
        for index, value in _points(series):
            yield element(
                "rect",
                _tooltip(series, frame, (index, value)),
                x=frame.x(index) - group / 2 + number * width,
                y=frame.y(max(value, 0)),
                width=width * 0.95,
                height=abs(frame.y(value) - frame.y(0)),
                fill=series.color,
            )


def lines(chart: Chart, frame: Frame) -> Iterator[str]:
    """Yield a line for each series, broken at gaps, with dots if there is room."""
    for series in chart.series:
        for run in _runs(series):
            yield _line(run, frame, series.color)
            if frame.slot >= _ROOM_FOR_DOTS or len(run) == 1:
                yield from _dots(run, frame, series)


def _line(run: Sequence[Point], frame: Frame, color: str) -> str:
    points = " ".join(f"{frame.x(index):.2f},{frame.y(value):.2f}" for index, value in run)
    return element(
        "polyline",
        points=points,
        fill="none",
        stroke=color,
        stroke_width=2.5,
        stroke_linejoin="round",
    )


def _dots(run: Sequence[Point], frame: Frame, series: Series) -> Iterator[str]:
    for index, value in run:
        hint = _tooltip(series, frame, (index, value))
        yield element(
            "circle", hint, cx=frame.x(index), cy=frame.y(value), r=3.5, fill=series.color
        )


def _points(series: Series) -> list[Point]:
    return [(index, value) for index, value in enumerate(series.values) if value is not None]


def _runs(series: Series) -> Iterator[list[Point]]:
    """Yield the points in stretches without a gap: there, index minus position stays the same."""
    for _, run in groupby(enumerate(_points(series)), key=lambda pair: pair[1][0] - pair[0]):
        yield [point for _, point in run]


def _tooltip(series: Series, frame: Frame, point: Point) -> str:
    index, value = point
    return tooltip(f"{series.name}, {frame.labels[index]}: {format_number(value)}")
