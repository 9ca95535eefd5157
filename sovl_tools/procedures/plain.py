"""What an expression gives, as plain JSON or as text."""

from __future__ import annotations

import json
import math
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView

from jinja2 import Undefined

from sovl_tools.model.document import JSON, JSON_TYPES, kind
from sovl_tools.procedures.language import EvaluationError

MAX_RESULT = 1 << 20
"""How many characters a result may have when it is printed."""

MAX_DEPTH = 200
"""How many lists and objects of a result may lie inside one another."""

_MAX_BITS = 14_284
_LISTS = (list, tuple, range, Iterator, KeysView, ValuesView, ItemsView)
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}


def article(value: object) -> str:
    """Return what a value is: ``a string``, ``an array``, ``null``."""
    name = kind(value) if type(value) in JSON_TYPES else type(value).__name__
    return _ARTICLES.get(name, f"a {name}")


def as_json(value: object) -> JSON:
    """Return a result as plain JSON that shares nothing with the variables.

    Tuples, ranges and generators become lists.

    Raises:
        EvaluationError: it is something else, or larger or deeper than a result may be.
    """
    return _Copying().copy(value, 0)


class _Copying:
    """Copies one value, and counts how long it would be in print."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_RESULT

    def copy(self, value: object, level: int) -> JSON:
        if isinstance(value, str):
            self._spend(len(value))
            return str(value)
        self._spend(1)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            self._spend(value.bit_length() // 3 if isinstance(value, int) else 0)
            return checked_number(value)
        if level == MAX_DEPTH:
            raise EvaluationError(f"the result is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, dict):
            return {_key(key): self._member(key, each, level) for key, each in value.items()}
        if isinstance(value, _LISTS):
            return [self.copy(each, level + 1) for each in value]
        if isinstance(value, Undefined):
            str(value)  # which raises what is wrong with it
        raise EvaluationError(f"{article(value)} is nothing that JSON can hold")

    def _member(self, key: object, value: object, level: int) -> JSON:
        self._spend(len(str(key)))
        return self.copy(value, level + 1)

    def _spend(self, length: int) -> None:
        self._left -= length + 1
        if self._left < 0:
            raise too_long()


def too_long() -> EvaluationError:
    """Return the error of a result that has more characters than it may."""
    return EvaluationError(f"the result has more than {MAX_RESULT:,} characters")


def checked_number(number: float) -> float:
    """Return a number that JSON can hold and Python can print.

    Raises:
        EvaluationError: it is infinite, none at all, or has more than 4,300 digits.
    """
    if isinstance(number, int):
        if number.bit_length() > _MAX_BITS:
            raise EvaluationError("the number has more than 4,300 digits")
    elif not math.isfinite(number):
        raise EvaluationError(f"the result is {number}, which JSON can't hold")
    return number


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise EvaluationError(f"a key of an object is {article(key)}, not a string")
    return str(key)


def as_text(value: object) -> str:
    """Return a result as text: strings as they are, everything else as JSON.

    Raises:
        EvaluationError: it is nothing that JSON has, or too long.
    """
    if isinstance(value, str):
        if len(value) > MAX_RESULT:
            raise too_long()
        return str(value)
    return json.dumps(as_json(value), ensure_ascii=False)


def joined(parts: Iterable[str]) -> str:
    """Return the parts of a text in one.

    Raises:
        EvaluationError: they are too long.
    """
    taken: list[str] = []
    length = 0
    for part in parts:
        length += len(part)
        if length > MAX_RESULT:
            raise too_long()
        taken.append(part)
    return "".join(taken)
