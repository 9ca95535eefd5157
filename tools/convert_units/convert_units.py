"""Conversion between units of measurement, in exact fractions."""

from fractions import Fraction

from . import units

_LARGEST = 1e300
_EXACT_IN_A_FLOAT = 2**53


def convert_units(*, value: float, from_unit: str, to_unit: str) -> dict[str, object]:
    """Return the value counted in `to_unit`; raise ValueError for units that do not match."""
    source, target = units.find(from_unit), units.find(to_unit)
    _check_dimensions(source, target)
    converted = _plain(target.from_base(_in_base(value, source)))
    return {
        "value": converted,
        "unit": target.symbol,
        "dimension": target.dimension,
        "text": f"{value} {source.symbol} = {converted} {target.symbol}",
    }


def _check_dimensions(source: units.Unit, target: units.Unit) -> None:
    if source.dimension != target.dimension:
        raise ValueError(
            f"{source.symbol} measures {source.dimension}, {target.symbol} {target.dimension}: "
            f"units of {source.dimension} are {', '.join(units.symbols(source.dimension))}"
        )


def _in_base(value: float, unit: units.Unit) -> Fraction:
    if not abs(value) <= _LARGEST:
        raise ValueError(f"the value must lie between {-_LARGEST} and {_LARGEST}")
    # str gives the shortest decimal, so that 0.1 means a tenth and not the float nearest to it.
    amount = unit.to_base(Fraction(str(value)))
    if unit.dimension == "temperature" and amount < 0:
        raise ValueError(f"{value} {unit.symbol} is below absolute zero")
    return amount


def _plain(amount: Fraction) -> float:
    if amount.denominator == 1 and abs(amount) < _EXACT_IN_A_FLOAT:
        return int(amount)
    try:
        return float(amount)
    except OverflowError:
        raise ValueError("the result is too large") from None
