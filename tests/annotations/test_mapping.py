"""Which type has which schema."""

from __future__ import annotations

import collections
import collections.abc
import enum
import pathlib
import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NewType,
    Optional,
    TypeVar,
    Union,
)

import pytest

from sovl_tools import InferenceError
from tests.annotations.strategies import (
    Color,
    Level,
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

T = TypeVar("T")
Bound = TypeVar("Bound", bound=date)
Constrained = TypeVar("Constrained", date, int)
Name = NewType("Name", str)
Names = NewType("Names", list[Name])


class Stranger:
    """A class of which no one knows how to make an instance."""


class Empty(enum.Enum):
    pass


class Gaps(enum.Flag):
    LEFT = 1
    RIGHT = 4
    BOTH = 24


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


BEYOND = [
    (None, NULL),
    (Any, {}),





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
    *(
        (kind[str, int], {"type": "object", "additionalProperties": INTEGER})
        for kind in (
            Mapping, collections.abc.MutableMapping, collections.OrderedDict,
            collections.defaultdict, typing.Mapping,
        )
    ),
    (tuple[int, ...], {"type": "array", "items": INTEGER}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
    ),
    (timedelta, DURATION),
    (bytes, STRING),
    (re.Pattern, {"type": "string", "format": "regex"}),
    (Unit, {"type": "string", "enum": ["FOOT", "MILE"]}),
    (Gaps, {"type": "integer", "enum": [0, 1, 4, 5, 24, 25, 28, 29]}),
    (list[int | None], {"type": "array", "items": {"anyOf": [INTEGER, NULL]}}),
    (Names, {"type": "array", "items": STRING}),
    (Bound, DATE),
    (Final[int], INTEGER),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (
        list[Annotated[int, "each"]],
        {"type": "array", "items": {"type": "integer", "description": "each"}},
    ),
    (" list['date'] ", {"type": "array", "items": DATE}),
]  # fmt: skip


@check_each(("annotation", "schema"), BEYOND, ids=repr)
def test_other_types_are_what_a_call_makes_them_of(annotation: Any, schema: Any) -> None:
    assert parameter(annotation)["properties"] == {"value": schema}


KEYS: list[tuple[Any, list[str], list[str]]] = [
    (int, ["0", "-12"], ["", "01", "x", "1.5", "1" * 101]),
    (float, ["0", "-1.5", "1e-7"], ["", "x", "NaN", "1e308"]),
    (bool, ["true", "false"], ["True", "1"]),
    (None, ["null"], ["None"]),
    (Color, ["red", "blue"], ["green"]),
    (Level, ["1", "2"], ["3"]),
    (Decimal, ["1.5"], []),
    (tuple[int, int], ["[1, 2]"], []),
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
    (Stranger | int, "there's no JSON for Stranger"),
    (kinds.Callable[[int], str], "there's no JSON for Callable[[int], str]"),
    (Empty, "Empty has no members"),
    (Literal[b"a"], "the value b'a' of the Literal isn't JSON"),
    (set[list[int]], "list[int] is not hashable, so that a set can't hold it"),
    (tuple[int, *tuple[str, ...]], "tuple[int, *tuple[str, ...]] has parts of any length"),

    ("list[", "it can't be evaluated, SyntaxError: "),
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
    (int, 0, 0),
    (int | None, 5, 5),
    (list[int], [1, 2], [1, 2]),
    (dict[Level, int], {Level.LOW: 1}, {"1": 1}),
    (dict[int, date], {1: date(2026, 1, 31)}, {"1": "2026-01-31"}),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (set[str], {"b", "a", "c"}, ["a", "b", "c"]),
    (Color, Color.RED, "red"),
    (Unit, Unit.MILE, "MILE"),
    (Right, Right.READ | Right.RUN, 5),
    (timedelta, timedelta(hours=1, seconds=2), "PT3602S"),
    (Decimal, Decimal("1.50"), "1.50"),
    (pathlib.Path, pathlib.Path("a/b"), "a/b"),
    (Color | int, Color.BLUE, "blue"),
    (Any, {"a": [1]}, {"a": [1]}),
    (Annotated[int, "how many"], 3, 3),
]


@check_each(("annotation", "default", "written"), DEFAULTS, ids=range(len(DEFAULTS)))
def test_a_default_is_shown_in_its_json_form(annotation: Any, default: Any, written: Any) -> None:
    schema = parameter(annotation, default)
    assert schema["required"] == []
    assert schema["properties"]["value"]["default"] == written
    assert type(schema["properties"]["value"]["default"]) is type(written)


HIDDEN: list[tuple[Any, Any]] = [
    (int, None),
    (int, "auto"),
    (bool, 1),
    (float, float("nan")),
    (list[int], ["a"]),
    (dict, {1: 1}),
    (Color, "red"),
    (date | str, date(2026, 1, 31)),
    (bytes, b"\xff"),
    (re.Pattern[str], re.compile("a", re.IGNORECASE)),
    (Any, (1, 2)),
]


@check_each(("annotation", "default"), HIDDEN, ids=str)
def test_a_default_that_would_not_come_back_is_not_shown(annotation: Any, default: Any) -> None:
    schema = parameter(annotation, default)
    assert schema["required"] == []
    assert "default" not in schema["properties"]["value"]
