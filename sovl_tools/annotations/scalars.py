"""Types that are one JSON value.

The formats are those that the arguments of a call are read from: a date is ISO 8601 text, bytes
are text in UTF-8. Types beyond JSON's own are known by name, so that none of their modules is
imported here.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping
from importlib import import_module
from types import NoneType
from typing import Any, NamedTuple

from sovl_tools.annotations.form import Form, UnwritableError, Write, native
from sovl_tools.model.document import JSON


def _exactly(*kinds: type) -> Write:
    def write(value: Any) -> JSON:
        if type(value) not in kinds:
            raise UnwritableError
        return native(value)

    return write


class _Scalar(NamedTuple):
    """A type by its schema and how an instance of the very class is written."""

    schema: Mapping[str, JSON]
    write: Write


def _text(schema_format: str | None = None, write: Write = str) -> _Scalar:
    schema = {"type": "string"}
    return _Scalar({**schema, "format": schema_format} if schema_format else schema, write)


def _isoformat(value: Any) -> JSON:
    """Write a date or a time; text can tell of a time zone nothing but its distance from UTC."""
    text = value.isoformat()
    if repr(type(value).fromisoformat(text)) != repr(value):
        raise UnwritableError
    return text


def _duration(value: Any) -> JSON:
    """Write a timedelta in ISO 8601: ``PT5400S``, ``-PT0.000001S``."""
    microseconds = abs(value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds)
    seconds, rest = divmod(microseconds, 1_000_000)
    sign, fraction = "-" if value.days < 0 else "", f".{rest:06}" if rest else ""
    return f"{sign}PT{seconds}{fraction}S"


def _finite(value: Any) -> JSON:
    if not value.is_finite():
        raise UnwritableError
    return str(value)


def _pattern(value: Any) -> JSON:
    if type(value.pattern) is not str or value.flags != _UNICODE:
        raise UnwritableError
    return value.pattern


def _key(value: Any) -> JSON:
    try:
        value.__reduce__()  # a zone that was read from some file can't be found by its key
    except Exception as error:
        raise UnwritableError from error
    return value.key


_UNICODE = 32
_NUMBER_OR_TEXT = ["number", "string"]
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_FRACTION = r"^[+-]?[0-9]+(/0*[1-9][0-9]*|\.[0-9]+)?$"
_PATH = _Scalar({"type": "string", "format": "path"}, str)

_JSON: dict[int, _Scalar] = {
    id(str): _Scalar({"type": "string"}, _exactly(str)),
    id(int): _Scalar({"type": "integer"}, _exactly(int)),
    id(float): _Scalar({"type": "number"}, _exactly(float, int)),
    id(bool): _Scalar({"type": "boolean"}, _exactly(bool)),
    id(NoneType): _Scalar({"type": "null"}, _exactly(NoneType)),
    id(None): _Scalar({"type": "null"}, _exactly(NoneType)),
    id(Any): _Scalar({}, native),
    id(object): _Scalar({}, native),
    id(typing.LiteralString): _Scalar({"type": "string"}, _exactly(str)),
}
_NAMED: dict[str, _Scalar] = {
    "datetime.datetime": _text("date-time", _isoformat),
    "datetime.date": _text("date", _isoformat),
    "datetime.time": _text("time", _isoformat),
    "datetime.timedelta": _Scalar({"type": _NUMBER_OR_TEXT, "format": "duration"}, _duration),
    "decimal.Decimal": _Scalar({"type": _NUMBER_OR_TEXT, "pattern": _DECIMAL}, _finite),
    "fractions.Fraction": _Scalar({"type": _NUMBER_OR_TEXT, "pattern": _FRACTION}, str),
    "uuid.UUID": _text("uuid"),
    "zoneinfo.ZoneInfo": _text(write=_key),
    "re.Pattern": _text("regex", _pattern),
    "builtins.bytes": _text(write=bytes.decode),
    "builtins.bytearray": _text(write=bytearray.decode),
    "ipaddress.IPv4Address": _text("ipv4"),
    "ipaddress.IPv6Address": _text("ipv6"),
    "ipaddress.IPv4Network": _text("ipv4network"),
    "ipaddress.IPv6Network": _text("ipv6network"),
    "ipaddress.IPv4Interface": _text("ipv4interface"),
    "ipaddress.IPv6Interface": _text("ipv6interface"),
    "os.PathLike": _PATH,
    "pathlib.Path": _PATH,
    "pathlib.PosixPath": _PATH,
    "pathlib.WindowsPath": _PATH,
    "pathlib.PurePath": _PATH,
    "pathlib.PurePosixPath": _PATH,
    "pathlib.PureWindowsPath": _PATH,
}


def json_scalar(annotation: Any) -> Form | None:
    """Return the form of a type that JSON has; None if it is another."""
    found = _JSON.get(id(annotation))
    return None if found is None else Form(dict(found.schema), found.write)


def scalar(kind: type) -> Form | None:
    """Return the form of a class of the standard library that is one value; None for others."""
    found = _NAMED.get(_name(kind))
    if found is None:
        return None

    def write(value: Any) -> JSON:
        if type(value) is not (_path(kind, value) if found is _PATH else kind):
            raise UnwritableError
        return found.write(value)

    return Form({key: native(each) for key, each in found.schema.items()}, write)


def _path(kind: type, value: Any) -> type:
    """Return the class of the path that text becomes, which depends on the system."""
    made: Any = import_module("pathlib").Path if kind is os.PathLike else kind
    return type(made(value))


def _name(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
