"""The server of the page, over a folder of tools, and a client that reads its events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from sovl_tools import Policy, ToolRegistry
from sovl_tools.configuration import load_configuration
from sovl_tools.dev.app import DevApi
from tests.conftest import manifest_of
from tests.patience import PATIENCE
from tests.serving.servers import running

TOKEN = "a-token"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


class Page(NamedTuple):
    """A server of the page and a client of it.

    Attributes:
        client: with the token.
        api: the server's side.
        tools: the tools directory.
        end: ends the server.
    """

    client: httpx.AsyncClient
    api: DevApi
    tools: Path
    end: Callable[[], None]

    async def get(self, path: str, **query: str) -> Any:
        """Return the JSON that is at a path under ``/dev``."""
        answer = await self.client.get(f"/dev/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def call(self, tool: str, **arguments: Any) -> list[tuple[str, Any]]:
        """Call a tool, and return the events of the call."""
        url = f"/dev/tools/{tool}/call"
        async with self.client.stream("POST", url, json={"arguments": arguments}) as response:
            return [(each["event"], each["data"]) async for each in sent_events(response)]

    @asynccontextmanager
    async def events(self, since: str = "") -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Yield what happens, or what has happened since an event."""
        headers = {"Last-Event-ID": since} if since else {}
        async with self.client.stream("GET", "/dev/events", headers=headers) as response:
            yield sent_events(response)


async def sent_events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Yield server-sent events, with ``event``, ``data`` and ``id``."""
    found: dict[str, Any] = {}
    async for line in response.aiter_lines():
        if line and not line.startswith(":"):
            key, _, value = line.partition(": ")
            found[key] = json.loads(value) if key == "data" else value
        elif found:
            yield found
            found = {}


def write_tool(tools: Path, name: str, code: str, **manifest: Any) -> Path:
    """Write the folder of a tool, and return it."""
    folder = tools / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(manifest_of(name, **manifest), indent=2))
    (folder / f"{name}.py").write_text(code)
    return folder


@asynccontextmanager
async def served_page(
    tools: Path,
    *,
    procedures: Path | None = None,
    approval: Any = None,
    tags: str | None = None,
    **settings: Any,
) -> AsyncIterator[Page]:
    """Serve the page of a directory that is watched, and yield a client."""
    registry = ToolRegistry.from_directory(tools, pythonpath=False)
    if procedures is not None:
        registry.load_procedures(procedures)
    if tags is not None:
        registry = registry.select(tags=tags)
    found = replace(load_configuration([str(tools)], imports=False), **settings)
    api = DevApi(registry, found, Policy(approval=approval, timeout=PATIENCE))
    with registry.watch(), ExitStack() as stack:
        url = stack.enter_context(running(api.app(TOKEN)))
        async with httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=PATIENCE) as client:
            yield Page(client, api, tools, stack.close)
