"""The Model Context Protocol over streamable HTTP: the SDK's sessions in our application."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from sovl_tools.serving.traffic import Traffic


class McpEndpoint:
    """An ASGI application that speaks the protocol.

    It runs for as long as a lifespan, or from its first request to the end of the loop: an
    application that mounts another doesn't run its lifespan.

    Args:
        server: the SDK's server.
        options: of ``StreamableHTTPSessionManager``.
    """

    def __init__(self, server: Server[Any], **options: Any) -> None:
        self._server = server
        self._options = options
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def run(self, traffic: Traffic) -> AsyncIterator[None]:
        """Answer requests for as long as a block; sessions end with it.

        Streams end earlier, when uvicorn shuts down.
        """
        # the server that calls us: its handler of signals is a method
        server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and isinstance(server, uvicorn.Server):
            traffic.end_with(server)
        manager = StreamableHTTPSessionManager(self._server, **self._options)
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        async with self._lock:
            if self._manager is None:
                started = asyncio.get_running_loop().create_future()
                # cancelled at the end of the loop
                staying = self._stay(started, scope["app"].state.traffic)
                self._running = asyncio.create_task(staying, name="sovl-tools-mcp")
                await started
            manager = cast("StreamableHTTPSessionManager", self._manager)
        await manager.handle_request(scope, receive, send)

    async def _stay(self, started: asyncio.Future[None], traffic: Traffic) -> None:
        try:
            async with self.run(traffic):
                started.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)
