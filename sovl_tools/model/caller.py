"""Checks of the arguments that callers of the Python API pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from math import isfinite
from threading import TIMEOUT_MAX
from types import UnionType
from typing import Any, cast

from sovl_tools.model.suggestion import one_of


def check_given(check: Callable[[str, object], object], **values: object) -> None:
    """Check several values, omitting None."""
    for name, value in values.items():
        if value is not None:
            check(name, value)


def check_type(name: str, value: object, types: type | UnionType, words: str) -> None:
    """Check a value's type.

    Raises:
        TypeError: the value doesn't have one of the types, which ``words`` name.
    """
    if not isinstance(value, types):
        raise TypeError(f"{name} must be {words}, not {value!r:.80}")


def check_text(name: str, value: object) -> None:
    """Check that a value is a string.

    Raises:
        TypeError: it isn't.
    """
    check_type(name, value, str, "a string")


def check_path(name: str, value: object) -> str:
    """Return a path as a string.

    Raises:
        TypeError: the value is neither a string nor path-like.
    """
    check_type(name, value, str | os.PathLike, "a path")
    found: str = os.fspath(cast("Any", value))
    return found


def check_function(name: str, value: object) -> None:
    """Check that a value is callable.

    Raises:
        TypeError: it isn't.
    """
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {value!r:.80}")


def check_iterable(name: str, value: object, words: str) -> None:
    """Check that a value is an iterable other than a string or a mapping.

    Raises:
        TypeError: it isn't.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {words}, not {value!r:.80}")


def check_names(name: str, value: object, words: str = "names") -> tuple[str, ...]:
    """Return several names; a single string is rejected, as each letter would be a name.

    Raises:
        TypeError: the value isn't an iterable of strings.
    """
    check_iterable(name, value, f"a list of {words}")
    names = tuple(cast("Iterable[str]", value))
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"{name} must be a list of {words}, without {each!r:.80}")
    return names


def check_count(name: str, number: object, *, least: int = 1) -> None:
    """Check that a value is an integer of at least ``least``.

    Raises:
        TypeError: it isn't an integer.
        ValueError: it is too small.
    """
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{name} must be a whole number, not {number!r:.80}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number!r}")


def check_number(name: str, number: object) -> None:
    """Check that a value is a finite number.

    Raises:
        TypeError: it isn't a number.
        ValueError: it isn't finite.
    """
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise TypeError(f"{name} must be a number, not {number!r:.80}")
    if not isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {number!r:.80}")


def check_seconds(name: str, seconds: Any) -> float:
    """Return a time limit.

    Raises:
        TypeError: the value isn't a number.
        ValueError: it isn't positive, or is longer than a thread can wait.
    """
    try:
        is_limit = 0 < seconds <= TIMEOUT_MAX
    except TypeError:
        is_limit = None
    if is_limit is None or isinstance(seconds, bool):
        raise TypeError(f"{name} must be a number of seconds, not {seconds!r:.80}")
    if not is_limit:
        raise ValueError(f"{name} must be more than 0 seconds and finite, not {seconds!r}")
    limit: float = seconds
    return limit


def check_word(name: str, word: object, words: tuple[str | None, ...]) -> None:
    """Check that a value is one of several words.

    Raises:
        ValueError: it isn't.
    """
    if word not in words:
        known = one_of(repr(each) for each in words)
        raise ValueError(f"{name} must be {known}, not {word!r:.80}")


def check_subscriber(on_change: Any) -> None:
    """Reject a subscriber that can't be called, or only be awaited.

    Raises:
        TypeError: it is one.
    """
    if not callable(on_change) or iscoroutinefunction(on_change):
        raise TypeError(f"a subscriber must be a sync function (change), not {on_change!r:.80}")
