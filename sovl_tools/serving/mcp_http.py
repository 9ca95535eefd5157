"""The Model Context Protocol over streamable HTTP: the SDK's sessions in our application.

A session answers with JSON where a call says nothing before its end. The SDK opens a stream of
events for every request, with seven tasks, and most calls send one event. Here the first message
decides: the response itself is sent as JSON; a progress report, a log message or a question opens
the stream, and so does a call that takes longer than ``PROMPT``.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any, TypeAlias, cast
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.streamable_http import EventMessage, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._context_streams import ContextSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from sovl_tools.serving.limits import PING, PROMPT
from sovl_tools.serving.stdio import Refusal, read_message

MAX_SESSIONS = 1_000
"""How many sessions are kept, at about 45 kB each; a new one ends the one that is idle longest."""

_BUFFER = 16
_SILENCE = EventMessage(JSONRPCNotification(jsonrpc="2.0", method="silence"))
"""In a stream of messages: nothing has come for a while."""

_Writer: TypeAlias = MemoryObjectSendStream[EventMessage]
_Reader: TypeAlias = MemoryObjectReceiveStream[EventMessage]


class SessionManager(StreamableHTTPSessionManager):
    """The SDK's manager of sessions, whose sessions answer as this module says."""

    def _admit_session(self, requestor: Any) -> StreamableHTTPServerTransport | None:
        if self.max_sessions is not None and len(self._server_instances) >= self.max_sessions:
            self._end_idlest()
        # the SDK's own, with another class
        if self.json_response or self.event_store is not None:
            return super()._admit_session(requestor)
        if self.max_sessions is not None and len(self._server_instances) >= self.max_sessions:
            return None
        name = uuid4().hex
        session = Session(name, idle_timeout=self.session_idle_timeout)
        if requestor is not None:
            self._session_owners[name] = requestor
        self._server_instances[name] = session
        return session

    def _end_idlest(self) -> None:
        """Make room: most clients vanish without a word."""
        deadlines = {
            name: each.idle_scope.deadline
            for name, each in self._server_instances.items()
            if each.idle_scope is not None
        }
        name = min(deadlines, key=deadlines.__getitem__)
        # those with a request under way have none
        if deadlines[name] < math.inf:
            scope = self._server_instances.pop(name).idle_scope
            self._session_owners.pop(name, None)
            cast("anyio.CancelScope", scope).cancel()


