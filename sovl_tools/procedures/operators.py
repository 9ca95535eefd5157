"""Arithmetic of expressions, bounded: what a few characters can ask for is not endless."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from sovl_tools.procedures.language import EvaluationError
from sovl_tools.procedures.plain import MAX_RESULT, article, too_long

MAX_RANGE = 100_000
"""How many items a range may have."""

_MAX_BITS = 14_284
_MAX_WIDTH = 9_999
# A width, or the star that takes one from the arguments.
_WIDTH = re.compile(r"\d{5,}|\*")


def computed(sign: str, left: Any, right: Any) -> Any:
    """Return what an arithmetic operator makes of two values.

    Raises:
        EvaluationError: they don't go together, or the result would be too large.
    """
    try:
        return _OPERATORS[sign](left, right)
    except TypeError as error:
        advice = "join texts with ~" if sign == "+" and str in {type(left), type(right)} else None
        words = f"{article(left)} and {article(right)} do not go together with {sign!r}"
        raise EvaluationError(words, advice=advice) from error


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, str | list | tuple) and len(left) + len(right) > MAX_RESULT:
        raise too_long()
    return left + right


def _multiply(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(count, int):
            if len(sequence) * count > MAX_RESULT:
                raise too_long()
            return sequence * count
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * right)
    return left**right


def _check_bits(bits: int) -> None:
    # twice as many as can be printed, since this is only an estimate
    if bits > 2 * _MAX_BITS:
        raise EvaluationError("the number has more than 4,300 digits")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        check_widths(left)
    return left % right


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": _add,
    "-": operator.sub,
    "*": _multiply,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": _power,
    "%": _modulo,
}

SIGNS = frozenset(_OPERATORS)
"""The operators that are looked after."""


def check_widths(pattern: str) -> None:
    """Refuse a pattern for formatting that asks for very wide fields.

    Raises:
        EvaluationError: it does, or takes a width from its arguments.
    """
    if _WIDTH.search(pattern):
        raise EvaluationError(f"a field is wider than {_MAX_WIDTH:,} characters")


def check_counts(*arguments: object) -> None:
    """Refuse arguments that ask for more characters than a result may have.

    Raises:
        EvaluationError: one does.
    """
    if any(isinstance(each, int) and each > MAX_RESULT for each in arguments):
        raise too_long()


def replaced(text: str, old: str, new: str, count: int | None = None) -> str:
    """Return a text with another one in the place of each occurrence of one, as Python does it.

    Raises:
        EvaluationError: it would be too long, or what is given are no texts.
    """
    if not all(isinstance(each, str) for each in (text, old, new)):
        raise EvaluationError("replace needs two strings")
    found = text.count(old) if count is None or count < 0 else min(count, text.count(old))
    if len(text) + found * (len(new) - len(old)) > MAX_RESULT:
        raise too_long()
    return text.replace(old, new, found)


def bounded_range(*arguments: int) -> range:
    """Return a range of numbers, as Python's.

    Raises:
        EvaluationError: it is too long.
    """
    found = range(*arguments)
    # the length itself overflows where a range is longer than memory
    if found and abs(found[-1] - found[0]) // abs(found.step) >= MAX_RANGE:
        raise EvaluationError(f"a range may have at most {MAX_RANGE:,} items")
    return found
