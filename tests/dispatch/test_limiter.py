from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sovl_tools import ToolResult
from sovl_tools.dispatch.limiter import Limiter, Ticket
from sovl_tools.dispatch.runner import enter, run_on_thread, wait_for_future
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import RunCancelledError
from tests.dispatch.toolbox import Call, call_async, call_sync, run_script, tool, tooler
from tests.patience import PATIENCE, wait_until
from tests.tables import check_each


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def waiting() -> tuple[Any, threading.Event, threading.Event]:
    """Return a tool that one call at a time may use; what says that it runs, and what ends it."""
    started, end = threading.Event(), threading.Event()

    def wait() -> bool:
        started.set()
        return end.wait(PATIENCE)

    return tool(wait, max_concurrency=1), started, end


async def test_a_call_that_is_cancelled_as_its_turn_comes_passes_it_on() -> None:
    definition, started, end = waiting()
    calls: list[asyncio.Task[ToolResult]] = []
    # it is told of the first call when that has made room, and the second one doesn't run yet
    dispatcher = tooler(definition, observers=[lambda _: calls[1].cancel()])
    for _ in range(3):
        calls.append(asyncio.create_task(dispatcher.call("wait", timeout=PATIENCE)))
        await asyncio.sleep(0)
    assert await asyncio.to_thread(started.wait, PATIENCE)
    end.set()
    first, second, third = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(first, ToolResult)
    assert isinstance(third, ToolResult)
    assert (first.value, third.value) == (True, True)
    assert isinstance(second, asyncio.CancelledError)


@check_each("call", [call_sync, call_async])
def test_a_call_that_is_cancelled_or_too_late_before_its_turn_leaves_the_queue(call: Call) -> None:
    definition, started, end = waiting()
    dispatcher = tooler(definition)
    first = threading.Thread(target=dispatcher.call_sync, args=("wait",))
    first.start()
    assert started.wait(PATIENCE)
    late = call(dispatcher, "wait", timeout=0.01).error
    assert late is not None
    assert (late.kind, late.is_abandoned) == ("timeout", False)
    results: list[ToolResult] = []
    second = threading.Thread(
        target=lambda: results.append(call(dispatcher, "wait", timeout=PATIENCE, call_id="mine"))
    )
    second.start()
    while not dispatcher.cancel("mine"):
        threading.Event().wait(0.001)
    second.join(PATIENCE)
    (cancelled,) = results
    assert cancelled.error is not None
    # it never got in: the call that was too late has left no room behind
    assert (cancelled.error.kind, cancelled.error.is_abandoned) == ("cancelled", False)
    end.set()
    first.join(PATIENCE)
    assert call(dispatcher, "wait", timeout=PATIENCE).value is True


def test_a_turn_that_comes_as_the_call_is_stopped_passes_on() -> None:
    """Only here do both happen for certain before the thread that waits wakes up."""
    limiter, stopped, turns = Limiter(1), CallScope(), list[str]()
    assert limiter.queue(list) is None

    def stop_both() -> None:
        while not stopped._stops:
            threading.Event().wait(0.001)
        limiter.queue(lambda: turns.append("next"))
        stopped.on_stop(limiter.leave)
        stopped.stop()

    thread = threading.Thread(target=stop_both)
    thread.start()
    with pytest.raises(RunCancelledError):
        enter(limiter, stopped)
    thread.join()
    assert turns == ["next"]


def test_what_has_been_waited_for_leaves_nothing_to_be_stopped() -> None:
    scope, limiter = CallScope(), Limiter(1)

    def let_in() -> None:
        wait_until(lambda: bool(scope._stops))
        limiter.leave()

    assert limiter.queue(list) is None
    for _ in range(3):
        thread = threading.Thread(target=let_in)
        thread.start()
        enter(limiter, scope)
        thread.join()
        assert not scope._stops
        assert run_on_thread(lambda: 1, scope, None) == 1
        assert not scope._stops
        future: Future[int] = Future()
        future.set_result(2)
        assert wait_for_future(future, scope) == 2
        assert not scope._stops


