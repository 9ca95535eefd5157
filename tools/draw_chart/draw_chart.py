"""Bar and line charts as SVG images."""

from typing import Any

from . import drawing, layout, svg
from .chart import Chart, check, colored
from .scale import ticks

_MARKS = {"bar": drawing.bars, "line": drawing.lines}


def draw_chart(  # noqa: PLR0913 - one parameter for each property of the manifest
    *,
    labels: list[str],
    series: list[dict[str, Any]],
    kind: str = "bar",
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    width: int = 800,
    height: int = 450,
) -> dict[str, object]:
    """Return a chart as an SVG document; raise ValueError if there's nothing to draw."""
    chart = Chart(labels, colored(series), title, x_label, y_label, width, height)
    check(chart)
    frame = layout.frame(chart, ticks(chart.numbers, from_zero=kind == "bar"))
    body = [
        *drawing.heading(chart),
        *drawing.value_axis(frame),
        *drawing.label_axis(frame),
        *drawing.axis_titles(chart, frame),
        *_MARKS[kind](chart, frame),
    ]
    return {
        "svg": svg.document(chart.width, chart.height, title, body),
        "width": width,
        "height": height,
    }
