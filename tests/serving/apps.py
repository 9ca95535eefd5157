"""An application over tools of every kind, and requests that go to it without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message

from sovl_tools import Audio, EmbeddedResource, Image, ToolContext, Tooler, ToolError, ToolRegistry
from sovl_tools.serving.app import make_app
from sovl_tools.serving.security import Security
from tests.patience import PATIENCE

PNG = b"\x89PNG\r\n\x1a\n"


def add(first: int, second: int = 2) -> int:
    """Add two numbers."""
    return first + second


def fail(message: str) -> str:
    """Fail."""
    raise ToolError(message)


def content() -> list[Any]:
    """Return one of each kind of content."""
    return ["text", Image(PNG), Audio(b"ID3\x03"), EmbeddedResource("file:///a", "b")]


def odd() -> object:
    """Return what isn't JSON."""
    return object


def count(upto: int, context: ToolContext) -> Iterator[int]:
    """Count, and say so."""
    context.log("info", "begins")
    for number in range(upto):
        context.report_progress(number + 1, upto)
        yield number


class Slow:
    """Async tools that a test can check."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def wait(self) -> str:
        """Wait for ever."""
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "never"


def registry_of(*tools: Any) -> ToolRegistry:
    """Return a registry of the tools above and of those."""
    registry = ToolRegistry()
    for each in (add, fail, content, odd, count, *tools):
        registry.register(each)
    return registry


def tooler_of(registry: ToolRegistry) -> Tooler:
    return Tooler(registry, timeout=PATIENCE)


def app_of(
    registry: ToolRegistry,
    tooler: Tooler | None = None,
    *,
    mcp: Any = None,
    **limits: Any,
) -> Starlette:
    """Return the application that serves tools; ``limits`` say who can ask for what."""
    security = Security(**limits)
    return make_app(registry, tooler or tooler_of(registry), mcp=mcp, security=security)


@asynccontextmanager
async def client_of(app: ASGIApp, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client whose requests go to an application directly."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    url = options.pop("base_url", "http://127.0.0.1:8000")
    async with httpx.AsyncClient(transport=transport, base_url=url, **options) as client:
        yield client


class Exchange:
    """One request by hand: what the client does and when is the test's to say."""

    def __init__(
        self,
        app: ASGIApp,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> None:
        given = {"host": "127.0.0.1:8000", "content-type": "application/json", **(headers or {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
            "state": {},
        }
        self.messages: asyncio.Queue[Message] = asyncio.Queue()
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        if body or method == "GET":
            self.messages.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.task = asyncio.ensure_future(app(scope, self.messages.get, self.sent.put))

    def leave(self) -> None:
        """Close the connection."""
        self.messages.put_nowait({"type": "http.disconnect"})

    async def next(self) -> Message:
        """Return what the application sends next."""
        return await asyncio.wait_for(self.sent.get(), PATIENCE)


def events_of(text: str) -> list[tuple[str, Any]]:
    """Return server-sent events, without comments."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