def test_a_loop_that_ended_amid_a_call_holds_nobody_up(release: threading.Event) -> None:
    loops: list[asyncio.AbstractEventLoop] = []
    started = asyncio.Event()

    def wait() -> None:
        loops[0].call_soon_threadsafe(started.set)
        assert release.wait(PATIENCE)

    dispatcher = tooler(wait, max_threads=1)

    async def leave_early() -> None:
        loops.append(asyncio.get_running_loop())
        first = asyncio.create_task(dispatcher.call("wait"))
        await started.wait()
        second = asyncio.create_task(dispatcher.call("wait"))
        await asyncio.sleep(0)
        assert not first.done()
        assert not second.done()

    asyncio.run(leave_early())
    loops[0] = asyncio.new_event_loop()
    release.set()
    assert dispatcher.call_sync("wait", timeout=PATIENCE).ok
    loops[0].close()


def test_callers_from_threads_and_loops_share_one_limit(release: threading.Event) -> None:
    most, now, lock = [0], [0], threading.Lock()

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        release.wait(0.002)
        with lock:
            now[0] -= 1

    dispatcher = tooler(tool(work, max_concurrency=3), max_threads=8)
    results: list[ToolResult] = []

    async def many() -> None:
        results.extend(await dispatcher.call_many([("work", None)] * 20))

    def call_sync() -> None:
        results.extend(dispatcher.call_sync("work") for _ in range(10))

    threads = [threading.Thread(target=asyncio.run, args=(many(),)) for _ in range(2)]
    threads += [threading.Thread(target=call_sync) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 70
    assert all(result.ok for result in results)
    assert 1 <= most[0] <= 3


class Limiters(RuleBasedStateMachine):
    """A limiter and the plainest model of one: who is in, and who waits in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = 3
        self.limiter = Limiter(self.limit)
        self.inside = 0
        self.waiting: list[Ticket] = []
        self.told: list[Ticket] = []

    @rule()
    def come(self) -> None:
        ticket = self.limiter.queue(lambda: self.told.append(self.waiting[0]))
        if self.inside < self.limit:
            assert ticket is None
            self.inside += 1
        else:
            assert ticket is not None
            self.waiting.append(ticket)

    @precondition(lambda self: self.inside)
    @rule()
    def leave(self) -> None:
        self.limiter.leave()
        if self.waiting:
            assert self.waiting.pop(0).is_admitted
        else:
            self.inside -= 1

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.waiting))
        assert self.limiter.give_up(ticket)
        self.waiting.remove(ticket)

    @precondition(lambda self: self.told)
    @rule()
    def give_up_too_late(self) -> None:
        assert not self.limiter.give_up(self.told[-1])

    @invariant()
    def whoever_waits_is_not_in(self) -> None:
        assert not any(ticket.is_admitted for ticket in self.waiting)
        assert all(ticket.is_admitted for ticket in self.told)


TestLimiters = Limiters.TestCase


INTERRUPTED = """
import signal, threading
from tests.dispatch.toolbox import tool, tooler
main = threading.main_thread().ident
started, end, caught = [threading.Event() for _ in range(3)]
def hold():
    started.set()
    return end.wait(60)
calls = tooler(tool(hold, max_concurrency=1))
limiter = calls._engine.tool("hold").limiter
def interrupt(_, frame):
    if limiter._queue and frame.f_code.co_name == "wait" and not caught.is_set():
        caught.set()
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
def send():  # until it arrives: Python misses a signal just before the system waits
    while not caught.wait(0.01):
        signal.pthread_kill(main, signal.SIGINT)
first = threading.Thread(target=calls.call_sync, args=("hold",))
first.start()
started.wait(60)
threading.Thread(target=send).start()
try:
    calls.call_sync("hold", timeout=60)
except KeyboardInterrupt:
    print("interrupted", end=" ")
end.set()
first.join()
print(calls.call_sync("hold", timeout=60).value)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals go to the process")
def test_an_interrupt_of_a_call_that_waits_for_its_turn_gives_up_its_place() -> None:
    assert run_script(INTERRUPTED) == "interrupted True"
