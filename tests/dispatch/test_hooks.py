from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from typing import Any

import pytest

from sovl_tools import ToolCall, ToolResult, hook
from sovl_tools.dispatch.hooks import Pause
from tests.dispatch.toolbox import TEXT, Call, each_way, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each

Next = Callable[[ToolCall], ToolResult]
NextLater = Callable[[ToolCall], Awaitable[ToolResult]]


def echo(text: str) -> str:
    return text


async def echo_later(text: str) -> str:
    await asyncio.sleep(0)
    return text


def shout(call: ToolCall, following: Next) -> ToolResult:
    result = following(call)
    return result._replace(value=result.value.upper())


async def shout_later(call: ToolCall, following: NextLater) -> ToolResult:
    result = await following(call)
    return result._replace(value=result.value.upper())


def shout_anywhere(call: ToolCall, following: Any) -> Generator[Any, Any, ToolResult]:
    yield Pause(0)
    result: ToolResult = yield following(call)
    return result._replace(value=result.value.upper())


class Shout:
    def __call__(self, call: ToolCall, following: Next) -> ToolResult:
        return shout(call, following)


each_form = check_each(
    "form", [shout, shout_later, shout_anywhere, Shout()], ids=["sync", "async", "either", "object"]
)
each_tool = pytest.mark.parametrize("function", [echo, echo_later])


@each_way
@each_form
@each_tool
def test_a_hook_of_any_form_stands_around_a_tool_of_any_form(
    call: Call, form: Any, function: Any
) -> None:
    dispatcher = tooler(tool(function, TEXT, name="echo"), hooks=[form])
    assert call(dispatcher, "echo", {"text": "a"}).value == "A"


def naming(name: str, seen: list[str]) -> Any:
    def note(call: ToolCall, following: Any) -> Generator[Any, Any, ToolResult]:
        seen.append(f"{name} before")
        result: ToolResult = yield following(call)
        seen.append(f"{name} after")
        return result

    return note


@each_way
@each_tool
def test_sync_async_and_generator_hooks_stand_around_one_another(call: Call, function: Any) -> None:
    seen: list[str] = []

    async def last(call: ToolCall, following: NextLater) -> ToolResult:
        seen.append("async")
        return await following(call)

    def middle(call: ToolCall, following: Next) -> ToolResult:
        seen.append("sync")
        return following(call)

    around = [naming("either", seen), last, middle, shout_anywhere]
    dispatcher = tooler(tool(function, TEXT, name="echo"), hooks=around)
    assert call(dispatcher, "echo", {"text": "x"}).value == "X"
    assert seen == ["either before", "async", "sync", "either after"]


@each_way
def test_a_hook_sees_the_call_with_defaults_filled_in(call: Call) -> None:
    calls: list[ToolCall] = []

    def see(call: ToolCall, following: Next) -> ToolResult:
        calls.append(call)
        return following(call)

    schema = {"type": "object", "properties": {"text": {"type": "string", "default": "hello"}}}
    dispatcher = tooler(tool(echo, schema), hooks=[see])
    assert call(dispatcher, "echo", "{}", call_id="mine").value == "hello"
    (seen,) = calls
    assert (seen.name, seen.arguments, seen.call_id) == ("echo", {"text": "hello"}, "mine")
    assert seen.tool.function is echo
    assert seen.chain == ("echo",)


@each_way
def test_a_hook_is_not_asked_about_a_call_that_can_not_be(call: Call) -> None:
    seen: list[str] = []
    dispatcher = tooler(tool(echo, TEXT), hooks=[naming("a", seen)])
    kinds = [call(dispatcher, name).error for name in ("echo", "absent")]
    assert [error and error.kind for error in kinds] == ["invalid_arguments", "unknown_tool"]
    assert seen == []


@each_way
def test_a_hook_may_answer_in_the_place_of_the_tool(call: Call) -> None:
    def refuse(call: ToolCall, _following: Next) -> ToolResult:
        return ToolResult("another", "no", None, 99.0)

    result = call(tooler(tool(echo, TEXT), hooks=[refuse]), "echo", {"text": "x"})
    assert (result.tool, result.value) == ("echo", "no")
    assert result.duration < 99


