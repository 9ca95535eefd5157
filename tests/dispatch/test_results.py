from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import ipaddress
import json
import pathlib
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Audio, EmbeddedResource, Image, Text
from sovl_tools.annotations.jsonvalues import InvalidResult, is_plain, to_json
from sovl_tools.dispatch.steps import convert_result, limit_result
from tests.schema.strategies import moderate
from tests.tables import check_each

DEEPEST = 64
PICTURE = Image(b"\xff\xd8\xff")
SOUND = Audio(b"OggS")


class Color(enum.Enum):
    RED = "red"
    BOTH = (1, 2)


class Word(str, enum.Enum):  # noqa: UP042 - the older way is what is tested
    YES = "yes"


class Level(enum.IntEnum):
    HIGH = 3


class Mine(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Count(int):
    pass


class Ratio(float):
    pass


class Names(list[str]):
    pass


class Point(NamedTuple):
    x: int
    y: Any = None


class Movie(TypedDict):
    title: str


@dataclasses.dataclass
class Order:
    number: int
    items: Any = ()
    kind: dataclasses.InitVar[str] = "x"


class Socket:
    """Something of the tool's own."""


class Lookup(Mapping[str, Any]):
    """A mapping that isn't a dictionary."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def __getitem__(self, key: str) -> Any:
        if self.error is not None:
            raise self.error
        return (key,)

    def __iter__(self) -> Iterator[str]:
        return iter("ab")

    def __len__(self) -> int:
        return 2


def nested(levels: int, inner: Any = 0) -> Any:
    """Return a value within so many lists."""
    for _ in range(levels):
        inner = [inner]
    return inner


def invalid(value: Any) -> str:
    """Return why a result isn't JSON."""
    with pytest.raises(InvalidResult) as caught:
        convert_result(value)
    return str(caught.value)


TABLE: list[tuple[Any, Any]] = [
    (None, None),
    (5, 5),
    (10**600, 10**600),
    ("größe", "größe"),
    (Mine("a"), "a"),
    (Count(5), 5),
    (Ratio(0.5), 0.5),
    (Names(["a"]), ["a"]),
    ((1, (2, 3)), [1, [2, 3]]),
    (range(3), [0, 1, 2]),
    ({"b": 1, "a": 2}.items(), [["b", 1], ["a", 2]]),
    (map(str, [1, 2]), ["1", "2"]),
    ({3, 1, 2}, [1, 2, 3]),
    ({1, "a", None, (2, 3)}, ["a", 1, [2, 3], None]),
    (collections.defaultdict(list, a=(1,)), {"a": [1]}),
    (Lookup(), {"a": ["a"], "b": ["b"]}),
    (Movie(title="Alien"), {"title": "Alien"}),
    (Order(1, (2,)), {"number": 1, "items": [2]}),
    (Point(1, {2}), {"x": 1, "y": [2]}),
    (types.SimpleNamespace(a=(1,)), {"a": [1]}),
    (Color.RED, "red"),
    (Word.YES, "yes"),
    (Level.HIGH, 3),
    (dt.date(2026, 1, 31), "2026-01-31"),
    (dt.time(12, 30), "12:30:00"),
    (dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC), "2026-01-31T12:00:00+00:00"),
    (dt.timedelta(milliseconds=1500), 1.5),
    (Decimal(5), 5),
    (Decimal("0.1"), 0.1),
    (Decimal("0.12345678901234567890"), "0.12345678901234567890"),
    (b"gr\xc3\xb6\xc3\x9fe", "größe"),
    (b"\xff", "/w=="),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (pathlib.PurePosixPath("/a/b"), "/a/b"),
    (ipaddress.ip_address("::1"), "::1"),
    (ValueError("no such thing"), "ValueError: no such thing"),
    ("\ud800a", "\ufffda"),
]


@check_each(("value", "expected"), TABLE, ids=[f"row {index}" for index in range(len(TABLE))])
def test_a_result_becomes_json_by_the_table(value: Any, expected: Any) -> None:
    result, content = convert_result({"inner": value})
    assert result == {"inner": expected}
    assert content == ()
    assert json.dumps(result) == json.dumps({"inner": expected})


