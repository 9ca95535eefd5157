"""Turns that are broken off: what was said and done is kept, and the next one continues."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import aclosing, closing
from typing import Any

import pytest

from sovl_tools import Agent
from sovl_tools.agent.events import TextDelta, ToolFinished
from sovl_tools.testing import Pause, calls, holds, says
from tests.agent.conversations import Talk, Way, each_provider, each_way, talk
from tests.patience import PATIENCE
from tests.tables import check_each

STOPPED = "this call was cancelled: the turn ended before it"
FIRST = {"openai": 2, "openai-responses": 5, "anthropic": 4}
"""How many events there are until the first text has come."""

each_async = pytest.mark.parametrize(
    "way", [Way(each) for each in ("openai", "openai-responses", "anthropic")], ids=str
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def _is_begun(message: dict[str, Any], whole: str) -> bool:
    said = message["content"]
    return message["role"] == "assistant" and bool(said) and whole.startswith(said)


@each_async
def test_a_task_that_is_cancelled_in_mid_stream_leaves_what_was_said(way: Way) -> None:
    pause = Pause()
    text = "One two three four five."
    script = [holds(says(text), pause, after=FIRST[way.provider]), says("Going on.")]
    with talk(way._replace(is_streaming=True), script) as to:

        async def broken_off() -> None:
            heard = asyncio.Event()

            async def listen() -> None:
                async for event in to.agent.stream("Count"):
                    assert isinstance(event, TextDelta)
                    heard.set()

            task = asyncio.create_task(listen())
            await heard.wait()
            await asyncio.to_thread(pause.reached.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        to.run(broken_off())
        assert _is_begun(to.messages[-1], text)
        assert pause.abandoned.wait(PATIENCE)
        assert to.say("Go on") == "Going on."


@each_async
def test_a_plain_request_that_is_cancelled_was_never_said(way: Way) -> None:
    pause = Pause()
    with talk(way, [holds(says("Late."), pause), says("Here.")]) as to:

        async def broken_off() -> None:
            task = asyncio.create_task(to.agent.chat("Hello"))
            await asyncio.to_thread(pause.reached.wait, PATIENCE)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        to.run(broken_off())
        assert to.messages == []
        assert to.say("Hello?") == "Here."


@each_way
def test_whoever_leaves_the_loop_in_mid_stream_ends_the_turn(way: Way) -> None:
    pause = Pause()
    text = "One two three four five."
    script = [holds(says(text), pause, after=FIRST[way.provider]), says("Going on.")]
    with talk(way, script) as to:
        if way.is_driven_async:
            to.run(_leave(to, pause))
        else:
            with closing(iter(to.agent.stream("Count"))) as events:  # type: ignore[type-var]
                for event in events:
                    assert isinstance(event, TextDelta)
                    assert pause.reached.wait(PATIENCE)
                    break
        assert _is_begun(to.messages[-1], text)
        assert pause.abandoned.wait(PATIENCE)
        assert to.say("Go on") == "Going on."


async def _leave(to: Talk, pause: Pause) -> None:
    async with aclosing(aiter(to.agent.stream("Count"))) as events:
        async for event in events:
            assert isinstance(event, TextDelta)
            await asyncio.to_thread(pause.reached.wait, PATIENCE)
            break


@each_provider
def test_an_interrupt_in_a_sync_loop_leaves_what_was_said(way: Way) -> None:
    script = [says("One two three."), says("Going on.")]
    with talk(way._replace(is_async=False, is_streaming=True, is_driven_async=False), script) as to:

        def interrupt(_event: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            to.each("Count", interrupt)
        assert _is_begun(to.messages[-1], "One two three.")
        assert to.say("Go on") == "Going on."


@each_way
def test_calls_that_have_ended_keep_their_results_when_the_turn_is_broken_off(way: Way) -> None:
    cancelled = threading.Event()

    async def wait() -> None:
        """Never end."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    script = [calls(("wait", {}), ("add", {"a": 1, "b": 2})), says("I see.")]
    with talk(way, script, tools=[wait, add]) as to:
        if way.is_driven_async:
            to.run(_until_one_has_ended(to))
        else:
            with closing(iter(to.agent.stream("Do both"))) as events:  # type: ignore[type-var]
                assert any(isinstance(event, ToolFinished) for event in events)
        assert cancelled.wait(PATIENCE)
        assert to.results() == [STOPPED, "3"]
        assert to.say("What now?") == "I see."


async def _until_one_has_ended(to: Talk) -> None:
    async with aclosing(aiter(to.agent.stream("Do both"))) as events:
        async for event in events:
            if isinstance(event, ToolFinished):
                break


@each_async
def test_a_task_that_is_cancelled_while_tools_run_cancels_them(way: Way) -> None:
    running = asyncio.Event()

    async def wait() -> None:
        """Never end."""
        running.set()
        await asyncio.Event().wait()

    with talk(way, [calls(("wait", {})), says("I see.")], tools=[wait]) as to:

        async def broken_off() -> None:
            task = asyncio.create_task(to.agent.chat("Wait"))
            await running.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        to.run(broken_off())
        assert to.results() == [STOPPED]
        assert to.say("What now?") == "I see."


@each_async
def test_one_turn_at_a_time(way: Way) -> None:
    pause = Pause()
    with talk(way, [holds(says("Here."), pause), says("And here.")]) as to:

        async def both() -> Any:
            first = asyncio.create_task(to.agent.chat("Hello"))
            await asyncio.to_thread(pause.reached.wait, PATIENCE)
            with pytest.raises(RuntimeError, match="in the middle of a turn"):
                await to.agent.chat("Hello?")
            pause.end()
            return await first

        assert to.run(both()) == "Here."
        assert to.say("Again") == "And here."
        assert [each["content"] for each in to.messages] == ["Hello", "Here.", "Again", "And here."]


@each_provider
def test_a_tool_that_interrupts_the_program_ends_the_turn(way: Way) -> None:
    def interrupt() -> None:
        """Press the keys."""
        raise KeyboardInterrupt

    script = [calls(("add", {"a": 1, "b": 2}), ("interrupt", {})), says("I see.")]
    sync = way._replace(is_async=False, is_driven_async=False)
    with talk(sync, script, tools=[add, interrupt]) as to:
        with pytest.raises(KeyboardInterrupt):
            to.say("Stop")
        assert to.results() in (["3", STOPPED], [STOPPED, STOPPED])
        assert to.say("What now?") == "I see."


@check_each("is_streaming", [False, True], ids=["plain", "streaming"])
def test_ctrl_c_ends_a_turn_that_waits_for_an_async_tool(*, is_streaming: bool) -> None:
    ended = threading.Event()

    async def slow() -> None:
        """Take long, and clean up."""
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.sleep(0.01)
            ended.set()

    agent = Agent(tools=[slow], provider="local")
    with pytest.raises(KeyboardInterrupt):
        list(agent.stream("slow")) if is_streaming else agent.chat_sync("slow")
    assert ended.is_set()
    assert agent.messages[-1]["content"] == STOPPED
    assert agent.chat_sync("hello").startswith("These tools are here:")
