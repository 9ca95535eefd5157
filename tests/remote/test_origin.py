"""The tools of an MCP server in a registry: entered, changed, broken, gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from sovl_tools.remote.origin import RemoteTools, read_tools
from sovl_tools.remote.session import McpServer
from tests.patience import PATIENCE
from tests.remote.conftest import Offer, Raw, eventually, http_server
from tests.scaffolding.test_imported import OF_MCP
from tests.schema.strategies import examples, moderate
from tests.test_wrong_types import changes, mutated


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Do {name}.", "inputSchema": {"type": "object"}, **more}


@pytest.fixture
def raw(tmp_path: Path) -> Raw:
    """A server that says what the test wants."""
    return Raw(tmp_path / "says.json")


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry()


class Changes:
    """What a registry has told of its changes."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.seen: list[CatalogChange] = []
        self._came = threading.Event()
        registry.subscribe(self._on_change)

    def _on_change(self, change: CatalogChange) -> None:
        self.seen.append(change)
        self._came.set()

    def wait(self) -> None:
        assert self._came.wait(PATIENCE)
        self._came.clear()


def test_a_servers_tools_join_the_registry(offer: Offer, registry: ToolRegistry) -> None:
    change = registry.load_mcp(offer.command, timeout=PATIENCE)
    assert sorted(change.added) == sorted(registry.catalog.tools)
    assert len(registry) == 10
    found = registry["echo"]
    assert (found.title, dict(found.annotations)) == ("Echo", {"read_only": True})
    assert found.metadata == {"icons": [{"src": "https://example.com/a.png"}]}
    assert found.output_schema is not None
    assert registry.report.diagnostics == ()
    tooler = Tooler(registry)
    value = tooler.call_sync("echo", {"text": "hi"}).value
    assert value["said"] == "hi"
    assert len(tooler.call_sync("many_kinds", {}).content) == 6
    error = tooler.call_sync("fail", {}).error
    assert error is not None
    assert error.message == "it does not work"
    assert not registry.reload()


async def test_async_callers_share_the_session(offer: Offer, registry: ToolRegistry) -> None:
    registry.load_mcp(offer.command, timeout=PATIENCE)
    tooler = Tooler(registry)
    first = await tooler.call("echo", {"text": "a"})
    assert first.value["pid"] == tooler.call_sync("echo", {}).value["pid"]
    error = (await Tooler(registry, timeout=0.3).call("hang", {})).error
    assert error is not None
    assert error.kind == "timeout"
    assert (await tooler.call("echo", {})).value["pid"] == first.value["pid"]


@pytest.mark.parametrize("kind", ["stdio", "stateful", "stateless"])
def test_a_change_that_the_server_tells_is_a_reload(
    kind: str, offer: Offer, registry: ToolRegistry
) -> None:
    def check(address: str) -> None:
        registry.load_mcp(address, timeout=PATIENCE)
        seen = Changes(registry)
        offer.put([tool("change"), tool("new")])
        assert Tooler(registry).call_sync("change", {}).ok
        seen.wait()
        assert sorted(registry.catalog.tools) == ["change", "new"]
        assert seen.seen[0].added == ("new",)

    try:
        if kind == "stdio":
            check(offer.command)
        else:
            with http_server(offer, kind) as url:
                check(url)
    finally:
        offer.put()


