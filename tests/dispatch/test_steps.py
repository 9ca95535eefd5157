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
@each_place
def test_arguments_pass_through_preprocess_and_values_through_postprocess(
    call: Call, kind: Any, step: Any, mode: Any
) -> None:
    definition = replace(
        tool(kind(echo), TEXT, name="echo"),
        preprocess=step(lambda arguments: {"text": arguments["text"] + " before"}),
        postprocess=step(lambda value: f"{value} after"),
    )
    assert call(tooler(definition), "echo", {"text": "a"}, mode=mode).value == "a before after"


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
@check_each("place", ["preprocess", "postprocess"])
@check_each(
    ("function", "message"), [(failing, "ValueError: broken"), (refusing, "say it otherwise")]
)
def test_an_exception_in_either_step_is_a_tool_error(
    call: Call, step: Any, place: str, function: Any, message: str
) -> None:
    definition = definition_of(**{place: step(function)})
    assert said(call(tooler(definition), "echo", {"text": "a"})) == ("tool_error", message)


@each_way
@each_function
def test_postprocess_sees_successes_only(call: Call, kind: Any) -> None:
    seen: list[Any] = []
    definition = definition_of(kind(refusing), postprocess=seen.append)
    assert said(call(tooler(definition), "echo", {"text": "a"})) == (
        "tool_error",
        "say it otherwise",
    )
    assert seen == []


@each_way
@each_place
@check_each("place", ["preprocess", "postprocess"])
@check_each("error", [StopIteration, GeneratorExit, SystemExit])
def test_an_exception_that_is_special_to_python_is_a_tool_error_too(
    call: Call, place: str, error: type[BaseException], mode: Any
) -> None:
    def leave(_: Any) -> Any:
        raise error("end")

    message = f"{error.__name__}: end"
    result = call(tooler(definition_of(**{place: leave})), "echo", {"text": "a"}, mode=mode)
    assert said(result) == ("tool_error", message)


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


@each_way
@each_function
def test_a_required_argument_that_preprocess_leaves_out_is_named(call: Call, kind: Any) -> None:
    def take(first: str, second: str, third: str = "") -> str:
        return first + second + third

    async def take_later(first: str, second: str, third: str = "") -> str:
        return first + second + third

    schema = properties(**{name: {"default": "x"} for name in ("first", "second", "third")})
    definition = replace(
        tool(take if kind is at_once else take_later, schema, name="take"),
        preprocess=lambda _: {},
    )
    result = call(tooler(definition), "take")
    assert said(result) == (
        "invalid_arguments",
        "invalid arguments for take:\n- first: is required\n- second: is required",
    )
    assert result.error is not None
    assert result.error.details == (
        ("$.first", "is required"),
        ("$.second", "is required"),
    )


@each_way
def test_preprocess_may_supply_an_argument_that_is_no_part_of_the_schema(call: Call) -> None:
    def take(text: str, session: str) -> str:
        return f"{text} in {session}"

    definition = definition_of(take, preprocess=lambda given: {**given, "session": "blue"})
    assert call(tooler(definition), "echo", {"text": "a"}).value == "a in blue"


