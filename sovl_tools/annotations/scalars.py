"""Types made from one JSON value, and Literals and Enums: one of a few values.

Types beyond JSON's own are recognised by name, so that none of their modules is imported here.
"""

from __future__ import annotations

import os
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, Flag
from functools import partial
from importlib import import_module
from operator import attrgetter, methodcaller
from types import NoneType
from typing import Any

from sovl_tools.annotations.hints import origin_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    identity,
    mismatch,
)
from sovl_tools.model.document import JSON, JSON_TYPES
from sovl_tools.schema.problem import Problem, describe, shown


@dataclass(frozen=True, slots=True)
class _Scalar(Kind):
    """A type that is one JSON value, or any if its schema is empty.

    Attributes:
        schema: the values it is made of.
        expected: those values, in words.
        read: makes an instance of the class of a value of the schema's type; raises anything.
        write: writes an instance, as exactly as JSON can.
        rank: the position at which it is tried among the members of a union; types that take any
            string are late.
    """

    schema: Mapping[str, JSON]
    expected: str
    read: Callable[[Any, Any], Any]
    write: Callable[[Any], JSON] = str
    rank: int = 0

    def describe(self, _builder: Builder, _annotation: Any) -> Schema:
        return {key: [*each] if type(each) is list else each for key, each in self.schema.items()}

    def convert(self, _build: Build, annotation: Any) -> Convert:
        if not self.schema:
            return identity
        # the class that an annotation names
        if annotation is None or annotation is typing.LiteralString:
            kind: Any = NoneType if annotation is None else str
        else:
            kind = origin_of(annotation)
        expected, read, types = self.expected, self.read, self.schema["type"]
        given = {
            each
            for name in ([types] if isinstance(types, str) else types)
            for each in _PYTHON_TYPES[name]
        }

        def convert(value: Any) -> Any:
            if type(value) in given:
                if read is _stay:
                    return value
                try:
                    return read(kind, value)
                except Exception:  # noqa: BLE001 - each type has its own errors
                    raise mismatch(value, expected, is_type=False) from None
            if isinstance(value, kind) and type(value) is not bool:
                return value
            raise mismatch(value, expected)

        return convert


def _stay(_: Any, value: Any) -> Any:
    return value


def _make(kind: Any, value: Any) -> Any:
    return kind(value)


def _text(
    expected: str,
    schema_format: str,
    read: Callable[[Any, Any], Any] = _make,
    write: Callable[[Any], JSON] = str,
    rank: int = 0,
) -> _Scalar:
    return _Scalar({"type": "string", "format": schema_format}, expected, read, write, rank)


def _integer(_: Any, value: float) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _from_iso(kind: Any, text: str) -> Any:
    return kind.fromisoformat(text.upper())  # RFC 3339 has "t" and "z" as well


_DURATION = re.compile(
    r"([+-]?)P(?!$)(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?",
    re.ASCII,
)
_LONGEST = 9_999_999_999_999
"""A timedelta takes this many seconds, which are more than 300,000 years."""


def _duration(kind: Any, value: float | str) -> Any:
    if not isinstance(value, str):
        return kind(seconds=value)
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError
    sign, *parts, fraction = found.groups(default="0")
    weeks, days, hours, minutes, seconds = map(int, parts)
    microseconds = round(int(fraction) * 1_000_000 / 10 ** len(fraction))
    length = kind(days, seconds, microseconds, 0, minutes, hours, weeks)
    return -length if sign == "-" else length


def _written_duration(value: Any) -> JSON:
    """Write a timedelta in ISO 8601: ``PT5400S``, ``-PT0.000001S``."""
    microseconds = abs(value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds)
    seconds, rest = divmod(microseconds, 1_000_000)
    sign, fraction = "-" if value.days < 0 else "", f".{rest:06}" if rest else ""
    return f"{sign}PT{seconds}{fraction}S"


def _decimal(kind: Any, value: float | str) -> Any:
    if isinstance(value, str) and _DECIMAL.fullmatch(value) is None:
        raise ValueError  # Python takes "1_000", too, and digits of all scripts
    # By its text, so that 0.1 is a tenth and not the nearest binary fraction.
    number = kind(repr(value) if isinstance(value, float) else value)
    if not number.is_finite():
        raise ValueError
    return number


