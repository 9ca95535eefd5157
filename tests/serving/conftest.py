"""Clients of the protocol in memory, in both eras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client._memory import InMemoryTransport
from mcp.client.client import Client

from sovl_tools import Tooler, ToolRegistry

ERAS = ("legacy", "2026-07-28")
"""How the SDK's client calls the era of the handshake, and the one without."""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ToolRegistry]:
    """The tools in ``tmp_path/tools``, watched."""
    (tmp_path / "tools").mkdir(exist_ok=True)
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    with registry.watch():
        yield registry


def served(registry: ToolRegistry, **options: Any) -> Any:
    return registry.mcp_server(Tooler(registry), **options)


def client_of(server: Any, era: str, **options: Any) -> Client:
    """Return a client of a server in this process that speaks JSON with it."""
    return Client(InMemoryTransport(server.server), mode=era, cache=None, **options)
