"""Drives a turn, on an event loop or without one, and yields the events on its way.

A turn is a generator of requests. It receives their results, and has no threads or event
loops. A generator, unlike a coroutine, is closed at once when a stream is dropped, so that the
conversation is whole and free for the next turn.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
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
    """Call a function of the user's, sync or async; returns its value."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class Ask(NamedTuple):
    """Send a request by a method of the client, sync or async; return its response."""

    method: Callable[..., Any]
    body: dict[str, Any]


class Listen(NamedTuple):
    """Request a stream, which a draft reads; return None."""

    method: Callable[..., Any]
    body: dict[str, Any]
    draft: Draft


class Work(NamedTuple):
    """Exhaust an async generator of events; returns None."""

    events: Callable[[], AsyncGenerator[Event, None]]


class Tell(NamedTuple):
    """Pass an event on; returns None."""

    event: Event


Request: TypeAlias = Apply | Ask | Listen | Work | Tell
Steps: TypeAlias = Generator[Request, Any, None]


def in_sync(turn: Steps) -> Generator[Event, None, None]:
    """Drive a turn in the caller's thread; async work runs on a loop in the background."""
    with closing(turn):
        request = _following(turn, None)
        while request is not None:
            reply: Any = None
            error: Exception | None = None
            try:
                match request:
                    case Tell(event):
                        yield event
                    case Work(events):
                        yield from iterate_in_background(events())
                    case Listen():
                        yield from _listen(request)
                    case Apply(function, arguments):
                        reply = _result(function(*arguments))
                    case Ask(method, body):
                        reply = _result(method(**body))
            except Exception as raised:  # noqa: BLE001 - the turn handles it
                error = raised
            request = _following(turn, reply, error)


async def in_async(turn: Steps) -> AsyncGenerator[Event, None]:
    """Drive a turn on the caller's loop; sync clients are called on a thread."""
    with closing(turn):
        request = _following(turn, None)
        while request is not None:
            reply: Any = None
            error: Exception | None = None
            try:
                match request:
                    case Tell(event):
                        yield event
                    case Work(events):
                        async with aclosing(events()) as found:
                            async for event in found:
                                yield event
                    case Listen():
                        async with aclosing(_listen_async(request)) as deltas:
                            async for event in deltas:
                                yield event
                    case Apply(function, arguments):
                        reply = function(*arguments)
                    case Ask(method, body):
                        reply = await _asked(method, body)
                reply = await reply if inspect.isawaitable(reply) else reply
            except Exception as raised:  # noqa: BLE001 - the turn handles it
                error = raised
            request = _following(turn, reply, error)


def _following(turn: Steps, reply: Any, error: Exception | None = None) -> Request | None:
    """Resume a turn and return its next request, None at its end."""
    try:
        return turn.send(reply) if error is None else turn.throw(error)
    except StopIteration:
        return None


def _result(value: Any) -> Any:
    """Return a value, in sync code, after waiting for it if it is awaitable."""
    return run_in_background(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[_T]) -> _T:
    return await value


async def _asked(method: Callable[..., Any], body: dict[str, Any]) -> Any:
    """Call the method of a client; a sync one blocks, an async one only makes a coroutine."""
    # a decorator may hide that it is async
    if inspect.iscoroutinefunction(inspect.unwrap(method)):
        return method(**body)
    return await await_thread(partial(method, **body))


def _listen(request: Listen) -> Iterator[Event]:
    stream = request.method(**request.body)
    is_async = _is_async(stream)
    chunks = iterate_in_background(_async_chunks(stream)) if is_async else _sync_chunks(stream)
    with closing(chunks):
        for chunk in chunks:
            yield from _text_deltas(request.draft, chunk)


async def _listen_async(request: Listen) -> AsyncGenerator[Event, None]:
    stream = await _asked(request.method, request.body)
    chunks = _async_chunks(stream) if _is_async(stream) else _chunks_on_threads(stream)
    async with aclosing(chunks):
        async for chunk in chunks:
            for event in _text_deltas(request.draft, chunk):
                yield event


def _is_async(stream: Any) -> bool:
    return inspect.isawaitable(stream) or hasattr(stream, "__aiter__")


def _text_deltas(draft: Draft, chunk: Any) -> Iterator[Event]:
    """Yield the text that a chunk adds to a draft, if it adds any."""
    with reading_answer():
        text = draft.feed(chunk)
    if text:
        yield TextDelta(text)


def _sync_chunks(stream: Any) -> Generator[Any, None, None]:
    with reading_answer():
        chunks = iter(stream)
    try:
        yield from chunks
    finally:
        _close_of(stream)()


async def _chunks_on_threads(stream: Any) -> AsyncGenerator[Any, None]:
    with reading_answer():
        chunks, end = iter(stream), object()
    try:
        # next() with a default, since StopIteration can't pass a coroutine.
        while (chunk := await await_thread(partial(next, chunks, end))) is not end:
            yield chunk
    finally:
        # not awaited: a turn that is cancelled can't wait
        start(_close_of(stream), lambda _value, _error: None)


def _close_of(stream: Any) -> Callable[[], object]:
    return getattr(stream, "close", None) or (lambda: None)


async def _async_chunks(stream: Any) -> AsyncGenerator[Any, None]:
    """Yield the pieces of an async client's stream, and close it on the same loop."""
    stream = await stream if inspect.isawaitable(stream) else stream
    if not hasattr(stream, "__aiter__"):  # awaited for a list, as fakes of clients are
        for chunk in _sync_chunks(stream):
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
    """The events of a turn that is running.

    A loop that is left drops them. An async generator would be closed at some later time then,
    but the conversation must be whole and free at once for the next message.
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
        """Cancel the turn, unless it is over, and wait until all its work has ended."""
        await self._events.aclose()

    def __del__(self) -> None:
        self._turn.close()