@each_way
def test_what_preprocess_changes_in_place_is_not_the_callers(call: Call) -> None:
    def clear(arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["items"].clear()
        arguments["more"] = 1
        return arguments

    def count(items: list[int], more: int) -> list[int]:
        return [len(items), more]

    schema = {**properties(items={"type": "array"}), "required": ["items"]}
    definition = replace(tool(count, schema), preprocess=clear)
    given = {"items": [1, 2]}
    assert call(tooler(definition), "count", given).value == [0, 1]
    assert given == {"items": [1, 2]}


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
def test_a_result_that_keeps_to_the_output_schema_is_one(call: Call) -> None:
    definition = definition_of(output_schema={"type": "string", "minLength": 2})
    dispatcher = tooler(definition)
    assert call(dispatcher, "echo", {"text": "ab"}).value == "ab"
    assert said(call(dispatcher, "echo", {"text": "a"}))[0] == "invalid_result"


@each_way
def test_the_output_schema_is_asked_of_the_json(call: Call) -> None:
    definition = definition_of(
        giving({date(2026, 1, 31)}), output_schema={"type": "array", "maxItems": 1}
    )
    assert call(tooler(definition), "echo", {"text": "a"}).value == ["2026-01-31"]


@each_way
def test_a_tool_whose_output_schema_can_not_be_used_is_unavailable(call: Call) -> None:
    result = call(tooler(definition_of(output_schema={"type": "text"})), "echo", {"text": "a"})
    kind, message = said(result)
    assert kind == "unavailable"
    assert message.startswith("tool 'echo' is not available: its output_schema can't be used: ")


@each_way
@each_function
def test_a_long_result_is_cut(call: Call, kind: Any) -> None:
    dispatcher = tooler(definition_of(kind(echo)), max_result_bytes=100)
    result = call(dispatcher, "echo", {"text": "x" * 1000})
    assert len(result.value.encode()) <= 100
    assert re.match("x{20,}…", result.value)
    assert call(dispatcher, "echo", {"text": "x" * 100}).value == "x" * 100


@each_way
def test_what_a_tool_says_of_its_longest_result_wins(call: Call) -> None:
    definition = replace(definition_of(), execution={"max_result_bytes": 50})
    value = call(tooler(definition, max_result_bytes=500), "echo", {"text": "x" * 1000}).value
    assert len(value.encode()) <= 50
    wider = replace(definition_of(), execution={"max_result_bytes": 500})
    value = call(tooler(wider, max_result_bytes=50), "echo", {"text": "x" * 1000}).value
    assert 50 < len(value.encode()) <= 500


@each_way
def test_content_that_can_not_be_cut_is_no_result_if_it_is_too_long(call: Call) -> None:
    definition = definition_of(lambda text: [text, Image(PNG)])
    result = call(tooler(definition, max_result_bytes=10), "echo", {"text": "a"})
    assert said(result)[0] == "invalid_result"


CONTENTS = [
    (Image(PNG), (Image(PNG),)),
    (Text("a"), (Text("a"),)),
    (["a", Image(PNG), {"b": 1}], (Text("a"), Image(PNG), Text('{"b":1}'))),
    ((Text("a"), Text("b")), (Text("a"), Text("b"))),
]


@each_way
@each_function
@each_place
@check_each(("value", "content"), CONTENTS, ids=["image", "text", "mixed", "texts"])
def test_content_stands_in_the_result_and_as_json_in_its_value(
    call: Call, kind: Any, mode: Any, value: Any, content: Any
) -> None:
    dispatcher = tooler(definition_of(kind(giving(value))))
    for _ in range(2):  # the second time on the short way
        result = call(dispatcher, "echo", {"text": "a"}, **({"mode": mode} if mode else {}))
        assert result.content == content
        assert result.value == [block.to_json() for block in content]


ODD = [
    (object(), "result is an object, which isn't JSON"),
    ({"a": [1, object()]}, "result.a[1] is an object, which isn't JSON"),
    ([float("nan")], "result[0] is nan, which isn't a JSON number"),
    ({1: "a", "1": "b"}, "result has two keys that become '1'"),
]


@each_way
@each_function
@each_place
@check_each(("value", "message"), ODD, ids=["itself", "inside", "number", "keys"])
def test_a_result_that_is_no_json_is_none_and_its_place_is_named(
    call: Call, kind: Any, mode: Any, value: Any, message: str
) -> None:
    dispatcher = tooler(definition_of(kind(giving(value))))
    options = {"mode": mode} if mode else {}
    for _ in range(2):
        result = call(dispatcher, "echo", {"text": "a"}, **options)
        assert said(result) == ("invalid_result", message)
    assert dispatcher.statistics()["echo"].errors == {"invalid_result": 2}


@each_way
@each_function
def test_a_result_of_another_type_is_made_json(call: Call, kind: Any) -> None:
    dispatcher = tooler(definition_of(kind(giving({"day": date(2026, 1, 31), "set": {1}}))))
    values = [call(dispatcher, "echo", {"text": "a"}).value for _ in range(2)]
    assert values == [{"day": "2026-01-31", "set": [1]}] * 2


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


@pytest.mark.unmeasured
@each_way
@check_each("limit", [None, 30])
@check_each("given", ['{"text": "a"}', {"text": "a"}, {"text": 5}, "{", None], ids=str)
@check_each("place", range(len(WAYS)))
def test_the_short_way_of_a_plain_tool_ends_where_the_long_one_does(
    call: Call, place: int, given: Any, limit: float | None
) -> None:
    short = tooler(definition_of(WAYS[place]), timeout=limit)
    seen: list[Any] = []
    long = tooler(definition_of(WAYS[place]), timeout=limit, observers=[seen.append])
    call(short, "echo", {"text": "warm"})
    found, expected = call(short, "echo", given), call(long, "echo", given)
    assert found._replace(duration=0) == expected._replace(duration=0)
    assert (short.statistics()["echo"].calls, len(seen)) == (2, 1)
