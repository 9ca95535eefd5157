"""A server whose tool waits for a line; run by tests of signals."""

from __future__ import annotations

import asyncio
import sys
from threading import Event

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.serving.run_http import listen, serve
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

    async def run() -> None:
        def go() -> None:
            sys.stdin.readline()
            GO.set()

        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin.fileno(), go)
        socket = listen("127.0.0.1", 0, Security())
        await serve(app, socket, on_start=say)

    asyncio.run(run())
    say("ended")


if __name__ == "__main__":
    main()
