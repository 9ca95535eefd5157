"""A server on a pair of pipes, spoken to line by line: what no client would send."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sovl_tools.serving.stdio import serve_stdio
from tests.patience import PATIENCE

INFO = {"name": "lines", "version": "1"}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": INFO,
}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": INFO,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


class Lines:
    """Both ends of the pipes that a client has, and the server's task."""

    def __init__(self, send: int, receive: int, serving: asyncio.Task[None]) -> None:
        self.serving = serving
        self._send: int | None = send
        self._receive = os.fdopen(receive, "rb")

    async def write(self, data: bytes) -> None:
        assert self._send is not None
        await asyncio.to_thread(_write, self._send, data)

    async def say(self, message: Any) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def ask(self, method: str, params: Any = None, request_id: Any = 1) -> Any:
        """Send a request and return the next message."""
        request = {"jsonrpc": "2.0", "id": request_id, "method": method}
        await self.say(request if params is None else {**request, "params": params})
        return await self.hear()

    async def hear(self) -> Any:
        line = await asyncio.wait_for(asyncio.to_thread(self._receive.readline), PATIENCE)
        return json.loads(line) if line else None

    async def greet(self, **capabilities: Any) -> None:
        """Open a connection of the handshake era."""
        params = {**INITIALIZE, "capabilities": capabilities}
        answer = await self.ask("initialize", params, "greeting")
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        await self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def leave(self) -> None:
        """Close the client's side."""
        if self._send is not None:
            os.close(self._send)
        self._send = None

    def close(self) -> None:
        """Close the side on which the client reads."""
        self._receive.close()


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@asynccontextmanager
async def lines(server: Any, *, signals: Sequence[signal.Signals] = ()) -> AsyncIterator[Lines]:
    """Run a server on pipes; it ends when the client has left."""
    server_in, send = os.pipe()
    receive, server_out = os.pipe()
    serving = asyncio.create_task(
        serve_stdio(server.server, server_in, server_out, signals=signals)
    )
    client = Lines(send, receive, serving)
    try:
        yield client
    finally:
        client.leave()
        try:
            await asyncio.wait_for(client.serving, PATIENCE)
        finally:
            client.close()
            os.close(server_out)
            os.close(server_in)
