from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError

import pytest

from sovl_tools import ToolDefinition
from tests.tables import check_each

PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}


def echo(text: str = "nothing") -> str:
    return text


async def echo_later(text: str) -> str:
    return text


def test_executing_calls_the_bare_function() -> None:
    definition = ToolDefinition("echo", "Say it.", PARAMETERS, echo)
    assert definition.execute() == "nothing"
    assert definition.execute(text=5) == 5


def test_executing_an_async_tool_gives_an_awaitable() -> None:
    definition = ToolDefinition("echo", "Say it.", PARAMETERS, echo_later)
    assert asyncio.run(definition.execute(text="a")) == "a"


def test_a_parameter_may_be_called_self() -> None:
    definition = ToolDefinition("echo", "Say it.", {}, lambda self: self)
    assert definition.execute(self="a") == "a"


def test_the_neutral_definition_is_the_callers_own() -> None:
    definition = ToolDefinition("echo", "Say it.", PARAMETERS, echo)
    definition.to_schema()["parameters"]["properties"]["text"]["type"] = "integer"
    definition.to_schema()["parameters"]["properties"].clear()
    assert definition.parameters == {
        "type": "object",
        "properties": {"text": {"type": "string"}},
    }


def test_the_neutral_definition_has_three_keys() -> None:
    definition = ToolDefinition("echo", "Say it.", PARAMETERS, echo, tags=("io",), version="1")
    assert definition.to_schema() == {
        "name": "echo",
        "description": "Say it.",
        "parameters": PARAMETERS,
    }


@check_each(
    ("source", "text"),
    [
        ("tools/echo", "<ToolDefinition 'echo' from tools/echo>"),
        ("", "<ToolDefinition 'echo' from code>"),
    ],
)
def test_a_definition_shows_its_name_and_where_it_comes_from(source: str, text: str) -> None:
    assert repr(ToolDefinition("echo", "", PARAMETERS, echo, source=source)) == text


def test_a_definition_is_equal_only_to_itself() -> None:
    first, second = (ToolDefinition("echo", "", PARAMETERS, echo) for _ in range(2))
    assert first == first  # noqa: PLR0124 - identity is what is tested
    assert first != second
    assert len({first, second}) == 2


def test_a_definition_does_not_change() -> None:
    definition = ToolDefinition("echo", "", PARAMETERS, echo)
    with pytest.raises(FrozenInstanceError):
        definition.name = "other"  # type: ignore[misc]  # what is tested
