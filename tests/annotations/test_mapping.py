"""Which type has which schema."""

from __future__ import annotations

import collections
import collections.abc
import enum
import io
import ipaddress
import os
import pathlib
import re
import struct
import sys
import typing
import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import FunctionType, MappingProxyType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    LiteralString,
    NewType,
    Optional,
    TypeVar,
    Union,
)
from uuid import UUID

import pytest

from sovl_tools import InferenceError
from tests.annotations.strategies import (
    OPTION,
    Color,
    Level,
    Mixed,
    Right,
    Unit,
    defined,
    schema_of,
)
from tests.tables import check_each

kinds: Any = typing  # for annotations that are known only when a test runs
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}
DATE = {"type": "string", "format": "date"}
DURATION = {
    "type": ["number", "string"],
    "format": "duration",
    "minimum": -9_999_999_999_999,
    "maximum": 9_999_999_999_999,
}

MOMENT = datetime(2026, 1, 31, 12)  # noqa: DTZ001 - a text without a time zone has none
HALF = timezone(timedelta(minutes=30))
ZONE = zoneinfo.ZoneInfo("UTC")
OWN_ZONE = zoneinfo.ZoneInfo.from_file(
    io.BytesIO(
        b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + bytes(6) + b"UTC\0"
        b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + bytes(6) + b"UTC\0\nUTC0\n"
    ),
    key="UTC",
)
"""A zone that was read from somewhere else."""
T = TypeVar("T")
Bound = TypeVar("Bound", bound=date)
Constrained = TypeVar("Constrained", date, int)
Name = NewType("Name", str)
Names = NewType("Names", list[Name])


class Stranger:
    """A class of which no one knows how to make an instance."""


class Empty(enum.Enum):
    pass


class Sizes(enum.Enum):
    ANY = float("inf")


class Nothing(enum.Flag):
    pass


class Gaps(enum.Flag):
    LEFT = 1
    RIGHT = 4
    BOTH = 24


class Loose(enum.IntFlag):
    LEFT = 1
    RIGHT = 4


make_flag: Any = enum.Flag
Wide = make_flag("Wide", {f"BIT{bit}": 1 << 2 * bit for bit in range(40)})


def parameter(annotation: Any, *default: Any) -> dict[str, Any]:
    """Return the arguments' schema of a function of one parameter, ``value``."""

    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": annotation}
    function.__defaults__ = default or None
    found: dict[str, Any] = defined(function).parameters
    return found


