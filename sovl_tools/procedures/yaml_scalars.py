"""What a scalar of YAML means by the core schema (https://yaml.org/spec/1.2.2, section 10.3.2)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from sovl_tools.model.document import JSON, encodes

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES = {"0o": 8, "0x": 16}
_SHOWN = 40


class NotCoreError(ValueError):
    """A scalar that is not what it should be, or nothing that JSON has."""

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = advice


def resolved(text: str, kind: str | None) -> JSON:
    """Return the value of a scalar.

    Args:
        text: what is written, without quotes and escapes.
        kind: what its tag says it is, one of ``KINDS``; None if it is plain and has none.

    Raises:
        NotCoreError: the text is nothing of that kind, or no JSON can hold it.
    """
    if kind is not None:
        return KINDS[kind](text)
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    # letters come first most of the time, and begin no number
    if text[0] not in "+-.0123456789":
        return _string(text)
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _number(text) if _FLOAT.fullmatch(text) or _NO_NUMBER.fullmatch(text) else _string(text)


def _null(text: str) -> None:
    if text not in _NULLS:
        raise _unlike(text, "null")


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise _unlike(text, "a boolean")
    return _BOOLEANS[text]


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _unlike(text, "an integer")
    try:
        number = int(text[2:], _BASES[text[:2]]) if text[:2] in _BASES else int(text)
        str(number)
    except ValueError as error:
        raise NotCoreError("the number has more digits than can be read") from error
    return number


def _number(text: str) -> float:
    if _NO_NUMBER.fullmatch(text):
        raise NotCoreError(f"{text} is not a number that JSON can hold", "quote it if it is text")
    if not (_FLOAT.fullmatch(text) or _INTEGER.fullmatch(text)):
        raise _unlike(text, "a number")
    try:
        number = float(_integer(text) if text[:2] in _BASES else text)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise NotCoreError(f"{text[:_SHOWN]} is not a number that JSON can hold")
    return number


def _string(text: str) -> str:
    """Return the text, with surrogate pairs that were written as two escapes made one character."""
    if encodes(text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise NotCoreError("the string holds half of a surrogate pair") from error


def _unlike(text: str, kind: str) -> NotCoreError:
    return NotCoreError(f"{text[:_SHOWN]!r} is not {kind}, as its tag says", "remove the tag")


KINDS: Mapping[str, Callable[[str], JSON]] = {
    "null": _null,
    "bool": _boolean,
    "int": _integer,
    "float": _number,
    "str": _string,
}
"""What a tag of the core schema makes of a text."""
