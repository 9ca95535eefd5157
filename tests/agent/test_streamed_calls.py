"""Streams of Chat Completions from servers that number and name calls in their own ways."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sovl_tools import Agent
from sovl_tools.testing import calls, says
from sovl_tools.testing.chat_completions import events
from sovl_tools.testing.script import Memory, Reply
from tests.tables import check_each

MADE = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}), ("negate", {"a": 5}))
RAN = [("add", 1, 2), ("add", 3, 4), ("negate", 5)]


def chunks(reply: Reply, piece: int) -> list[dict[str, Any]]:
    turn = Memory().turn(reply, {"model": "m", "stream": True}, prefix="call", piece=piece)
    return [each.data for each in events(turn) if isinstance(each.data, dict)]


def run(answer: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the calls that an agent makes when a server streams an answer."""
    ran: list[tuple[Any, ...]] = []

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        ran.append(("add", a, b))
        return a + b

    def negate(a: int) -> int:
        """Change the sign."""
        ran.append(("negate", a))
        return -a

    script = [answer, chunks(says("Done."), 5)]
    create = SimpleNamespace(create=lambda **_body: iter(script.pop(0)))
    client = SimpleNamespace(chat=SimpleNamespace(completions=create))
    agent = Agent(client, "m", provider="openai", tools=[add, negate])
    list(agent.stream("Go"))
    assert agent.messages[-1]["content"] == "Done."
    asked = next(each["calls"] for each in agent.messages if each.get("calls"))
    assert len({call["id"] for call in asked}) == len(asked)
    return sorted(ran)  # tools run at the same time


def changed(chunk: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a chunk with other members in its pieces of calls; None removes one."""
    delta = chunk["choices"][0]["delta"]
    pieces = [
        {key: value for key, value in {**piece, **members}.items() if value is not None}
        for piece in delta.get("tool_calls", ())
    ]
    delta = {**delta, "tool_calls": pieces} if pieces else delta
    return {**chunk, "choices": [{**chunk["choices"][0], "delta": delta}]}


def merged(answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a stream with every piece of every call in one chunk."""
    deltas = [each["choices"][0]["delta"] for each in answer]
    pieces = [piece for delta in deltas for piece in delta.get("tool_calls", ())]
    whole = {**answer[0]["choices"][0], "delta": {"tool_calls": pieces}}
    return [{**answer[0], "choices": [whole]}, answer[-1]]


def test_calls_are_told_apart_by_their_numbers() -> None:
    assert run(chunks(MADE, 4)) == RAN


@check_each("size", [1, 7, 1000])
@check_each("index", [0, None])
@check_each("is_merged", [False, True])
def test_a_new_id_begins_a_call(size: int, index: int | None, *, is_merged: bool) -> None:
    answer = [changed(each, index=index) for each in chunks(MADE, size)]
    assert run(merged(answer) if is_merged else answer) == RAN


@check_each("index", [0, None])
def test_a_repeated_id_continues_its_call(index: int | None) -> None:
    answer, identity = [], None
    for each in chunks(MADE, 4):
        for piece in each["choices"][0]["delta"].get("tool_calls", ()):
            identity = piece.get("id", identity)
        answer.append(changed(each, index=index, id=identity))
    assert run(answer) == RAN


def test_pieces_of_several_calls_may_alternate() -> None:
    first, second = (
        [changed(each, index=0, id=identity) for each in chunks(calls(("add", arguments)), 4)[1:-1]]
        for identity, arguments in (("x", {"a": 1, "b": 2}), ("y", {"a": 3, "b": 4}))
    )
    mixed = [each for pair in zip(first, second, strict=True) for each in pair]
    assert run([*mixed, chunks(MADE, 4)[-1]]) == RAN[:2]


@check_each("identity", ["", None])
@check_each("index", [0, None])
def test_calls_without_ids_are_told_apart_if_each_is_in_one_piece(
    identity: str | None, index: int | None
) -> None:
    start, *_, end = chunks(MADE, 4)
    functions = [{"name": call.name, "arguments": call.arguments} for call in MADE.calls]
    pieces = [{"id": identity, "index": index, "function": each} for each in functions]
    deltas = [{"tool_calls": [piece]} for piece in pieces]
    choices = [{**start["choices"][0], "delta": delta} for delta in deltas]
    assert run([*({**start, "choices": [each]} for each in choices), end]) == RAN
