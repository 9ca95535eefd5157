"""Drives a turn, on an event loop or without one, and yields the events on its way.

A turn is a generator of requests: it gets back what came of each, and knows nothing of threads or
event loops. A generator, unlike a coroutine, is closed at once when a stream is dropped, so
that the conversation is whole and free for the next turn.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import aclosing, closing
from functools import partial
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

from sovl_tools.agent.answer import Draft
from sovl_tools.agent.errors import reading_answer
from sovl_tools.agent.events import Event, TextDelta
from sovl_tools.dispatch.async_runner import await_thread
from sovl_tools.dispatch.background import iterate_in_background, run_in_background
from sovl_tools.threads import start

_T = TypeVar("_T")


class Apply(NamedTuple):
    """Call a function of the user's, sync or async; its value comes back."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class Ask(NamedTuple):
    """Ask a provider by a method of its client, sync or async; its response comes back."""

    method: Callable[..., Any]
    body: dict[str, Any]


class Listen(NamedTuple):
    """Ask a provider for a stream, which a draft takes in; nothing comes back."""

    method: Callable[..., Any]
    body: dict[str, Any]
    draft: Draft


class Work(NamedTuple):
    """Exhaust an async generator of events; nothing comes back."""

    events: Callable[[], AsyncGenerator[Event, None]]


class Tell(NamedTuple):
    """Pass an event on; nothing comes back."""

    event: Event


Request: TypeAlias = Apply | Ask | Listen | Work | Tell
Steps: TypeAlias = Generator[Request, Any, None]


