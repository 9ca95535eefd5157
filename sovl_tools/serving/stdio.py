"""The protocol over standard input and output: the SDK's transport, on threads of our own.

A client may keep our input open, or read nothing of our output, for as long as it likes. Daemon
threads wait for it, so that a signal can end the server meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Final, Self

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from sovl_tools.dispatch.async_runner import await_thread

MAX_MESSAGE: Final = 16 * 2**20
"""How many bytes a message can have."""

GRACE: Final = 5.0
"""How many seconds calls must end after the client has closed its side."""

_MOST_WAITING = 16


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

    Calls running get a few seconds to finish; a second signal cancels them at once.
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
    unanswered = _Unanswered()
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers, from_server = anyio.create_memory_object_stream[SessionMessage]()

    async with stdio_server(lines, output) as (read, write), anyio.create_task_group() as passing:

        async def pass_requests() -> None:
            async with to_server, read:
                async for item in read:
                    if isinstance(item, Exception):
                        await write.send(SessionMessage(_NO_MESSAGE))
                        continue
                    unanswered.note(item.message)
                    await to_server.send(item)
                # the server cancels its calls when the requests end
                await unanswered.settled()

        async def pass_answers() -> None:
            async with write, from_server:
                async for item in from_server:
                    await write.send(item)
                    unanswered.note(item.message)

        passing.start_soon(pass_requests)
        passing.start_soon(pass_answers)
        await server.run(requests, answers, server.create_initialization_options())


class _Unanswered:
    """The requests that have no answer yet, except those that stay open."""

    def __init__(self) -> None:
        self._ids: set[str | int | None] = set()
        self._is_settled = asyncio.Event()

    def note(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(method=method, id=request_id):
                if method != "subscriptions/listen":
                    self._ids.add(request_id)
            case types.JSONRPCNotification(params=params):
                # a request that is cancelled gets no answer
                cancelled = (params or {}).get("requestId")
                if isinstance(cancelled, str | int):
                    self._ids.discard(cancelled)
            case types.JSONRPCResponse(id=request_id) | types.JSONRPCError(id=request_id):
                self._ids.discard(request_id)
        if not self._ids:
            self._is_settled.set()

    async def settled(self) -> None:
        """Wait until all have their answers, or have had the time for it."""
        self._is_settled.clear()
        with anyio.move_on_after(GRACE if self._ids else 0):
            await self._is_settled.wait()


_NO_MESSAGE = types.JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=types.ErrorData(code=types.PARSE_ERROR, message="this isn't a message of JSON-RPC 2.0"),
)
"""The answer to a line that isn't a message."""


class _Lines:
    """The lines that are from a descriptor, as ``stdio_server`` reads them.

    Attributes:
        is_ended: whether no more lines will be taken.
    """

    def __init__(self, descriptor: int) -> None:
        self.is_ended = False
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_MOST_WAITING)
        threading.Thread(target=self._read, name="sovl-tools-stdin", daemon=True).start()

    def _read(self) -> None:
        file = os.fdopen(self._descriptor, "rb", closefd=False)
        line = b"-"
        while line:
            self._room.acquire()
            try:
                line = _line_of(file)
            except OSError:
                line = b""
            try:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            except RuntimeError:  # the loop is closed
                return

    def end(self) -> None:
        """Take no more lines."""
        self.is_ended = True
        self._lines.put_nowait(b"")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        self._room.release()
        if self.is_ended or not line:
            self.is_ended = True
            raise StopAsyncIteration
        # programs on Windows may begin with a mark
        return line.decode("utf-8-sig", "replace")


def _line_of(file: BinaryIO) -> bytes:
    line = file.readline(MAX_MESSAGE)
    if len(line) < MAX_MESSAGE or line.endswith(b"\n"):
        return line
    while (rest := file.readline(MAX_MESSAGE)) and not rest.endswith(b"\n"):
        pass
    return b"[a message that is too long]"


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
