"""Tools that bite when they are called."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, cast

from sovl_tools import ToolError
from sovl_tools.model.errors import TimeLimitError
from tests.dispatch.toolbox import Call, each_way, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


class ExitingError(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        if name == "__name__":
            raise ValueError(name)
        return super().__getattribute__(name)


class NamelessError(Exception, metaclass=Meta):
    pass


class BitingError(BaseException):
    pass


def bite(*_: object) -> Any:
    raise BitingError


def claiming(kind: type[BaseException]) -> type[Exception]:
    """Return a class of exceptions that say they are of another."""
    return type(f"Claiming{kind.__name__}", (Exception,), {"__class__": property(lambda _: kind)})


BitingText: type[str] = type(
    "BitingText", (str,), dict.fromkeys(("__len__", "__format__", "__eq__", "__hash__"), bite)
)


def saying(text: Any) -> type[Exception]:
    """Return a class of exceptions whose text that is."""
    return type("SayingError", (Exception,), {"__str__": lambda _: text})


BITING: list[Callable[[], BaseException]] = [
    ExitingError,
    NamelessError,
    *map(claiming, (KeyboardInterrupt, asyncio.CancelledError, TimeLimitError, ToolError)),
    *map(saying, (BitingText("it bites"), 5, "\ud800")),
    lambda: TimeLimitError(cast("Any", None)),
    *(
        type(f"Biting{name}", (Exception,), {name: property(bite)})
        for name in ("__class__", "__traceback__", "args")
    ),
    *(
        type(f"Biting{name}", (Exception,), {name: bite})
        for name in ("__getattribute__", "__setattr__", "__eq__", "__hash__", "with_traceback")
    ),
    BitingError,
    SystemExit,
    GeneratorExit,
    StopIteration,
    StopAsyncIteration,
    asyncio.CancelledError,
    RecursionError,
    partial(ToolError, "\ud800"),
    partial(BaseExceptionGroup, "g", [KeyboardInterrupt()]),
]


def forms_of(act: Callable[[], Any]) -> list[Callable[[], Any]]:
    """Return tools of each kind that do it."""

    def plain() -> Any:
        return act()

    def generator() -> Iterator[Any]:
        yield act()

    async def coroutine() -> Any:
        return act()

    async def suspending() -> Any:
        await asyncio.sleep(0)
        return act()

    async def async_generator() -> AsyncIterator[Any]:
        yield act()

    return [plain, generator, coroutine, suspending, async_generator]


def answer() -> int:
    return 42


@each_way
@check_each("error", BITING)
@check_each("mode", [None, "inline", "thread"])
def test_an_exception_that_bites_becomes_a_result(
    call: Call, error: Callable[[], BaseException], mode: Any
) -> None:
    def act() -> None:
        raise error()

    for biting in forms_of(act):
        tools = tooler(biting, answer)
        failure = call(tools, biting.__name__, mode=mode).error
        assert failure is not None
        assert failure.kind in {"tool_error", "timeout"}
        assert call(tools, "answer").value == 42


@each_way
@check_each("error", BITING)
def test_a_hook_that_bites_fails_a_call(call: Call, error: Callable[[], BaseException]) -> None:
    def sync(_: Any, __: Any) -> Any:
        raise error()

    async def coroutine(_: Any, __: Any) -> Any:
        raise error()

    def generator(call: Any, following: Any) -> Iterator[Any]:
        yield following(call)
        raise error()

    for hook in (sync, coroutine, generator):
        failure = call(tooler(answer, hooks=[hook]), "answer").error
        assert failure is not None
        assert failure.kind in {"tool_error", "timeout", "cancelled"}
        assert call(tooler(answer, observers=[lambda _: sync(0, 0)]), "answer").value == 42


@check_each("name", [None, 5, ["x"], {}])
@each_way
def test_a_name_that_is_no_string_is_an_unknown_tool(call: Call, name: Any) -> None:
    failure = call(tooler(), name).error
    assert failure is not None
    assert failure.kind == "unknown_tool"


@check_each("error", [SystemExit, KeyboardInterrupt])
def test_an_exit_that_a_tool_leaves_behind_ends_no_loop(error: type[BaseException]) -> None:
    async def exit_later() -> None:
        raise error

    async def leave() -> int:
        task = asyncio.create_task(exit_later())
        # keeps it until then, and asyncio need not say that nobody has looked at it
        task.add_done_callback(lambda _: task.exception())
        return 1

    async def wait() -> int:
        await asyncio.sleep(0)
        return 2

    calls = tooler(leave, wait)
    for _ in range(2):
        assert calls.call_sync("leave", timeout=PATIENCE).value == 1
        assert calls.call_sync("wait", timeout=PATIENCE).value == 2


def test_a_tool_that_stops_its_loop_stops_no_other() -> None:
    async def stop() -> int:
        asyncio.get_running_loop().stop()
        return 1

    calls = tooler(stop)
    assert [calls.call_sync("stop").value for _ in range(2)] == [1, 1]


def test_an_async_tool_that_blocks_its_loop_is_given_up() -> None:
    release = threading.Event()

    async def block() -> bool:
        return release.wait(60)

    async def quick() -> str:
        return "done"

    calls = tooler(block, quick)
    failure = calls.call_sync("block", timeout=0.1).error
    assert failure is not None
    assert failure.kind == "timeout"
    assert calls.call_sync("quick", timeout=PATIENCE).value == "done"
    release.set()


def test_a_loop_that_was_given_up_ends_when_its_tool_does() -> None:
    release, threads = threading.Event(), []

    async def block() -> None:
        threads.append(threading.current_thread())
        release.wait(60)

    failure = tooler(block).call_sync("block", timeout=0.1).error
    assert failure is not None
    release.set()
    threads[0].join(PATIENCE)
    assert not threads[0].is_alive()
