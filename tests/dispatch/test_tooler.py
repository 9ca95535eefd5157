from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import Call, Shelf, catalog_of, each_way, properties, tool, tooler
from tests.tables import check_each

TEXT = {**properties(text={"type": "string"}), "required": ["text"]}


def echo(text: str) -> str:
    return text


async def echo_later(text: str) -> str:
    await asyncio.sleep(0)
    return text


class Echo:
    def __call__(self, text: str) -> str:
        return text


class EchoLater:
    async def __call__(self, text: str) -> str:
        return text


@each_way
@check_each(
    "function",
    [
        echo,
        echo_later,
        Echo(),
        EchoLater(),
        Echo().__call__,
        functools.partial(echo),
        functools.partial(echo_later),
        lambda text: echo_later(text),  # noqa: PLW0108 - a sync function that returns a coroutine
    ],
)
@check_each("timeout", [None, 30])
def test_a_call_has_the_value_of_the_function(
    call: Call, function: Any, timeout: float | None
) -> None:
    result = call(tooler(tool(function, TEXT, name="echo")), "echo", {"text": "a"}, timeout=timeout)
    assert (result.tool, result.value, result.error) == ("echo", "a", None)
    assert result.ok
    assert 0 <= result.duration < 30


def numbers() -> Iterator[int]:
    yield 1
    yield 2


async def numbers_later() -> AsyncIterator[int]:
    yield 1
    yield 2


def returned() -> AsyncIterator[int]:
    return numbers_later()


class Promise:
    def __await__(self) -> Generator[Any, None, list[int]]:
        yield from asyncio.sleep(0).__await__()
        return [1, 2]


def promised() -> Awaitable[list[int]]:
    return Promise()


@each_way
@check_each("timeout", [None, 30])
@check_each("function", [numbers, numbers_later, returned, promised])
def test_what_is_no_value_yet_becomes_one(call: Call, function: Any, timeout: float | None) -> None:
    result = call(tooler(function), function.__name__, timeout=timeout)
    assert (result.value, result.error) == ([1, 2], None)


@each_way
@check_each("value", [None, [1, 2], {"a": {"b": [1.5]}}, "text", 5, True], ids=str)
def test_a_value_that_is_json_stays_the_very_object(call: Call, value: Any) -> None:
    def give() -> Any:
        return value

    assert call(tooler(give), "give").value is value


@each_way
def test_bad_arguments_never_reach_the_function(call: Call) -> None:
    calls: list[str] = []
    result = call(tooler(tool(calls.append, TEXT, name="append")), "append", {"text": 5})
    assert result.error is not None
    assert (result.ok, result.value, result.error.kind) == (False, None, "invalid_arguments")
    assert result.error.details == (("$.text", "must be a string, not the integer 5"),)
    assert calls == []


@each_way
def test_an_unknown_tool_is_answered_with_a_suggestion(call: Call) -> None:
    result = call(tooler(tool(echo, TEXT)), "ehco", {"text": "a"})
    assert str(result.error) == "there's no tool 'ehco'; did you mean 'echo'?"
    assert result.error is not None
    assert result.error.kind == "unknown_tool"


@each_way
def test_a_tool_whose_parameters_can_not_be_used_is_unavailable(call: Call) -> None:
    result = call(tooler(tool(echo, {"type": "text"})), "echo")
    assert result.error is not None
    assert result.error.kind == "unavailable"
    assert "its parameters can't be used" in result.error.message


@each_way
def test_a_tool_that_was_replaced_is_looked_up_anew(call: Call) -> None:
    shelf = Shelf(catalog_of(tool(lambda: 1, name="count")))
    dispatcher = Tooler(shelf)
    values = [call(dispatcher, "count").value]
    shelf.catalog = catalog_of(tool(lambda: 2, name="count"))
    values.append(call(dispatcher, "count").value)
    shelf.catalog = catalog_of()
    assert values == [1, 2]
    assert not call(dispatcher, "count").ok


@each_way
def test_a_folder_that_can_not_be_called_says_why(
    call: Call, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOVL_TEST_KEY", raising=False)
    write("echo")
    write("off", manifest_of("off", enabled=False))
    write("needy", manifest_of("needy", requires={"env": ["SOVL_TEST_KEY"]}))
    tools = write("broken", code="def broken(text) return text").parent
    dispatcher = Tooler(ToolRegistry.from_directory(tools))
    said = {name: str(call(dispatcher, name, {"text": "a"}).error) for name in ("off", "needy")}
    assert said == {
        "off": "tool 'off' is not available: its manifest says \"enabled\": false",
        "needy": "tool 'needy' is not available: the environment variable SOVL_TEST_KEY is not set",
    }
    rejected = str(call(dispatcher, "broken").error)
    assert rejected.startswith(f"tool 'broken' is not available: {tools}/broken/broken.py:1:")
    assert "ST502" in rejected
    assert call(dispatcher, "echo", {"text": "a"}).value == "a"


def test_the_path_of_a_directory_will_do(write: Write, tmp_path: Path) -> None:
    write("echo")
    for path in (str(tmp_path / "tools"), tmp_path / "tools"):
        assert Tooler(path).call_sync("echo", {"text": "hi"}).value == "hi"
    with pytest.raises(ValueError, match=r"^there's no tools directory 'nowhere'$"):
        Tooler("nowhere")


@each_way
@check_each("name", [None, 5, ["x"], {}])
def test_a_name_that_is_no_string_is_an_unknown_tool(call: Call, name: Any) -> None:
    failure = call(tooler(), name).error
    assert failure is not None
    assert failure.kind == "unknown_tool"
