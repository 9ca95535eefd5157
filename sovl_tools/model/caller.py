"""What a caller of the Python API passes, checked where it comes in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from threading import TIMEOUT_MAX
from types import UnionType
from typing import Any, cast

from sovl_tools.model.suggestion import one_of


def check_given(check: Callable[[str, object], object], **values: object) -> None:
    """Check those of several values that are not None."""
    for name, value in values.items():
        if value is not None:
            check(name, value)


def check_type(name: str, value: object, types: type | UnionType, words: str) -> None:
    """Refuse a value of another type.

    Raises:
        TypeError: it is of none of the types, which ``words`` name.
    """
    if not isinstance(value, types):
        raise TypeError(f"{name} must be {words}, not {value!r:.80}")


def check_text(name: str, value: object) -> None:
    """Refuse what is no text.

    Raises:
        TypeError: it is none.
    """
    check_type(name, value, str, "a text")


def check_path(name: str, value: object) -> str:
    """Return a path as a text.

    Raises:
        TypeError: it is neither a text nor an object that is a path.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise TypeError(f"{name} must be a path, not {value!r:.80}")
    return path


def check_function(name: str, value: object) -> None:
    """Refuse what can't be called.

    Raises:
        TypeError: it can't be called.
    """
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {value!r:.80}")


def check_iterable(name: str, value: object, words: str) -> None:
    """Refuse a value that is no list of others or the like: a text and a mapping are none.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {words}, not {value!r:.80}")


def check_names(name: str, value: object, words: str = "names") -> tuple[str, ...]:
    """Return several names, which a single text is not: it would be one name a letter.

    Raises:
        TypeError: they can't be iterated over, or one is no text.
    """
    check_iterable(name, value, f"a list of {words}")
    names = tuple(cast("Iterable[str]", value))
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"{name} must be a list of {words}, without {each!r:.80}")
    return names


def check_count(name: str, number: object, *, least: int = 1) -> None:
    """Refuse what is no whole number, or one that is too small.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is less than ``least``.
    """
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{name} must be a whole number, not {number!r:.80}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number!r}")


_LARGEST = sys.float_info.max


def check_number(name: str, number: object) -> None:
    """Refuse what is no number, or an infinite one.

    Raises:
        TypeError: it is no number.
        ValueError: it is not finite.
    """
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise TypeError(f"{name} must be a number, not {number!r:.80}")
    # by comparing, because an integer may be larger than any of these
    if not -_LARGEST <= number <= _LARGEST:
        raise ValueError(f"{name} must be a finite number, not {number!r:.80}")


def check_seconds(name: str, seconds: Any) -> float:
    """Return a time limit.

    Raises:
        TypeError: it is no number.
        ValueError: it is not more than 0, or longer than anybody can wait.
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
    """Refuse a word that is none of those.

    Raises:
        ValueError: it is none.
    """
    if word not in words:
        known = one_of(repr(each) for each in words)
        raise ValueError(f"{name} must be {known}, not {word!r:.80}")
