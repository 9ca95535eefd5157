"""What the schema of an annotation admits, its conversion accepts and makes that type of.

``EXAMPLES=50`` tries 20,000 values.
"""

from __future__ import annotations

import functools
import ipaddress
import json
import os
import pathlib
import re
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, make_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Flag
from fractions import Fraction
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.jsonvalues import is_plain, to_json
from tests.annotations.strategies import SCALARS, Right, cases, kinds, schema_of
from tests.schema.strategies import examples, values
from tests.schema.validators import validator

library = pytest.importorskip("annotated_types")
pydantic = pytest.importorskip("pydantic")


class Gaps(Flag):
    LEFT = 1
    RIGHT = 4
    BOTH = 24


class Event(pydantic.BaseModel):  # type: ignore[name-defined]
    day: date
    span: timedelta = timedelta(0)
    size: typing.Optional[Annotated[int, pydantic.Field(gt=0, multiple_of=3)]] = None  # noqa: UP045
    tags: frozenset[str] = frozenset()


KEYS = [
    *(case.annotation for case in SCALARS),
    None,
    typing.LiteralString,
    pathlib.Path,
    os.PathLike[str],
    re.Pattern[str],
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    ZoneInfo,
    Gaps,
    int | None,
    Literal[1, True, "1"],
    tuple[int, float],
    Annotated[int, library.Ge(1)],
    Annotated[int, library.Interval(gt=-5, lt=5)],
    Annotated[float, library.Le(0.5)],
    Annotated[float, library.MultipleOf(0.5)],
    Annotated[str, library.Len(1, 3)],
    Annotated[Decimal, library.Gt(Decimal("0.5"))],
    Annotated[Decimal, library.Interval(ge=0, le=100), library.MultipleOf(5)],
    Annotated[Fraction, library.Le(Fraction(1, 2))],
    Annotated[timedelta, library.Ge(5)],
]
UNCHECKED = [Right, int | None, tuple[int, float], Annotated[timedelta, library.Ge(5)]]
"""Types of keys that are only checked when a call converts them."""
OTHERS = [
    Any,
    object,
    bytearray,
    Event,
    list,
    dict,
    set,
    tuple,
    frozenset[Any],
    Annotated[timedelta, library.Le(timedelta(1))],
    Annotated[Decimal | None, library.Ge(1)],
    Annotated[Decimal | str, library.Ge(1), library.MinLen(2)],
    Annotated[Decimal, pydantic.Field(gt=0, le=100)],
    Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)],
    Annotated[str, pydantic.Field(pattern="^a+$", max_length=4)],
    pydantic.conlist(date, min_length=1, max_length=2),
    pydantic.PositiveInt,
]
"""Pydantic says less than it checks of some constraints, such as ``decimal_places``."""


def _record(two: tuple[Any, Any]) -> list[Any]:
    """Return a dataclass and a TypedDict of which a part can be omitted, and a NamedTuple."""
    a, b = two
    return [
        make_dataclass("Made", [("a", a), ("b", b, field(default=None))]),
        kinds.TypedDict("Typed", {"a": kinds.NotRequired[a], "b": b}),
        kinds.NamedTuple("Named", [("a", a), ("b", b)]),
    ]


def _wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hashable = st.sampled_from(KEYS)
    keys = hashable.filter(lambda each: each not in UNCHECKED)
    lengths = st.sampled_from([library.Len(1, 2), library.MinLen(1), library.MaxLen(2)])
    containers = st.one_of(
        inner.map(lambda each: kinds.List[each]),
        inner.map(lambda each: kinds.Tuple[each, ...]),
        inner.map(lambda each: kinds.Iterable[each]),
        hashable.map(lambda each: kinds.Set[each]),
        st.builds(lambda key, each: kinds.Dict[key, each], keys, inner),
        st.builds(lambda key, each: kinds.Mapping[key, each], keys, inner),
    )
    return st.one_of(
        containers,
        st.builds(lambda each, length: Annotated[each, length], containers, lengths),
        st.tuples(inner, inner).map(lambda two: kinds.Tuple[two]),
        st.lists(inner, min_size=2, max_size=3).map(lambda several: kinds.Union[tuple(several)]),
        st.tuples(inner, inner).map(_record).flatmap(st.sampled_from),
    )


_leaves = cases.map(lambda case: case.annotation) | st.sampled_from([*KEYS, *OTHERS])
drawn: st.SearchStrategy[Any] = st.recursive(_leaves, _wider, max_leaves=4)
"""Annotations of all kinds, also within each other."""

ZONES = st.none() | st.just(UTC) | st.integers(-23, 23).map(lambda n: timezone(timedelta(hours=n)))
_digits = st.integers(0, 99_999)


def _duration(parts: Any) -> str:
    sign, days, hours, minutes, seconds, fraction = parts
    return f"{sign}P{days}DT{hours}H{minutes}M{seconds}{fraction}S"


FORMATS: Mapping[str, st.SearchStrategy[str]] = {
    "date": st.dates().map(date.isoformat),
    "date-time": st.datetimes(timezones=ZONES).map(lambda each: each.isoformat())
    | st.datetimes().map(lambda each: f"{each.isoformat().lower()}z"),
    "time": st.times(timezones=ZONES).map(lambda each: each.isoformat()),
    "decimal": st.from_regex(
        re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,8})?", re.ASCII),
        fullmatch=True,
    ),
    "duration": st.tuples(
        st.sampled_from(["", "-"]),
        _digits, _digits, _digits, _digits,
        st.sampled_from(["", ".5", ".000001"]),
    ).map(_duration),
    "uuid": st.uuids().map(str),
    "zoneinfo": st.timezone_keys(allow_prefix=False),
    "regex": st.text(max_size=4).map(re.escape),
    "path": st.text("ab/.", max_size=5),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "ipv4network": st.ip_addresses(v=4).map(lambda each: f"{each}/32"),
    "ipv6network": st.ip_addresses(v=6).map(lambda each: f"{each}/128"),
    "ipv4interface": st.ip_addresses(v=4).map(lambda each: f"{each}/24"),
    "ipv6interface": st.ip_addresses(v=6).map(lambda each: f"{each}/64"),
}  # fmt: skip


