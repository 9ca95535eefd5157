from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from time import time
from typing import Any

import pytest

from sovl_tools import CallEvent, ToolCall, ToolContext, Tooler, ToolError, ToolResult
from sovl_tools.dispatch.hooks import Hook
from tests.dispatch.toolbox import TEXT, Call, Shelf, catalog_of, each_way, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


class Watch:
    """An observer that keeps what it is told, and tells when there is something."""

    def __init__(self) -> None:
        self.events: list[CallEvent] = []
        self.told = threading.Event()

    def __call__(self, event: CallEvent) -> None:
        self.events.append(event)
        self.told.set()


@pytest.fixture
def watch() -> Watch:
    return Watch()


def echo(text: str) -> str:
    return text


async def echo_later(text: str) -> str:
    await asyncio.sleep(0)
    return text


def fail(text: str) -> None:
    raise KeyError(text)


def refuse(text: str) -> None:
    raise ToolError(text)


async def stay(text: str) -> None:
    await asyncio.Event().wait()


def odd(text: str) -> object:
    return object()


FUNCTIONS = (echo, echo_later, fail, refuse, stay, odd)
OUTCOMES = [
    ("echo", None, None),
    ("echo_later", None, None),
    ("fail", "tool_error", "KeyError"),
    ("refuse", "tool_error", "ToolError"),
    ("stay", "timeout", None),
    ("odd", "invalid_result", None),
    ("ehco", "unknown_tool", None),
    ("lost", "unavailable", None),
    ("unusable", "unavailable", None),
]


def dispatcher_of(*observers: Any, **options: Any) -> Tooler:
    tools = [tool(function, TEXT) for function in FUNCTIONS]
    tools.append(tool(echo, {"type": "text"}, name="unusable"))
    catalog = catalog_of(*tools, unavailable={"lost": ("it is lost",)})
    return Tooler(Shelf(catalog), observers=observers, **options)


@each_way
@pytest.mark.parametrize("is_hooked", [False, True])
@pytest.mark.parametrize(("name", "kind", "error_type"), OUTCOMES)
def test_an_observer_is_told_of_each_call_once(  # noqa: PLR0913
    call: Call,
    name: str,
    kind: str | None,
    error_type: str | None,
    watch: Watch,
    *,
    is_hooked: bool,
) -> None:
    hooks = [lambda call, following: (yield following(call))] if is_hooked else []
    given = {"text": "a"}
    dispatcher, before = dispatcher_of(watch, hooks=hooks), time()
    timeout = 0.02 if kind == "timeout" else 20
    for number in range(2):
        result = call(dispatcher, name, given, timeout=timeout, call_id=f"call {number}")
        event = watch.events[-1]
        assert len(watch.events) == number + 1
        assert (event.tool, event.call_id, event.arguments) == (name, f"call {number}", given)
        assert (event.kind, event.error_type) == (kind, error_type)
        assert (event.ok, event.value) == (result.ok, result.value)
        assert event.duration == result.duration
        assert before - 0.1 <= event.started <= time()
        assert not event.is_abandoned


@each_way
def test_an_observer_is_told_of_bad_arguments_as_they_were_given(call: Call, watch: Watch) -> None:
    dispatcher = dispatcher_of(watch)
    for given in ('{"text": 5}', "{", None, {"other": {1, 2}}):
        assert not call(dispatcher, "echo", given).ok
        assert watch.events[-1].kind == "invalid_arguments"
        assert watch.events[-1].arguments is given


def around(call: ToolCall, following: Any) -> Any:
    return (yield following(call))


each_hooks = pytest.mark.parametrize("hooks", [[], [around]], ids=["bare", "hooked"])


@each_hooks
@pytest.mark.parametrize("is_own", [False, True])
@pytest.mark.parametrize("is_sync", [False, True])
async def test_an_observer_is_told_of_a_cancelled_call(
    watch: Watch, hooks: Any, release: threading.Event, *, is_own: bool, is_sync: bool
) -> None:
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def wait() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait()

    async def wait_later() -> None:
        started.set()
        await asyncio.Event().wait()

    definition = tool(wait if is_sync else wait_later, name="wait")
    dispatcher = tooler(definition, observers=[watch], hooks=hooks)
    task = asyncio.create_task(dispatcher.call("wait", call_id="mine"))
    await started.wait()
    if is_own:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        assert dispatcher.cancel("mine")
        result = await task
        assert result.error is not None
        assert (result.error.kind, result.error.is_abandoned) == ("cancelled", is_sync)
        assert task.cancelling() == 0
    assert [(event.kind, event.is_abandoned) for event in watch.events] == [("cancelled", is_sync)]
    statistics = dispatcher.statistics()["wait"]
    assert (statistics.errors, statistics.abandoned) == ({"cancelled": 1}, is_sync)