def test_a_broken_tool_is_a_diagnostic_and_takes_no_other_down(
    raw: Raw, registry: ToolRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    raw.says([tool("fine"), {"name": "odd", "inputSchema": 3}, 7, tool("worse", inputSchema={
        "type": "object", "properties": {"a": {"type": "strng"}}})])  # fmt: skip
    registry.load_mcp(raw.command, timeout=PATIENCE)
    assert [*registry.catalog.tools] == ["fine"]
    assert Tooler(registry).call_sync("fine", {}).value == "called"
    found = {(each.tool, each.code) for each in registry.report.diagnostics}
    assert found == {(name, "ST704") for name in ("odd", "tool", "worse")}
    said = {each.tool: str(each) for each in registry.report.diagnostics}
    name = Path(sys.executable).name
    assert said["odd"] == f"{name}: ST704 'odd': a schema must be an object, not 'integer'"
    assert said["worse"] == (
        f"{name}: ST704 'worse': 'parameters.properties.a.type': 'strng' is not a JSON Schema type"
    )
    logged = [each.getMessage() for each in caplog.records if "rejected" in each.getMessage()]
    assert len(logged) == 3
    assert all(f": {name}: ST704 " in each for each in logged)
    error = Tooler(registry).call_sync("odd", {}).error
    assert error is not None
    assert error.kind == "unavailable"


def test_a_server_that_goes_down_leaves_its_tools(raw: Raw, registry: ToolRegistry) -> None:
    raw.says([tool("fine"), tool("other")])
    registry.load_mcp(raw.command, timeout=PATIENCE)
    first = registry["fine"]
    raw.says(3)
    change = registry.reload()
    assert [each.code for each in change.diagnostics] == ["ST701"]
    assert registry["fine"] is first
    raw.says([tool("fine")])
    assert registry.reload().removed == ("other",)
    assert registry["fine"].function == first.function


@pytest.mark.parametrize("address", ["no-such-command-anywhere", "http://127.0.0.1:9/mcp"])
def test_a_server_that_can_not_be_reached_is_a_diagnostic(
    address: str, registry: ToolRegistry
) -> None:
    change = registry.load_mcp(address, timeout=PATIENCE)
    (found,) = change.diagnostics
    name = address.removeprefix("http://").removesuffix("/mcp")
    assert (found.code, found.path) == ("ST701", name)
    assert "can't be reached" in found.message
    assert len(registry) == 0


def test_a_tool_of_a_server_that_died_is_called_on_the_next_one(
    offer: Offer, registry: ToolRegistry
) -> None:
    registry.load_mcp(offer.command, timeout=PATIENCE)
    tooler = Tooler(registry)
    pid = tooler.call_sync("echo", {}).value["pid"]
    seen = Changes(registry)
    offer.put([*map(tool, ["echo", "later"])])
    try:
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: tooler.call_sync("echo", {}).ok)
        # what the next one offers is looked at by itself
        seen.wait()
        assert sorted(registry.catalog.tools) == ["echo", "later"]
    finally:
        offer.put()


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("", {}),
        ("'", {}),
        ("x", {"headers": {"A": "B"}}),
        ("http://localhost/mcp", {"env": {"A": "B"}}),
        ("http:///mcp", {}),
        ("x", {"timeout": 0}),
        ("x", {"timeout": float("nan")}),
        ("x", {"prefix": "a-b"}),
        ("ftp://localhost/mcp", {}),
    ],
)
def test_misuse_raises(address: Any, options: dict[str, Any], registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match=r"."):
        registry.load_mcp(address, **options)


@settings(moderate, max_examples=examples(2000))
@given(change=changes([OF_MCP, tool("other")]))  # type: ignore[arg-type]
def test_a_wrong_value_in_a_list_is_told_and_spoils_no_other(change: tuple[Any, Any]) -> None:
    listed = [tool("first"), *_list(change)]
    found = [*RemoteTools(McpServer("x"))._candidates(listed, None)]
    assert found[0].status == "loaded"
    assert len(found) == len(listed)
    assert len(read_tools(listed)) == len(listed)
    for each in found:
        assert each.status in {"loaded", "rejected"}
        assert all(diagnostic.path == "x" for diagnostic in each.diagnostics)
        assert not any(each.code.startswith("ST0") for each in each.diagnostics)


def _list(change: tuple[Any, Any]) -> list[Any]:
    document = mutated([OF_MCP, tool("other")], *change)  # type: ignore[arg-type]
    return document if isinstance(document, list) else [document]
