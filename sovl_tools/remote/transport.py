"""The SDK's client of a server, over pipes or HTTP."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INTERNAL_ERROR, ToolListChangedNotification

MAX_MESSAGE: Final = 64 * 2**20
"""How many bytes a message over HTTP may have."""

_JSON, _EVENTS = "application/json", "text/event-stream"
_ERROR, _NOT_FOUND = 400, 404
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
"""As the SDK's own client: a server may keep a stream open while a tool runs."""
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
            command, *arguments = shlex.split(address)
            errors = stack.enter_context(open(2, "w", closefd=False))  # noqa: ASYNC230, SIM115
            server = StdioServerParameters(
                command=command,
                args=arguments,
                env=dict(env or {}),
                encoding_error_handler="replace",
            )
            transport = stdio_client(server, errors)
        else:
            http = httpx2.AsyncClient(
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


async def _check_response(response: httpx2.Response) -> None:
    """Name the status of an error, and bound a body; the SDK bounds events."""
    kind = str(response.headers.get("content-type", "")).lower()
    stream: Any = response.stream
    status = response.status_code
    if status >= _ERROR and status != _NOT_FOUND and not kind.startswith(_JSON):
        # the SDK only says that there was an error, unless it reads one of JSON-RPC
        await stream.aclose()
        error = {"code": INTERNAL_ERROR, "message": f"it answers with status {status}"}
        response.headers.clear()
        response.headers["content-type"] = _JSON
        text = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
        response.stream = httpx2.ByteStream(text.encode())
    elif not kind.startswith(_EVENTS):
        response.stream = _Bounded(response)


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
