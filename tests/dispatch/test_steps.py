"""The way of a call from what a model sent to the result, in its order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from sovl_tools import Image, Text, ToolDefinition, Tooler, ToolError, ToolRegistry, ToolResult
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import TEXT, Call, each_way, properties, tool, tooler
from tests.tables import check_each

PNG = b"\x89PNG\r\n\x1a\n picture"


def later(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as an async one, which suspends before it begins."""

    async def run(*arguments: Any, **keywords: Any) -> Any:
        await asyncio.sleep(0)
        return function(*arguments, **keywords)

    return run


def at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def echo(text: str) -> str:
    return text


def giving(value: Any) -> Callable[..., Any]:
    def give(text: str) -> Any:
        return value

    return give


def definition_of(function: Callable[..., Any] = echo, **fields: Any) -> ToolDefinition:
    """Return a tool of the name ``echo`` that takes a string."""
    return replace(tool(function, TEXT, name="echo"), **fields)


def said(result: ToolResult) -> tuple[str, str]:
    assert result.error is not None
    assert result.value is None
    return result.error.kind, result.error.message


each_function = pytest.mark.parametrize("kind", [at_once, later])
each_step = check_each("step", [at_once, later])
each_place = check_each("mode", [None, "inline", "thread"])


@each_way
@each_function
@each_step
def test_a_call_takes_its_steps_in_order(call: Call, kind: Any, step: Any) -> None:
    seen: list[Any] = []

    def noted(name: str, value: Any) -> Any:
        seen.append((name, value))
        return value

    def shift(day: date, count: int) -> date:
        noted("function", (day, count))
        return day

    async def shift_later(day: date, count: int) -> date:
        return shift(day, count)

    schema = {**properties(day={"type": "string"}, count={"default": 3}), "required": ["day"]}
    definition = replace(
        tool(shift if kind is at_once else shift_later, schema, name="shift"),
        preprocess=step(lambda arguments: {**noted("preprocess", arguments), "day": "2026-01-31"}),
        postprocess=step(lambda value: [noted("postprocess", value)]),
        output_schema={"type": "array", "items": {"const": "2026-01-31"}},
    )
    result = call(tooler(definition), "shift", '{"day": "today"}')
    assert (result.value, result.error) == (["2026-01-31"], None)
    assert seen == [
        ("preprocess", {"day": "today", "count": 3}),
        ("function", (date(2026, 1, 31), 3)),
        ("postprocess", date(2026, 1, 31)),
    ]


@each_way
def test_bad_arguments_never_reach_preprocess(call: Call) -> None:
    seen: list[Any] = []
    result = call(tooler(definition_of(preprocess=seen.append)), "echo", {"text": 5})
    assert said(result)[0] == "invalid_arguments"
    assert seen == []


def failing(*_: Any, **__: Any) -> Any:
    raise ValueError("broken")


def refusing(*_: Any, **__: Any) -> Any:
    raise ToolError("say it otherwise")


@each_way
@each_step
@check_each("value", [None, [], "text", 5], ids=str)
def test_preprocess_returns_the_arguments_as_a_dictionary(
    call: Call, step: Any, value: Any
) -> None:
    definition = definition_of(preprocess=step(lambda _: value))
    kind = type(value).__name__
    assert said(call(tooler(definition), "echo", {"text": "a"})) == (
        "tool_error",
        f"preprocess returned {kind!r}, not the arguments as a dictionary",
    )


PLAN = """
from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    city: str
    floor: int = 0


{keyword} plan(when: datetime, colour: Colour, place: Place) -> list:
    return [when.year, colour.name, place.city, place.floor]
"""
PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
PLAN_PARAMETERS = {
    "type": "object",
    "properties": {
        "when": {"type": "string", "description": "When it begins."},
        "colour": {"type": "string", "enum": ["red", "blue"], "description": "Its colour."},
        "place": {**PLACE, "description": "Where it is."},
    },
    "required": ["when", "colour", "place"],
}


