"""Parses the arguments that a model sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.document import (
    JSON,
    MAX_DEPTH,
    depth,
    encodes,
    finite_number,
    number_problem,
    strict_decoder,
)

Arguments: TypeAlias = Mapping[str, JSON] | str | bytes | None
"""An object, JSON text of one, or nothing for a tool that needs no arguments."""

SHORT = 2 * MAX_DEPTH + 1
"""A text of at most this many characters can't be nested too deep."""

whole: list[object] = [None]
"""The last whole number with a fraction or an exponent that was read, such as ``2.0``.

If it is another one after a parse, there was one, unless it was of another thread.
"""


def _float(digits: str) -> float:
    """Read a number with a fraction or an exponent; note the whole ones, which may be integers."""
    number = finite_number(digits)
    if number.is_integer():
        whole[0] = number
    return number


_DECODER = strict_decoder(parse_float=_float)
# The scanner that ``decode`` calls; going to it directly saves half of what ``json.loads`` costs.
scan: Callable[[str, int], tuple[JSON, int]] = vars(_DECODER)["scan_once"]


class Unparsed(NamedTuple):
    """Arguments that are no JSON, and why."""

    reason: str


_HALF = Unparsed("a string in them holds half of a surrogate pair")
_DEEP = Unparsed("they are nested too deep")


def parse_arguments(given: Arguments) -> JSON:
    """Return the arguments as JSON of their own, or why they are none."""
    if type(given) is not str:
        return _parse_other(given)
    try:
        arguments, end = scan(given, 0)
    except (StopIteration, ValueError, RecursionError):
        return _parse_slowly(given)
    return check_parsed(given, arguments, end)


def check_parsed(text: str, arguments: JSON, end: int) -> JSON:
    """Return what was read of a text up to ``end``, or why it can't be used."""
    if end != len(text):
        return _parse_slowly(text)
    if end > SHORT and _may_be_deep(text) and depth(arguments) > MAX_DEPTH:
        return _DEEP
    if not text.isascii() and not encodes(text):
        return _HALF
    # escapes of halves begin like this; most of them are pairs
    if "\\" in text and ("\\ud" in text or "\\uD" in text):
        return _encodable(arguments)
    return arguments


def _may_be_deep(text: str) -> bool:
    """Tell whether a text has so many brackets; searched, which takes far less than counting."""
    found = 0
    for bracket in "{[":
        place = text.find(bracket)
        while place >= 0 and found <= MAX_DEPTH:
            found += 1
            place = text.find(bracket, place + 1)
    return found > MAX_DEPTH


def _encodable(arguments: JSON) -> JSON:
    """Return the arguments unless a string in them holds half of a surrogate pair."""
    if encodes(json.dumps(arguments, ensure_ascii=False)):
        return arguments
    return _HALF


def _parse_other(given: Arguments) -> JSON:
    if given is None:
        return {}
    if isinstance(given, (bytes, bytearray)):
        try:
            return parse_arguments(given.decode())
        except UnicodeDecodeError as error:
            return Unparsed(f"they are not UTF-8: {error.reason}")
    if isinstance(given, str):
        # an Enum of strings, or another subclass, whose own __str__ may say anything
        return parse_arguments(str.__str__(given))
    try:
        # through text, so that the tool gets objects of its own and everything is checked alike
        return parse_arguments(_encode(given))
    except (ValueError, TypeError, RecursionError) as error:
        words = number_problem(error) if type(error) is ValueError else str(error)
        return Unparsed(f"they are no JSON: {words[:1].lower()}{words[1:]}")


def _as_dict(value: Any) -> dict[Any, Any]:
    """Return a mapping of any kind as a dictionary (the hook of ``json.dumps``)."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an object of type {type(value).__name__!r} is no JSON")


_encode = json.JSONEncoder(allow_nan=False, default=_as_dict).encode


def _reason(error: json.JSONDecodeError) -> str:
    """Return what is no JSON, where, and whether that is because the text ends too early."""
    place = f"line {error.lineno} column {error.colno}"
    around = repr(error.doc[max(0, error.pos - 15) : error.pos + 15])
    words = f"{error.msg.lower().removesuffix(' at')} at {place}, near {around}"
    is_cut = error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()
    return f"{words}; the text ends too early" if is_cut else words


def _parse_slowly(text: str) -> JSON:
    if not text.strip():
        return {}
    try:
        arguments = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return Unparsed(f"they are no JSON: {_reason(error)}")
    except ValueError as error:
        return Unparsed(number_problem(error))
    except RecursionError:
        return _DEEP
    return _DEEP if depth(arguments) > MAX_DEPTH else _encodable(arguments)