@check_each(
    ("key", "text"),
    [
        ("a", "a"),
        (Mine("a"), "a"),
        (5, "5"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        (Color.RED, "red"),
        (Level.HIGH, "3"),
        (dt.date(2026, 1, 31), "2026-01-31"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("\udcff", "\ufffd"),
        ("größe", "größe"),
    ],
    ids=ascii,
)
def test_keys_become_text(key: Any, text: str) -> None:
    result = to_json({key: (1,)})
    assert result == {text: [1]}
    assert type(next(iter(result))) is str


@check_each(
    ("value", "reason"),
    [
        (Socket(), "result is a Socket, which isn't JSON"),
        ({"items": [1, Order(1, Socket())]}, "result.items[1].items is a Socket, which isn't JSON"),
        ({"odd key": (Socket(),)}, "result['odd key'][0] is a Socket, which isn't JSON"),
        ({1: Socket()}, "result['1'] is a Socket, which isn't JSON"),
        (Socket, "result is the class Socket, which isn't JSON"),
        (float("nan"), "result is nan, which isn't a JSON number"),
        ([-float("inf")], "result[0] is -inf, which isn't a JSON number"),
        (Decimal("NaN"), "result is NaN, which isn't a JSON number"),
        ({1: 0, "1": 0}, "result has two keys that become '1'"),
        ({(1, 2): 0}, "result has a key that is a tuple, which can't be text"),
        (Lookup(OSError("gone")), "result can't be read: OSError was raised"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_json_is_refused_with_its_place(value: Any, reason: str) -> None:
    assert invalid(value) == reason


@check_each("inner", [[], (), {}, {1: 1}, {"a": 1}, Order(1), set()], ids=repr)
def test_65_levels_are_not(inner: Any) -> None:
    assert "nested more than 64 levels deep" in invalid(nested(DEEPEST, inner))


def test_a_result_that_contains_itself_is_refused() -> None:
    circle: list[Any] = []
    circle += [circle, circle]
    order = Order(1)
    order.items = {"again": order}
    for value in (circle, order, {"a": (circle,)}):
        assert "or contains itself" in invalid(value)


def test_what_is_json_already_is_not_copied() -> None:
    value = {"a": [1, "b", None, {"c": 1.5}]}
    assert to_json(value) is value
    assert convert_result(value)[0] is value
    assert to_json([value, (1,)])[0] is value


texts = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=5)
keys = texts | st.integers() | st.none() | st.floats() | st.sampled_from([*Color, *Level])
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=5)
    | st.decimals()
    | st.fractions()
    | st.dates()
    | st.datetimes(timezones=st.just(dt.UTC) | st.none())
    | st.timedeltas()
    | st.uuids()
    | st.ip_addresses()
    | st.complex_numbers()
    | st.sampled_from([*Color, *Level, Socket(), Text("a"), PICTURE, ValueError("a")])
)
hashables = st.integers() | texts | st.floats() | st.dates() | st.tuples(st.integers())
results = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.sets(hashables, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.builds(Point, st.integers(), inner)
        | st.builds(Order, st.integers(), inner)
    ),
    max_leaves=8,
)


@moderate
@given(results)
def test_whatever_comes_out_can_be_sent(value: Any) -> None:
    try:
        result, content = convert_result(value)
    except InvalidResult:
        return
    text = json.dumps(result, allow_nan=False, ensure_ascii=False)
    assert json.loads(text.encode()) == result
    assert is_plain(result)
    assert not content or [block.to_json() for block in content] == result


CAPTION = Text("a cat")


@check_each(
    ("value", "content"),
    [
        (PICTURE, (PICTURE,)),
        (CAPTION, (CAPTION,)),
        ([PICTURE, SOUND], (PICTURE, SOUND)),
        (("a cat", PICTURE), (CAPTION, PICTURE)),
        ([Mine("a cat"), PICTURE], (CAPTION, PICTURE)),
        ([PICTURE, {"größe": (1, None)}], (PICTURE, Text('{"größe":[1,null]}'))),
        ([EmbeddedResource("memo:1", "x"), 5], (EmbeddedResource("memo:1", "x"), Text("5"))),
    ],
    ids=repr,
)
def test_content_comes_out_as_content_and_as_json(value: Any, content: tuple[Any, ...]) -> None:
    assert convert_result(value) == ([block.to_json() for block in content], content)


def test_json_that_is_too_long_becomes_the_beginning_of_its_text() -> None:
    assert limit_result({"items": ["ß"] * 1000}, (), 70) == (
        '{"items":["ß","ß","ß","ß","ß","ß","… [cut: 41 of 5,011 bytes]',
        (),
    )


@check_each(
    ("given", "limit", "expected"),
    [
        (["x" * 20], 10, ["x" * 7 + "…"]),
        (["x" * 9, "y" * 20], 20, ["x" * 9, "y" * 8 + "…"]),
        (["x" * 20, "y" * 20], 10, ["x" * 7 + "…"]),
        (["x" * 20, PICTURE], 13, ["x" * 7 + "…", PICTURE]),
        (["x" * 20, PICTURE, "y"], 3, [PICTURE]),
    ],
    ids=repr,
)
def test_texts_share_the_room_that_the_rest_leaves(
    given: list[Any], limit: int, expected: list[Any]
) -> None:
    value, content = convert_result([*map(as_block, given)])
    found = tuple(as_block(item) for item in expected)
    assert limit_result(value, content, limit) == ([block.to_json() for block in found], found)


def as_block(item: Any) -> Any:
    """Return a string as a string."""
    return Text(item) if isinstance(item, str) else item


def test_a_pydantic_model_becomes_an_object() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", when=(dt.date, ...), ratio=(float, 1.0))
    day = dt.date(2026, 1, 31)
    assert to_json([model(when=day)]) == [{"when": "2026-01-31", "ratio": 1.0}]
    assert invalid(model(when=day, ratio=float("nan"))).startswith("result.ratio is nan")
    broken = pydantic.create_model("Broken", inner=(object, ...))
    assert "PydanticSerializationError was raised" in invalid(broken(inner=Socket()))


NUMPY: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda numpy: numpy.int64(5), 5),
    (lambda numpy: numpy.float64(0.1), 0.1),
    (lambda numpy: numpy.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
    (lambda numpy: numpy.datetime64("2026-01-31T12:00:00.5", "ns"), "2026-01-31T12:00:00.500000"),
    (lambda numpy: numpy.array(["2026-01-31", "NaT"], "M8[ns]"), ["2026-01-31T00:00:00", None]),
]


@check_each(("make", "expected"), NUMPY)
def test_numbers_and_arrays_of_numpy_become_json(make: Callable[[Any], Any], expected: Any) -> None:
    result = to_json(make(pytest.importorskip("numpy")))
    assert result == expected
    assert json.dumps(result) == json.dumps(expected)
