"""The SDK's client of a server, over pipes or HTTP."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import httpx2
import mcp_types as types
from httpx2 import codes
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from sovl_tools.model.content import cut_characters

MAX_MESSAGE: Final = 64 * 2**20
"""How many bytes a message over HTTP can have."""

TERMINATED: Final = "Session terminated"
"""What an error says, as in the SDK, if the server doesn't know the session: nothing was done."""

_ERROR, _NOT_FOUND = 400, 404
_LONGEST_REASON = 200
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
        if isinstance(message, types.ToolListChangedNotification):
            on_change()

    async with AsyncExitStack() as stack:
        transport: Any
        if headers is None:
            command, *arguments = shlex.split(address)
            given = dict(env or {})
            parameters = StdioServerParameters(command=command, args=arguments, env=given)
            errors = stack.enter_context(open(2, "w", closefd=False))  # noqa: ASYNC230, SIM115
            transport = stdio_client(parameters, errors)
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
    """Give an error its reason as one of JSON-RPC, and bound a body; the SDK bounds events."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return
    if "content-encoding" in response.headers:
        raise httpx2.StreamError("it is compressed, which was not asked for")
    stream: Any = response.stream
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > MAX_MESSAGE:
            raise httpx2.StreamError(f"it is longer than {MAX_MESSAGE:,} bytes")
    await stream.aclose()
    data = bytes(body)
    error = None
    if response.status_code >= _ERROR:
        error = _error_of(response.status_code, data, response.request.headers)
    if error is not None:
        response.headers.clear()
        response.headers["content-type"] = "application/json"
        data = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    response.stream = httpx2.ByteStream(data)


def _error_of(status: int, data: bytes, asked: Mapping[str, str]) -> dict[str, Any] | None:
    """Return an error of JSON-RPC for the body of one; None if the SDK reads it well."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    body = found if isinstance(found, dict) else {}
    said = body.get("error") if "jsonrpc" in body else None
    code = said.get("code") if isinstance(said, dict) else None
    # FastMCP 1.12 answers to an unknown session with 400 and a string, later ones with 404 and JSON
    is_unknown = status == _NOT_FOUND or (status == _ERROR and b"session" in data.lower())
    in_session = "mcp-session-id" in asked
    if in_session and is_unknown and code not in {types.METHOD_NOT_FOUND, types.INVALID_PARAMS}:
        return {"code": types.INVALID_REQUEST, "message": TERMINATED}
    # without a session, the SDK takes it for an older server and tries another way
    if code is not None or status == _NOT_FOUND:
        return None
    words = f"it answers with status {status} {codes.get_reason_phrase(status)}".strip()
    reason = _reason(body)
    return {"code": types.INTERNAL_ERROR, "message": f"{words}: {reason}" if reason else words}


def _reason(body: Mapping[str, Any]) -> str:
    """Return why a server that speaks of errors in JSON rejects a request; "" if it doesn't say."""
    keys = ("error_description", "message", "detail", "title", "error")
    found = (body.get(key) for key in keys)
    text = next((each for each in found if isinstance(each, str) and each.strip()), "")
    return cut_characters(" ".join(text.split()), _LONGEST_REASON)
