"""Names in annotations: a schema and a conversion find the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import (
    Any,
    Generic,
    NamedTuple,
    NotRequired,
    TypedDict,
    TypeVar,
)

import pytest

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.signature.inference import Inference, infer
from tests.schema.validators import validator
from tests.tables import check_each

DAY = date(2026, 1, 31)
DAY_TEXT = "2026-01-31"
DATE = {"type": "string", "format": "date"}

T = TypeVar("T")
U = TypeVar("U")


def taking(annotation: Any) -> Callable[..., Any]:
    """Return a function whose one parameter, ``value``, has that annotation."""

    def function(value: Any) -> Any:
        return value

    function.__annotations__ = {"value": annotation}
    return function


def inferred(annotation: Any) -> Inference:
    return infer(taking(annotation))


def schema(annotation: Any) -> Any:
    return inferred(annotation).parameters["properties"]["value"]


def received(annotation: Any, value: Any) -> Any:
    """Return what a parameter with that annotation receives for a value that its schema admits."""
    parameters, types, *_ = inferred(annotation)
    assert validator(parameters).is_valid({"value": value})
    convert = converter_of(taking(annotation), ["value"], types)
    assert convert is not None, f"{annotation} is left unchanged"
    return convert({"value": value})["value"]


STATEMENTS = """
from __future__ import annotations
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypedDict

@dataclass
class Box[T]:
    content: T
    others: list[T]

@dataclass
class Days(Box[date]):
    pass

class Row[T](NamedTuple):
    content: T

class Keys[T](TypedDict):
    content: T

class Dated(Keys[date]):
    number: int

class Again(Dated):
    more: int

type Tree = list[Tree] | date
type Maybe[T] = T | None
type Day = Maybe[date]

def generic[T: date](value: T): ...
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statements are not known yet")
def test_the_statements_of_python_3_12_are_understood() -> None:
    names: Any = {"__name__": __name__}
    exec(STATEMENTS, names)
    box, days, row, keys = (names[name] for name in ("Box", "Days", "Row", "Keys"))
    given = {"content": DAY_TEXT, "others": [DAY_TEXT]}
    assert received(box[date], given) == box(DAY, [DAY])
    assert received(days, given) == days(DAY, [DAY])
    assert received(row[date], {"content": DAY_TEXT}) == row(DAY)
    assert received(keys[date], {"content": DAY_TEXT}) == {"content": DAY}
    again = {"content": DAY_TEXT, "number": 1, "more": 2}
    assert received(names["Again"], again) == {**again, "content": DAY}
    assert received(names["Tree"], [[DAY_TEXT]]) == [[DAY]]
    for maybe in (names["Day"], names["Maybe"][date]):
        assert inferred(maybe).parameters == {
            "type": "object",
            "properties": {"value": DATE},
            "required": [],
        }
    assert infer(names["generic"]).parameters["properties"] == {"value": DATE}


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class DayBox(Box[date]):
    number: int = 0


@dataclass
class Nested(DayBox):
    more: list[date] = field(default_factory=list)


@dataclass
class Pair(Generic[T, U]):
    first: T
    second: U


@dataclass
class Half(Pair[T, date], Generic[T]):
    third: T


@dataclass
class Left(Box[T]):
    left: T


@dataclass
class Right(Box[T]):
    right: T


@dataclass
class Diamond(Left[date], Right[date]):
    pass


class Row(NamedTuple, Generic[T]):
    content: T


class Keys(TypedDict, Generic[T]):
    content: T
    next: NotRequired[Keys[T]]


class Dated(Keys[date]):
    number: int


class Both(Keys[date], Generic[T]):
    own: T


@check_each(
    ("annotation", "given", "wanted"),
    [
        (Nested, {"content": DAY_TEXT, "more": [DAY_TEXT]}, Nested(DAY, 0, [DAY])),
        (
            Half[Decimal],
            {"first": "1.5", "second": DAY_TEXT, "third": 2},
            Half(Decimal("1.5"), DAY, Decimal(2)),
        ),
        (
            Diamond,
            {"content": DAY_TEXT, "left": DAY_TEXT, "right": DAY_TEXT},
            Diamond(DAY, DAY, DAY),
        ),
        (
            Dated,
            {"content": DAY_TEXT, "number": 1, "next": {"content": DAY_TEXT}},
            {"content": DAY, "number": 1, "next": {"content": DAY}},
        ),
        (
            Both[Decimal],
            {"content": DAY_TEXT, "own": "1.5"},
            {"content": DAY, "own": Decimal("1.5")},
        ),
    ],
    ids=str,
)
def test_a_class_is_of_what_its_bases_are_of(annotation: Any, given: Any, wanted: Any) -> None:
    assert inferred(annotation).warnings == ()
    assert received(annotation, given) == wanted
