"""What tools ask the clients of the JSON API, and approval by clients of both protocols."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import mcp_types as types
import pytest

from sovl_tools import Policy, ToolContext, Tooler, tool
from sovl_tools.serving.mcp_server import McpServer
from tests.patience import PATIENCE
from tests.serving.apps import app_of, client_of, registry_of
from tests.serving.conftest import client_of as mcp_client_of
from tests.serving.servers import running
from tests.serving.test_mcp_server import result
from tests.tables import check_each

REASON = {
    "type": "object",
    "properties": {"reason": {"type": "string", "minLength": 3}},
    "required": ["reason"],
}
ZAPPED: list[str] = []


@tool(annotations={"destructive": True})
def zap(name: str) -> str:
    """Zap something."""
    ZAPPED.append(name)
    return f"zapped {name}"


@tool
async def refund(order: int, context: ToolContext) -> Any:
    """Refund an order."""
    answer = await context.elicit(f"Why is {order} refunded?", REASON)
    return [answer.action, answer.content]


@tool
async def open_page(context: ToolContext) -> str:
    """Open a page."""
    return (await context.elicit_url("Log in", "https://example.com/")).action


@tool
def summarize(text: str, context: ToolContext) -> str:
    """Summarize."""
    return context.sample_sync(text, max_tokens=9).text


@tool
async def where(context: ToolContext) -> list[str]:
    """Name the client's directories."""
    return [each.uri for each in await context.list_roots()]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    ZAPPED.clear()


@asynccontextmanager
async def served(policy: Policy | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server: a stream needs a real connection."""
    registry = registry_of(zap, refund, open_page, summarize, where)
    app = app_of(registry, Tooler(registry, policy=policy))
    with running(app) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            yield client


async def stream(
    client: httpx.AsyncClient, name: str, arguments: Any, *answers: Any
) -> tuple[list[dict[str, Any]], list[int], tuple[str, Any]]:
    """Call a tool; return what it asks, the states of the answers, and the last event."""
    asked: list[dict[str, Any]] = []
    states: list[int] = []
    left = list(answers)
    event: tuple[str, Any] = ("", None)
    url = f"/tools/{name}/stream"
    async with client.stream("POST", url, json=arguments) as response:
        kind = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                event = (kind, json.loads(line.removeprefix("data: ")))
                if kind == "ask":
                    asked.append(event[1])
                    while left:
                        answer = left.pop(0)
                        done = await client.post(f"/answers/{event[1]['id']}", json=answer)
                        states.append(done.status_code)
                        if done.status_code == 204:
                            break
    return asked, states, event


@check_each(
    ("name", "arguments", "kind", "answers", "value"),
    [
        ("refund", {"order": 3}, "elicit", [{"action": "decline"}], ["decline", None]),
        (
            "refund",
            {"order": 3},
            "elicit",
            [
                {},
                [],
                {"action": "maybe"},
                {"action": "accept", "content": {"reason": 5}},
                {"action": "accept", "content": {"reason": "late"}},
            ],
            ["accept", {"reason": "late"}],
        ),
        ("open_page", {}, "open", [{"action": "accept"}], "accept"),
        ("summarize", {"text": "a b"}, "sample", [{"text": 5}, {"text": "ab"}], "ab"),
        (
            "where",
            {},
            "roots",
            [{"roots": ["x"]}, {"roots": [{"uri": "file:///a"}]}],
            ["file:///a"],
        ),
        ("zap", {"name": "x"}, "approve", [{"approved": 1}, {"approved": True}], "zapped x"),
    ],
)
async def test_a_stream_asks_and_takes_the_answer(
    name: str, arguments: Any, kind: str, answers: list[Any], value: Any
) -> None:
    async with served(Policy(approval="destructive")) as client:
        asked, states, (event, last) = await stream(client, name, arguments, *answers)
        assert (asked[0]["kind"], asked[0]["tool"]) == (kind, name)
        assert states == [*[422] * (len(answers) - 1), 204]
        assert (event, last["value"]) == ("result", value)
        again = await client.post(f"/answers/{asked[0]['id']}", json=answers[-1])
        assert again.status_code == 404


@check_each(
    ("name", "arguments", "kind"),
    [
        ("refund", {"order": 3}, "elicit"),
        ("zap", {"name": "x"}, "approve"),
    ],
)
async def test_without_a_stream_a_question_is_a_conflict(
    name: str, arguments: Any, kind: str
) -> None:
    registry = registry_of(zap, refund, summarize, where)
    app = app_of(registry, Tooler(registry, policy=Policy(approval="destructive")))
    async with client_of(app) as client:
        response = await client.post(f"/tools/{name}", json=arguments)
    document = response.json()
    assert (response.status_code, document["ask"]["kind"]) == (409, kind)
    assert document["detail"].startswith(f"{name} asks something; call /tools/{name}/stream")
    assert ZAPPED == []


def approving_server() -> McpServer:
    registry = registry_of(zap)
    return McpServer(registry, Tooler(registry, policy=Policy(approval="destructive")))


@check_each(
    ("answer", "words"),
    [
        (types.ElicitResult(action="accept", content={"agree": True}), "zapped x"),
        (
            types.ElicitResult(action="accept", content={"agree": False}),
            "the user did not approve of this call",
        ),
        (types.ElicitResult(action="decline"), "the user did not approve of this call"),
    ],
)
async def test_a_server_asks_the_user_of_an_mcp_client_once(
    era: str, answer: types.ElicitResult, words: str
) -> None:
    asked: list[str] = []
    ZAPPED.clear()

    async def callback(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return answer

    async with mcp_client_of(approving_server(), era, elicitation_callback=callback) as client:
        is_error, _, text = result(await client.call_tool("zap", {"name": "x"}))
    assert (is_error, text) == (words != "zapped x", words)
    assert asked == ['May zap be called with {"name": "x"}?']
    assert (["x"] if words == "zapped x" else []) == ZAPPED


async def test_a_client_that_can_not_ask_gets_a_refusal(era: str) -> None:
    async with mcp_client_of(approving_server(), era) as client:
        is_error, _, text = result(await client.call_tool("zap", {"name": "x"}))
    assert is_error
    assert text == "zap needs approval: the client can't show questions"
    assert ZAPPED == []
