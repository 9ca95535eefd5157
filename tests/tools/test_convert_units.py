"""Units of measurement."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.tables import check_each

from .conftest import Module, Refuse

Value = Callable[..., Any]


def convert(value: Value, amount: float, source: str, target: str) -> Any:
    return value("convert_units", value=amount, from_unit=source, to_unit=target)["value"]


@check_each(
    ("amount", "source", "target", "expected"),
    [
        (1, "inch", "cm", 2.54),
        (0.1, "m", "mm", 100),
        (1, "mile", "metres", 1609.344),
        (1, "nautical mile", "km", 1.852),
        (98.6, "F", "C", 37),
        (-40, "celsius", "fahrenheit", -40),
        (0, "K", "°C", -273.15),
        (0, "°C", "K", 273.15),
        (1, "acre", "m2", 4046.8564224),
        (1, "m²", "cm^2", 10_000),
        (1, "imperial gallon", "l", 4.54609),
        (1, "gallon", "L", 3.785411784),
        (1, "cup", "tbsp", 16),
        (1, "stone", "lb", 14),
        (36, "km/h", "m/s", 10),
        (1, "knot", "km/h", 1.852),
        (1, "week", "hours", 168),
        (1, "year", "days", 365.25),
        (1, "MB", "Mb", 8),
        (1, "GiB", "bytes", 1_073_741_824),
        (100, "Mbps", "MB/s", 12.5),
        (1, "kWh", "kJ", 3600),
        (1, "atm", "hPa", 1013.25),
        (180, "degrees", "turn", 0.5),
        (60, "rpm", "Hz", 1),
        (5, "\N{MICRO SIGN}m", "nm", 5000),
        (1, "\N{DEGREE CELSIUS}", "K", 274.15),
        (1, "KM", "M", 1000),
        (1e22, "km", "m", 1e25),
    ],
)
def test_converts_exactly(
    value: Value, amount: float, source: str, target: str, expected: float
) -> None:
    assert convert(value, amount, source, target) == expected


def test_says_the_conversion_in_one_line(value: Value) -> None:
    answer = value("convert_units", value=2.5, from_unit="feet", to_unit="centimetre")
    assert answer == {
        "value": 76.2,
        "unit": "cm",
        "dimension": "length",
        "text": "2.5 ft = 76.2 cm",
    }


@pytest.mark.parametrize(("source", "target"), [("psi", "bar"), ("°F", "K"), ("rad", "deg")])
def test_there_and_back_is_the_same(module: Module, source: str, target: str) -> None:
    units = module("convert_units", "units")
    one, other = units.find(source), units.find(target)
    there = other.from_base(one.to_base(Fraction(7, 3)))
    assert one.from_base(other.to_base(there)) == Fraction(7, 3)


@check_each(
    ("source", "target", "message"),
    [
        ("kg", "km", "kg measures mass, km length: units of mass are"),
        ("mies", "km", "did you mean miles"),
        ("furlong", "km", "write a symbol or an English name"),
        ("mb", "B", "may mean Mbit (data) or MB (data)"),
        ("kN", "KN", "may mean kn (speed) or kN (force)"),
        ("\0", "m", "isn't a known unit"),
        ("  ", "m", "isn't a known unit"),
    ],
)
def test_units_that_do_not_fit_are_refused(
    refuse: Refuse, source: str, target: str, message: str
) -> None:
    assert message in refuse("convert_units", value=1, from_unit=source, to_unit=target)


def test_what_lies_below_absolute_zero_is_refused(refuse: Refuse) -> None:
    message = refuse("convert_units", value=-300, from_unit="celsius", to_unit="K")
    assert message == "-300 °C is below absolute zero"


def test_a_result_beyond_all_floats_is_refused(refuse: Refuse) -> None:
    assert "too large" in refuse("convert_units", value=1e300, from_unit="ly", to_unit="nm")


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), 10**400])
def test_a_value_beyond_measure_is_refused(module: Module, amount: float) -> None:
    with pytest.raises(ValueError, match="must lie between"):
        module("convert_units").convert_units(value=amount, from_unit="m", to_unit="km")


def test_no_two_units_share_a_name(module: Module) -> None:
    units = module("convert_units", "units")
    counts = Counter(name for _, names in units._UNITS for name in names)
    assert [name for name, count in counts.items() if count > 1] == []
