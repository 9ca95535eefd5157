"""Conversions of temperatures and lengths."""

from enum import Enum
from typing import Annotated, Literal

from sovl_tools import ToolError, tool


class Scale(Enum):
    """A scale of temperature."""

    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"
    KELVIN = "kelvin"


_ZERO = {Scale.CELSIUS: 273.15, Scale.FAHRENHEIT: 459.67, Scale.KELVIN: 0.0}
_DEGREE = {Scale.CELSIUS: 1.0, Scale.FAHRENHEIT: 5 / 9, Scale.KELVIN: 1.0}
_METRES = {"m": 1.0, "km": 1000.0, "ft": 0.3048, "mi": 1609.344}


@tool(
    tags=["units", "math"],
    category="conversion",
    activation_phrases=["convert a temperature"],
    annotations={"read_only": True},
)
def convert_temperature(degrees: float, source: Scale, target: Scale) -> float:
    """Convert a temperature from one scale to another.

    Args:
        degrees: The temperature on the source scale.
        source: The scale that it is given on.
        target: The scale to convert it to.

    Returns:
        The temperature on the target scale, rounded to two digits.
    """
    kelvin = (degrees + _ZERO[source]) * _DEGREE[source]
    if kelvin < 0:
        raise ToolError(f"{degrees:g} {source.value} is below absolute zero")
    return round(kelvin / _DEGREE[target] - _ZERO[target], 2)


@tool(tags=["units", "math"], category="conversion", annotations={"read_only": True})
def convert_length(
    length: Annotated[float, "How long it is."],
    source: Annotated[Literal["m", "km", "ft", "mi"], "The unit of the length."],
    target: Annotated[Literal["m", "km", "ft", "mi"], "The unit to convert it to."] = "m",
) -> float:
    """Convert a length from one unit to another."""
    return round(length * _METRES[source] / _METRES[target], 4)