def _fraction(kind: Any, value: float | str) -> Any:
    if isinstance(value, str) and "e" in value.lower():
        raise ValueError  # "1e999999999" would take for ever
    return kind(repr(value) if isinstance(value, float) else value)


def _path(kind: Any, text: str) -> Any:
    return (import_module("pathlib").Path if kind is os.PathLike else kind)(text)


_ISOFORMAT = methodcaller("isoformat")
_NUMBER_OR_TEXT = ["number", "string"]
# Python rejects to read numbers of thousands of digits.
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,8})?")
_FRACTION = r"^[+-]?[0-9]{1,99}(/[1-9][0-9]{0,98}|\.[0-9]{1,99})?$"

_ANY = _Scalar({}, "anything", _stay)
_TEXT = _Scalar({"type": "string"}, "a string", _stay, rank=3)
_NULL = _Scalar({"type": "null"}, "null", _stay)
# By identity, because the object can define any equality.
OWN: dict[int, _Scalar] = {
    id(Any): _ANY,
    id(object): _ANY,
    id(str): _TEXT,
    id(typing.LiteralString): _TEXT,
    id(int): _Scalar({"type": "integer"}, "an integer", _integer, rank=3),
    id(float): _Scalar({"type": "number"}, "a number", _stay, rank=3),
    id(bool): _Scalar({"type": "boolean"}, "a boolean", _stay, rank=3),
    id(NoneType): _NULL,
    id(None): _NULL,
}
_PATH = _text("a path", "path", _path, os.fspath, rank=2)
_BYTES = _Scalar(
    {"type": "string"},
    "a string",
    lambda kind, text: kind(text, "utf-8"),
    methodcaller("decode"),
    2,
)
_NAMED: dict[str, _Scalar] = {
    "datetime.datetime": _text(
        "a date and time such as 2026-01-31T12:00:00", "date-time", _from_iso, _ISOFORMAT, 1
    ),
    "datetime.date": _text("a date such as 2026-01-31", "date", _from_iso, _ISOFORMAT),
    "datetime.time": _text("a time such as 12:30:00", "time", _from_iso, _ISOFORMAT),
    "datetime.timedelta": _Scalar(
        {
            "type": _NUMBER_OR_TEXT,
            "format": "duration",
            "minimum": -_LONGEST,
            "maximum": _LONGEST,
        },
        "a number of seconds or a duration such as PT1H30M",
        _duration,
        _written_duration,
    ),
    "decimal.Decimal": _Scalar(
        {"type": _NUMBER_OR_TEXT, "format": "decimal"}, "a number", _decimal
    ),
    "fractions.Fraction": _Scalar(
        {"type": _NUMBER_OR_TEXT, "pattern": _FRACTION},
        "a number or a fraction such as 1/3",
        _fraction,
    ),
    "uuid.UUID": _text("a UUID", "uuid"),
    "zoneinfo.ZoneInfo": _text("a time zone such as Europe/Berlin", "zoneinfo"),
    "re.Pattern": _text(
        "a regular expression", "regex", lambda _, text: re.compile(text), attrgetter("pattern")
    ),
    "builtins.bytes": _BYTES,
    "builtins.bytearray": _BYTES,
    "ipaddress.IPv4Address": _text("an IPv4 address", "ipv4"),
    "ipaddress.IPv6Address": _text("an IPv6 address", "ipv6"),
    "ipaddress.IPv4Network": _text("an IPv4 network", "ipv4network"),
    "ipaddress.IPv6Network": _text("an IPv6 network", "ipv6network"),
    "ipaddress.IPv4Interface": _text("an IPv4 interface", "ipv4interface"),
    "ipaddress.IPv6Interface": _text("an IPv6 interface", "ipv6interface"),
    "os.PathLike": _PATH,
    **{
        f"pathlib.{pure}{system}Path": _PATH
        for pure in ("", "Pure")
        for system in ("", "Posix", "Windows")
    },
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "null": (NoneType,),
}


