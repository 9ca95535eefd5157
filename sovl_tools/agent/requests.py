"""What a turn wants done for it, and the two worlds that do it.

A turn is a generator: it yields requests, gets their outcome back and knows nothing of threads or
event loops. ``in_sync`` and ``in_async`` drive it and yield the events that happen on the way.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing, closing
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.agent.answer import Draft
from sovl_tools.agent.errors import reading
from sovl_tools.agent.events import Event, TextDelta
from sovl_tools.dispatch.background import iterated, run_in_background
from sovl_tools.dispatch.event_loop import in_thread
from sovl_tools.dispatch.threads import start


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


def in_sync(turn: Steps) -> Generator[Event, None, None]:
    """Drive a turn in the caller's thread; what is async runs on a loop in the background."""
    reply: Any = None
    error: Exception | None = None
    with closing(turn):
        while True:
            try:
                request = turn.send(reply) if error is None else turn.throw(error)
            except StopIteration:
                return
            reply = error = None
            try:
                if isinstance(request, Apply | Ask):
                    reply = _done(request)
                else:
                    yield from _HEARD[type(request)](request)
            except Exception as raised:  # noqa: BLE001 - the turn decides what becomes of it
                error = raised


def _done(request: Apply | Ask) -> Any:
    found = _call(request)()
    return run_in_background(_awaited(found)) if inspect.isawaitable(found) else found


async def _awaited(found: Any) -> Any:
    return await found


def _call(request: Apply | Ask) -> Callable[[], Any]:
    if isinstance(request, Apply):
        return partial(request.function, *request.arguments)
    return partial(request.method, **request.body)


def _heard_stream(request: Listen) -> Iterator[Event]:
    if _is_async(request.method):
        yield from iterated(_streamed(request))
        return
    stream = request.method(**request.body)
    if _has_to_wait(stream):
        yield from iterated(_fed_all(request.draft, _chunks(stream)))
        return
    try:
        for chunk in stream:
            yield from _fed(request.draft, chunk)
    finally:
        _close(stream)


def _fed(draft: Draft, chunk: Any) -> Iterator[Event]:
    with reading():
        text = draft.feed(chunk)
    if text:
        yield TextDelta(text)


_HEARD: dict[type, Callable[[Any], Iterator[Event]]] = {
    Listen: _heard_stream,
    Work: lambda request: iterated(request.events()),
    Tell: lambda request: iter((request.event,)),
}


async def in_async(turn: Steps) -> AsyncGenerator[Event, None]:
    """Drive a turn on the caller's loop; sync clients are asked on a thread."""
    reply: Any = None
    error: Exception | None = None
    with closing(turn):
        while True:
            try:
                request = turn.send(reply) if error is None else turn.throw(error)
            except StopIteration:
                return
            reply = error = None
            try:
                if isinstance(request, Apply | Ask):
                    reply = await _AWAITED[type(request)](request)
                else:
                    async with aclosing(_STREAMED[type(request)](request)) as events:
                        async for event in events:
                            yield event
            except Exception as raised:  # noqa: BLE001 - the turn decides what becomes of it
                error = raised


async def _applied(request: Apply) -> Any:
    found = _call(request)()
    return await found if inspect.isawaitable(found) else found


async def _asked(request: Ask) -> Any:
    if _is_async(request.method):
        return await _call(request)()
    found = await in_thread(_call(request))
    return await found if inspect.isawaitable(found) else found


async def _streamed(request: Listen) -> AsyncGenerator[Event, None]:
    ask = partial(request.method, **request.body)
    stream = ask() if _is_async(request.method) else await in_thread(ask)
    chunks = _chunks if _has_to_wait(stream) else _chunks_of_thread
    async with aclosing(_fed_all(request.draft, chunks(stream))) as events:
        async for event in events:
            yield event


async def _fed_all(draft: Draft, chunks: AsyncGenerator[Any, None]) -> AsyncGenerator[Event, None]:
    async with aclosing(chunks):
        async for chunk in chunks:
            for event in _fed(draft, chunk):
                yield event


def _has_to_wait(stream: Any) -> bool:
    return inspect.isawaitable(stream) or hasattr(stream, "__aiter__")


async def _chunks(stream: Any) -> AsyncGenerator[Any, None]:
    stream = await stream if inspect.isawaitable(stream) else stream
    if not hasattr(stream, "__aiter__"):
        for chunk in stream:
            yield chunk
        return
    try:
        async for chunk in stream:
            yield chunk
    finally:
        close = getattr(stream, "close", None) or getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def _chunks_of_thread(stream: Any) -> AsyncGenerator[Any, None]:
    """Yield what a sync client streams; it is read, and closed, on a thread."""
    chunks, end = iter(stream), object()
    try:
        while (chunk := await in_thread(partial(next, chunks, end))) is not end:
            yield chunk
    finally:
        start(partial(_close, stream), _ignored)


def _close(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def _ignored(_value: object, _error: BaseException | None) -> None:
    """Take note of the end of what nobody waits for."""


async def _told(request: Tell) -> AsyncGenerator[Event, None]:
    yield request.event


def _is_async(method: Callable[..., Any]) -> bool:
    """Tell whether a method has to be awaited, also if a decorator hides that."""
    return inspect.iscoroutinefunction(inspect.unwrap(method))


_AWAITED: dict[type, Callable[[Any], Coroutine[Any, Any, Any]]] = {Apply: _applied, Ask: _asked}
_STREAMED: dict[type, Callable[[Any], AsyncGenerator[Event, None]]] = {
    Listen: _streamed,
    Work: lambda request: request.events(),
    Tell: _told,
}
