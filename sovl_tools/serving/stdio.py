"""The protocol over standard input and output: one message a line, one client.

The descriptors of the protocol are duplicates that nobody else knows. A thread reads, another one
writes, so that neither a client that is slow nor a file in the place of a pipe stops the loop.
What is kept for a client is bounded: bytes that were read and not looked at, bytes that it does
not read, requests without an answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

MAX_MESSAGE: Final = 16 * 2**20
"""How many bytes a message may have."""

MAX_OPEN: Final = 4096
"""How many requests may be without an answer."""

TOO_MANY: Final = -32010
"""The error code, of those that are a server's own, for a request beyond that."""

GRACE: Final = 5.0
"""How many seconds calls have to end after the client has closed its side."""

_CHUNK = 2**16
_MAX_UNREAD = 2**20
_STANDING = frozenset({"subscriptions/listen"})


@contextmanager
def own_input() -> Iterator[int]:
    """Return a duplicate of descriptor 0, which is empty for everybody else meanwhile."""
    kept = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    try:
        yield kept
    finally:
        os.dup2(kept, 0)


class _Stream:
    """A stream as the SDK wants it, which it enters and leaves: that has no effect here."""

    async def aclose(self) -> None:
        """Do nothing: ``close`` writes what is left, and a thread that reads can't be woken up."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return None


class StdioStreams:
    """Both directions of a connection, as the SDK's server wants them.

    Attributes:
        reader: gives one message after another, until the client has closed its side.
        writer: takes messages.
    """

    def __init__(self, descriptor_in: int, descriptor_out: int) -> None:
        """Make the streams; ``start`` begins to read."""
        self.writer = Writer(descriptor_out)
        self.reader = Reader(descriptor_in, self.writer)
        self.writer.on_broken = self.reader.end

    def start(self) -> None:
        """Begin to read and to write, on the running loop."""
        self.writer.start()
        self.reader.start()


class Writer(_Stream):
    """Writes messages; knows which requests have no answer yet.

    Attributes:
        open: the requests without an answer, with their methods.
        on_broken: called on the loop when the client has closed the side on which it reads.
    """

    def __init__(self, descriptor: int) -> None:
        self.open: dict[RequestId, str] = {}
        self.on_broken: Callable[[], None] = lambda: None
        self._descriptor = descriptor
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._size = 0
        self._lock = threading.Lock()
        self._is_broken = False
        self._room = asyncio.Event()
        self._settled = asyncio.Event()
        self._thread = threading.Thread(target=self._write, name="sovl-tools-stdout", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._loop = asyncio.get_running_loop()
        self._room.set()
        self._thread.start()

    async def send(self, item: SessionMessage) -> None:
        """Write a message as soon as the client has read enough of those before."""
        message = item.message
        line = encoded(message)
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self.settle(message.id)
        await self._put(line)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer something that is no request, or none that can be let in.

        It settles nothing: another request may be under way with the id.
        """
        await self._put(encoded(refusal.answer()))

    async def _put(self, line: bytes) -> None:
        await self._room.wait()
        if self._is_broken:
            return
        with self._lock:
            self._size += len(line)
            if self._size > _MAX_UNREAD:
                self._room.clear()
        self._queue.put(line)

    def settle(self, request_id: RequestId) -> None:
        """Note that a request needs no answer any more."""
        self.open.pop(request_id, None)
        self._settled.set()

    async def settled(self) -> None:
        """Wait until every request has its answer, but for those that stand for ever."""
        while not (self._is_broken or _STANDING.issuperset(self.open.values())):
            self._settled.clear()
            await self._settled.wait()

    def _write(self) -> None:
        while (line := self._queue.get()) is not None:
            if not self._is_broken:
                try:
                    rest = memoryview(line)
                    while rest:
                        rest = rest[os.write(self._descriptor, rest) :]
                except OSError:  # the client is gone
                    self._is_broken = True
                    self._call(self._settled.set)
                    self._call(self.on_broken)
            with self._lock:
                self._size -= len(line)
                has_room = self._is_broken or self._size <= _MAX_UNREAD
            if has_room and not self._room.is_set():
                self._call(self._room.set)

    def _call(self, function: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """Write what is left, unless the client does not read it."""
        self._queue.put(None)
        self._thread.join(1.0)


def encoded(message: JSONRPCMessage) -> bytes:
    """Return a message as a line; half a surrogate pair becomes a question mark."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        found = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(found, ensure_ascii=False, default=str)
        return text.encode("utf-8", "replace") + b"\n"


class Reader(_Stream):
    """Reads messages; answers by itself what is none.

    Attributes:
        is_ended: whether no more of them will come.
    """

    def __init__(self, descriptor: int, writer: Writer) -> None:
        self._descriptor = descriptor
        self._writer = writer
        self._lines: deque[bytes | None] = deque()
        self._size = 0
        self._part = bytearray()
        self._is_too_long = False
        self._arrived = asyncio.Event()
        self._room = threading.Event()
        self.is_ended = False

    def start(self) -> None:
        """Begin to read."""
        self._loop = asyncio.get_running_loop()
        self._room.set()
        threading.Thread(target=self._read, name="sovl-tools-stdin", daemon=True).start()

    def _read(self) -> None:
        data = b"-"
        while data:
            self._room.wait()
            # until it has been taken apart: a line without end may come faster than that
            self._room.clear()
            try:
                data = os.read(self._descriptor, _CHUNK)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._feed, data)
            except RuntimeError:  # the loop is closed
                return

    def _feed(self, data: bytes) -> None:
        """Take what was read apart into lines; nothing is the end."""
        *lines, part = data.split(b"\n")
        for line in lines:
            self._end_line(line)
        self._extend(part)
        if not data:
            if self._part or self._is_too_long:
                self._end_line(b"")
            self.end()
        if self._size <= _MAX_UNREAD:
            self._room.set()
        self._arrived.set()

    def end(self) -> None:
        """Give no more messages than there are."""
        self.is_ended = True
        self._arrived.set()

    def _extend(self, part: bytes) -> None:
        if len(self._part) + len(part) > MAX_MESSAGE:
            self._is_too_long = True
            self._part.clear()
        elif not self._is_too_long:
            self._part += part

    def _end_line(self, part: bytes) -> None:
        self._extend(part)
        line = None if self._is_too_long else bytes(self._part)
        self._part.clear()
        self._is_too_long = False
        self._lines.append(line)
        self._size += len(line or b"")

    async def receive(self) -> SessionMessage:
        """Return the next message.

        Raises:
            StopAsyncIteration: there is none any more, and all requests have their answers or have
                had the time for it.
        """
        while True:
            while not self._lines:
                if self.is_ended:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._writer.settled(), GRACE)
                    raise StopAsyncIteration
                self._arrived.clear()
                await self._arrived.wait()
            line = self._lines.popleft()
            self._size -= len(line or b"")
            if self._size <= _MAX_UNREAD and not self._room.is_set():
                self._room.set()
            message = await self._message(line)
            if message is not None:
                return SessionMessage(message)

    async def _message(self, line: bytes | None) -> JSONRPCMessage | None:
        """Return a line as a message; None for one that was answered here, or is blank."""
        if line is None:
            words = f"the message is longer than {MAX_MESSAGE:,} bytes"
            await self._writer.refuse(Refusal(None, INVALID_REQUEST, words))
            return None
        if not line.strip():
            return None
        message = read_message(line)
        if isinstance(message, Refusal):
            await self._writer.refuse(message)
            return None
        if isinstance(message, JSONRPCRequest):
            return await self._admitted(message)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            # a cancelled request gets no answer
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, str | int):
                self._writer.settle(cancelled)
        return message

    async def _admitted(self, request: JSONRPCRequest) -> JSONRPCRequest | None:
        waiting = self._writer.open
        if request.id in waiting:
            words = f"a request with the id {request.id!r:.80} is under way"
            await self._writer.refuse(Refusal(request.id, INVALID_REQUEST, words))
            return None
        if len(waiting) >= MAX_OPEN:
            words = f"{MAX_OPEN:,} requests are without an answer; wait for some of them"
            await self._writer.refuse(Refusal(request.id, TOO_MANY, words))
            return None
        waiting[request.id] = request.method
        return request

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        return await self.receive()


_BOM = b"\xef\xbb\xbf"
_NO_MESSAGE = "this is no message of JSON-RPC 2.0"


class Refusal(NamedTuple):
    """The answer to something that is no message.

    Attributes:
        id: the request's, as far as it has one.
        code: the error code.
        message: why.
    """

    id: RequestId | None
    code: int
    message: str

    def answer(self) -> JSONRPCError:
        """Return it as a message."""
        problem = ErrorData(code=self.code, message=self.message)
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=problem)


def read_message(data: bytes) -> JSONRPCMessage | Refusal:
    """Return a message, or the answer to what is none."""
    # programs on Windows may begin with it
    data = data.removeprefix(_BOM)
    try:
        message = jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        if problem["type"] == "json_invalid":
            reason = f"this is no JSON: {problem['ctx']['error']}"
            return Refusal(_id_in(data), PARSE_ERROR, reason)
        return Refusal(_id_in(data), INVALID_REQUEST, _NO_MESSAGE)
    # the SDK takes a request for one whose id is neither a text nor a whole number
    if isinstance(message, JSONRPCNotification) and b'"id"' in data and "id" in json.loads(data):
        return Refusal(None, INVALID_REQUEST, _NO_MESSAGE)
    return message


def _id_in(data: bytes) -> RequestId | None:
    # Python reads more than the SDK: half a surrogate pair, for one, and its sender waits
    with suppress(ValueError, RecursionError):
        found = json.loads(data)
        known = found.get("id") if isinstance(found, dict) else None
        if isinstance(known, str):
            return known.encode("utf-8", "replace").decode()
        return known if type(known) is int else None
    return None
