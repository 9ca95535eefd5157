"""One session with a server, shared by all calls: over pipes and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Audio, EmbeddedResource, Image, Text, Tooler, ToolError, ToolRegistry
from sovl_tools.model.content import Structured
from sovl_tools.remote.answer import value_of
from sovl_tools.remote.loop import run_remotely
from sovl_tools.remote.session import McpServer, RemoteError, session_of
from tests.conftest import is_running
from tests.patience import PATIENCE
from tests.remote.conftest import Offer, Raw, eventually
from tests.tables import check_each


def call(server: McpServer, tool: str, *, repeatable: bool = False, **arguments: Any) -> Any:
    return asyncio.run(server.call(tool, arguments, repeatable=repeatable))


def test_all_threads_and_loops_share_one_session(server: McpServer) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda n: call(server, "echo", text=str(n)), range(16))]
    assert [each["said"] for each in found] == [str(n) for n in range(16)]
    assert len({each["pid"] for each in found}) == 1
    again = McpServer(server.address, timeout=server.timeout)
    assert call(again, "echo")["pid"] == found[0]["pid"]


def test_all_pages_are_listed_as_they_were_sent(server: McpServer) -> None:
    tools = asyncio.run(server.list_tools())
    assert [each["name"] for each in tools][:2] == ["echo", "many-kinds"]
    assert len(tools) == 10
    assert tools[0]["icons"] == [{"src": "https://example.com/a.png"}]


def test_content_keeps_its_types(server: McpServer) -> None:
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x00"
    found = call(server, "many-kinds")
    assert found[:5] == [
        Text("look"),
        Image(png, "image/png"),
        Audio(png, "audio/x-odd"),
        EmbeddedResource("file:///a.txt", "a"),
        EmbeddedResource("file:///b", png),
    ]
    assert '"uri": "file:///c"' in found[5].text


def test_a_tool_that_asks_for_input_says_so(server: McpServer) -> None:
    with pytest.raises(ToolError, match="asks for input"):
        call(server, "ask")


def test_a_server_that_dies_costs_the_call_and_begins_anew(
    server: McpServer, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    before = call(server, "echo")["pid"]
    with pytest.raises(ToolError, match="ended the connection during the call, which can have"):
        call(server, "die", text=str(calls))
    assert calls.read_text() == "called\n"
    after = call(server, "echo", repeatable=True)["pid"]
    assert after != before
    os.kill(after, signal.SIGKILL)
    eventually(lambda: not is_running(after))
    assert call(server, "echo", repeatable=True)["pid"] != after


def test_variables_are_passed_on(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOVL_SECRET", "s")
    env = (("SOVL_SECRET", None), ("SOVL_LEVEL", "debug"))
    server = McpServer(offer.command, env=env, timeout=PATIENCE)
    assert server.variables == ["SOVL_SECRET"]
    assert call(server, "env", text="SOVL_SECRET") == "s"
    assert call(server, "env", text="SOVL_LEVEL") == "debug"
    asyncio.run(run_remotely(session_of(server).close()))
    monkeypatch.delenv("SOVL_SECRET")
    with pytest.raises(ToolError, match="variable SOVL_SECRET is not set"):
        call(server, "env", text="SOVL_SECRET")


@pytest.mark.parametrize("value", ["Bearer hush\n", "hush\x00", "h\u00fcsh, hush"])
def test_a_header_that_can_not_be_sent_is_not_shown(value: str) -> None:
    server = McpServer("http://127.0.0.1:9/mcp", header_values=(("X-Key", value),))
    with pytest.raises(ToolError, match="the value of the header 'X-Key' may only have") as caught:
        call(server, "echo")
    assert "hush" not in str(caught.value)


@check_each(
    ("command", "words"),
    [
        ("no-such-command-anywhere", "can't be reached: .*No such file"),
        (f"{sys.executable} -c pass", "can't be reached"),
        (f"{sys.executable} -c 'print(1); print([])'", "can't be reached"),
        (f"{sys.executable} -c 'import time; time.sleep(600)'", "did not answer in 0.5 s"),
        ("http://127.0.0.1:9/mcp", "can't be reached"),
    ],
)
def test_a_server_that_is_none_is_told_in_one_line(command: str, words: str) -> None:
    limit = 0.5 if "0.5" in words else PATIENCE
    with pytest.raises(RemoteError, match=words) as caught:
        asyncio.run(McpServer(command, timeout=limit).list_tools())
    assert "\n" not in str(caught.value)


def test_no_process_outlives_the_program(offer: Offer, tmp_path: Path) -> None:
    program = f"""
