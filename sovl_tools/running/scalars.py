"""Types that are made of one JSON value, and members of an Enum."""

from __future__ import annotations

import ipaddress
import os
import pathlib
import re
import typing
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import NoneType
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from sovl_tools.annotations.choices import written
from sovl_tools.running.unfit import Build, Convert, UnfitError, mismatch, same
from sovl_tools.validation import Problem
from sovl_tools.validation.wording import describe, shown


def _integer(value: float) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _decimal(value: float | str) -> Decimal:
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError
    return number


def _fraction(value: float | str) -> Fraction:
    if isinstance(value, str) and "e" in value.lower():
        raise ValueError  # "1e999999999" would take for ever
    return Fraction(str(value))


_DURATION = re.compile(
    r"([+-]?)P(?!$)(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)


def _duration(value: float | str) -> timedelta:
    if not isinstance(value, str):
        return timedelta(seconds=value)
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError
    sign, *parts = found.groups(default="0")
    weeks, days, hours, minutes, seconds = map(Fraction, parts)
    whole = 60 * (60 * (24 * (7 * weeks + days) + hours) + minutes) + seconds
    return timedelta(microseconds=round(whole * 1_000_000)) * (-1 if sign == "-" else 1)


class _Scalar(NamedTuple):
    """A type that is made of one JSON value, which is of one of the types ``given``."""

    given: tuple[type, ...]
    make: Convert
    expected: str


_TEXT = (str,)
_NUMBER = (int, float)
PATHS = (
    pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath,
    pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
)  # fmt: skip
_ADDRESSES = {
    ipaddress.IPv4Address: "an IPv4 address", ipaddress.IPv6Address: "an IPv6 address",
    ipaddress.IPv4Network: "an IPv4 network", ipaddress.IPv6Network: "an IPv6 network",
    ipaddress.IPv4Interface: "an IPv4 interface", ipaddress.IPv6Interface: "an IPv6 interface",
}  # fmt: skip
SCALARS: dict[Any, _Scalar] = {
    str: _Scalar(_TEXT, same, "a string"),
    int: _Scalar(_NUMBER, _integer, "an integer"),
    float: _Scalar(_NUMBER, same, "a number"),
    bool: _Scalar((bool,), same, "a boolean"),
    NoneType: _Scalar((NoneType,), same, "null"),
    datetime: _Scalar(_TEXT, datetime.fromisoformat, "a date and time such as 2026-01-31T12:00:00"),
    date: _Scalar(_TEXT, date.fromisoformat, "a date such as 2026-01-31"),
    time: _Scalar(_TEXT, time.fromisoformat, "a time such as 12:30:00"),
    timedelta: _Scalar(
        (*_NUMBER, str), _duration, "a number of seconds or a duration such as PT1H30M"
    ),
    Decimal: _Scalar((*_NUMBER, str), _decimal, "a number"),
    Fraction: _Scalar((*_NUMBER, str), _fraction, "a number or a fraction such as 1/3"),
    UUID: _Scalar(_TEXT, UUID, "a UUID"),
    ZoneInfo: _Scalar(_TEXT, ZoneInfo, "a time zone such as Europe/Berlin"),
    re.Pattern: _Scalar(_TEXT, re.compile, "a regular expression"),
    bytes: _Scalar(_TEXT, str.encode, "a string"),
    bytearray: _Scalar(_TEXT, lambda text: bytearray(text.encode()), "a string"),
    os.PathLike: _Scalar(_TEXT, pathlib.Path, "a path"),
    **{each: _Scalar(_TEXT, each, "a path") for each in PATHS},
    **{each: _Scalar(_TEXT, each, words) for each, words in _ADDRESSES.items()},
}


def scalar_of(kind: Any) -> Convert:
    """Return the converter of a type of the table of scalars."""
    given, make, expected = SCALARS[kind]

    def convert(value: Any) -> Any:
        words = ""
        if type(value) in given:
            try:
                return make(value)
            except Exception:  # noqa: BLE001 - each type has its own way to refuse
                words = shown(value)
        elif isinstance(value, kind) and type(value) is not bool:
            return value
        raise mismatch(value, expected, words=words)

    return convert


def literal_of(_: Build, annotation: Any) -> Convert:
    """Return the converter of a ``Literal``, which may list members of an Enum."""
    values = typing.get_args(annotation)
    members = {value: value for value in values if isinstance(value, Enum)}
    return _choice(values, members.__getitem__)


def enum_of(_: Build, annotation: Any) -> Convert:
    """Return the converter of an Enum."""
    return _choice(annotation.__members__.values(), annotation)


def _choice(values: Iterable[Any], otherwise: Convert) -> Convert:
    choices = {(written(each), type(written(each)) is bool): each for each in values}
    if not choices:
        raise ValueError("there is nothing to choose from")

    def convert(value: Any) -> Any:
        try:
            return choices[value, type(value) is bool]
        except (KeyError, TypeError):
            pass
        with suppress(Exception):
            return otherwise(value)
        texts = [text for text, _ in choices]
        words = ", ".join(map(shown, texts[:20]))
        problem = Problem("enum", (), value, texts)
        raise UnfitError([((), describe(problem))], (f"one of {words}",))

    return convert
