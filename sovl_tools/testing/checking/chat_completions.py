"""What Chat Completions refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking import openai_tools, requests
from sovl_tools.testing.checking.openai_shapes import CHAT
from sovl_tools.testing.checking.openai_tools import Function, empty, misnamed, too_long
from sovl_tools.testing.checking.wording import of_openai
from sovl_tools.testing.memory import Memory
from sovl_tools.testing.record import Objection, Request

MAX_ID = 40


def objections(request: Request, _memory: Memory) -> Iterator[Objection]:
    """Yield what is refused in a request; the rules need a body of the right shape."""
    wrong = [*requests.of_openai(request)]
    if not wrong:
        wrong += _of_model(request.body)
        wrong += of_openai(CHAT, request.body)
    yield from wrong
    if not wrong:
        yield from _of_tools(request.body)
        yield from _of_choice(request.body)
        yield from _of_messages(request.body["messages"])


def _of_model(body: dict[str, JSON]) -> Iterator[Objection]:
    if not body.get("model"):
        yield Objection("you must provide a model parameter")


def _of_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    tools = body.get("tools", ())
    functions = [
        Function(tool["function"], f"tools[{index}].function")
        for index, tool in enumerate(tools)
        if tool["type"] == "function"
    ]
    if "tools" in body and not tools:
        yield empty("tools")
    yield from openai_tools.objections(body, functions)
    for key in ("tool_choice", "parallel_tool_calls"):
        if not tools and body.get(key) is not None and body[key] != "none":
            yield Objection(f"'{key}' is only allowed when 'tools' are specified.", key)
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield Objection(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )


def _of_choice(body: dict[str, JSON]) -> Iterator[Objection]:
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) or choice["type"] != "function":
        return
    name = choice["function"]["name"]
    offered = [tool["function"]["name"] for tool in body.get("tools", ()) if "function" in tool]
    if name not in offered:
        yield Objection(
            f"Invalid value for 'tool_choice': no function named '{name}' was specified in the"
            " 'tools' parameter.",
            "tool_choice",
        )


def _of_messages(messages: list[dict[str, Any]]) -> Iterator[Objection]:
    if not messages:
        yield empty("messages")
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            yield from _of_assistant(message, index)
    yield from _of_pairs(messages)


def _of_assistant(message: dict[str, Any], index: int) -> Iterator[Objection]:
    calls = message.get("tool_calls")
    if calls == []:
        yield empty(f"messages[{index}].tool_calls")
    for number, call in enumerate(calls or ()):
        place = f"messages[{index}].tool_calls[{number}]"
        yield from too_long(call["id"], f"{place}.id", MAX_ID)
        if call["type"] == "function":
            yield from misnamed(call["function"]["name"], f"{place}.function.name")
    told = (calls, message.get("content"), message.get("refusal"), message.get("audio"))
    if all(each is None for each in (*told, message.get("function_call"))):
        yield Objection(
            "Invalid value for 'content': expected a string, got null.",
            f"messages.[{index}].content",
        )


def _of_pairs(messages: list[dict[str, Any]]) -> Iterator[Objection]:
    """Yield the calls that are not answered directly behind them, and answers to none."""
    waiting: list[str] = []
    answered: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] != "tool":
            yield from _unanswered(waiting, index)
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
            answered = set()
            yield from _same_ids(waiting, index)
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
            answered.add(message["tool_call_id"])
        else:
            yield _answer_to_nothing(message["tool_call_id"], index, answered)
    yield from _unanswered(waiting, len(messages))


def _unanswered(waiting: list[str], index: int) -> Iterator[Objection]:
    if waiting:
        yield Objection(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to"
            " each 'tool_call_id'. The following tool_call_ids did not have response messages:"
            f" {', '.join(waiting)}",
            f"messages.[{index}].role",
        )


def _same_ids(ids: list[str], index: int) -> Iterator[Objection]:
    for identity in sorted({each for each in ids if ids.count(each) > 1}):
        yield Objection(
            f"Duplicate value for 'tool_call_id' of '{identity}'", f"messages.[{index}].tool_calls"
        )


def _answer_to_nothing(identity: str, index: int, answered: set[str]) -> Objection:
    place = f"messages.[{index}]"
    if identity in answered:
        message = f"Duplicate value for 'tool_call_id' of '{identity}'"
        return Objection(message, f"{place}.tool_call_id")
    return Objection(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message"
        f" with 'tool_calls'. There is no call '{identity}' before it.",
        f"{place}.role",
    )
