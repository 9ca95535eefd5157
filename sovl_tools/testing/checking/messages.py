"""What Messages refuses, and what of its answers later requests have to bring back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking import requests
from sovl_tools.testing.checking.anthropic_shapes import MESSAGES
from sovl_tools.testing.checking.anthropic_tools import of_choice, of_tools
from sovl_tools.testing.checking.blocks import of_blocks
from sovl_tools.testing.checking.thinking import of_thinking
from sovl_tools.testing.checking.tool_results import of_results
from sovl_tools.testing.checking.turns import merged
from sovl_tools.testing.checking.wording import of_anthropic
from sovl_tools.testing.memory import Memory
from sovl_tools.testing.messages import blocks
from sovl_tools.testing.record import Objection, Request
from sovl_tools.testing.turn import Turn

MAX_CACHED = 4
MIN_BUDGET = 1_024


def objections(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield what is refused in a request; the rules need a body of the right shape."""
    wrong = [*requests.of_anthropic(request)]
    if not wrong:
        wrong += of_anthropic(MESSAGES, request.body)
    yield from wrong
    if not wrong:
        yield from _of_limits(request.body)
        yield from of_tools(request.body)
        yield from of_choice(request.body)
        yield from _of_history(request.body, memory)


def _of_limits(body: dict[str, JSON]) -> Iterator[Objection]:
    most = body["max_tokens"]
    if most < 0 or (not most and body.get("stream")):
        yield Objection("max_tokens: Input should be greater than or equal to 1")
    budget = body.get("thinking", {}).get("budget_tokens")
    if budget is not None and budget < MIN_BUDGET:
        yield Objection(
            f"thinking.enabled.budget_tokens: Input should be greater than or equal to {MIN_BUDGET}"
        )
    if budget is not None and budget >= most:
        yield Objection("`max_tokens` must be greater than `thinking.budget_tokens`.")
    count = sum(1 for each in _objects(body) if each.get("cache_control"))
    if count > MAX_CACHED:
        yield Objection(
            f"A maximum of {MAX_CACHED} blocks with cache_control may be provided. Found {count}."
        )


def _objects(body: dict[str, JSON]) -> Iterator[dict[str, Any]]:
    """Yield what may be marked for the cache."""
    contents = [body.get("tools"), body.get("system")]
    contents += [message["content"] for message in body["messages"]]
    for content in contents:
        yield from content if isinstance(content, list) else ()
    yield body


def _of_history(body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    if not body["messages"]:
        yield Objection("messages: at least one message is required")
        return
    yield from _of_roles([message["role"] for message in body["messages"]])
    yield from of_blocks(body)
    turns = merged(body["messages"])
    yield from of_results(turns)
    yield from of_thinking(turns, body, memory)


def _of_roles(roles: list[str]) -> Iterator[Objection]:
    """Yield where a role is out of place: the system's word may only follow the user's."""
    if roles[0] == "assistant":
        yield Objection('messages: first message must use the "user" role')
    for index, role in enumerate(roles):
        if role == "system" and (not index or roles[index - 1] != "user"):
            yield Objection(
                f'messages.{index}: Unexpected role "system". The Messages API accepts a top-level'
                " `system` parameter, and a message of this role only after a user's."
            )


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the thinking of an answer, which its tool uses have to be sent back with."""
    made = [block.whole for block in blocks(turn)]
    thinking = [block for block in made if block["type"] == "thinking"]
    for block in thinking:
        memory.thoughts[block["signature"]] = block["thinking"]
    for block in made:
        if thinking and block["type"] == "tool_use":
            memory.thinking[block["id"]] = thinking
