"""What tools ask the user of a client, in both eras."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from sovl_tools import (
    ToolContext,
    tool,
)
from tests.serving.conftest import client_of
from tests.serving.lines import lines
from tests.serving.servers import running
from tests.serving.test_mcp_calls import server_of
from tests.serving.test_mcp_server import result
from tests.tables import check_each

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
Asked = list[tuple[str, Any]]


def answering(asked: Asked, *answers: types.ElicitResult) -> Callable[..., Any]:
    """Return a client's callback that answers in this order, and from then on with the last."""
    left = list(answers)

    async def callback(_: Any, params: Any) -> types.ElicitResult:
        asked.append((params.message, params.requested_schema))
        return left.pop(0) if len(left) > 1 else left[0]

    return callback


def accepted(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


@tool(annotations={"idempotent": True})
async def greet(context: ToolContext) -> str:
    """Greet someone."""
    answer = await context.elicit("Who are you?", NAME)
    if not answer.ok or answer.content is None:
        return answer.action
    sure = await context.elicit("Are you sure?")
    return f"{answer.content['name']}: {sure.action}"


@tool(annotations={"idempotent": True})
async def agree(context: ToolContext) -> Any:
    """Ask for consent alone."""
    answer = await context.elicit("Really?")
    return [answer.action, answer.content]


@tool(annotations={"idempotent": True})
def greet_sync(context: ToolContext) -> str:
    """Greet someone from a thread."""
    answer = context.elicit_sync("Who are you?", NAME)
    if not answer.ok or answer.content is None:
        return answer.action
    sure = context.elicit_sync("Are you sure?")
    return f"{answer.content['name']}: {sure.action}"


@tool
async def careless(context: ToolContext) -> str:
    """Ask, and be no tool that can run twice."""
    return (await context.elicit("Really?")).action


@tool(annotations={"read_only": True})
async def outer(context: ToolContext) -> Any:
    """Call a tool that asks."""
    return (await context.tooler.call("greet")).value


@pytest.mark.parametrize("name", ["greet", "greet_sync", "outer"])
async def test_a_tool_asks_and_goes_on_with_the_answers(era: str, name: str) -> None:
    asked: Asked = []
    yes = types.ElicitResult(action="accept", content={})
    callback = answering(asked, accepted(name="Ada"), yes)
    server = server_of(greet, greet_sync, outer)
    async with client_of(server, era, elicitation_callback=callback) as client:
        call = await client.call_tool(name, {})
    assert result(call) == (False, None, "Ada: accept")
    assert [message for message, _ in asked] == ["Who are you?", "Are you sure?"]
    assert asked[0][1] == NAME


@check_each(
    ("answer", "expected"),
    [
        (accepted(agree=True), ["accept", {}]),
        (accepted(agree=False), ["decline", None]),
        (types.ElicitResult(action="decline"), ["decline", None]),
    ],
)
async def test_consent_alone_is_asked_with_a_form_that_has_a_field(
    era: str, answer: types.ElicitResult, expected: list[Any]
) -> None:
    asked: Asked = []
    callback = answering(asked, answer)
    async with client_of(server_of(agree), era, elicitation_callback=callback) as client:
        _, _, words = result(await client.call_tool("agree", {}))
    assert json.loads(words) == expected
    assert [*asked[0][1]["properties"]] == ["agree"]


async def test_an_answer_that_does_not_fit_is_an_error_that_says_so(era: str) -> None:
    callback = answering([], accepted(name=3))
    async with client_of(server_of(greet), era, elicitation_callback=callback) as client:
        is_error, _, words = result(await client.call_tool("greet", {}))
    assert is_error
    assert words.startswith("the answer does not match the question: ")


@pytest.mark.parametrize("name", ["greet", "greet_sync"])
async def test_a_client_that_can_not_ask_is_named_as_the_reason(era: str, name: str) -> None:
    words = "the client can't show questions"
    async with client_of(server_of(greet, greet_sync), era) as client:
        if era == "legacy":
            assert result(await client.call_tool(name, {})) == (True, None, words)
            return
        with pytest.raises(MCPError, match=words) as caught:
            await client.call_tool(name, {})
    assert caught.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.error.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_a_tool_that_may_not_run_twice_is_refused_where_it_would_have_to(era: str) -> None:
    callback = answering([], types.ElicitResult(action="accept", content={}))
    async with client_of(server_of(careless), era, elicitation_callback=callback) as client:
        is_error, _, words = result(await client.call_tool("careless", {}))
    if era == "legacy":
        assert (is_error, words) == (False, "accept")
    else:
        assert is_error
        assert 'say "idempotent": true in its annotations' in words


@check_each("state", ["", '{"a": 1}', "[1]", '[["a"]]', "[" * 50_000, '[["a", 1], ["b", 2]]'])
async def test_a_state_that_a_client_made_up_is_refused(state: str) -> None:
    callback = answering([], accepted())
    async with client_of(server_of(greet), "2026-07-28", elicitation_callback=callback) as client:
        with pytest.raises(MCPError, match="requestState isn't one of this server's"):
            await client.session.call_tool(
                "greet", {}, request_state=state, allow_input_required=True
            )


async def test_another_question_than_before_is_asked_anew() -> None:
    questions = iter(["first", "second", "second"])

    @tool(annotations={"idempotent": True})
    async def fickle(context: ToolContext) -> str:
        """Ask something else each time."""
        question = next(questions)
        return f"{question}: {(await context.elicit(question)).action}"

    asked: Asked = []
    callback = answering(asked, accepted())
    async with client_of(server_of(fickle), "2026-07-28", elicitation_callback=callback) as client:
        call = await client.call_tool("fickle", {})
    assert result(call) == (False, None, "second: accept")
    assert [message for message, _ in asked] == ["first", "second"]


async def test_a_question_has_the_key_that_its_tool_gives_it() -> None:
    @tool(annotations={"idempotent": True})
    async def named(context: ToolContext) -> str:
        """Ask under a name."""
        return (await context.elicit("Really?", key="sure")).action

    callback = answering([], accepted())
    server = server_of(named)
    async with client_of(server, "2026-07-28", elicitation_callback=callback) as client:
        asked = await client.session.call_tool("named", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert [*(asked.input_requests or {})] == ["sure"]
        assert result(await client.call_tool("named", {})) == (False, None, "accept")
        answers: dict[str, Any] = {"sure": types.ElicitResult(action="decline"), "else": accepted()}
        call = await client.session.call_tool("named", {}, input_responses=answers)
        assert result(call) == (False, None, "decline")


@tool(annotations={"idempotent": True})
async def log_in(context: ToolContext) -> str:
    """Ask the user to log in."""
    return (await context.elicit_url("Log in, please.", "https://example.com/login")).action


@tool(annotations={"idempotent": True})
def log_in_sync(context: ToolContext) -> str:
    """Ask the user to log in, from a thread."""
    return context.elicit_url_sync("Log in, please.", "https://example.com/login").action


@pytest.mark.parametrize("name", ["log_in", "log_in_sync"])
async def test_a_tool_asks_the_user_to_open_a_page(era: str, name: str) -> None:
    pages: list[Any] = []

    async def callback(_: Any, params: Any) -> types.ElicitResult:
        pages.append((params.mode, params.message, params.url, bool(params.elicitation_id)))
        return types.ElicitResult(action="accept")

    server = server_of(log_in, log_in_sync)
    async with client_of(server, era, elicitation_callback=callback) as client:
        assert result(await client.call_tool(name, {})) == (False, None, "accept")
    page = ("url", "Log in, please.", "https://example.com/login", era == "legacy")
    assert pages == [page]


async def test_a_client_that_knows_no_pages_is_named_as_the_reason() -> None:
    async with lines(server_of(log_in)) as client:
        await client.greet(elicitation={})
        answer = await client.ask("tools/call", {"name": "log_in"})
    words = "the client can't show questions to open a page"
    assert answer["result"]["content"][0]["text"] == words


async def test_a_client_that_fails_to_ask_is_named_as_the_reason() -> None:
    async def callback(_: Any, __: Any) -> types.ErrorData:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="the screen is dark")

    async with client_of(server_of(greet), "legacy", elicitation_callback=callback) as client:
        is_error, _, words = result(await client.call_tool("greet", {}))
    assert (is_error, words) == (True, "the client did not answer: the screen is dark")


async def test_a_connection_without_streams_carries_no_questions() -> None:
    callback = answering([], accepted())
    with running(server_of(greet).app(json_response=True)) as url:
        async with Client(f"{url}/mcp", mode="legacy", elicitation_callback=callback) as client:
            is_error, _, words = result(await client.call_tool("greet", {}))
    assert is_error
    assert words.startswith("the connection carries no questions to the client")
