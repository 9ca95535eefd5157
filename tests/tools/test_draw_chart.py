"""Charts."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import check_each

from .conftest import Module

Value = Callable[..., Any]
Draw = Callable[..., ET.Element]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def draw(value: Value) -> Draw:
    """Draw a chart, and return the image as parsed XML."""

    def chart(*values: list[float | None], **arguments: Any) -> ET.Element:
        labels = arguments.pop("labels", [f"label {index}" for index in range(len(values[0]))])
        series = [{"name": f"series {number}", "values": row} for number, row in enumerate(values)]
        answer = value("draw_chart", labels=labels, series=series, **arguments)
        return ET.fromstring(answer["svg"])

    return chart


def bars(image: ET.Element) -> list[ET.Element]:
    return [bar for bar in image.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]


def number(element: ET.Element, attribute: str) -> float:
    return float(element.attrib[attribute])


def hint(element: ET.Element) -> str:
    return element.findtext(f"{SVG}title") or ""


def test_a_bar_is_as_high_as_its_value(draw: Draw) -> None:
    image = draw([10, 20, 0])
    low, high, none = bars(image)
    assert number(high, "height") == pytest.approx(2 * number(low, "height"), abs=0.02)
    assert number(none, "height") == 0
    assert number(low, "y") + number(low, "height") == pytest.approx(
        number(high, "y") + number(high, "height"), abs=0.02
    )
    assert [hint(bar) for bar in (low, high)] == [
        "series 0, label 0: 10",
        "series 0, label 1: 20",
    ]


@check_each(
    ("values", "from_zero", "expected"),
    [
        ([0, 10], True, ["0", "2", "4", "6", "8", "10"]),
        ([3, 97], True, ["0", "20", "40", "60", "80", "100"]),
        ([3, 97], False, ["0", "20", "40", "60", "80", "100"]),
        ([90, 97], False, ["90", "92", "94", "96", "98"]),
        ([-90, -97], False, ["−98", "−96", "−94", "−92", "−90"]),  # noqa: RUF001
        ([-97, -3], False, ["−100", "−80", "−60", "−40", "−20", "0"]),  # noqa: RUF001
        ([-1, 1], True, ["−1", "−0.5", "0", "0.5", "1"]),  # noqa: RUF001
        ([0.1, 0.3], True, ["0", "0.1", "0.2", "0.3"]),
        ([0, 1.2], True, ["0", "0.25", "0.5", "0.75", "1", "1.25"]),
        ([0], True, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([7, 7], False, ["0", "2", "4", "6", "8"]),
        ([0, 5000], True, ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]),
        ([0, 12e6], True, ["0", "2.5M", "5M", "7.5M", "10M", "12.5M"]),
        ([0, 2e10], True, ["0", "5B", "10B", "15B", "20B"]),
        ([-1e15, 1e15], True, ["−1,000T", "−500T", "0", "500T", "1,000T"]),  # noqa: RUF001
        ([0, 3e-7], True, ["0", "1e−07", "2e−07", "3e−07"]),  # noqa: RUF001
    ],
)
def test_axes_have_round_numbers(
    module: Module,
    values: list[float],
    from_zero: bool,  # noqa: FBT001
    expected: list[str],
) -> None:
    scale = module("draw_chart", "scale")
    assert scale.format_ticks(scale.ticks(values, from_zero=from_zero)) == expected


def test_texts_are_escaped(draw: Draw) -> None:
    nasty = "<script>&\"'\0\x0b]]>&lt;"
    shown = "<script>&\"'\ufffd\ufffd]]>&lt;"
    image = draw([1], [2], labels=[nasty], title=nasty, x_label=nasty, y_label=nasty, width=2000)
    assert image.find(f".//{SVG}script") is None
    assert image.findtext(f"{SVG}title") == shown
    assert f"series 0, {shown}: 1" in map(hint, bars(image))