TABLE = [
    (str, STRING),
    (int, INTEGER),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (list, {"type": "array"}),
    (list[str], {"type": "array", "items": STRING}),
    (list[list[int]], {"type": "array", "items": {"type": "array", "items": INTEGER}}),
    (dict, {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (Optional[str], STRING),  # noqa: UP045 - as it is often written
    (str | None, STRING),
    (Union[str, int], {"anyOf": [STRING, INTEGER]}),  # noqa: UP007 - likewise
    (str | int, {"anyOf": [STRING, INTEGER]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Color, {"type": "string", "enum": ["red", "blue"]}),
]


@check_each(("annotation", "schema"), TABLE, ids=repr)
def test_the_table_of_types_holds_exactly(annotation: Any, schema: Any) -> None:
    assert parameter(annotation)["properties"] == {"value": schema}


def test_a_model_is_what_pydantic_says() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", name=(str, ...), size=(int, 5))
    assert parameter(model)["properties"] == {"value": model.model_json_schema()}


PATH = {"type": "string", "format": "path"}
BEYOND = [
    (None, NULL),
    (type(None), NULL),
    (Any, {}),
    (object, {}),
    (LiteralString, STRING),
    (list[Any], {"type": "array", "items": {}}),
    (dict[str, Any], {"type": "object", "additionalProperties": {}}),
    (dict[Any, int], {"type": "object", "additionalProperties": INTEGER}),
    (typing.List, {"type": "array"}),  # noqa: UP006 - old code
    (typing.List[int], {"type": "array", "items": INTEGER}),  # noqa: UP006 - old code
    (typing.Dict, {"type": "object"}),  # noqa: UP006 - old code
    (typing.Dict[str, int], {"type": "object", "additionalProperties": INTEGER}),  # noqa: UP006 - old code
    (typing.Set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}),  # noqa: UP006 - old code
    (typing.Tuple, {"type": "array"}),  # noqa: UP006 - old code
    *(
        (kind[int], {"type": "array", "items": INTEGER})
        for kind in (
            Sequence, Iterable, collections.abc.Collection, collections.abc.MutableSequence,
            collections.deque, typing.Sequence,
        )
    ),
    *(
        (kind[int], {"type": "array", "items": INTEGER, "uniqueItems": True})
        for kind in (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
    ),
    (
        set,
        {
            "type": "array",
            "items": {"type": ["string", "number", "boolean", "null"]},
            "uniqueItems": True,
        },
    ),
    (Sequence, {"type": "array"}),
    *(
        (kind[str, int], {"type": "object", "additionalProperties": INTEGER})
        for kind in (
            Mapping, collections.abc.MutableMapping, collections.OrderedDict,
            collections.defaultdict, typing.Mapping,
        )
    ),
    (Mapping, {"type": "object"}),
    (tuple, {"type": "array"}),
    (tuple[int, ...], {"type": "array", "items": INTEGER}),
    (tuple[()], {"type": "array", "maxItems": 0}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
    ),
    (datetime, {"type": "string", "format": "date-time"}),
    (date, DATE),
    (time, {"type": "string", "format": "time"}),
    (timedelta, DURATION),
    (UUID, {"type": "string", "format": "uuid"}),
    (pathlib.Path, PATH),
    (pathlib.PurePosixPath, PATH),
    (os.PathLike, PATH),
    (os.PathLike[str], PATH),
    (bytes, STRING),
    (bytearray, STRING),
    (zoneinfo.ZoneInfo, {"type": "string", "format": "zoneinfo"}),
    (re.Pattern, {"type": "string", "format": "regex"}),
    (re.Pattern[str], {"type": "string", "format": "regex"}),
    (ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}),
    (ipaddress.IPv6Network, {"type": "string", "format": "ipv6network"}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Unit, {"type": "string", "enum": ["FOOT", "MILE"]}),
    (
        Mixed,
        {
            "type": ["integer", "number", "string", "null", "boolean"],
            "enum": [1, 0.5, "text", None, False],
        },
    ),
    (Right, {"type": "integer", "minimum": 0, "maximum": 7}),
    (Gaps, {"type": "integer", "enum": [0, 1, 4, 5, 24, 25, 28, 29]}),
    (Loose, {"type": "integer", "enum": [0, 1, 4, 5]}),
    (Wide, {"type": "integer", "minimum": 0, "maximum": (4**40 - 1) // 3}),
    (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
    (Literal["a", 1], {"type": ["string", "integer"], "enum": ["a", 1]}),
    (Literal[1, True], {"type": ["integer", "boolean"], "enum": [1, True]}),
    (OPTION, {"type": ["integer", "boolean", "null"], "enum": [2, True, None]}),
    (Literal["red", Color.RED, Level.LOW], {"type": ["string", "integer"], "enum": ["red", 1]}),
    (int | str | None, {"anyOf": [INTEGER, STRING]}),
    (bytes | str, STRING),
    (list[int | None], {"type": "array", "items": {"anyOf": [INTEGER, NULL]}}),
    (dict[str, int | None], {"type": "object", "additionalProperties": {"anyOf": [INTEGER, NULL]}}),
    (Name, STRING),
    (Names, {"type": "array", "items": STRING}),
    (NewType("Maybe", Optional[int]), INTEGER),  # noqa: UP045 - as it is written
    (Bound, DATE),
    (Constrained, {"anyOf": [DATE, INTEGER]}),
    (typing.AnyStr, STRING),
    (Final[int], INTEGER),
    (InitVar[int], INTEGER),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int | None, "how many"], {"type": "integer", "description": "how many"}),
    (
        Annotated[Annotated[int, "inner"], 5, "outer"],
        {"type": "integer", "description": "outer"},
    ),
    (Annotated[int, {"unhashable": []}], INTEGER),
    (
        list[Annotated[int, "each"]],
        {"type": "array", "items": {"type": "integer", "description": "each"}},
    ),
    ("int", INTEGER),
    (" list['date'] ", {"type": "array", "items": DATE}),
    ("Optional['int']", INTEGER),
    (list["date"], {"type": "array", "items": DATE}),
    (Optional["date"], DATE),
]  # fmt: skip


def test_a_doc_describes_as_text_does() -> None:
    extensions = pytest.importorskip("typing_extensions")
    described: Any = Annotated[int, extensions.Doc("how many")]
    assert schema_of(described) == {**INTEGER, "description": "how many"}


@check_each(("annotation", "schema"), BEYOND, ids=repr)
def test_other_types_are_what_a_call_makes_them_of(annotation: Any, schema: Any) -> None:
    assert parameter(annotation)["properties"] == {"value": schema}


KEYS: list[tuple[Any, list[str], list[str]]] = [
    (int, ["0", "-12"], ["", "01", "-0", "x", "1.5", "1" * 101]),
    (
        float,
        ["0", "-1.5", "1e-7", "1.7e+308", "1.796e308", "1.7976931348623157e+308"],
        ["", "x", "NaN", "1.8e308"],
    ),
    (Right, ["0", "7"], ["8", "-1"]),
    (Wide, ["0", "99", "402975273204876391568725"], ["402975273204876391568726"]),
    (int | None, ["5", "null"], ["x"]),
    (bool, ["true", "false"], ["True", "1"]),
    (tuple[int, int], ["[1,-2]", "[1, 2]"], ["1,2", "[1]", "[1, 2, 3]", '["a", 1]', "x"]),
    (tuple[Literal[1, 2], int], ["[1, 2]"], ["x"]),
    (tuple[int, float], ["[1, 2.5]"], ["[1.5, 2]", "[1, x]"]),
    (tuple[str, int], ['["a", 1]'], ["a"]),
    (frozenset[int], ["[]", "[1, 2]"], ["1", "a"]),
    (None, ["null"], ["None"]),
    (Color, ["red", "blue"], ["green"]),
    (Level, ["1", "2"], ["3"]),
    (Decimal, ["1.5"], []),
]


@check_each(("kind", "fit", "unfit"), KEYS, ids=str)
def test_keys_are_texts_that_stand_for_their_type(
    kind: Any, fit: list[str], unfit: list[str]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema_of(dict[kind, Any]))
    assert all(validator.is_valid({key: 1}) for key in fit)
    assert not any(validator.is_valid({key: 1}) for key in unfit)


def test_formats_of_keys_are_kept_and_other_keys_are_any() -> None:
    assert schema_of(dict[date, int])["propertyNames"] == {"format": "date"}
    assert "propertyNames" not in schema_of(dict[int | str, int])


INEXPRESSIBLE: list[tuple[Any, str]] = [
    (Stranger, "there's no JSON for Stranger"),
    (list[Stranger], "there's no JSON for Stranger"),
    (Stranger | int, "there's no JSON for Stranger"),
    (complex, "there's no JSON for complex"),
    (kinds.Callable[[int], str], "there's no JSON for Callable[[int], str]"),
    (collections.Counter[str], "there's no JSON for collections.Counter[str]"),
    (typing.Iterator[int], "there's no JSON for Iterator[int]"),
    (type[int], "there's no JSON for type[int]"),
    (Generic, "there's no JSON for Generic"),
    (typing.Never, "there's no JSON for Never"),
    (typing.Union, "there's no JSON for Union"),
    (Literal, "there's no JSON for Literal"),
    (Final, "there's no JSON for Final"),
    (5, "there's no JSON for 5"),
    (Annotated[Stranger, "a description"], "there's no JSON for Stranger"),
    (NewType("Odd", Stranger), "there's no JSON for Stranger"),
    (Empty, "Empty has no members"),
    (Nothing, "Nothing has no members"),
    (Sizes, "the value inf of Sizes isn't JSON"),
    (Literal[b"a"], "the value b'a' of the Literal isn't JSON"),
    (set[list[int]], "list[int] is not hashable, so that a set can't hold it"),
    (set[tuple[list[int], str]], "list[int] is not hashable, so that a set can't hold it"),
    (set[Sequence[int]], "Sequence[int] is not hashable, so that a set can't hold it"),
    (dict[dict[str, int], int],
     "dict[str, int] is not hashable, so that the keys of a dict can't hold it"),
    (tuple[int, *tuple[str, ...]], "tuple[int, *tuple[str, ...]] has parts of any length"),
    (tuple[typing.Unpack[tuple[int, ...]]], "] has parts of any length"),  # noqa: UP044 - old code
    ("list[", "it can't be evaluated, SyntaxError: "),
    ("1 / 0", "it can't be evaluated, ZeroDivisionError: division by zero"),
]  # fmt: skip


@check_each(("annotation", "reason"), INEXPRESSIBLE, ids=repr)
def test_what_json_can_t_express_is_an_error_that_says_so(annotation: Any, reason: str) -> None:
    with pytest.raises(InferenceError) as caught:
        parameter(annotation)
    error = caught.value
    assert error.parameter == "value"
    assert reason in error.message
    assert error.message.startswith("annotated ")
    assert str(error).startswith(f"{parameter.__name__}.<locals>.function: 'value': annotated ")


DEFAULTS: list[tuple[Any, Any, Any]] = [
    (str, "Berlin", "Berlin"),
    (int, 0, 0),
    (float, 5, 5),
    (bool, False, False),
    (int | None, 5, 5),
    (list, [], []),
    (list[int], [1, 2], [1, 2]),
    (Sequence[int], [1, 2], [1, 2]),
    (collections.OrderedDict[str, int], collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (dict[Level, int], {Level.LOW: 1}, {"1": 1}),
    (Gaps, Gaps.LEFT | Gaps.BOTH, 25),
    (Wide, Wide(5), 5),
    (datetime, MOMENT.replace(tzinfo=UTC), "2026-01-31T12:00:00+00:00"),
    (datetime, MOMENT.replace(tzinfo=HALF), "2026-01-31T12:00:00+00:30"),
    (time, time(12, tzinfo=HALF), "12:00:00+00:30"),
    (dict[str, Any], {"a": [None, 1.5]}, {"a": [None, 1.5]}),
    (dict[int, date], {1: date(2026, 1, 31)}, {"1": "2026-01-31"}),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (tuple[int, ...], (3, 1), [3, 1]),
    (set[str], {"b", "a", "c"}, ["a", "b", "c"]),
    (frozenset[int], frozenset({1}), [1]),
    (collections.deque[int], collections.deque([2, 1]), [2, 1]),
    (Color, Color.RED, "red"),
    (Level, Level.HIGH, 2),
    (Unit, Unit.MILE, "MILE"),
    (Right, Right.READ | Right.RUN, 5),
    (Literal["a", Color.RED], Color.RED, "red"),
    (Literal["a", "b"], "b", "b"),
    (datetime, datetime(2026, 1, 31, 12), "2026-01-31T12:00:00"),  # noqa: DTZ001 - as its text has none
    (date, date(2026, 1, 31), "2026-01-31"),
    (time, time(12, 30), "12:30:00"),
    (timedelta, timedelta(hours=1, seconds=2), "PT3602S"),
    (timedelta, -timedelta(milliseconds=1), "-PT0.001000S"),
    (Decimal, Decimal("1.50"), "1.50"),
    (Fraction, Fraction(1, 3), "1/3"),
    (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (pathlib.Path, pathlib.Path("a/b"), "a/b"),
    (pathlib.PurePath, pathlib.PurePosixPath("a"), "a"),
    (bytes, b"\xc3\xa9", "é"),
    (bytearray, bytearray(b"a"), "a"),
    (re.Pattern[str], re.compile("a+"), "a+"),
    (Color | int, Color.BLUE, "blue"),
    (str | int, "a", "a"),
    (str | date, "2026-01-31", "2026-01-31"),
    (str | list[date] | None, [date(2026, 1, 31)], ["2026-01-31"]),
    (list[int | None], [None, 1], [None, 1]),
    (Any, {"a": [1]}, {"a": [1]}),
    (Annotated[int, "how many"], 3, 3),
]


@check_each(("annotation", "default", "written"), DEFAULTS, ids=range(len(DEFAULTS)))
def test_a_default_is_shown_in_its_json_form(annotation: Any, default: Any, written: Any) -> None:
    schema = parameter(annotation, default)
    assert schema["required"] == []
    assert schema["properties"]["value"]["default"] == written
    assert type(schema["properties"]["value"]["default"]) is type(written)


class Aliased(enum.Enum):
    # the name of the first is the value of the second
    A = Fraction(1)
    B = "A"


class Special(datetime):
    """A kind of datetime that its text would not become again."""


HIDDEN: list[tuple[Any, Any]] = [
    (int, None),
    (int | None, None),
    (int, "auto"),
    (int, Level.LOW),
    (bool, 1),
    (float, float("nan")),
    (str, Stranger),
    (list[int], ["a"]),
    (list[int], (1, 2)),
    (Sequence[int], ()),
    (set[int], frozenset({1})),
    (frozenset[int], {1}),
    (collections.deque[int], collections.deque([1], maxlen=3)),
    (dict[str, int], collections.OrderedDict(a=1)),
    (Mapping[str, int], MappingProxyType({"a": 1})),
    (dict[int | str, int], {1: 1}),
    (dict, {1: 1}),
    (dict[Any, int], {None: 1}),
    (Loose, Loose(2)),
    (Loose, Loose(8)),
    (Right, 1),
    (Literal[Color.RED, "red"], Color.RED),
    (Aliased, Aliased.A),
    (datetime, MOMENT.replace(tzinfo=ZONE)),
    (datetime, MOMENT.replace(fold=1)),
    (datetime, MOMENT.replace(tzinfo=timezone(timedelta(0), "own name"))),
    (time, time(12, tzinfo=ZONE)),
    (zoneinfo.ZoneInfo, OWN_ZONE),
    (pathlib.PurePath, pathlib.PureWindowsPath("a")),
    (pathlib.Path, pathlib.PurePath("a")),
    (os.PathLike, pathlib.PurePath("a")),
    (list[int], "ab"),
    (tuple[int, int], (1,)),
    (Literal["a"], "b"),
    (Literal["a"], []),
    (Color, "red"),
    (date, datetime(2026, 1, 31)),  # noqa: DTZ001 - only its type counts
    (datetime, Special(2026, 1, 31)),
    (date | str, date(2026, 1, 31)),
    (Mixed | None, Mixed.NONE),
    (Mixed, Mixed.NONE),
    (list[Mixed | None], [Mixed.NONE]),
    (Decimal, Decimal("Infinity")),
    (bytes, b"\xff"),
    (re.Pattern[str], re.compile("a", re.IGNORECASE)),
    (kinds.Pattern, re.compile(b"a")),
    (os.PathLike, os),
    (Any, (1, 2)),
    (Any, {1: 2}),
    (dict[str, int], [("a", 1)]),
    (collections.defaultdict[str, int], collections.defaultdict(int)),
]


@check_each(("annotation", "default"), HIDDEN, ids=str)
def test_a_default_that_would_not_come_back_is_not_shown(annotation: Any, default: Any) -> None:
    schema = parameter(annotation, default)
    assert schema["required"] == []
    assert "default" not in schema["properties"]["value"]


def test_a_type_variable_without_bound_is_told() -> None:
    def function(value: T, others: list[T]) -> T:
        return value

    inference = defined(function)
    assert inference.parameters["properties"] == {
        "value": {},
        "others": {"type": "array", "items": {}},
    }
    words = "the type variable T represents any type"
    assert inference.remarks == (("value", words), ("others", words))


def test_what_is_to_be_told_of_a_parameter_is_told_once() -> None:
    def function(value: dict[str, T] | list[T]) -> None: ...

    assert defined(function).remarks == (("value", "the type variable T represents any type"),)


def test_text_means_in_each_place_what_it_means_there() -> None:
    def first(value: Any) -> None: ...

    second = FunctionType(first.__code__, {"Shared": Level})
    third = FunctionType(first.__code__, {"Shared": Color})
    for function in (second, third):
        function.__annotations__ = {"value": kinds.List["Shared"]}
    assert second.__annotations__["value"] is third.__annotations__["value"]
    found = [defined(each).parameters["properties"]["value"]["items"] for each in (second, third)]
    assert [each["enum"] for each in found] == [[1, 2], ["red", "blue"]]


def test_what_an_annotation_stands_for_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    extensions = pytest.importorskip("typing_extensions")
    alias = extensions.TypeAliasType
    maybe = alias("maybe", Optional[T], type_params=(T,))  # noqa: UP045 - as it is written
    nested = alias("nested", Annotated[maybe[date], "a day"])
    left_out = {"type": "object", "required": []}
    assert parameter(maybe[date]) == {**left_out, "properties": {"value": DATE}}
    assert parameter(nested) == {
        **left_out,
        "properties": {"value": {**DATE, "description": "a day"}},
    }
    tree = alias("tree", kinds.Union[None, int, kinds.List["tree"]])
    with monkeypatch.context() as patch:
        patch.setitem(vars(sys.modules[__name__]), "tree", tree)
        found = parameter(tree)
    below = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    assert found["properties"] == {"value": {"anyOf": [INTEGER, below]}}
    assert found["$defs"]["tree"] == {"anyOf": [NULL, INTEGER, below]}
