"""Who a call asks, and what a policy and a manifest say of calls, in sync and async code alike."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sovl_tools import Answer, Approval, ApprovalRequest, Host, Policy, ToolContext, ToolError
from tests.dispatch.toolbox import Call, each_way, properties, tool, tooler
from tests.tables import check_each


def zap(name: str = "x") -> str:
    return f"zapped {name}"


NAME = properties(name={"type": "string", "default": "x"})


def destructive(function: Callable[..., Any] = zap, **execution: Any) -> Any:
    return replace(tool(function, NAME, **execution), annotations={"destructive": True})


async def later(_: ApprovalRequest) -> Approval:
    await asyncio.sleep(0)
    return Approval(approved=True)


UNASKED = (
    "this call needs approval, and no host can give it; "
    "connect a client that approves calls, or set on_approve in Host"
)
REFUSED = "the user did not approve of this call"


@each_way
@check_each(
    ("approve", "words"),
    [
        (lambda _: True, None),
        (later, None),
        (lambda request: request.arguments == {"name": "x"} and request.tool == "zap", None),
        (lambda _: "not today", f"{REFUSED}: not today"),
        (lambda _: Approval(approved=False, reason="no"), f"{REFUSED}: no"),
        (lambda _: None, "on_approve must answer an Approval, a bool or a reason, not None"),
        (lambda _: 1 / 0, "on_approve failed: ZeroDivisionError: division by zero"),
        (
            None,
            UNASKED,
        ),
    ],
)
def test_a_destructive_tool_runs_once_the_host_approves(
    call: Call, approve: Any, words: str | None
) -> None:
    tools = tooler(destructive(), host=Host(on_approve=approve), approval="destructive")
    result = call(tools, "zap", {})
    assert (result.error and result.error.message) == words
    assert result.value == (None if words else "zapped x")


def test_a_mistake_in_a_function_of_the_host_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    host = Host(on_approve=lambda request: request.nothing)
    tools = tooler(destructive(), host=host, approval="destructive")
    assert not tools.call_sync("zap", {}).ok
    assert "on_approve failed\n" in caplog.text
    assert "has no attribute 'nothing'" in caplog.text


@check_each(
    ("approval", "asked"),
    [
        ("never", []),
        ("destructive", ["zap"]),
        ("always", ["look", "zap"]),
        (["l*"], ["look"]),
        ((), []),
    ],
    ids=str,
)
def test_the_policy_says_which_calls_need_approval(approval: Any, asked: list[str]) -> None:
    def look() -> None:
        pass

    heard: list[str] = []

    def approve(request: ApprovalRequest) -> bool:
        heard.append(request.tool)
        return True

    tools = tooler(look, destructive(), host=Host(on_approve=approve), approval=approval)
    assert [tools.call_sync(name).ok for name in ("look", "zap")] == [True, True]
    assert heard == asked


@each_way
def test_an_answer_can_hold_for_all_calls_of_a_tool(call: Call) -> None:
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> Approval:
        asked.append(request.tool)
        return Approval(approved=True, remember=request.tool == "zap")

    def again(name: str) -> str:
        return name

    host = Host(on_approve=approve)
    tools = tooler(destructive(), destructive(again), host=host, approval="destructive")
    for name in ("zap", "again", "zap", "again"):
        assert call(tools, name).ok
    assert asked == ["zap", "again", "again"]


@each_way
def test_an_answer_holds_for_all_attempts_of_a_call_and_for_no_other_call(call: Call) -> None:
    asked: list[str] = []
    failures = [ToolError("not yet"), ToolError("not yet")]

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request.arguments["name"])
        return bool(request.arguments["name"] == "x")

    def once(name: str) -> str:
        if failures:
            raise failures.pop()
        return name

    tools = tooler(
        destructive(once, retry=3), host=Host(on_approve=approve), approval="destructive"
    )
    assert call(tools, "once", {"name": "x"}, call_id="same").value == "x"
    assert not call(tools, "once", {"name": "y"}, call_id="same").ok
    assert call(tools, "once", {"name": "x"}, call_id="same").ok
    assert asked == ["x", "y", "x"]


@each_way
def test_calls_of_tools_reach_the_same_host_and_a_call_can_have_another(call: Call) -> None:
    async def ask(context: ToolContext) -> str:
        context.log("info", "asking")
        return str((await context.elicit("Which?")).content)

    async def outer(context: ToolContext) -> Any:
        return (await context.tooler.call("ask")).value

    heard: list[str] = []
    answer = Answer("accept", {"a": 1})
    host = Host(on_event=lambda event: heard.append(event.tool), on_elicit=lambda _: answer)
    tools = tooler(ask, outer, host=host)
    assert call(tools, "outer").value == "{'a': 1}"
    assert heard == ["ask"]
    other = Host(on_elicit=lambda _: Answer("accept", {"b": 2}))
    assert call(tools, "outer", host=other).value == "{'b': 2}"
    assert call(tools, "outer", host=other, on_elicit=lambda _: answer).value == "{'a': 1}"


@each_way
def test_the_time_in_which_a_person_is_asked_does_not_count(call: Call) -> None:
    asked = threading.Event()

    def think(_: object) -> Answer:
        asked.wait(1)
        time.sleep(0.3)
        return Answer("accept", {})

    async def waits(context: ToolContext) -> str:
        asked.set()
        return (await context.elicit("Well?")).action

    def blocks(context: ToolContext) -> str:
        asked.set()
        return context.elicit_sync("Well?").action

    tools = tooler(waits, blocks, host=Host(on_elicit=think), timeout=0.2)
    for name in ("waits", "blocks"):
        result = call(tools, name)
        assert result.value == "accept", result


@each_way
def test_a_manifest_asks_for_retries_caches_and_rates(call: Call) -> None:
    calls: list[str] = []

    def fails_twice() -> int:
        calls.append("x")
        if len(calls) < 3:
            raise ToolError("not yet")
        return len(calls)

    tools = tooler(tool(fails_twice, retry=3, cache_seconds=60, rate_limit="1000/s"))
    assert [call(tools, "fails_twice").value for _ in range(3)] == [3, 3, 3]
    assert len(calls) == 3


async def test_a_policy_bounds_the_calls_of_each_tool_at_a_time() -> None:
    running = {"first": 0, "second": 0}
    most = dict(running)

    def counting(name: str) -> Callable[[], Any]:
        async def count() -> None:
            running[name] += 1
            most[name] = max(most[name], running[name])
            await asyncio.sleep(0.01)
            running[name] -= 1

        return count

    tools = [
        tool(counting("first"), name="first"),
        tool(counting("second"), name="second", max_concurrency=1),
    ]
    calling = tooler(*tools, policy=Policy(max_concurrency=2))
    await calling.call_many([(name, {}) for name in running for _ in range(5)])
    assert most == {"first": 2, "second": 1}


@each_way
def test_a_policy_repeats_only_what_is_idempotent(call: Call) -> None:
    counts = {"once": 0, "often": 0}

    def counting(name: str) -> Callable[[], None]:
        def count() -> None:
            counts[name] += 1
            raise ToolError("no")

        return count

    often = replace(tool(counting("often"), name="often"), annotations={"idempotent": True})
    tools = tooler(tool(counting("once"), name="once"), often, policy=Policy(retry=2))
    for name in counts:
        assert not call(tools, name).ok
    assert counts == {"once": 1, "often": 2}


def test_ceilings_hold_for_manifests_and_calls() -> None:
    def slow() -> None:
        time.sleep(5)

    def long() -> str:
        return "x" * 100

    policy = Policy(timeout_ceiling=0.05, result_ceiling=50)
    tools = tooler(tool(slow, timeout=60), tool(long, max_result_bytes=1000), policy=policy)
    assert "0.05" in str(tools.call_sync("slow").error)
    assert "0.05" in str(tools.call_sync("slow", timeout=30).error)
    assert len(str(tools.call_sync("long").value)) <= 50
