"""Clients at the server of ``sovl-tools dev``: questions, leaving, MCP, odd text, and the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.patience import wait_until
from tests.serving.dev_pages import TOKEN, Page, sent_events, served_page, write_tool
from tests.serving.test_mcp_http import connected

ASKING = """\
from sovl_tools import ToolContext

SCHEMA = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


async def asking(text: str, context: ToolContext):
    context.report_progress(1, 2, "half")
    answer = await context.elicit("Sure?", SCHEMA)
    yield answer.action
    yield answer.content
"""
WAITING = """\
import asyncio
from pathlib import Path


async def waiting(text: str) -> str:
    Path("started").touch()
    try:
        await asyncio.Event().wait()
    finally:
        Path("cancelled").touch()
"""
PICTURE = """\
from sovl_tools import Image


def picture(text: str):
    return ["a", Image(b"<svg onload='alert(1)'/>", "image/svg+xml")]
"""
ODD = """\
def odd(text: str) -> str:
    if text == "fail":
        raise ValueError("\\ud800<img src=x>")
    return "\\ud800<script>"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tool(Path("tools"), "asking", ASKING)
    write_tool(Path("tools"), "waiting", WAITING)
    write_tool(Path("tools"), "picture", PICTURE)
    write_tool(Path("tools"), "odd", ODD, title="<b>odd</b>")
    annotations = {"destructive": True}
    zap = "def zap(text: str) -> str:\n    return text\n"
    write_tool(Path("tools"), "zap", zap, annotations=annotations)
    return Path("tools")


async def answered(page: Page, tool: str, answer: Any) -> list[tuple[str, Any]]:
    """Call a tool, answer what it asks, and return the events."""
    found = []
    body = {"arguments": {"text": "a"}}
    async with page.client.stream("POST", f"/dev/tools/{tool}/call", json=body) as response:
        async for each in sent_events(response):
            found.append((each["event"], each["data"]))
            if each["event"] == "ask":
                url = f"/answers/{each['data']['id']}"
                assert (await page.client.post(url, json=answer)).status_code == 204
    return found


async def test_a_call_asks_and_reports_and_yields(tools: Path) -> None:
    async with served_page(tools) as page:
        found = await answered(page, "asking", {"action": "accept", "content": {"sure": True}})
    assert [name for name, _ in found] == ["progress", "ask", "item", "item", "result"]
    assert found[0][1] == {"progress": 1, "done": 1, "total": 2, "message": "half"}
    assert found[1][1]["schema"]["required"] == ["sure"]
    assert found[3][1] == {"value": {"sure": True}}


async def test_closing_the_connection_cancels_the_call(tools: Path) -> None:
    async with served_page(tools) as page:
        body = {"arguments": {"text": "a"}}
        url = "/dev/tools/waiting/call"
        async with page.client.stream("POST", url, json=body):
            await asyncio.to_thread(wait_until, Path("started").exists)
        await asyncio.to_thread(wait_until, Path("cancelled").exists)


async def test_pictures_and_odd_text_come_as_they_are(tools: Path) -> None:
    async with served_page(tools) as page:
        (_, result) = (await page.call("picture", text="a"))[-1]
        assert [each["type"] for each in result["content"]] == ["text", "image"]
        assert result["content"][1]["media_type"] == "image/svg+xml"
        assert result["value"][1]["mimeType"] == "image/svg+xml"
        (_, odd) = (await page.call("odd", text="a"))[-1]
        assert odd["value"].endswith("<script>")
        (_, failed) = (await page.call("odd", text="fail"))[-1]
        assert failed["error"]["exception"] == "ValueError"
        assert failed["place"] == "tools/odd/odd.py:3"
        assert len((await page.get("history"))["calls"]) == 3
        assert (await page.get("tools/odd"))["title"] == "<b>odd</b>"


async def test_calls_of_mcp_clients_are_in_the_history(tools: Path) -> None:
    async with served_page(tools) as page, page.events() as events:
        url = str(page.client.base_url).rstrip("/")
        async with connected(url, "auto", TOKEN) as client:
            await client.call_tool("zap", {"text": "a"})
        assert (await anext(events))["data"]["client"] == "mcp"
        (row,) = (await page.get("history"))["calls"]
    assert (row["client"], row["tool"], row["ok"]) == ("mcp", "zap", True)


async def test_streams_of_events_dont_delay_the_end(tools: Path) -> None:
    async with served_page(tools) as page, page.events() as events:
        await asyncio.to_thread(page.end)  # which waits for calls
        assert [each async for each in events] == []


async def test_a_run_that_waits_for_a_person_doesnt_delay_the_end(tools: Path) -> None:
    file = tools.parent / "procedures" / "zapping.yaml"
    file.parent.mkdir()
    step = "  - {action: tool, tool: zap, arguments: {text: a}}"
    file.write_text(f"name: zapping\ndescription: Zap.\nsteps:\n{step}\n")
    async with served_page(tools, procedures=file.parent) as page:
        url, body = "/dev/procedures/zapping/run", {"stepping": True}
        async with page.client.stream("POST", url, json=body) as response:
            events = sent_events(response)
            assert [(await anext(events))["event"] for _ in range(2)] == ["started", "waiting"]
            await asyncio.to_thread(page.end)
            assert [each async for each in events] == []
