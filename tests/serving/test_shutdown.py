"""At the end of the server calls end first, whichever way they came."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from threading import Event

import httpx2
import pytest
from mcp_types import TextContent

from sovl_tools import ToolContext, Tooler
from tests.patience import PATIENCE, wait_until
from tests.serving.apps import registry_of
from tests.serving.servers import running
from tests.serving.test_mcp_http import connected
from tests.tables import check_each


@check_each("mode", ["legacy", "auto"])
@check_each("speaks", [False, True])
async def test_calls_of_clients_end_before_the_server_does(mode: str, *, speaks: bool) -> None:
    called, go = Event(), Event()

    def wait(context: ToolContext) -> str:
        """Wait until the test says go."""
        if speaks:
            context.report_progress(1)
        called.set()
        go.wait()
        return "done"

    registry = registry_of(wait)
    app = registry.mcp_server(Tooler(registry)).app()
    with ExitStack() as stack:
        url = stack.enter_context(running(app))
        async with connected(url, mode) as client:
            await client.list_tools()  # which it would ask for after the call
            call = asyncio.ensure_future(client.call_tool("wait", progress_callback=_ignore))
            await asyncio.to_thread(called.wait, PATIENCE)
            ending = asyncio.ensure_future(asyncio.to_thread(stack.close))
            await asyncio.to_thread(wait_until, lambda: app.state.traffic.is_ending)
            with pytest.raises(httpx2.HTTPError):
                async with httpx2.AsyncClient() as other:
                    (await other.get(f"{url}/tools")).raise_for_status()
            go.set()
            result = await call
            assert result.content == [TextContent(type="text", text="done")]
            await ending


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    """Want progress, so that there is a stream."""
