"""The protocol over standard input and output: the SDK's transport, on threads of our own.

A client may keep our input open, or read nothing of our output, for as long as it likes. Daemon
threads wait for it, so that a signal can end the server meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from sovl_tools.dispatch.async_runner import await_thread

MAX_MESSAGE: Final = 16 * 2**20
"""How many bytes a message may have."""

GRACE: Final = 5.0
"""How many seconds calls have to end after the client has closed its side."""


@contextmanager
def own_input() -> Iterator[int]:
    """Return a duplicate of descriptor 0, which is empty for everything else meanwhile."""
    kept = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    try:
        yield kept
    finally:
        os.dup2(kept, 0)


async def serve_stdio(
    server: Server[Any],
    descriptor_in: int,
    descriptor_out: int,
    *,
    signals: Sequence[signal.Signals] = (),
) -> None:
    """Serve one client over two descriptors until it disconnects or a signal arrives.

    Calls under way get a few seconds to finish; a second signal cancels them at once.
    """
    lines = _Lines(descriptor_in)
    serving = asyncio.ensure_future(_serve(server, lines, _Output(descriptor_out, lines.end)))

    def leave() -> None:
        if lines.is_ended:
            serving.cancel()
        lines.end()

    loop = asyncio.get_running_loop()
    # elsewhere asyncio has no handlers, and Ctrl-C ends the program at once
    handled = signals if os.name == "posix" else ()
    for each in handled:
        loop.add_signal_handler(each, leave)
    try:
        await asyncio.wait([serving])
    finally:
        serving.cancel()
        for each in handled:
            loop.remove_signal_handler(each)
    if not serving.cancelled():
        serving.result()


async def _serve(server: Server[Any], lines: Any, output: Any) -> None:
    conversation = _Conversation()
    read_stream: MemoryObjectReceiveStream[SessionMessage | Exception]
    to_server: MemoryObjectSendStream[SessionMessage | Exception]
    to_server, read_stream = anyio.create_memory_object_stream(0)
    write_stream: MemoryObjectSendStream[SessionMessage]
    from_server: MemoryObjectReceiveStream[SessionMessage]
    write_stream, from_server = anyio.create_memory_object_stream(0)
    async with (
        stdio_server(lines, output) as (incoming, outgoing),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(conversation.pass_in, incoming, to_server, outgoing)
        tasks.start_soon(conversation.pass_out, from_server, outgoing)
        await server.run(read_stream, write_stream, server.create_initialization_options())


class _Conversation:
    """Passes messages on between the transport and the server, which cancels calls at the end.

    So it keeps the end from the server until the requests before it have their answers.
    """

    def __init__(self) -> None:
        self._unanswered: set[RequestId] = set()
        self._answered = asyncio.Event()

    async def pass_in(self, incoming: Any, to_server: Any, outgoing: Any) -> None:
        async with incoming, to_server:
            async for item in incoming:
                if isinstance(item, Exception):
                    await outgoing.send(SessionMessage(_error(item)))
                    continue
                message = item.message
                if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
                    self._unanswered.add(message.id)
                elif isinstance(message, JSONRPCNotification):
                    self._cancelled(message)
                await to_server.send(item)
            with anyio.move_on_after(GRACE):
                while self._unanswered:
                    self._answered.clear()
                    await self._answered.wait()

    async def pass_out(self, from_server: Any, outgoing: Any) -> None:
        async with from_server, outgoing:
            async for item in from_server:
                await outgoing.send(item)
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._settle(item.message.id)

    def _cancelled(self, message: JSONRPCNotification) -> None:
        if message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, request_id: Any) -> None:
        if isinstance(request_id, str | int):
            self._unanswered.discard(request_id)
            self._answered.set()


def _error(problem: Exception) -> JSONRPCError:
    """Return the answer to a line that isn't a message."""
    is_json = isinstance(problem, ValidationError) and problem.errors()[0]["type"] != "json_invalid"
    words = "this isn't a message of JSON-RPC 2.0" if is_json else "this isn't JSON"
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=words))


class _Lines:
    """The lines that come from a descriptor, as ``stdio_server`` reads them.

    Attributes:
        is_ended: whether no more lines will be taken.
    """

    def __init__(self, descriptor: int) -> None:
        self.is_ended = False
        self._end = asyncio.get_running_loop().create_future()
        self._file = os.fdopen(descriptor, "rb", closefd=False)

    def end(self) -> None:
        """Take no more lines."""
        self.is_ended = True
        if not self._end.done():
            self._end.set_result(None)

    def _line(self) -> bytes:
        line = self._file.readline(MAX_MESSAGE)
        if len(line) < MAX_MESSAGE or line.endswith(b"\n"):
            return line
        while (rest := self._file.readline(MAX_MESSAGE)) and not rest.endswith(b"\n"):
            pass
        return b"[a message that is too long]"

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        reading = asyncio.ensure_future(await_thread(self._line))
        await asyncio.wait({reading, self._end}, return_when=asyncio.FIRST_COMPLETED)
        if self.is_ended or not reading.result():
            reading.cancel()
            self.end()
            raise StopAsyncIteration
        # programs on Windows may begin with a mark
        return reading.result().decode("utf-8-sig", "replace")


class _Output:
    """Writes to a descriptor what ``stdio_server`` says, until the client reads no more."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken

    async def write(self, text: str) -> None:
        try:
            await await_thread(partial(self._write, text.encode()))
        except OSError:  # the client is gone
            self._on_broken()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    async def flush(self) -> None:
        """Do nothing: it is written already."""