class _SyncRunner:
    """Blocks the caller's thread and never suspends; what is async runs on a loop elsewhere."""

    async def block(self, function: Callable[[], _T]) -> _T:
        return function()

    async def wait(self, work: Awaitable[_T]) -> _T:
        # In a coroutine, since a loop takes nothing else that can be awaited.
        return run_in_background(_AsyncRunner().wait(work))

    async def each(self, items: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
        with closing(iterate_in_background(items)) as found:  # type: ignore[type-var]  # it is a generator
            for item in found:
                yield item


class _AsyncRunner:
    """Keeps the caller's loop free: what may block runs on a thread."""

    async def block(self, function: Callable[[], _T]) -> _T:
        return await await_thread(function)

    async def wait(self, work: Awaitable[_T]) -> _T:
        return await work

    async def each(self, items: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
        async with aclosing(items):
            async for item in items:
                yield item


_Runner: TypeAlias = _SyncRunner | _AsyncRunner


def in_async(turn: Steps) -> AsyncGenerator[Event, None]:
    """Drive a turn on the caller's loop; sync clients are asked on a thread."""
    return _drive(turn, _AsyncRunner())


def in_sync(turn: Steps) -> Generator[Event, None, None]:
    """Drive a turn in the caller's thread; what is async runs on a loop in the background."""
    # This runner never suspends, so that the async generator can be stepped without a loop.
    events = _drive(turn, _SyncRunner())

    async def following() -> Event | None:
        return await anext(events, None)

    async def close() -> None:
        await events.aclose()

    try:
        while (event := _without_loop(following())) is not None:
            yield event
    finally:
        _without_loop(close())


def _without_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends."""
    try:
        work.send(None)
    except StopIteration as end:
        value: _T = end.value
        return value
    raise RuntimeError("something was awaited where there is no event loop")


async def _drive(turn: Steps, runner: _Runner) -> AsyncGenerator[Event, None]:
    resume = partial(turn.send, None)
    with closing(turn):
        while True:
            try:
                request = resume()
            except StopIteration:
                return
            reply: Any = None
            try:
                if isinstance(request, Tell):
                    yield request.event
                elif isinstance(request, Apply | Ask):
                    if isinstance(request, Apply):
                        reply = request.function(*request.arguments)
                    else:
                        ask = partial(request.method, **request.body)
                        # A sync client blocks; an async one only makes a coroutine here.
                        reply = ask() if _is_async(ask.func) else await runner.block(ask)
                    reply = await runner.wait(reply) if inspect.isawaitable(reply) else reply
                else:
                    if isinstance(request, Work):
                        events = runner.each(request.events())
                    else:
                        events = _text_deltas(request, runner)
                    async with aclosing(events):
                        async for event in events:
                            yield event
                resume = partial(turn.send, reply)
            except Exception as error:  # noqa: BLE001 - the turn decides what becomes of it
                resume = partial(turn.throw, error)


def _is_async(method: Callable[..., Any]) -> bool:
    """Tell whether a method has to be awaited, also if a decorator hides that."""
    return inspect.iscoroutinefunction(inspect.unwrap(method))


async def _text_deltas(request: Listen, runner: _Runner) -> AsyncGenerator[Event, None]:
    async with aclosing(_chunks(request, runner)) as chunks:
        async for chunk in chunks:
            with reading_answer():
                text = request.draft.feed(chunk)
            if text:
                yield TextDelta(text)


async def _chunks(request: Listen, runner: _Runner) -> AsyncGenerator[Any, None]:
    """Yield what a client streams; an async one is asked, read and closed on one loop."""
    stream: Any = None
    if not _is_async(request.method):
        stream = await runner.block(partial(request.method, **request.body))
        # A plain function may wrap an async client: then what it returns is async after all.
        if not (inspect.isawaitable(stream) or hasattr(stream, "__aiter__")):
            with reading_answer():
                chunks, end = iter(stream), object()
            try:
                # next() with a default, since StopIteration can't pass a coroutine.
                while (chunk := await runner.block(partial(next, chunks, end))) is not end:
                    yield chunk
            finally:
                close = getattr(stream, "close", None) or (lambda: None)
                if isinstance(runner, _SyncRunner):
                    close()
                else:  # nobody waits for the end: a turn that is cancelled could not
                    start(close, lambda _value, _error: None)
            return
    async with aclosing(runner.each(_async_chunks(request, stream))) as items:
        async for chunk in items:
            yield chunk


async def _async_chunks(request: Listen, stream: Any) -> AsyncGenerator[Any, None]:
    stream = request.method(**request.body) if stream is None else stream
    stream = await stream if inspect.isawaitable(stream) else stream
    if not hasattr(stream, "__aiter__"):  # awaited for a list, as fakes of clients are
        with reading_answer():
            chunks = iter(stream)
        for chunk in chunks:
            yield chunk
        return
    try:
        async for chunk in stream:
            yield chunk
    finally:
        # Streams of SDKs have close, async generators aclose; the connection is free only then.
        close = getattr(stream, "close", None) or getattr(stream, "aclose", None)
        if close is not None:
            await close()


class AgentStream:
    """The events of a turn, for ``async for`` and ``for``; the turn begins with the loop."""

    def __init__(self, turn: Callable[[], Steps]) -> None:
        self._turn = turn

    def __aiter__(self) -> AsyncEvents:
        """Begin the turn and yield its events; closing it early cancels the turn."""
        return AsyncEvents(self._turn())

    def __iter__(self) -> Iterator[Event]:
        """Begin the turn and yield its events; closing it early cancels the turn."""
        return in_sync(self._turn())


class AsyncEvents(AsyncIterator[Event]):
    """The events of a turn that is under way.

    A loop that is left drops them. An async generator would be closed at some later time then,
    but the conversation has to be whole and free at once for the next message.
    """

    def __init__(self, turn: Steps) -> None:
        self._turn = turn
        self._events = in_async(turn)

    def __aiter__(self) -> Self:
        """Return the same events."""
        return self

    async def __anext__(self) -> Event:
        """Return the next event."""
        return await anext(self._events)

    async def aclose(self) -> None:
        """Cancel the turn, unless it is over, and wait until nothing of it runs any more."""
        await self._events.aclose()

    def __del__(self) -> None:
        self._turn.close()
