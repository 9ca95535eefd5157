"""Tools that do what can't be undone, and someone who is asked before."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sovl_tools import Policy, ToolCall, ToolError, tool
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, each_api, talk
from tests.patience import PATIENCE

NOT_APPROVED = "the user did not approve of this call"


@pytest.fixture
def wiped() -> list[str]:
    return []


def _wiper(wiped: list[str]) -> list[Any]:
    @tool(annotations={"destructive": True})
    def wipe(disk: str) -> str:
        """Wipe a disk."""
        wiped.append(disk)
        return f"{disk} is empty"

    def look(disk: str) -> str:
        """Check a disk."""
        return f"{disk} is full"

    return [wipe, look]


async def _later(call: ToolCall) -> bool:
    await asyncio.sleep(0)
    return True


VERDICTS = [
    (lambda _call: True, "c is empty"),
    (_later, "c is empty"),
    (lambda _call: False, NOT_APPROVED),
    (lambda _call: "", NOT_APPROVED),
    (lambda call: f"keep {call.arguments['disk']}", f"{NOT_APPROVED}: keep c"),
]


@each_api
def test_a_destructive_tool_asks_first(way: Way, wiped: list[str]) -> None:
    for approve, expected in VERDICTS:
        script = [calls(("wipe", {"disk": "c"}), ("look", {"disk": "c"})), says("I see.")]
        with talk(way, script, tools=_wiper(wiped), approve=approve) as to:
            assert to.say("Wipe c") == "I see."
            assert to.results() == [expected, "c is full"]
    assert wiped == ["c", "c"]


@each_api
def test_whoever_is_asked_may_take_a_while_without_holding_up_the_others(
    way: Way, wiped: list[str]
) -> None:
    looked = threading.Event()

    def approve(_call: ToolCall) -> bool:
        return looked.wait(PATIENCE)

    @tool
    async def look() -> str:
        """Look."""
        looked.set()
        return "seen"

    tools = [_wiper(wiped)[0], look]
    with talk(
        way,
        [calls(("wipe", {"disk": "c"}), ("look", {})), says("I see.")],
        tools=tools,
        approve=approve,
    ) as to:
        to.say("Wipe c")
        assert to.results() == ["c is empty", "seen"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("no one is there"), "on_approve failed: RuntimeError: no one is there"),
        (ToolError("not on Sundays"), "not on Sundays"),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_whoever_fails_when_asked_refuses(
    wiped: list[str], error: BaseException, expected: str, *, is_async: bool
) -> None:
    def approve(_call: ToolCall) -> bool:
        raise error

    async def approve_later(call: ToolCall) -> bool:
        return approve(call)

    with talk(
        Way("openai"),
        [calls(("wipe", {"disk": "c"})), says("I see.")],
        tools=_wiper(wiped),
        approve=approve_later if is_async else approve,
    ) as to:
        to.say("Wipe c")
        assert wiped == []
        assert to.messages[2]["is_error"]
        assert to.results() == [expected]


def test_what_can_be_undone_needs_no_approval_and_without_a_way_to_ask_calls_are_refused(
    wiped: list[str],
) -> None:
    asked: list[str] = []
    with talk(
        Way("openai"),
        [calls(("look", {"disk": "c"})), says("x")],
        tools=_wiper(wiped),
        approve=lambda call: asked.append(call.name),
    ) as to:
        to.say("Look")
        assert asked == []
    script = [calls(("wipe", {"disk": "d"})), says("x")]
    with talk(Way("openai"), script, tools=_wiper(wiped)) as to:
        to.say("Wipe d")
        words = "this agent can't ask: give it a function as Agent(approve=…)"
        assert to.results() == [f"wipe needs approval before it is called, and {words}"]
        assert wiped == []
    script = [calls(("wipe", {"disk": "d"})), says("x")]
    with talk(Way("openai"), script, tools=_wiper(wiped), policy=Policy(approval="never")) as to:
        to.say("Wipe d")
        assert wiped == ["d"]
