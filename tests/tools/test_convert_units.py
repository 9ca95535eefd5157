"""Units of measurement."""

from collections.abc import Callable
from typing import Any

from tests.tables import check_each

from .conftest import Refuse

Value = Callable[..., Any]


def convert(value: Value, amount: float, source: str, target: str) -> Any:
    return value("convert_units", value=amount, from_unit=source, to_unit=target)["value"]


@check_each(
    ("amount", "source", "target", "expected"),
    [
        (1, "inch", "cm", 2.54),
        (1, "mile", "metres", 1609.344),
        (98.6, "F", "C", 37),
        (-40, "celsius", "fahrenheit", -40),
        (0, "°C", "K", 273.15),
        (1, "m²", "cm^2", 10_000),
        (1, "imperial gallon", "l", 4.54609),
        (1, "cup", "tbsp", 16),
        (36, "km/h", "m/s", 10),
        (1, "week", "hours", 168),
        (1, "MB", "Mb", 8),
        (1, "GiB", "bytes", 1_073_741_824),
        (100, "Mbps", "MB/s", 12.5),
        (1, "atm", "hPa", 1013.25),
        (60, "rpm", "Hz", 1),
        (5, "\N{MICRO SIGN}m", "nm", 5000),
        (1, "\N{DEGREE CELSIUS}", "K", 274.15),
    ],
)
def test_converts_exactly(
    value: Value, amount: float, source: str, target: str, expected: float
) -> None:
    assert convert(value, amount, source, target) == expected


@check_each(
    ("source", "target", "message"),
    [
        ("kg", "km", "kg measures mass, km length: units of mass are"),
        ("mies", "km", "did you mean miles"),
        ("furlong", "km", "write a symbol or an English name"),
        ("mb", "B", "may mean Mbit (data) or MB (data)"),
    ],
)
def test_units_that_do_not_fit_are_refused(
    refuse: Refuse, source: str, target: str, message: str
) -> None:
    assert message in refuse("convert_units", value=1, from_unit=source, to_unit=target)
