from __future__ import annotations

import collections
import collections.abc
import enum
import ipaddress
import pathlib
import re
import typing
import zoneinfo
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import ToolError
from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.kind import ConversionError
from tests.annotations.strategies import Color, Level
from tests.schema.strategies import examples, moderate, values
from tests.tables import check_each

kinds: Any = typing  # for annotations that are known only when a test runs
MOMENT = datetime(2026, 1, 31, 12, 0)  # noqa: DTZ001 - a text without a time zone has none
DAY = date(2026, 1, 31)
DAY_TEXT = "2026-01-31"
NOT_A_DATE = 'must be a date such as 2026-01-31, not "x"'

T = TypeVar("T")
Bound = TypeVar("Bound", bound=date)
Constrained = TypeVar("Constrained", date, int)
Name = NewType("Name", str)
Birthday = NewType("Birthday", date)


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Unit(enum.Enum):
    METER = Fraction(1)
    MILE = Fraction(201168, 125)


class Loud(enum.Enum):
    YES = "YES"

    @classmethod
    def _missing_(cls, value: object) -> Loud | None:
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None


@dataclass
class Point:
    x: int
    y: float = 0.0


@dataclass
class Person:
    name: str
    born: date
    home: Point | None = None
    likes: set[Color] = field(default_factory=set)
    friends: list[Person] = field(default_factory=list)
    kind: ClassVar[str] = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    start: date
    # as people write it
    end: date = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if (self.end or self.start) < self.start:
            raise ValueError("end must not be before start")


@dataclass
class Box(Generic[T]):
    content: T
    others: list[T] = field(default_factory=list)


class Place(NamedTuple):
    name: str
    since: date = DAY


class Movie(TypedDict):
    title: str
    released: date
    length: NotRequired[timedelta]


class Partial(TypedDict, total=False):
    day: Required[date]
    next: Partial


@dataclass
class Leaf:
    day: date


@dataclass
class Both:
    kind: Literal["both"]
    left: Both | Either | Leaf
    right: Both | Either | Leaf


@dataclass
class Either:
    kind: Literal["either"]
    left: Both | Either | Leaf
    right: Both | Either | Leaf


@dataclass
class Lost:
    # the name of this annotation is nowhere
    found: Missing  # type: ignore[name-defined]  # noqa: F821
    day: date


class Stranger:
    """A class of which no one knows how to make an instance."""


def taking(annotation: Any, **default: Any) -> Callable[..., Any]:
    """Return a function whose one parameter, ``value``, has that annotation."""

    def function(value: Any = None) -> Any:
        return value

    function.__annotations__ = {"value": annotation}
    function.__defaults__ = (default["default"],) if default else None
    return function


def converted(annotation: Any, value: Any, **default: Any) -> Any:
    """Return what a parameter with that annotation receives for a value."""
    convert = converter_of(taking(annotation, **default), ["value"])
    assert convert is not None, f"{annotation} is left unchanged"
    return convert({"value": value})["value"]


