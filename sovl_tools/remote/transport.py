"""The SDK's client of a server, over pipes or HTTP; what servers send is bounded and repaired.

The SDK keeps whatever comes until a message is complete, refuses a whole list of tools for half a
surrogate pair in the description of one, and leaves who waits alone with an answer that is none.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ToolListChangedNotification, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from sovl_tools.model.document import JSON

MAX_MESSAGE: Final = 64 * 2**20
"""How many bytes a message may have."""

LINES: Final = "sovl_tools_lines"
"""An encoding: UTF-8 of which only whole lines are read, each bounded and readable."""

_TOO_LONG = f"it is longer than {MAX_MESSAGE:,} bytes"
_NO_ANSWER = "it is no answer of JSON-RPC 2.0"
_DEEPEST = 190
"""The SDK reads 200 levels."""
_HEAD = 200
_JSON, _ERROR, _NOT_FOUND = "application/json", 400, 404
_ID = re.compile(
    rb'\A\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,'
    rb'|"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
)
_END = re.compile(rb"([\r\n])")
_SILENT = logging.NullHandler()
_read_message = partial(jsonrpc_message_adapter.validate_json, by_name=False)


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
    # the SDK logs what is no message with a traceback, which Python would print
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(_SILENT)

    async def on_message(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            on_change()

    async with AsyncExitStack() as stack:
        transport: Any
        if headers is None:
            command, *arguments = shlex.split(address)
            errors = stack.enter_context(open(2, "w", closefd=False))  # noqa: ASYNC230, SIM115
            server = StdioServerParameters(
                command=command, args=arguments, env=dict(env or {}), encoding=LINES
            )
            transport = stdio_client(server, errors)
        else:
            # a compressed answer has no size that can be bounded
            http = create_mcp_http_client({"Accept-Encoding": "identity", **headers})
            http.event_hooks = {"response": [_bound_body]}
            await stack.enter_async_context(http)
            transport = streamable_http_client(
                address, http_client=http, max_sse_event_size=MAX_MESSAGE
            )
        client = Client(
            transport, message_handler=on_message, read_timeout_seconds=None, cache=None
        )
        yield await stack.enter_async_context(client)


def repaired(data: bytes, read: Callable[[bytes], object] = from_json) -> bytes:
    """Return a message as JSON that the SDK reads, where Python reads it.

    Half a surrogate pair becomes a question mark, and null what is nested too deep.

    Raises:
        ValueError: nobody reads it, or ``read`` does not.
    """
    try:
        read(data)
    except ValueError as error:
        try:
            found = _pruned(json.loads(data), _DEEPEST)
        except (ValueError, RecursionError):
            raise error from None
        data = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
        read(data)
    return data


def _pruned(value: JSON, levels: int) -> JSON:
    if isinstance(value, dict):
        return {key: _pruned(each, levels - 1) for key, each in value.items()} if levels else None
    if isinstance(value, list):
        return [_pruned(each, levels - 1) for each in value] if levels else None
    return value


class LineDecoder(codecs.IncrementalDecoder):
    """Gives whole lines; in the place of an answer that can't be read an error, if it has an id."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._part = bytearray()
        self._size = 0

    def decode(self, data: Any, final: bool = False) -> str:  # noqa: FBT001, FBT002 - codecs' own
        """Return the lines that have ended."""
        *lines, part = bytes(data).split(b"\n")
        ended = b"".join(self._end(line) for line in lines)
        self._extend(part)
        if final:
            ended += self._end(b"")
        return ended.decode("utf-8", "replace")

    def _extend(self, part: bytes) -> None:
        self._size += len(part)
        # of a line that is too long, its beginning says which answer it is
        room = MAX_MESSAGE if self._size <= MAX_MESSAGE else _HEAD
        del self._part[room:]
        self._part += part[: max(0, room - len(self._part))]

    def _end(self, part: bytes) -> bytes:
        self._extend(part)
        line, size = bytes(self._part), self._size
        self._part.clear()
        self._size = 0
        if not line.strip():
            return b""
        reason = _TOO_LONG
        if size <= MAX_MESSAGE:
            try:
                return repaired(line, _read_message) + b"\n"
            except ValidationError as error:
                problem = error.errors(include_url=False, include_input=False)[0]
                is_json = problem["type"] != "json_invalid"
                reason = _NO_ANSWER if is_json else problem["ctx"]["error"]
        known = _id_of(line)
        return (
            line if known is None else _error(known, f"the answer can't be read: {reason}")
        ) + b"\n"


def _id_of(line: bytes) -> int | None:
    """Return the id of an answer that is none; None of anything else."""
    with suppress(ValueError, RecursionError):
        found = json.loads(line)
        known = found.get("id") if isinstance(found, dict) and "method" not in found else None
        return known if type(known) is int else None
    place = _ID.search(line)
    return None if place is None else int(place[1] or place[2])


def _error(request_id: JSON, message: str, code: int = -32700) -> bytes:
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != LINES:
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=LineDecoder, name=LINES)


codecs.register(_codec)


async def _bound_body(response: httpx2.Response) -> None:
    """Bound the body of a response of HTTP (a hook of the client); the SDK bounds events.

    The SDK says of an error of HTTP only that there is one, except of what a session may end with.
    """
    kind = str(response.headers.get("content-type", "")).lower()
    status, stream = response.status_code, response.stream
    if status >= _ERROR and status != _NOT_FOUND and _JSON not in kind:
        response.headers["content-type"] = _JSON
        chunks = _said(_error(None, f"it answers with status {status}", -32603))
    elif kind.startswith("text/event-stream"):
        chunks = _events(stream)
    else:
        chunks = _whole(response, stream, is_json=kind.startswith(_JSON))
    response.stream = _Body(stream, chunks)


class _Body(httpx2.AsyncByteStream):
    """A body in the place of another one, which is closed with it."""

    def __init__(self, stream: Any, chunks: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _whole(response: httpx2.Response, stream: Any, *, is_json: bool) -> AsyncIterator[bytes]:
    """Yield a body that is read whole, up to a bound."""
    if "content-encoding" in response.headers:
        raise httpx2.StreamError("it is compressed, which was not asked for")
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > MAX_MESSAGE:
            raise httpx2.StreamError(_TOO_LONG)
    if not is_json:
        yield bytes(body)
        return
    try:
        text = repaired(bytes(body))
        request = from_json(response.request.content or b"{}")
    except ValueError as error:
        raise httpx2.StreamError(f"it is no JSON: {error}") from error
    # the SDK takes it for that of another request, and goes on waiting
    if response.is_success and "id" in request:
        found = from_json(text)
        if not isinstance(found, dict) or str(found.get("id")) != str(request["id"]):
            raise httpx2.StreamError(f"it answers no request {request['id']}")
    yield text


async def _said(text: bytes) -> AsyncIterator[bytes]:
    yield text


async def _events(stream: Any) -> AsyncIterator[bytes]:
    """Yield server-sent events as they come, with messages that the SDK reads."""
    line = bytearray()
    async for chunk in stream:
        parts = _END.split(chunk)
        for part, end in zip_longest(parts[::2], parts[1::2], fillvalue=b""):
            line += part
            # of what is too long the SDK says so
            if end or len(line) > MAX_MESSAGE:
                if line.startswith(b"data:"):
                    with suppress(ValueError):
                        line[5:] = repaired(bytes(line[5:]))
                yield bytes(line + end)
                line.clear()
    yield bytes(line)