class Session(StreamableHTTPServerTransport):
    """One client's session. Hosts, origins and the content type have been checked before."""

    async def _handle_post_request(
        self, scope: Scope, request: Request, receive: Receive, send: Send
    ) -> None:
        if not await self._validate_accept_header(request, scope, send):
            return
        message = read_message(await request.body())
        if isinstance(message, Refusal):
            refused = self._create_json_response(message.answer(), HTTPStatus.BAD_REQUEST)
            await refused(scope, receive, send)
            return
        is_opening = isinstance(message, JSONRPCRequest) and message.method == "initialize"
        if not is_opening and not await self._validate_request_headers(request, send):
            return
        try:
            if isinstance(message, JSONRPCRequest):
                await self._answer(message, request, send)
            else:
                await self._create_json_response(None, status_code=HTTPStatus.ACCEPTED)(
                    scope, receive, send
                )
                metadata = self._message_metadata(request)
                await self._hand_over(SessionMessage(message, metadata=metadata))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            response = self._create_error_response("the session has ended", HTTPStatus.NOT_FOUND)
            await response(scope, receive, send)

    async def _hand_over(self, message: SessionMessage) -> None:
        # there is one from the beginning of the session on
        writer = cast("ContextSendStream[SessionMessage | Exception]", self._read_stream_writer)
        await writer.send(message)

    async def _answer(self, message: JSONRPCRequest, request: Request, send: Send) -> None:
        key = str(message.id)
        if key in self._request_streams:
            words = f"the request {key} is still being answered"
            response = self._create_error_response(words, HTTPStatus.BAD_REQUEST)
            await response(request.scope, request.receive, send)
            return
        streams = anyio.create_memory_object_stream[EventMessage](_BUFFER)
        self._request_streams[key] = streams
        sent = self._create_session_message(message, request, key, LATEST_HANDSHAKE_VERSION)
        try:
            await self._hand_over(sent)
            await self._write_answer(*streams, request, send)
        finally:
            await self._clean_up_memory_streams(key)

    async def _write_answer(
        self, writer: _Writer, reader: _Reader, request: Request, send: Send
    ) -> None:
        """Write what is said of a request, up to its response."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(PROMPT, _wake, writer)
        is_streaming = False
        try:
            async for event in reader:
                timer.cancel()
                is_last = isinstance(event.message, JSONRPCResponse | JSONRPCError)
                if is_last and not is_streaming:
                    response = self._create_json_response(event.message)
                    await response(request.scope, request.receive, send)
                    return
                if not is_streaming:
                    await send(self._stream_start())
                    is_streaming = True
                await send(_part(self._encoded(event), more=not is_last))
                if is_last:
                    return
                timer = loop.call_later(PING, _wake, writer)
        except anyio.ClosedResourceError:
            pass  # the session has been ended meanwhile
        finally:
            timer.cancel()
        if is_streaming:
            await send(_part(b"", more=False))
            return
        response = self._create_error_response("the session has ended", HTTPStatus.NOT_FOUND)
        await response(request.scope, request.receive, send)

    def _stream_start(self) -> Message:
        headers = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache, no-transform",
            "mcp-session-id": self.mcp_session_id or "",
        }
        pairs = [(key.encode(), value.encode()) for key, value in headers.items()]
        return {"type": "http.response.start", "status": 200, "headers": pairs}

    def _encoded(self, event: EventMessage) -> bytes:
        if event is _SILENCE:
            return b": still here\r\n\r\n"
        text = event.message.model_dump_json(by_alias=True, exclude_unset=True)
        return b"event: message\r\ndata: %b\r\n\r\n" % text.encode()


def _part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _wake(writer: _Writer) -> None:
    # where the buffer is full, there is something to send; a closed one is at its end
    with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
        writer.send_nowait(_SILENCE)


class McpEndpoint:
    """An ASGI application that speaks the protocol.

    It runs for as long as a lifespan, or from its first request to the end of the loop: an
    application that mounts another one does not run its lifespan.

    Args:
        server: the SDK's server.
        is_stateless: whether each request is independent, so that any of several processes may
            answer it. Clients up to 2025-11-25 then hear of no changes and can't be asked anything.
        is_json: whether answers are JSON and never streams: calls then tell of no progress.
        max_body_bytes: how long a request may be.
        max_sessions: how many sessions are kept; a new one ends the one that is idle longest.
    """

    def __init__(
        self,
        server: Server[Any],
        *,
        is_stateless: bool = False,
        is_json: bool = False,
        max_body_bytes: int,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        self._server = server
        self._is_stateless = is_stateless
        self._is_json = is_json
        self._max_body_bytes = max_body_bytes
        self._max_sessions = max_sessions
        self._manager: SessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Answer requests for as long as a block; sessions end with it."""
        manager = SessionManager(
            self._server,
            stateless=self._is_stateless,
            json_response=self._is_json,
            # hosts and origins have been checked
            security_settings=None,
            max_request_body_size=self._max_body_bytes,
            max_sessions=self._max_sessions,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        manager = self._manager or await self._begin()
        await manager.handle_request(scope, receive, send)

    async def _begin(self) -> SessionManager:
        async with self._lock:
            if self._manager is None:
                started = asyncio.get_running_loop().create_future()
                # cancelled at the end of the loop
                self._running = asyncio.create_task(self._stay(started), name="sovl-tools-mcp")
                await started
            return cast("SessionManager", self._manager)

    async def _stay(self, started: asyncio.Future[None]) -> None:
        try:
            async with self.run():
                started.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)