def values_of(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    """Return JSON values that a schema may admit; extreme ones are among them."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return st.deferred(lambda: values_of(root["$defs"][name], root))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema or "oneOf" in schema:
        shared = {"type": schema["type"]} if "type" in schema else {}
        members = schema.get("anyOf", schema.get("oneOf"))
        return st.one_of([values_of({**shared, **each}, root) for each in members])
    if "type" not in schema:
        return values
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return st.one_of([_BY_TYPE[name](schema, root) for name in names])


def _numbers(schema: Any, _: Any) -> st.SearchStrategy[Any]:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if "multipleOf" in schema:
        return st.integers(-50, 50).map(lambda number: number * schema["multipleOf"])
    return _integers(schema, _) | st.floats(least, most, allow_nan=False, allow_infinity=False)


def _integers(schema: Any, _: Any) -> st.SearchStrategy[Any]:
    least = schema.get("minimum", schema.get("exclusiveMinimum", -(2**63)))
    most = schema.get("maximum", schema.get("exclusiveMaximum", 2**64 - 1))
    return st.integers(round(least), round(max(most, least)))


def _texts(schema: Any, _: Any) -> st.SearchStrategy[Any]:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
    if "pattern" in schema:
        # one of another length could be admitted as a date, because formats are not checked
        return st.from_regex(schema["pattern"], fullmatch=True).filter(
            lambda text: "\n" not in text and least <= len(text) <= most
        )
    if "format" in schema:
        return FORMATS[schema["format"]]
    any_character = st.characters(exclude_categories=["Cs"])
    return st.text(any_character, min_size=least, max_size=schema.get("maxLength", least + 4))


def _arrays(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*[values_of(each, root) for each in schema["prefixItems"]]).map(list)
    least = schema.get("minItems", 0)
    return st.lists(
        values_of(schema.get("items", {}), root),
        min_size=least,
        max_size=schema.get("maxItems", least + 3),
        unique_by=json.dumps if schema.get("uniqueItems") else None,
    )


def _seconds(text: str) -> Fraction:
    found = re.fullmatch(r"(-?)P(\d+)DT(\d+)H(\d+)M([\d.]+)S", text)
    if found is None:
        raise ValueError
    sign, days, hours, minutes, seconds = found.groups()
    whole = int(days) * 86_400 + int(hours) * 3_600 + int(minutes) * 60
    return (whole + Fraction(seconds)) * (-1 if sign else 1)


def _meaning(text: str) -> Any:
    """Return what different strings of a key may represent alike; no schema can keep them apart."""
    with suppress(ValueError):
        number = float(text)  # 1e-400 is 0 to a float, so that it counts as such for a Decimal too
        return number if number == number else text  # noqa: PLR0124 - but for NaN
    with suppress(ValueError, ArithmeticError):
        return Fraction(text)
    for read in (_seconds, datetime.fromisoformat, time.fromisoformat):
        with suppress(ValueError):
            return read(text.upper())
    return pathlib.PurePosixPath(text)


def _objects(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    fields = schema.get("properties", {})
    known = {name: values_of(each, root) for name, each in fields.items()}
    required = {name: known.pop(name) for name in schema.get("required", ())}
    listed = st.fixed_dictionaries(required, optional=known)
    others = schema.get("additionalProperties", {} if not fields else False)
    if others is False:
        return listed
    keys = values_of({"type": "string", **schema.get("propertyNames", {})}, root)
    least = schema.get("minProperties", 0)
    more = st.lists(
        st.tuples(keys, values_of({} if others is True else others, root)),
        min_size=least,
        max_size=schema.get("maxProperties", least + 2),
        unique_by=lambda each: _meaning(each[0]),
    ).map(dict)
    return st.builds(lambda first, second: {**second, **first}, listed, more)


_BY_TYPE: dict[str, Any] = {
    "null": lambda *_: st.none(),
    "boolean": lambda *_: st.booleans(),
    "integer": _integers,
    "number": _numbers,
    "string": _texts,
    "array": _arrays,
    "object": _objects,
}


@functools.lru_cache(maxsize=64)
def _compiled(text: str) -> Any:
    return validator(json.loads(text))


def converted(annotation: Any, value: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": annotation}
    convert = converter_of(function, ["value"])
    return value if convert is None else convert({"value": value})["value"]


UNSAID = {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"}


@settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.data())
def test_what_the_schema_admits_the_conversion_accepts(data: st.DataObject) -> None:
    annotation = data.draw(drawn)
    schema = schema_of(annotation)
    value = json.loads(json.dumps(data.draw(values_of(schema, schema))))
    assume(_compiled(json.dumps(schema)).is_valid(value))
    made = converted(annotation, value)
    if is_plain(value, 20):  # a result may not be as deep as arguments
        to_json(made)
    # pydantic judges apart from us what is an instance
    try:
        judge = pydantic.TypeAdapter(annotation)
    except pydantic.PydanticUserError:
        return
    refusals = []
    try:
        judge.validate_python(made, strict=True)
    except pydantic.ValidationError as error:
        refusals = error.errors()
    except TypeError:  # a constraint that not every member of a union knows
        return
    # of bounds for times, and for keys, a schema can't say all
    types = {each["type"] for each in refusals}
    assert not types or types & UNSAID
