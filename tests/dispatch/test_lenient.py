from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, Optional

import pytest
from hypothesis import given

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.result import Repair
from tests.dispatch.toolbox import Call, each_way, properties, tool, tooler
from tests.schema.strategies import moderate, plain_schemas, texts, values
from tests.tables import check_each

COUNT = {
    **properties(
        count={"type": "integer"},
        tags={"type": "array", "items": {"enum": ["red", "blue"]}, "default": []},
    ),
    "required": ["count"],
}
GIVEN = {"count": "5", "tags": ["Red"]}
REPAIRS = (Repair("$.count", "5", 5), Repair("$.tags[0]", "Red", "red"))


def take(count: int, tags: list[str]) -> list[Any]:
    return [count, *tags]


async def take_later(count: int, tags: list[str]) -> list[Any]:
    await asyncio.sleep(0)
    return [count, *tags]


each_tool = pytest.mark.parametrize("function", [take, take_later])


@each_way
@each_tool
def test_arguments_that_are_wrong_in_form_alone_are_made_to_fit(call: Call, function: Any) -> None:
    dispatcher = tooler(tool(function, COUNT, name="take"), coerce="lenient")
    for _ in range(2):
        result = call(dispatcher, "take", GIVEN)
        assert result.value == [5, "red"]
        assert sorted(result.repairs) == sorted(REPAIRS)
    assert dispatcher.statistics()["take"].failures == 0


@each_way
@each_tool
@check_each(
    ("setting", "asked", "fits"),
    [
        ({}, {}, False),
        ({"coerce": "strict"}, {}, False),
        ({"coerce": "lenient"}, {"coerce": "strict"}, False),
        ({}, {"coerce": "lenient"}, True),
    ],
)
def test_arguments_are_made_to_fit_if_the_call_or_else_the_tooler_asks_for_it(
    call: Call, function: Any, setting: Any, asked: Any, *, fits: bool
) -> None:
    result = call(tooler(tool(function, COUNT, name="take"), **setting), "take", GIVEN, **asked)
    assert result.value == ([5, "red"] if fits else None)
    assert (result.error and result.error.kind) == (None if fits else "invalid_arguments")
    assert bool(result.repairs) is fits


@each_way
def test_json_text_of_json_text_is_made_to_fit(call: Call) -> None:
    text = '{"count": 5}'
    result = call(tooler(tool(take, COUNT), coerce="lenient"), "take", '"{\\"count\\": 5}"')
    assert (result.value, result.repairs) == ([5], (Repair("$", text, {"count": 5}),))


@each_way
@check_each(
    "given",
    [
        {"count": "five"},
        {"count": "5", "tags": ["green"]},
        {"count": "5", "colour": "red"},
        {},
        "{",
        '{"count": "\ud800"}',
        [5],
    ],
    ids=ascii,
)
def test_arguments_that_can_not_be_made_to_fit_fail_as_they_always_do(
    call: Call, given: Any
) -> None:
    dispatcher = tooler(tool(take, COUNT))
    lenient, strict = (call(dispatcher, "take", given, coerce=word) for word in WORDS)
    assert strict.error is not None
    assert lenient.error == strict.error
    assert lenient.repairs == ()


WORDS = ("lenient", "strict")


def give(**given: Any) -> dict[str, Any]:
    return given


@moderate
@given(schema=plain_schemas, value=values | texts)
def test_arguments_that_are_taken_leniently_would_be_taken_strictly(
    schema: dict[str, Any], value: Any
) -> None:
    dispatcher = tooler(tool(give, {**properties(value=schema), "required": ["value"]}))
    arguments = {"value": value}
    strict, lenient = (
        dispatcher.call_sync("give", arguments, coerce=word) for word in ("strict", "lenient")
    )
    if strict.ok:
        assert (lenient.value, lenient.repairs) == (strict.value, ())
    elif lenient.ok:
        assert lenient.repairs
        assert dispatcher.call_sync("give", lenient.value).value == lenient.value
    else:
        assert lenient.error == strict.error


@dataclass
class Place:
    """A place, of which the height can be unknown."""

    name: str
    height: int | None = None


def seek(  # noqa: PLR0913 - each is a case
    *,
    count: int | None = None,
    share: Optional[float] = None,  # noqa: UP045 - the older form
    tags: list[str] | None = None,
    place: Place | None = None,
    text: str | None = None,
    kind: Literal["a", "b"] | None = None,
    least: int | None = 5,
    size: int = 3,
) -> list[Any]:
    """Seek."""
    return [count, share, tags, place, text, kind, least, size]


@each_way
@check_each(
    ("given", "place", "value"),
    [
        ({"count": "null"}, 0, None),
        ({"tags": "null"}, 2, None),
        ({"kind": "null"}, 5, None),
        ({"count": "null", "share": "null", "size": "4"}, 7, 4),
        ({"place": {"name": "x", "height": "null"}}, 3, Place("x")),
        # a string is a value, whatever it says
        ({"text": "null"}, 4, "null"),
    ],
)
def test_null_as_text_is_taken_where_null_means_nothing(
    call: Call, given: dict[str, Any], place: int, value: Any
) -> None:
    registry = ToolRegistry()
    registry.register(seek)
    result = call(Tooler(registry, coerce="lenient"), "seek", given)
    assert result.error is None
    assert result.value[place] == (
        value if place != 3 or value is None else {"name": "x", "height": None}
    )
    left_out = {name for name, each in given.items() if isinstance(each, str) and "null" in each}
    assert {each.path for each in result.repairs} >= {f"$.{name}" for name in left_out - {"text"}}
    assert not call(Tooler(registry), "seek", given).ok or given == {"text": "null"}


@each_way
@check_each(
    ("setting", "asked", "fits"),
    [
        ({}, {}, False),
        ({"coerce": "lenient"}, {"coerce": "strict"}, False),
        ({"coerce": "lenient"}, {}, True),
        ({}, {"coerce": "lenient"}, True),
    ],
)
@check_each("name", ["functions.take", "functions/take:3", "tools__take"])
def test_a_tool_is_called_by_a_name_in_a_namespace(
    call: Call, name: str, setting: dict[str, Any], asked: dict[str, Any], *, fits: bool
) -> None:
    dispatcher = tooler(tool(take, COUNT, name="take"), **setting)
    result = call(dispatcher, name, {"count": 5, "tags": []}, **asked)
    assert result.ok is fits
    assert result.tool == ("take" if fits else name)
    if result.error is not None:
        assert result.error.message == f"there's no tool {name!r}; did you mean 'take'?"
