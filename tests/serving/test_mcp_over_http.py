"""Calls, reports, questions, cancellation and changes over a socket, in both eras."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import code_of, manifest_of
from tests.serving.servers import running
from tests.serving.test_changes import listening

pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="module")
def url(tools: Path) -> Iterator[str]:
    """The address of a server that all tests here share."""
    registry = ToolRegistry.from_directory(tools)
    with registry.watch(), running(registry.mcp_server(Tooler(registry)).app()) as address:
        yield f"{address}/mcp"


async def test_every_client_hears_of_a_folder(url: str, tools: Path, era: str) -> None:
    name = f"dropped_{era.replace('-', '_')}"
    async with listening(url, era) as first, listening(url, era) as second:
        before = await first.names()
        place = tools / name
        place.mkdir()
        (place / f"{name}.py").write_text(code_of(name))
        (place / f"{name}.json").write_text(json.dumps(manifest_of(name)))
        for each in (first, second):
            await each.hear_until(sorted([*before, name]))
            assert await each.text(name) == "x"
