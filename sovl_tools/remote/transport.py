"""The SDK's client of a server, over pipes or HTTP."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, TypeVar

import anyio
import httpx2
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from httpx2 import codes
from mcp import Client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ToolListChangedNotification,
    jsonrpc_message_adapter,
)

from sovl_tools.model.content import cut_characters

_T = TypeVar("_T")

MAX_MESSAGE: Final = 64 * 2**20
"""How many bytes a message can have."""

_JSON, _EVENTS = "application/json", "text/event-stream"
_ERROR, _NOT_FOUND = 400, 404
_SESSION, _METHOD = "mcp-session-id", "mcp-method"
_LATER = frozenset({"tools/call", "tools/list"})
TERMINATED: Final = "Session terminated"
"""What an error says, as in the SDK, if the server doesn't know the session: nothing was done."""
_MOST_OF_AN_ERROR = 2**20
_LONGEST_REASON = 200
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
"""As the SDK's own client: a server may keep a stream open while a tool runs."""
_PARTING = 2.0
"""How long a server's process must end after its input, in seconds, before it's terminated."""
_SILENT = logging.NullHandler()


@asynccontextmanager
async def open_client(
    address: str,
    on_change: Callable[[], object],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[Client]:
    """Connect to a server, and keep the connection for as long as a block.

    Args:
        address: a command, or a URL if there are headers.
        on_change: called when the server says that its tools have changed.
        headers: what each request over HTTP has.
        env: the variables of the process.
    """
    # the SDK logs what isn't a message with a traceback, which Python would print
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(_SILENT)

    async def on_message(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            on_change()

    async with AsyncExitStack() as stack:
        transport: Any
        if headers is None:
            transport = _process_streams(address, get_default_environment() | dict(env or {}))
        else:
            http = _HttpClient(
                # the size of a compressed answer can't be bounded
                headers={"Accept-Encoding": "identity", **headers},
                timeout=_TIMEOUT,
                event_hooks={"response": [_check_response]},
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(
                address, http_client=http, max_sse_event_size=MAX_MESSAGE
            )
        client = Client(
            transport, message_handler=on_message, read_timeout_seconds=None, cache=None
        )
        yield await stack.enter_async_context(client)


@asynccontextmanager
async def _process_streams(address: str, env: dict[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server, and yield the streams of its messages, as the SDK's ``stdio_client`` does.

    That one reads a line of any length, and drops a message that has half a surrogate pair in it.
    """
    command, *arguments = shlex.split(address)
    with open(2, "w", closefd=False) as errors:  # noqa: ASYNC230
        process = await anyio.open_process(
            [shutil.which(command) or command, *arguments],
            env=env,
            stderr=errors,
            start_new_session=True,
        )
    received, to_read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_write, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async def send() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async for each in sent:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await _piped(process.stdin).send(text.encode() + b"\n")
        # what waits for an answer learns that none will come
        await received.aclose()

    async with received, to_read, to_write, sent, anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        tasks.start_soon(_receive, _piped(process.stdout), received)
        try:
            yield to_read, to_write
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await _end(process)


async def _receive(output: ByteReceiveStream, received: Any) -> None:
    """Pass on the messages of a server, a line each, until its output or a line doesn't end."""
    lines = BufferedByteReceiveStream(output)
    ends = (anyio.IncompleteRead, anyio.DelimiterNotFound)
    gone = (anyio.BrokenResourceError, anyio.ClosedResourceError)
    async with received:
        with suppress(*ends, *gone):
            while True:
                line = await lines.receive_until(b"\n", MAX_MESSAGE)
                await received.send(_message(line))


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        # Python's parser takes half a surrogate pair, so that it costs the tool that it is in
        found = json.loads(line.decode(errors="replace"))
        return SessionMessage(jsonrpc_message_adapter.validate_python(found, by_name=False))
    except (ValueError, RecursionError) as error:
        return error


def _piped(stream: _T | None) -> _T:
    if stream is None:
        raise RuntimeError("the process has no pipes")
    return stream


async def _end(process: Process) -> None:
    """End a server: its input, then, if it continues, its process and all that it has started."""
    with suppress(anyio.BrokenResourceError, OSError):
        await _piped(process.stdin).aclose()
    with anyio.move_on_after(_PARTING):
        # a server that is stuck writing doesn't read that its input has ended
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                await _piped(process.stdout).receive()
        await process.wait()
    if process.returncode is None:
        if sys.platform == "win32":
            process.kill()
        else:
            await terminate_posix_process_tree(process, _PARTING)
    await process.aclose()


class _HttpClient(httpx2.AsyncClient):
    """A client that tells a request that never arrived from one that can have."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; one in a session that isn't taken gets the answer to an unknown one."""
        try:
            return await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            is_later = _SESSION in request.headers or request.headers.get(_METHOD) in _LATER
            if request.method != "POST" or not is_later:
                raise
            error = {"code": INVALID_REQUEST, "message": TERMINATED}
            text = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
            headers = {"content-type": _JSON}
            return httpx2.Response(_NOT_FOUND, headers=headers, text=text, request=request)


async def _check_response(response: httpx2.Response) -> None:
    """Give an error its reason as one of JSON-RPC, and bound a body; the SDK bounds events."""
    kind = str(response.headers.get("content-type", "")).lower()
    if response.status_code >= _ERROR:
        data = await _beginning(response)
        error = _error_of(
            response.status_code, data, in_session=_SESSION in response.request.headers
        )
        if error is not None:
            response.headers.clear()
            response.headers["content-type"] = _JSON
            data = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        response.stream = httpx2.ByteStream(data)
    elif not kind.startswith(_EVENTS):
        response.stream = _Bounded(response)


async def _beginning(response: httpx2.Response) -> bytes:
    """Return the body of an error; empty if it is long or can't be read."""
    stream: Any = response.stream
    data = bytearray()
    try:
        async for chunk in stream:
            data += chunk
            if len(data) > _MOST_OF_AN_ERROR:
                return b""
    except httpx2.HTTPError:
        return b""
    finally:
        await stream.aclose()
    return bytes(data)


def _error_of(status: int, data: bytes, *, in_session: bool) -> dict[str, Any] | None:
    """Return an error of JSON-RPC for the body of one; None if the SDK reads it well."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    said = found.get("error") if isinstance(found, dict) else None
    of_protocol = said if isinstance(said, dict) and "jsonrpc" in found else None
    code = None if of_protocol is None else of_protocol.get("code")
    # FastMCP 1.12 answers to an unknown session with 400 and a string, later ones with 404 and JSON
    is_unknown = status == _NOT_FOUND or (status == _ERROR and b"session" in data.lower())
    if in_session and is_unknown and code not in {METHOD_NOT_FOUND, INVALID_PARAMS}:
        return {"code": INVALID_REQUEST, "message": TERMINATED}
    # without a session, the SDK takes it for an older server and tries another way
    if of_protocol is not None or status == _NOT_FOUND:
        return None
    reason = _reason(found) if isinstance(found, dict) else ""
    phrase = f"{status} {codes.get_reason_phrase(status)}".strip()
    words = f"it answers with status {phrase}"
    return {"code": INTERNAL_ERROR, "message": f"{words}: {reason}" if reason else words}


def _reason(body: dict[str, Any]) -> str:
    """Return why a server that speaks of errors in JSON rejects a request; "" if it doesn't say."""
    keys = ("error_description", "message", "detail", "title", "error")
    found = (body.get(key) for key in keys)
    text = next((each for each in found if isinstance(each, str) and each.strip()), "")
    return cut_characters(" ".join(text.split()), _LONGEST_REASON)


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, up to a bound."""

    def __init__(self, response: httpx2.Response) -> None:
        self._stream: Any = response.stream
        self._is_compressed = "content-encoding" in response.headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._is_compressed:
            raise httpx2.StreamError("it is compressed, which was not asked for")
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE:
                raise httpx2.StreamError(f"it is longer than {MAX_MESSAGE:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