def test_an_observer_is_told_once_of_a_call_whose_loop_was_given_up(
    watch: Watch, release: threading.Event
) -> None:
    threads: list[threading.Thread] = []

    async def block(context: ToolContext) -> bool:
        threads.append(threading.current_thread())
        release.wait()
        return context.cancelled

    dispatcher = tooler(block, observers=[watch])
    result = dispatcher.call_sync("block", timeout=0.01, call_id="mine")
    assert result.error is not None
    assert (result.error.kind, result.error.is_abandoned) == ("timeout", True)
    release.set()
    threads[0].join(PATIENCE)  # the call has ended there as well
    assert [(event.kind, event.is_abandoned) for event in watch.events] == [("timeout", True)]
    assert dispatcher.statistics()["block"].calls == 1


@each_way
def test_an_observer_that_fails_disturbs_nobody(
    call: Call, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_event: CallEvent) -> None:
        raise ValueError("no disk")

    dispatcher = dispatcher_of(broken, watch)
    assert call(dispatcher, "echo", {"text": "a"}).value == "a"
    assert not call(dispatcher, "fail", {"text": "a"}).ok
    assert [event.tool for event in watch.events] == ["echo", "fail"]
    logged = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert [each.getMessage() for each in logged] == [
        "an observer failed at a call of echo",
        "an observer failed at a call of fail",
    ]
    assert "no disk" in caplog.text


class Span:
    """An observer that stands around each call as well."""

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def __call__(self, event: CallEvent) -> None:
        self._seen.append(f"told of {event.tool}")

    def hook(self, call: ToolCall, following: Any) -> Any:
        self._seen.append("outermost before")
        result: ToolResult = yield following(call)
        self._seen.append("outermost after")
        return result


@each_way
@pytest.mark.parametrize("is_made", [False, True])
def test_the_hook_of_an_observer_is_the_outermost(call: Call, *, is_made: bool) -> None:
    seen: list[str] = []
    span: Any = Span(seen)
    if is_made:
        span.hook = Hook(span.hook)

    def inner(call: ToolCall, following: Any) -> Any:
        seen.append("inner before")
        result: ToolResult = yield following(call)
        seen.append("inner after")
        return result

    assert call(dispatcher_of(span, hooks=[inner]), "echo", {"text": "a"}).ok
    assert seen == [
        "outermost before",
        "inner before",
        "inner after",
        "outermost after",
        "told of echo",
    ]


@each_way
def test_statistics_count_each_kind(call: Call, release: threading.Event) -> None:
    def wait(text: str) -> None:
        release.wait()

    tools = [tool(each, TEXT) for each in (*FUNCTIONS, wait)]
    dispatcher = tooler(*tools)
    for name in ("echo", "echo_later", "fail", "refuse", "odd"):
        for _ in range(3):
            call(dispatcher, name, {"text": "a"})
        call(dispatcher, name, {"text": 5})
    for name in ("stay", "wait"):
        call(dispatcher, name, {"text": "a"}, timeout=0.01)
    call(dispatcher, "absent")
    found = dispatcher.statistics()
    counts = {name: (each.calls, each.errors, each.abandoned) for name, each in found.items()}
    assert counts == {
        "echo": (4, {"invalid_arguments": 1}, 0),
        "echo_later": (4, {"invalid_arguments": 1}, 0),
        "fail": (4, {"tool_error": 3, "invalid_arguments": 1}, 0),
        "refuse": (4, {"tool_error": 3, "invalid_arguments": 1}, 0),
        "odd": (4, {"invalid_result": 3, "invalid_arguments": 1}, 0),
        "stay": (1, {"timeout": 1}, 0),
        "wait": (1, {"timeout": 1}, 1),
    }


@check_each(
    ("options", "words"),
    [
        ({"timeout": 0}, "timeout must be more than 0 seconds and finite, not 0"),
        ({"mode": "porcess"}, "mode must be None, 'inline', 'thread' or 'process', not 'porcess'"),
        ({"max_processes": 0}, "max_processes must be at least 1, not 0"),
        ({"coerce": "lax"}, "coerce must be 'strict' or 'lenient', not 'lax'"),
        ({"max_threads": 0}, "max_threads must be at least 1, not 0"),
        ({"max_result_bytes": 0}, "max_result_bytes must be at least 1, not 0"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused_at_once(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        tooler(**options)


async def observe_later(_event: CallEvent) -> None:
    raise AssertionError


@check_each("observer", [5, observe_later])
def test_an_observer_that_can_not_be_told_is_refused_at_once(observer: Any) -> None:
    with pytest.raises(TypeError, match="an observer must be a sync function"):
        tooler(observers=[observer])
