"""Dataclasses, NamedTuples and TypedDicts, and where they are described."""

from __future__ import annotations

import collections
from dataclasses import InitVar, dataclass, field
from datetime import date
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    NotRequired,
    Required,
    Self,
    TypedDict,
    TypeVar,
)

import pytest

from sovl_tools import InferenceError
from sovl_tools.model.errors import UnresolvedReferenceError
from tests.annotations.strategies import schema_of
from tests.annotations.test_mapping import DATE, INTEGER, STRING, Stranger, parameter
from tests.tables import check_each

T = TypeVar("T")
DAY = date(2026, 1, 31)


@dataclass
class Point:
    x: int
    y: float = 0.0


@dataclass
class Person:
    """Someone.

    Attributes:
        name: What people say.
        home: Where to write to.
    """

    name: Annotated[str, "what is written"]
    born: date
    home: Point | None = None
    likes: set[str] = field(default_factory=set)
    since: date = DAY
    kind: ClassVar[str] = "person"


@dataclass
class Node:
    value: int
    next: Node | None = None


@dataclass
class Even:
    odd: Odd | None


@dataclass
class Odd:
    even: Even | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    start: date


@dataclass
class Circle:
    diameter: InitVar[Decimal]
    radius: Decimal = field(init=False)

    def __post_init__(self, diameter: Decimal) -> None:
        self.radius = diameter / 2


@dataclass(init=False)
class Open:
    day: date

    def __init__(self, day: date, /, hour: int = 0, *rest: int, **options: Any) -> None: ...


@dataclass(init=False)
class Named:
    day: date

    def __init__(self, day: date, hour: int = 0, **options: Any) -> None:
        self.day, self.rest = day, {"hour": hour, **options}


@dataclass
class Box(Generic[T]):
    content: T
    others: list[T] = field(default_factory=list)


class Place(NamedTuple):
    """A place."""

    name: str
    since: date = DAY


class Movie(TypedDict):
    """A movie."""

    title: str
    released: date
    length: NotRequired[int]


class Partial(TypedDict, total=False):
    day: Required[date]
    next: Partial


POINT = {
    "type": "object",
    "properties": {"x": INTEGER, "y": {"type": "number", "default": 0.0}},
    "required": ["x"],
    "additionalProperties": False,
}


def test_a_dataclass_is_an_object_of_what_it_takes() -> None:
    assert schema_of(Point) == POINT
    assert schema_of(Person) == {
        "type": "object",
        "description": "Someone.",
        "properties": {
            "name": {**STRING, "description": "what is written"},
            "born": DATE,
            "home": {**POINT, "description": "Where to write to."},
            "likes": {"type": "array", "items": STRING, "uniqueItems": True},
            "since": {**DATE, "default": "2026-01-31"},
        },
        "required": ["name", "born"],
        "additionalProperties": False,
    }
    assert schema_of(Span)["properties"] == {"start": DATE}


def test_a_named_tuple_is_an_object_of_its_fields() -> None:
    assert schema_of(Place) == {
        "type": "object",
        "description": "A place.",
        "properties": {"name": STRING, "since": {**DATE, "default": "2026-01-31"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    untyped = collections.namedtuple("untyped", "a b")  # noqa: PYI024 - without types
    assert schema_of(untyped)["properties"] == {"a": {}, "b": {}}


def test_a_typed_dict_may_have_further_keys() -> None:
    assert schema_of(Movie) == {
        "type": "object",
        "description": "A movie.",
        "properties": {"title": STRING, "released": DATE, "length": INTEGER},
        "required": ["title", "released"],
    }


def test_a_type_that_refers_to_itself_is_defined_at_the_root() -> None:
    node = {
        "type": "object",
        "properties": {
            "value": INTEGER,
            "next": {"$ref": "#/$defs/Node"},
        },
        "required": ["value"],
        "additionalProperties": False,
    }
    assert schema_of(Node) == {"$ref": "#/$defs/Node", "$defs": {"Node": node}}
    assert parameter(list[Node]) == {
        "type": "object",
        "properties": {"value": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "required": ["value"],
        "$defs": {"Node": node},
    }
    assert parameter(Node, Node(1, Node(2)))["properties"]["value"] == {
        "$ref": "#/$defs/Node",
        "default": {"value": 1, "next": {"value": 2}},
    }
    assert schema_of(Partial)["$defs"]["Partial"]["required"] == ["day"]


@dataclass
class Larger(Point):
    z: int = 0


DEFAULTS: list[tuple[Any, Any, Any]] = [
    (Point, Point(1), {"x": 1, "y": 0.0}),
    (Place, Place("a"), {"name": "a", "since": "2026-01-31"}),
    (
        Person,
        Person("Ada", DAY, Point(1), {"b", "a"}),
        {
            "name": "Ada",
            "born": "2026-01-31",
            "home": {"x": 1, "y": 0.0},
            "likes": ["a", "b"],
            "since": "2026-01-31",
        },
    ),
]


@check_each(("annotation", "default", "written"), DEFAULTS, ids=range(len(DEFAULTS)))
def test_an_instance_is_shown_as_the_object_that_it_is_made_of(
    annotation: Any, default: Any, written: Any
) -> None:
    assert parameter(annotation, default)["properties"]["value"]["default"] == written


@dataclass(unsafe_hash=True)
class Doubled:
    x: int
    tags: list[str] = field(default_factory=list, hash=False)

    def __post_init__(self) -> None:
        self.x *= 2
        self.tags.append("made")


@dataclass(unsafe_hash=True)
class Checked:
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("must not be negative")


class Pair(collections.namedtuple("Pair", "x y")):  # noqa: PYI024 - without types
    __slots__ = ()

    def __new__(cls, x: int, y: int) -> Self:
        return super().__new__(cls, y, x)


def changed(instance: Any, **values: Any) -> Any:
    """Return an instance that is no longer as it was made."""
    for name, value in values.items():
        setattr(instance, name, value)
    return instance


HIDDEN: list[tuple[Any, Any]] = [
    (Doubled, Doubled(1)),
    (Checked, changed(Checked(1), x=-1)),
    (Point, Larger(1)),
    (Point, {"x": 1}),
    (Circle, Circle(Decimal(1))),
]


@check_each(("annotation", "default"), HIDDEN, ids=str)
def test_an_instance_that_would_not_come_back_is_not_shown(annotation: Any, default: Any) -> None:
    assert "default" not in parameter(annotation, default)["properties"]["value"]


@dataclass
class Crowd:
    people: dict[str, list[Stranger]]


@dataclass
class Lost:
    # the name of this annotation is nowhere
    found: Missing  # type: ignore[name-defined]  # noqa: F821


PLACED: list[tuple[Any, type[InferenceError], str]] = [
    (Crowd, InferenceError, "the field 'people' of Crowd: there's no JSON for Stranger"),
    (Lost, UnresolvedReferenceError, "the field 'found' of Lost: the name 'Missing' is not defin"),
    (Open, InferenceError, "the parameter 'day' of Open is positional-only"),
    (set[Point], InferenceError, "Point is not hashable, so that a set can't hold it"),
]


@check_each(("annotation", "kind", "words"), PLACED, ids=str)
def test_what_can_t_be_described_is_told_with_its_place(
    annotation: Any, kind: type[InferenceError], words: str
) -> None:
    with pytest.raises(InferenceError) as caught:
        schema_of(annotation)
    assert type(caught.value) is kind
    assert caught.value.message.startswith(words)