import asyncio
from sovl_tools.remote.session import McpServer
print(asyncio.run(McpServer({offer.command!r}, timeout=60).call("echo", {{}}))["pid"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    eventually(lambda: not is_running(int(done.stdout)))


@check_each(
    ("answer", "words"),
    [
        ({"content": [{"type": "image", "data": "/", "mimeType": "image/png"}]}, "can't be read"),
        ({"content": [{"type": "image", "data": "", "mimeType": "text/x"}]}, "can't be read"),
        ({"content": [], "isError": True}, "gives no reason"),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_tool(answer: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        value_of(answer)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"tools/call": {"content": 3}}, "isn't a result of the protocol"),
        ({"tools/list": 3}, "did not answer in"),
        ({"tools/list": {"tools": 3}}, "sends no list"),
        ({"tools/list": {"tools": [], "nextCursor": "x"}}, "pages of tools that do not end"),
        ({"initialize": {}}, "can't be reached"),
    ],
)
def test_an_answer_that_is_rubbish_is_told_in_one_line(
    said: dict[str, Any], words: str, tmp_path: Path
) -> None:
    raw = Raw(tmp_path / "says.json")
    raw.says(**said)
    timeout = 3 if words == "did not answer in" else PATIENCE
    server = McpServer(raw.command, timeout=timeout)
    work = server.list_tools() if "tools/list" in said else server.call("echo", {})
    with pytest.raises((ToolError, RemoteError), match=words) as caught:
        asyncio.run(work)
    assert "\n" not in str(caught.value)
    asyncio.run(run_remotely(session_of(server).close()))


def test_structured_content_is_the_value() -> None:
    text = {"type": "text", "text": "1"}
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert value_of({"content": [text], "structuredContent": {"a": 1}}) == {"a": 1}
    assert value_of({"content": [text, image], "structuredContent": [1]}) == Structured(
        [1], (Text("[1]"), Image(b"\0\0\0", "image/png"))
    )
    assert value_of({"content": [text]}) == "1"
    assert value_of({"content": [text, text]}) == [Text("1"), Text("1")]
    assert value_of({"content": []}) is None


@check_each(
    ("texts", "structured", "kept"),
    [
        (['{"n": 3}'], {"n": 3}, []),
        (['{\n  "n": 3.0\n}', "Found three."], {"n": 3.0}, ["Found three."]),
        (["Found three."], {"n": 3}, ["Found three."]),
        (["hello"], {"result": "hello"}, []),
        (["[1, 2"], [1, 2], ["[1, 2"]),
        (["é", '"é"'], {"result": "é"}, []),
    ],
)  # fmt: skip
def test_texts_that_say_more_than_structured_content_are_kept(
    texts: list[str], structured: Any, kept: list[str]
) -> None:
    content = [{"type": "text", "text": each} for each in texts]
    found = value_of({"content": content, "structuredContent": structured})
    if not kept:
        assert found == structured
        return
    assert found.value == structured
    assert json.loads(found.content[0].text) == structured
    assert [each.text for each in found.content[1:]] == kept


def test_structured_content_fits_its_schema_next_to_other_content(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    raw = Raw(tmp_path / "says.json")
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    raw.says(
        [{"name": "find", "inputSchema": {"type": "object"}, "outputSchema": schema}],
        {"content": [{"type": "text", "text": "Found three."}, image],
         "structuredContent": {"n": 3}},
    )  # fmt: skip
    registry = ToolRegistry()
    registry.load_mcp(raw.command, timeout=PATIENCE)
    result = Tooler(registry).call_sync("find", {})
    assert (result.error, result.value) == (None, {"n": 3})
    assert result.content[:2] == (Text('{"n": 3}'), Text("Found three."))
    assert "Found three." in str(result.to_message("anthropic", call_id="1"))
    short = Tooler(registry, max_result_bytes=20).call_sync("find", {})
    assert short.value == {"n": 3}
    assert sum(each.size for each in short.content) <= 20