@each_way
@pytest.mark.parametrize("given", [{"text": "B"}, {"text": 5}], ids=str)
def test_arguments_that_a_hook_changes_are_checked_again(call: Call, given: Any) -> None:
    def change(call: ToolCall, following: Next) -> ToolResult:
        return following(call.with_arguments(given))

    result = call(tooler(tool(echo, TEXT), hooks=[change]), "echo", {"text": "a"})
    if result.error is None:
        assert result.value == "B"
    else:
        assert (given, result.error.kind) == ({"text": 5}, "invalid_arguments")


@each_way
@each_form
def test_a_hook_for_some_tools_leaves_the_others_alone(call: Call, form: Any) -> None:
    tools = [tool(echo, TEXT, name=name) for name in ("loud_echo", "soft_echo", "whisper")]
    dispatcher = tooler(*tools, hooks=[hook(tools=["loud_*", "whisper"])(form)])
    found = {each.name: call(dispatcher, each.name, {"text": "a"}).value for each in tools}
    assert found == {"loud_echo": "A", "soft_echo": "a", "whisper": "A"}


READ_ONLY = "'mappingproxy' object does not support item assignment"


def broken(_call: ToolCall, _following: Next) -> ToolResult:
    raise KeyError("key")


def leaving(_call: ToolCall, _following: Next) -> ToolResult:
    raise SystemExit(3)


def aimless(_call: ToolCall, _following: Next) -> Any:
    return "text"


def meddling(call: ToolCall, following: Next) -> Any:
    call.arguments["text"] = 5  # type: ignore[index]  # the mistake
    return following(call)


def astray(_call: ToolCall, _following: Next) -> Any:
    yield "text"


@each_way
@check_each(
    ("function", "message"),
    [
        (broken, "hook 'broken' failed: KeyError: 'key'"),
        (leaving, "hook 'leaving' failed: SystemExit: 3"),
        (aimless, "hook 'aimless' failed: TypeError: it returned 'text', not a ToolResult"),
        (
            meddling,
            f"hook 'meddling' failed: TypeError: {READ_ONLY}",
        ),
        (
            astray,
            "hook 'astray' failed: TypeError: it yielded 'text', no next(call), Pause or request",
        ),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_hook_that_fails_is_a_failure_of_the_call(
    call: Call, function: Any, message: str
) -> None:
    ran: list[str] = []

    def note(text: str) -> None:
        ran.append(text)

    result = call(tooler(tool(note, TEXT), hooks=[function]), "note", {"text": "x"})
    assert result.error is not None
    assert (result.error.kind, result.error.message) == ("tool_error", message)
    assert ran == []


MOOD = ContextVar("MOOD", default="calm")


@each_way
@each_tool
def test_context_variables_that_a_generator_hook_sets_reach_the_tool(
    call: Call, function: Any
) -> None:
    def upset(call: ToolCall, following: Any) -> Generator[Any, Any, ToolResult]:
        token = MOOD.set("upset")
        try:
            result: ToolResult = yield following(call)
        finally:
            MOOD.reset(token)
        return result

    definition = tool(MOOD.get if function is echo else mood_later, name="mood")
    assert call(tooler(definition, hooks=[upset]), "mood").value == "upset"
    assert MOOD.get() == "calm"


async def mood_later() -> str:
    await asyncio.sleep(0)
    return MOOD.get()


def test_a_pause_ends_when_the_call_is_cancelled() -> None:
    paused = threading.Event()

    def pause(_call: ToolCall, _following: Any) -> Any:
        paused.set()
        yield Pause(PATIENCE)

    dispatcher = tooler(tool(echo, TEXT), hooks=[pause])
    results: list[ToolResult] = []

    def work() -> None:
        results.append(dispatcher.call_sync("echo", {"text": "a"}, call_id="paused"))

    thread = threading.Thread(target=work)
    thread.start()
    assert paused.wait(PATIENCE)
    assert dispatcher.cancel("paused")
    thread.join(PATIENCE)
    (result,) = results
    assert result.error is not None
    assert result.error.kind == "cancelled"
    assert result.duration < PATIENCE
