"""A server on a socket, in a thread of the tests' own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread

from starlette.applications import Starlette

from sovl_tools.serving.run_http import listen, serve
from sovl_tools.serving.security import Security
from tests.patience import PATIENCE


@contextmanager
def running(app: Starlette, *, shutdown_timeout: float = PATIENCE, port: int = 0) -> Iterator[str]:
    """Serve an application for as long as a block, and yield its URL."""
    started: SimpleQueue[str] = SimpleQueue()
    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def main() -> None:
        task = asyncio.ensure_future(
            serve(
                app,
                listen("127.0.0.1", port, Security()),
                shutdown_timeout=shutdown_timeout,
                on_start=started.put,
            )
        )
        tasks.append((asyncio.get_running_loop(), task))
        with suppress(asyncio.CancelledError):
            await task

    thread = Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    try:
        yield started.get(timeout=PATIENCE)
    finally:
        ((loop, task),) = tasks
        loop.call_soon_threadsafe(task.cancel)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def connect(url: str) -> socket.socket:
    """Return a connection to a server."""
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), PATIENCE)