def refused(annotation: Any, value: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Return what is wrong with a value, and where in it."""
    with pytest.raises(ConversionError) as caught:
        converted(annotation, value)
    assert all(path[0] == "value" for path, _ in caught.value.problems)
    return [(path[1:], message) for path, message in caught.value.problems]


def problem(annotation: Any, value: Any) -> str:
    """Return the one thing that is wrong with a value as a whole."""
    [(path, message)] = refused(annotation, value)
    assert path == ()
    return message


SCALARS: list[tuple[Any, Any, Any]] = [
    (datetime, "2026-01-31T12:00:00Z", MOMENT.replace(tzinfo=UTC)),
    (date, DAY_TEXT, DAY),
    (timedelta, 90, timedelta(seconds=90)),
    (timedelta, "PT1H30M", timedelta(minutes=90)),
    (Decimal, 0.1, Decimal("0.1")),
    (Decimal, "12.50", Decimal("12.50")),
    (Fraction, "1/3", Fraction(1, 3)),
    (pathlib.Path, "a/b", pathlib.Path("a/b")),
    (re.Pattern[str], "a+", re.compile("a+")),
    (ipaddress.IPv4Address, "192.0.2.1", ipaddress.IPv4Address("192.0.2.1")),
    (Right, 3, Right.READ | Right.WRITE),
    (Unit, "MILE", Unit.MILE),
    (Literal[Color.RED, "none"], "red", Color.RED),
    (Annotated[date, "a day"], DAY_TEXT, DAY),
    (Bound, DAY_TEXT, DAY),
    ("date", DAY_TEXT, DAY),
]  # fmt: skip


@check_each(("annotation", "given", "wanted"), SCALARS, ids=repr)
def test_a_scalar_becomes_an_instance(annotation: Any, given: Any, wanted: Any) -> None:
    found = converted(annotation, given)
    assert found == wanted
    assert type(found) is type(wanted)


A_MOMENT = "a date and time such as 2026-01-31T12:00:00"
A_DURATION = "a number of seconds or a duration such as PT1H30M"
UNFIT = [
    (datetime, "tomorrow", f'must be {A_MOMENT}, not "tomorrow"'),
    (timedelta, True, f"must be {A_DURATION}, not the boolean true"),
    (Decimal, "twelve", 'must be a number, not "twelve"'),
    (Decimal, "NaN", 'must be a number, not "NaN"'),
    (ipaddress.IPv4Address, 5, "must be an IPv4 address, not the integer 5"),
    (zoneinfo.ZoneInfo, "Mars", 'must be a time zone such as Europe/Berlin, not "Mars"'),
    (Color, "redd", 'must be one of "red", "blue", not "redd"; did you mean "red"?'),
    (Level, True, None),
    (Unit, "FOOT", 'must be one of "METER", "MILE", not "FOOT"'),
    (set[int], {}, "must be an array, not an object"),
    (Point, [], "must be an object, not an array"),
    (Name, 5, "must be a string, not the integer 5"),
    (tuple[int, int], [1, 2, 3], "must have exactly 2 items, not 3"),
    (Place, ["a", DAY_TEXT, 3], "must have at most 2 items, not 3"),
    (dict[float, int], {"1": 1, "1.0": 2}, "has keys that represent the same"),
]


@check_each(("annotation", "given", "message"), UNFIT, ids=repr)
def test_what_does_not_fit_is_told_with_what_would(
    annotation: Any, given: Any, message: str | None
) -> None:
    if message is None:
        assert converted(annotation, given) in annotation
    else:
        assert problem(annotation, given) == message


CONTAINERS: list[tuple[Any, Any, Any]] = [
    (list[date], [DAY_TEXT], [DAY]),
    (set[date], [DAY_TEXT, DAY_TEXT], {DAY}),
    (frozenset[Color], ["red"], frozenset({Color.RED})),
    (collections.deque[int], [1, 2], collections.deque([1, 2])),
    (tuple[int, ...], [1, 2], (1, 2)),
    (tuple[int, date], [1, DAY_TEXT], (1, DAY)),
    (tuple[int, *tuple[str, ...]], [1, "a", "b"], (1, "a", "b")),
    (dict[str, date], {"a": DAY_TEXT}, {"a": DAY}),
    (dict[int, str], {"-1": "a"}, {-1: "a"}),
    (dict[bool, None], {"true": None}, {True: None}),
    (dict[Level, int], {"1": 5}, {Level.LOW: 5}),
    (dict[tuple[int, int], str], {"[1, 2]": "a"}, {(1, 2): "a"}),
    (collections.defaultdict[str, set[int]], {"a": [1]}, collections.defaultdict(None, a={1})),
]


@check_each(("annotation", "given", "wanted"), CONTAINERS, ids=repr)
def test_what_a_container_holds_is_converted(annotation: Any, given: Any, wanted: Any) -> None:
    found = converted(annotation, given)
    assert found == wanted
    assert type(found) is type(wanted)


UNIONS = [
    (datetime | None, None, None),
    (datetime | None, "2026-01-31T12:00:00", MOMENT),
    (date | str, DAY_TEXT, DAY_TEXT),
    (int | date, DAY_TEXT, DAY),
    (set[int] | list[Any], [1], [1]),
    (Point | dict[str, Any], {"x": 1}, {"x": 1}),
    (pathlib.Path | Literal["auto"], "auto", "auto"),
    (pathlib.Path | date, DAY_TEXT, DAY),
    (date | Annotated[str, "words"], DAY_TEXT, DAY_TEXT),
    (Point | Leaf, {"day": DAY_TEXT}, Leaf(DAY)),
    (list[date] | list[str], ["x"], ["x"]),
    (Leaf | list[Leaf] | None, [{"day": DAY_TEXT}], [Leaf(DAY)]),
]


@check_each(("annotation", "given", "wanted"), UNIONS, ids=repr)
def test_a_union_takes_what_is_exact_and_then_what_fits(
    annotation: Any, given: Any, wanted: Any
) -> None:
    found = converted(annotation, given)
    assert found == wanted
    assert type(found) is type(wanted)


def test_a_union_says_all_that_would_fit() -> None:
    words = "must be a date such as 2026-01-31, an array or an integer"
    assert problem(date | list[date] | int | None, "x") == f'{words}, not the string "x"'
    words = 'must be one of "red", "blue" or a number'
    assert problem(Color | Decimal, "x") == f'{words}, not the string "x"'


def test_a_union_is_explained_by_the_member_that_fits_best() -> None:
    tree = {"kind": "either", "left": {"day": "x"}, "right": {"day": "x"}}
    assert refused(Both | Either | Leaf, tree) == [
        (("left", "day"), NOT_A_DATE),
        (("right", "day"), NOT_A_DATE),
    ]
    assert refused(date | Leaf, {"day": "x"}) == [(("day",), NOT_A_DATE)]
    given = {"name": "a", "born": DAY_TEXT, "likes": ["v", "w", "x", "y", "z"]}
    assert [path for path, _ in refused(Person | Point, given)] == [("likes", i) for i in range(5)]


def test_no_part_of_a_union_is_tried_time_and_again() -> None:
    made = []

    @dataclass
    class Counted:
        day: date

        def __post_init__(self) -> None:
            made.append(self)
            raise ValueError("never")

    first = make_dataclass("First", [("next", Any)])
    second = make_dataclass("Second", [("next", Any)])
    for each in (first, second):
        each.__annotations__["next"] = first | second | Counted
    chain: Any = {"day": DAY_TEXT}
    for _ in range(40):
        chain = {"next": chain}
    assert refused(first | second, chain) == [(("next",) * 40, "never")]
    assert len(made) == 2, "once for each union, not once for each way to get there"


@check_each(
    ("annotation", "given", "wanted"),
    [
        (Span, {"start": DAY_TEXT}, Span(start=DAY)),
        (
            Person,
            {"name": "A", "born": DAY_TEXT, "friends": [{"name": "B", "born": DAY_TEXT}]},
            Person("A", DAY, friends=[Person("B", DAY)]),
        ),
        (Box[date], {"content": DAY_TEXT, "others": [DAY_TEXT]}, Box(DAY, [DAY])),
        (Lost, {"found": DAY_TEXT, "day": DAY_TEXT}, Lost(DAY_TEXT, DAY)),
        (Place, ["a"], Place("a")),
        (
            Movie,
            {"title": "a", "released": DAY_TEXT, "length": 60, "more": DAY_TEXT},
            {"title": "a", "released": DAY, "length": timedelta(minutes=1), "more": DAY_TEXT},
        ),
        (
            Partial,
            {"day": DAY_TEXT, "next": {"day": DAY_TEXT}},
            {"day": DAY, "next": {"day": DAY}},
        ),
    ],
    ids=repr,
)
def test_fields_are_converted_by_their_own_annotations(
    annotation: Any, given: Any, wanted: Any
) -> None:
    assert converted(annotation, given) == wanted


def test_everything_that_is_wrong_with_an_object_is_told() -> None:
    given = {
        "nam": "Ada",
        "born": "x",
        "home": {"x": "a", "z": 1},
        "likes": ["red", "x"],
        "friends": [{"name": 5, "born": DAY_TEXT}],
    }
    assert refused(Person, given) == [
        (("name",), "is required"),
        (("nam",), "is not a field of Person; did you mean 'name'?"),
        (("born",), NOT_A_DATE),
        (("home", "z"), "is not a field of Point"),
        (("home", "x"), 'must be an integer, not the string "a"'),
        (("likes", 1), 'must be one of "red", "blue", not "x"'),
        (("friends", 0, "name"), "must be a string, not the integer 5"),
    ]


@check_each(
    ("error", "words"),
    [
        (ValueError("must be even"), "must be even"),
        (ToolError("ask again"), "ask again"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
    ids=repr,
)
def test_what_a_class_raises_is_told(error: Exception, words: str) -> None:
    @dataclass
    class Refusing:
        def __post_init__(self) -> None:
            raise error

    assert problem(Refusing, {}) == words
    assert refused(list[Refusing], [{}]) == [((0,), words)]


def test_a_class_may_refuse_what_fits_its_fields() -> None:
    assert problem(Span, {"start": DAY_TEXT, "end": "2025-01-01"}) == "end must not be before start"
    assert problem(set[Any], [[]]) == "unhashable type: 'list'"


class TypeAliasType:
    """What ``type Tree = date | list[Tree]`` is since Python 3.12."""

    __type_params__ = ()

    @property
    def __value__(self) -> Any:
        return kinds.Union[date, kinds.List[self]]


ANNOTATIONS = [
    *(annotation for annotation, *_ in SCALARS + CONTAINERS + UNIONS),
    Person, Span, Box[date], Place, Movie, Partial, TypeAliasType(),
    Both | Either | Leaf,
]  # fmt: skip
awkward = st.sampled_from(
    ["", "P", "1/0", "1e99999", "NaN", "\x00", DAY_TEXT, "red", "(", 10**400, 1e300, -1]
)
likely_objects = st.dictionaries(
    st.sampled_from(
        ["name", "born", "x", "day", "kind", "left", "right", "start", "diameter", "1"]
    ),
    st.deferred(lambda: anything),
    max_size=4,
)
anything: st.SearchStrategy[Any] = st.deferred(
    lambda: values | awkward | likely_objects | st.lists(anything, max_size=3)
)


@settings(moderate, max_examples=examples(150))
@given(st.sampled_from(ANNOTATIONS), anything)
def test_whatever_is_given_nothing_but_a_conversion_error_is_raised(
    annotation: Any, value: Any
) -> None:
    before = deepcopy(value)
    found = value
    with suppress(ConversionError):
        found = converted(annotation, value)
        assert converted(annotation, found) == found
    assert value == before


@pytest.fixture
def pydantic() -> Any:
    return pytest.importorskip("pydantic")


@pytest.fixture
def pet(pydantic: Any) -> Any:
    """A model of pydantic, with a nested one."""
    forbidding = pydantic.ConfigDict(extra="forbid")
    toy = pydantic.create_model("Toy", name=(str, ...), price=(Decimal, ...))
    return pydantic.create_model(
        "Pet",
        __config__=forbidding,
        born=(date, ...),
        toys=(kinds.List[toy], []),
        color=(Color, None),
    )


def test_an_object_becomes_a_model(pet: Any) -> None:
    given = {"born": DAY_TEXT, "toys": [{"name": "ball", "price": 1.5}], "color": "red"}
    found = converted(pet, given)
    assert type(found) is pet
    assert (found.born, found.color, found.toys[0].price) == (DAY, Color.RED, Decimal("1.5"))
    assert converted(list[pet] | None, [given]) == [found]
    assert converted(pet, found) is found


def test_what_a_model_refuses_is_told_in_our_words(pet: Any) -> None:
    given = {"toys": [{"name": "ball", "price": "x"}, 5], "colour": "red", "color": "green"}
    found = dict(refused(pet, given))
    assert found.keys() == {("born",), ("toys", 0, "price"), ("toys", 1), ("colour",), ("color",)}
    assert found[("born",)] == "is required"
    assert found[("colour",)] == "is not a field"
    assert found[("toys", 0, "price")] == 'must be a valid decimal, not the string "x"'
    assert found[("color",)] == "must be 'red' or 'blue', not the string \"green\""


def booked(*rooms: str, name: str, until: date, **days: date) -> None: ...


def test_what_any_keyword_may_be_converts_as_well() -> None:
    convert = converter_of(booked, ["name"])
    assert convert is not None
    given = {"name": "2026-01-02", "arrival": "2026-01-02"}
    assert convert(given) == {"name": "2026-01-02", "arrival": date(2026, 1, 2)}
    with pytest.raises(ConversionError) as caught:
        convert({"name": "x", "arrival": "soon", "departure": "later"})
    assert [path for path, _ in caught.value.problems] == [("arrival",), ("departure",)]
