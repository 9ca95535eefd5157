"""Of which member of a union an object is."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, TypedDict

import pytest

from tests.annotations.test_conversion import converted
from tests.tables import check_each

kinds: Any = typing  # for annotations that are known only when a test runs
DAY = date(2026, 1, 31)
DAY_TEXT = "2026-01-31"


class Named(TypedDict, total=False):
    name: str


class Dated(TypedDict, total=False):
    day: date


class Full(TypedDict, total=False):
    name: str
    day: date


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass
class Space:
    x: int
    y: int = 0
    z: int = 0


@dataclass(init=False)
class Open:
    options: dict[str, Any]

    def __init__(self, **options: Any) -> None:
        self.options = options


GIVEN = {"day": DAY_TEXT}
MADE = {"day": DAY}


@check_each(
    ("annotation", "given", "wanted"),
    [
        (Named | Dated, GIVEN, MADE),
        (Named | Dated | Full, {"name": "a", **GIVEN}, {"name": "a", **MADE}),
        (Dated | Named, {"other": 1}, {"other": 1}),
        (list[Named | Dated], [GIVEN, {"name": "a"}], [MADE, {"name": "a"}]),
        (Named | dict[str, date], GIVEN, MADE),
        (Named | Mapping[str, Any], GIVEN, GIVEN),
        (Annotated[Named, "a"] | Annotated[Dated, "b"] | None, GIVEN, MADE),
        (Point | Space, {"x": 1, "y": 2}, Point(1, 2)),
        (Point | Space, {"x": 1, "z": 2}, Space(1, 0, 2)),
        (Open | dict[str, date], GIVEN, Open(**GIVEN)),
        (Sequence[Named] | Dated, GIVEN, MADE),
    ],
    ids=str,
)
def test_an_object_is_of_the_member_that_ignores_the_fewest_of_its_keys(
    annotation: Any, given: Any, wanted: Any
) -> None:
    assert converted(annotation, given) == wanted
    assert converted(list[annotation], [given, given]) == [wanted, wanted]


@pytest.fixture(scope="module")
def pydantic() -> Any:
    return pytest.importorskip("pydantic")


def model(pydantic: Any, name: str, /, **fields: Any) -> Any:
    return pydantic.create_model(name, **fields)


def test_a_model_that_ignores_keys_does_not_hide_one_that_knows_them(pydantic: Any) -> None:
    short = model(pydantic, "Short", a=(int, ...), b=(int, 0))
    long = model(pydantic, "Long", a=(int, ...), c=(date, ...))
    given = {"a": 1, "c": DAY_TEXT}
    assert converted(short | long, given) == long(a=1, c=DAY)
    assert converted(short | long, {"a": 1}) == short(a=1)
    assert converted(short | long, {"a": 1, "d": 1}) == short(a=1)
    assert converted(kinds.List[short | long], [given]) == [long(a=1, c=DAY)]
    assert converted(short | Dated, {"a": 1, "day": DAY_TEXT}) == short(a=1)
