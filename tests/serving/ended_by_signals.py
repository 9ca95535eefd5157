"""A server whose tool waits for a line; run by tests of signals.

``uvicorn`` as an argument runs it as other servers of applications do, ``mounted`` below ``/ai``.
"""

from __future__ import annotations

import asyncio
import sys
from threading import Event

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.serving.run_http import listen, serve, url_of
from sovl_tools.serving.security import Security

GO = Event()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def wait() -> str:
    """Wait until the test lets the call end."""
    say("called")
    GO.wait()
    return "done"


def slow() -> str:
    """Take longer than the SDK's streams need to notice a signal."""
    say("called")
    GO.wait(1.2)
    return "done"


def main() -> None:
    registry = ToolRegistry()
    registry.register(wait)
    registry.register(slow)
    app = registry.mcp_server(Tooler(registry)).app()

    socket = listen("127.0.0.1", 0, Security())

    def go() -> None:
        sys.stdin.readline()
        GO.set()

    async def run() -> None:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), go)
        if "uvicorn" in sys.argv:
            mounted = Starlette(routes=[Mount("/ai", app)])
            config = uvicorn.Config(mounted if "mounted" in sys.argv else app, log_config=None)
            say(url_of(socket))
            await uvicorn.Server(config).serve(sockets=[socket])
        else:
            await serve(app, socket, on_start=say)

    asyncio.run(run())
    say("ended")


if __name__ == "__main__":
    main()
