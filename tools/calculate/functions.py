"""The constants, functions and operators of `calculate`, each bounded before it computes."""

import ast
import math
import operator
import sys
from collections.abc import Callable

Number = int | float
Operation = Callable[..., Number]

_MAXIMUM_DIGITS = 1000
_FIRST_TOO_LARGE = 10**_MAXIMUM_DIGITS
_MAXIMUM_BITS = _FIRST_TOO_LARGE.bit_length()
TOO_LARGE = (
    f"the result is too large: whole numbers can have {_MAXIMUM_DIGITS} digits, "
    f"numbers with a fraction end at {sys.float_info.max:.2g}"
)
_MAXIMUM_FACTORIAL = 450
_MAXIMUM_CHOICES = 10_000
_MAXIMUM_ROUNDING = 300


def within_bounds(value: Number) -> Number:
    """Return the value; raise ValueError if it is too large, infinite or not a number."""
    if not abs(value) < _FIRST_TOO_LARGE:
        raise ValueError(TOO_LARGE)
    return value


def whole(value: Number) -> int:
    """Return the value as a whole number; raise ValueError if it has a fraction."""
    if value != int(value):
        raise ValueError(f"a whole number is needed, not {value}")
    return int(value)


def power(base: Number, exponent: Number) -> Number:
    """Return base ** exponent; raise ValueError before computing what would be too large."""
    if base < 0 and exponent != int(exponent):
        raise ValueError(f"{base} to the power of {exponent} is not a real number")
    if (
        isinstance(base, int)
        and isinstance(exponent, int)
        and _bits(base) * exponent > _MAXIMUM_BITS
    ):
        raise ValueError(TOO_LARGE)
    result: Number = base**exponent
    return result


def _bits(base: int) -> int:
    """Return a lower bound for the bits that each multiplication with the base adds."""
    return abs(base).bit_length() - 1


def shift_left(value: Number, places: Number) -> int:
    """Return value << places, the places bounded first."""
    if places > _MAXIMUM_BITS:
        raise ValueError(TOO_LARGE)
    return whole(value) << whole(places)


def factorial(value: Number) -> int:
    """Return the factorial of a small whole number."""
    if value > _MAXIMUM_FACTORIAL:
        raise ValueError(TOO_LARGE)
    return math.factorial(whole(value))


def rounded(value: Number, digits: Number = 0) -> Number:
    """Return the value rounded to so many decimals; a half goes to the even neighbour."""
    if abs(digits) > _MAXIMUM_ROUNDING:
        raise ValueError(f"round takes at most {_MAXIMUM_ROUNDING} decimals")
    return round(value, whole(digits))


def _on_whole_numbers(operation: Operation) -> Operation:
    return lambda *values: operation(*map(whole, values))


def _on_list(operation: Operation) -> Operation:
    return lambda *values: operation(values)


def _of_limited_size(operation: Operation) -> Operation:
    def limited(count: Number, *chosen: Number) -> Number:
        if count > _MAXIMUM_CHOICES:
            raise ValueError(f"a number of at most {_MAXIMUM_CHOICES} is needed, not {count}")
        return operation(whole(count), *map(whole, chosen))

    return limited


CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}

FUNCTIONS: dict[str, Operation] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "atan2": math.atan2,
    "cbrt": math.cbrt,
    "ceil": math.ceil,
    "comb": _of_limited_size(math.comb),
    "cos": math.cos,
    "cosh": math.cosh,
    "degrees": math.degrees,
    "exp": math.exp,
    "factorial": factorial,
    "floor": math.floor,
    "gcd": _on_whole_numbers(math.gcd),
    "hypot": math.hypot,
    "lcm": _on_whole_numbers(math.lcm),
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": _on_list(max),
    "min": _on_list(min),
    "perm": _of_limited_size(math.perm),
    "radians": math.radians,
    "round": rounded,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": math.sqrt,
    "sum": _on_list(sum),
    "tan": math.tan,
    "tanh": math.tanh,
    "trunc": math.trunc,
    "xor": _on_whole_numbers(operator.xor),
}

SIGNS: dict[type[ast.unaryop], Operation] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: _on_whole_numbers(operator.invert),
}

OPERATORS: dict[type[ast.operator], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
    ast.LShift: shift_left,
    ast.RShift: _on_whole_numbers(operator.rshift),
    ast.BitAnd: _on_whole_numbers(operator.and_),
    ast.BitOr: _on_whole_numbers(operator.or_),
}