@pytest.fixture(params=["def", "async def"])
def planner(request: pytest.FixtureRequest, write: Write) -> Tooler:
    code = PLAN.format(keyword=request.param)
    registry = ToolRegistry.from_directory(
        write("plan", manifest_of("plan", parameters=PLAN_PARAMETERS), code).parent
    )
    registry.report.raise_if_errors()
    return Tooler(registry)


@each_way
def test_arguments_become_what_the_annotations_of_a_folder_say(call: Call, planner: Tooler) -> None:
    given = {"when": "2026-01-31T12:00:00", "colour": "red", "place": {"city": "Rome"}}
    assert call(planner, "plan", given).value == [2026, "RED", "Rome", 0]


@each_way
def test_arguments_that_do_not_convert_are_listed(call: Call, planner: Tooler) -> None:
    given = {"when": "soon", "colour": "red", "place": {"city": "Rome", "floor": 2}}
    result = call(planner, "plan", given)
    assert said(result)[0] == "invalid_arguments"
    assert result.error is not None
    (detail,) = result.error.details
    assert detail.path == "$.when"
    assert detail.message.endswith('not "soon"')
    assert result.error.message == f"invalid arguments for plan:\n- when: {detail.message}"


@each_way
@each_function
@check_each(
    ("value", "message"),
    [
        ("text", 'result must be an object, not the string "text"'),
        ({}, "result lacks 'rows'"),
        ({"rows": [1, "two"]}, 'result.rows[1] must be an integer, not the string "two"'),
    ],
    ids=str,
)
def test_a_result_that_breaks_the_output_schema_is_none(
    call: Call, kind: Any, value: Any, message: str
) -> None:
    rows = {"type": "array", "items": {"type": "integer"}}
    schema = {**properties(rows=rows), "required": ["rows"]}
    definition = definition_of(kind(giving(value)), output_schema=schema)
    assert said(call(tooler(definition), "echo", {"text": "a"})) == ("invalid_result", message)


@each_way
@each_function
def test_a_long_result_is_cut(call: Call, kind: Any) -> None:
    dispatcher = tooler(definition_of(kind(echo)), max_result_bytes=100)
    result = call(dispatcher, "echo", {"text": "x" * 1000})
    assert len(result.value.encode()) <= 100
    assert re.match("x{20,}…", result.value)
    assert call(dispatcher, "echo", {"text": "x" * 100}).value == "x" * 100


CONTENTS = [
    (Image(PNG), (Image(PNG),)),
    (Text("a"), (Text("a"),)),
    (["a", Image(PNG), {"b": 1}], (Text("a"), Image(PNG), Text('{"b":1}'))),
]


@each_way
@each_function
@each_place
@check_each(("value", "content"), CONTENTS)
def test_content_stands_in_the_result_and_as_json_in_its_value(
    call: Call, kind: Any, mode: Any, value: Any, content: Any
) -> None:
    dispatcher = tooler(definition_of(kind(giving(value))))
    for _ in range(2):  # the second time on the short way
        result = call(dispatcher, "echo", {"text": "a"}, **({"mode": mode} if mode else {}))
        assert result.content == content
        assert result.value == [block.to_json() for block in content]


def numbers(text: str) -> Iterator[int]:
    yield 1
    yield 2


async def numbers_later(text: str) -> AsyncIterator[int]:
    yield 1
    yield 2


def hidden(text: str) -> Any:
    return later(echo)(text)


async def hidden_later(text: str) -> Any:
    return numbers(text)


def stopping(text: str) -> Any:
    raise StopIteration(text)


def leaving(text: str) -> Any:
    raise SystemExit(text)


WAYS = [echo, failing, refusing, numbers, numbers_later, hidden, hidden_later, stopping, leaving]
WAYS += [later(each) for each in (echo, failing, refusing)]
