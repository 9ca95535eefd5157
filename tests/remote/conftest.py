from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.remote.loop import remote_loop
from sovl_tools.remote.session import McpServer
from tests.patience import PATIENCE

SCRIPT = Path(__file__).parent / "mcp_server.py"
RAW = Path(__file__).parent / "raw_server.py"


class Raw:
    """A server that says whatever a file says, and how it is started."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.command = shlex.join([sys.executable, "-S", str(RAW), str(file)])
        self.says()

    def says(self, tools: Any = (), call: Any = None, **more: Any) -> None:
        """Answer like this from now on: with a list of tools, and to each call."""
        result = call or {"content": [{"type": "text", "text": "called"}]}
        listed = {"tools": list(tools) if isinstance(tools, tuple) else tools}
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps({"tools/list": listed, "tools/call": result, **more}))
        draft.replace(self.file)  # a server may be reading it


class Offer:
    """A server's file: what it offers, and how it is started."""

    def __init__(self, file: Path, python: str) -> None:
        self.file = file
        self.python = python
        self.put()

    @property
    def command(self) -> str:
        return shlex.join([self.python, str(SCRIPT), str(self.file)])

    def put(self, tools: Any = None) -> None:
        """Offer these tools from now on; None for the script's own."""
        self.file.write_text(json.dumps({"tools": tools}))


@pytest.fixture(scope="session", autouse=True)
def _no_connection_is_left() -> Iterator[None]:
    yield
    remote_loop().close()


@pytest.fixture(scope="module")
def offer(tmp_path_factory: pytest.TempPathFactory) -> Offer:
    """What the module's server offers."""
    return Offer(tmp_path_factory.mktemp("server") / "offer.json", sys.executable)


@pytest.fixture(scope="module")
def server(offer: Offer) -> McpServer:
    """A server of this module, started by its command."""
    return McpServer(offer.command, timeout=PATIENCE)


@contextmanager
def http_server(offer: Offer, *more: str) -> Iterator[str]:
    """Run the server over HTTP and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [offer.python, str(SCRIPT), str(offer.file), "http", *more, str(port)]
    )
    try:
        eventually(lambda: listens(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()
        # the fork that this process stands for ends a little later
        eventually(lambda: not listens(port))


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def eventually(is_met: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_met():
        assert time.monotonic() < end
        time.sleep(0.02)
