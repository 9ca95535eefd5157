"""Every wrong value at every place of every request: the right error, and the others are served."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sovl_tools import ToolContext, Tooler, ToolRegistry, tool
from tests.serving.lines import ENVELOPE, INITIALIZE, Lines, lines
from tests.tables import check_each
from tests.test_wrong_types import ABSENT, mutated, places

HALF = "\ud800"
WRONG: list[Any] = [
    *(None, True, -1, 10**40, "x", "sovl-tools://", [None], {"": None}, HALF, "a" * 10_000),
]
CODES = {-32700, -32600, -32601, -32602, -32020, -32021, -32022}
"""What a client can have done wrong; a mistake of the server's would be another code."""

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {"cursor": "after:a"}),
    ("tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
    ("tools/call", {"name": "call_tool", "arguments": {"name": "echo", "arguments": {}}}),
    ("tools/call", {"name": "search_tools", "arguments": {"query": "echo", "limit": 1}}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "echo", "arguments": {"text": "hi"}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "sovl-tools://manifest/echo"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "echo"}}),
]
LEGACY = [
    *REQUESTS,
    ("initialize", INITIALIZE),
    ("ping", {}),
    ("logging/setLevel", {"level": "info"}),
    ("tools/call", {"name": "ask", "_meta": {"progressToken": 1}}),
    ("resources/subscribe", {"uri": "sovl-tools://manifest/echo"}),
]
ANSWER = {"action": "accept", "content": {}}
MODERN = [
    (method, {**ENVELOPE, **params})
    for method, params in (
        *REQUESTS,
        ("server/discover", {}),
        (
            "tools/call",
            {"name": "ask", "inputResponses": {"1": ANSWER}, "requestState": '[{}, {"1": "x"}]'},
        ),
    )
]


@tool(activation_phrases=["say"])
def echo(text: str) -> str:
    """Say it."""
    return text


@tool(annotations={"idempotent": True})
async def ask(context: ToolContext) -> str:
    """Ask and report."""
    context.report_progress(1)
    return (await context.elicit("Sure?")).action


@pytest.fixture(scope="module")
def server() -> Any:
    registry = ToolRegistry()
    for each in (echo, ask):
        registry.register(each)
    return registry.mcp_server(Tooler(registry), search_tools=True)


async def check(client: Lines, message: dict[str, Any]) -> None:
    """Send a message and read its answer, if it must have one."""
    await client.say(message)
    request_id = message.get("id")
    if type(request_id) not in (int, str):
        return  # the SDK takes it for a notification
    while True:
        answer = await client.hear()
        assert answer is not None, message
        # what the server tells of running calls is no answer
        if "method" not in answer:
            break
    assert answer["id"] in (request_id, None), message
    if "error" in answer:
        assert answer["error"]["code"] in CODES, (message, answer)
        assert len(answer["error"]["message"]) < 1_000
        assert "Traceback" not in answer["error"]["message"]


@check_each(("method", "params"), [*LEGACY, *MODERN])
async def test_every_wrong_value_at_every_place(
    server: Any, method: str, params: dict[str, Any]
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    is_modern = "_meta" in params and len(params["_meta"]) > 1
    # what is alike in all is checked once in each era
    is_whole = method in {"ping", "server/discover"}
    async with lines(server) as client:
        if is_modern:
            assert "result" in await client.ask("server/discover", ENVELOPE)
        else:
            await client.greet()
        for path in places(message):
            if path and (is_whole or (path[0] == "params" and path[1:2] != ("_meta",))):
                for wrong in (*WRONG, ABSENT):
                    await check(client, mutated(message, path, wrong))
        for wrong in WRONG:
            await client.write(json.dumps(wrong).encode() + b"\n")
            assert (await client.hear())["error"]["code"] in CODES
        call = {"name": "echo", "arguments": {"text": "still there"}}
        answer = await client.ask("tools/call", {**(ENVELOPE if is_modern else {}), **call}, "last")
        assert "result" in answer, answer
        assert answer["result"]["content"][0]["text"] == "still there"
