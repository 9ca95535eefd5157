"""What tools ask a client's model, and where the client works, in both eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sovl_tools import ToolContext, tool
from tests.serving.conftest import client_of
from tests.serving.test_elicitation import NAME, accepted, answering
from tests.serving.test_mcp_calls import server_of
from tests.serving.test_mcp_server import result

Prompts = list[types.CreateMessageRequestParams]


def saying(prompts: Prompts, *texts: str) -> Callable[..., Any]:
    """Return a client's callback whose model says these strings, and from then on the last."""
    left = list(texts)

    async def callback(_: Any, params: Any) -> types.CreateMessageResult:
        prompts.append(params)
        text = left.pop(0) if len(left) > 1 else left[0]
        content = types.TextContent(type="text", text=text)
        return types.CreateMessageResult(
            role="assistant", content=content, model="small", stop_reason="endTurn"
        )

    return callback


async def at_home(context: Any) -> types.ListRootsResult:
    assert context is not None
    roots = [{"uri": "file:///home/ada", "name": "home"}, {"uri": "file:///tmp"}]
    return types.ListRootsResult.model_validate({"roots": roots})


@tool(annotations={"idempotent": True})
async def summarize(text: str, context: ToolContext) -> str:
    """Summarize a string."""
    short = await context.sample(
        f"Summarize: {text}",
        max_tokens=50,
        system_prompt="Be brief.",
        temperature=0.5,
        stop_sequences=["END"],
    )
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Translate"},
        {"role": "assistant", "content": {"type": "text", "text": short.text}},
    ]
    return f"{(await context.sample(messages)).text} by {short.model}, {short.stop_reason}"


@tool(annotations={"read_only": True})
async def where(context: ToolContext) -> list[Any]:
    """Tell where the client works."""
    return await context.list_roots()


@tool(annotations={"idempotent": True})
async def everything(context: ToolContext) -> str:
    """Ask all at the same time, and then once more."""
    name, text, roots = await asyncio.gather(
        context.elicit("Who are you?", NAME, key="same"),
        context.sample("Say hello", key="same"),
        context.list_roots(key="places"),
    )
    again = await context.sample("Say goodbye")
    return f"{name.content} {text.text} {len(roots)} {again.text}"


async def test_a_tool_asks_the_model_and_goes_on_with_what_it_says(era: str) -> None:
    prompts: Prompts = []
    server = server_of(summarize)
    async with client_of(server, era, sampling_callback=saying(prompts, "short", "kurz")) as client:
        call = await client.call_tool("summarize", {"text": "a long one"})
    assert result(call) == (False, None, "kurz by small, endTurn")
    first, second = prompts
    assert first.messages[0].content == types.TextContent(type="text", text="Summarize: a long one")
    known = first.max_tokens, first.system_prompt, first.temperature, first.stop_sequences
    assert known == (50, "Be brief.", 0.5, ["END"])
    assert [each.role for each in second.messages] == ["user", "assistant"]
    known = second.max_tokens, second.system_prompt, second.temperature, second.stop_sequences
    assert known == (1000, None, None, None)


async def test_a_tool_hears_where_the_client_works(era: str) -> None:
    async with client_of(server_of(where), era, list_roots_callback=at_home) as client:
        call = await client.call_tool("where", {})
    assert json.loads(result(call)[2]) == [
        {"uri": "file:///home/ada", "name": "home"},
        {"uri": "file:///tmp", "name": None},
    ]


async def test_what_is_asked_at_the_same_time_is_answered_at_once(era: str) -> None:
    prompts: Prompts = []
    options: dict[str, Any] = {
        "sampling_callback": saying(prompts, "hello", "goodbye"),
        "elicitation_callback": answering([], accepted(name="Ada")),
        "list_roots_callback": at_home,
    }
    server = server_of(everything)
    async with client_of(server, era, **options) as client:
        call = await client.call_tool("everything", {})
        assert result(call) == (False, None, "{'name': 'Ada'} hello 2 goodbye")
        if era == "legacy":
            return
        first = await client.session.call_tool("everything", {}, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        assert [*(first.input_requests or {})] == ["same", "2", "places"]
        # a client that answers some of it is asked for the rest
        some: dict[str, Any] = {"2": await saying([], "hi")(None, None)}
        second = await client.session.call_tool(
            "everything",
            {},
            input_responses=some,
            request_state=first.request_state,
            allow_input_required=True,
        )
    assert isinstance(second, types.InputRequiredResult)
    assert [*(second.input_requests or {})] == ["same", "places"]


@pytest.mark.parametrize(
    ("name", "words", "capability"),
    [
        ("summarize", "the client does not answer samples", "sampling"),
        ("where", "the client does not list its directories", "roots"),
    ],
)
async def test_a_client_without_a_model_is_named_as_the_reason(
    era: str, name: str, words: str, capability: str
) -> None:
    server = server_of(summarize, where)
    arguments = {} if name == "where" else {"text": "a"}
    async with client_of(server, era) as client:
        if era == "legacy":
            assert result(await client.call_tool(name, arguments)) == (True, None, words)
            return
        with pytest.raises(MCPError, match=words) as caught:
            await client.call_tool(name, arguments)
    assert caught.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.error.data == {"requiredCapabilities": {capability: {}}}


async def test_a_made_up_answer_in_the_state_is_an_error_of_the_call() -> None:
    options = {"sampling_callback": saying([], "short")}
    async with client_of(server_of(summarize), "2026-07-28", **options) as client:
        asked = await client.session.call_tool(
            "summarize", {"text": "a"}, allow_input_required=True
        )
        assert isinstance(asked, types.InputRequiredResult)
        _, sent = json.loads(asked.request_state or "")
        state = json.dumps([{place: {"role": 5} for place in sent.values()}, {}])
        call = await client.session.call_tool("summarize", {"text": "a"}, request_state=state)
    is_error, _, words = result(call)
    assert is_error
    assert words.startswith("the client did not answer: ")