def is_in_format(value: JSON, schema_format: str) -> bool:
    """Return whether the type of a format can be made from a string; False for unknown types."""
    named = next(
        (each for each in _NAMED.items() if each[1].schema.get("format") == schema_format), None
    )
    if named is None or not isinstance(value, str):
        return True
    path, scalar = named
    module, _, name = path.partition(".")
    try:
        scalar.read(getattr(import_module(module), name), value)
    except Exception:  # noqa: BLE001 - each type has its own errors
        return False
    return True


def scalar_of(annotation: Any) -> _Scalar | None:
    """Return the kind of an annotation that is one JSON value, or any JSON; None for others."""
    if id(annotation) in OWN:
        return OWN[id(annotation)]
    kind = origin_of(annotation)
    return named_scalar(kind) if isinstance(kind, type) else None


def named_scalar(kind: type) -> _Scalar | None:
    """Return the kind of a class beyond JSON's own that is one JSON value; None for others."""
    return _NAMED.get(f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}")


_SCALARS = (bool, int, float, str, NoneType)
_FEW = 32


def enum_value(value: Any) -> JSON:
    """Return the JSON value of an Enum's member, or its name without one; or of a Literal."""
    if not isinstance(value, Enum):
        return value
    return value.value if isinstance(value.value, _SCALARS) else value.name


def _choice(values: Iterable[JSON], name: str) -> dict[str, JSON]:
    """Return the schema of one of the values; its type is theirs, or a list of several."""
    choices = [*{(_json_type(value, name), value): value for value in values}.values()]
    if not choices:
        raise InexpressibleError(f"{name} has no members", "give it some")
    types = [*dict.fromkeys(_json_type(value, name) for value in choices)]
    return {"type": types[0] if len(types) == 1 else types, "enum": choices}


def _json_type(value: JSON, name: str) -> str:
    if isinstance(value, _SCALARS) and not (isinstance(value, float) and value - value != 0):
        return next(JSON_TYPES[each] for each in type(value).__mro__ if each in JSON_TYPES)
    raise InexpressibleError(f"the value {value!r:.60} of {name} isn't JSON")


def _make_chooser(values: Iterable[Any], otherwise: Convert) -> Convert:
    # True == 1 in Python, so bool is part of the key.
    choices = {(enum_value(each), type(enum_value(each)) is bool): each for each in values}
    if not choices:
        raise ValueError("it has no choices")
    texts = [text for text, _ in choices]

    def convert(value: Any) -> Any:
        try:
            return choices[value, type(value) is bool]
        except (KeyError, TypeError):
            pass
        with suppress(Exception):  # members, and values that _missing_ accepts
            return otherwise(value)
        words = partial(describe, Problem("enum", (), value, texts))
        raise ConversionError([((), words)], (f"one of {', '.join(map(shown, texts[:20]))}",))

    return convert


class _Literal(Kind):
    def describe(self, _: Builder, annotation: Any) -> Schema:
        return _choice(map(enum_value, typing.get_args(annotation)), "the Literal")

    def convert(self, _: Build, annotation: Any) -> Convert:
        values = typing.get_args(annotation)
        members = {value: value for value in values if isinstance(value, Enum)}
        return _make_chooser(values, members.__getitem__)


class _Enum(Kind):
    is_shared = True

    def describe(self, _: Builder, kind: Any) -> Schema:
        """Return the schema of an Enum; a Flag's takes sums of its members as well."""
        members = [*kind.__members__.values()]
        if issubclass(kind, Flag) and members:
            sums, most = {0}, 0
            for member in members:
                most |= member.value
                if len(sums) <= _FEW:
                    sums |= {member.value | each for each in sums}
            # A range, or the few sums of the members if they have gaps.
            has_gaps = len(sums) <= min(most, _FEW)
            limits: Schema = {"enum": sorted(sums)} if has_gaps else {"minimum": 0, "maximum": most}
            return {"type": "integer", **limits}
        return _choice(map(enum_value, members), kind.__name__)

    def convert(self, _: Build, annotation: Any) -> Convert:
        return _make_chooser(annotation.__members__.values(), annotation)


LITERAL, ENUM = _Literal(), _Enum()
