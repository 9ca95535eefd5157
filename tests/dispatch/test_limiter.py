from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sovl_tools import ToolResult
from sovl_tools.dispatch import async_runner
from sovl_tools.dispatch.limiter import Limiter, Ticket, leave_once
from sovl_tools.dispatch.runner import enter
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import RunCancelledError, TimeLimitError
from tests.dispatch.toolbox import tool, tooler
from tests.patience import PATIENCE


@pytest.fixture
def turns() -> list[str]:
    """Return a list of those whose turn has come."""
    return []


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def queued(limiter: Limiter, turns: list[str], name: str = "") -> Ticket:
    """Queue before a limiter that is full."""
    ticket = limiter.queue(lambda: turns.append(name))
    assert ticket is not None
    return ticket


def full(limit: int = 1) -> Limiter:
    limiter = Limiter(limit)
    assert [limiter.queue(list) for _ in range(limit)] == [None] * limit
    return limiter


def has_room(limiter: Limiter) -> bool:
    """Tell whether exactly one more gets in; the limiter is as before."""
    ticket = limiter.queue(list)
    if ticket is not None:
        assert limiter.give_up(ticket)
        return False
    limiter.leave()
    return True


def test_so_many_get_in_and_the_next_wait_in_order(turns: list[str]) -> None:
    limiter = full(2)
    for name in "abc":
        queued(limiter, turns, name)
    assert turns == []
    limiter.leave()
    assert turns == ["a"]
    limiter.leave()
    limiter.leave()
    assert turns == ["a", "b", "c"]
    assert not has_room(limiter)
    limiter.leave()
    assert has_room(limiter)


def test_whoever_gives_up_loses_his_place(turns: list[str]) -> None:
    limiter = full()
    tickets = {name: queued(limiter, turns, name) for name in "abc"}
    assert limiter.give_up(tickets["a"])
    assert limiter.give_up(tickets["a"]), "there is no harm in doing it twice"
    limiter.leave()
    assert turns == ["b"]
    assert not tickets["a"].is_admitted
    assert tickets["b"].is_admitted


def test_whoever_gives_up_too_late_is_in_and_has_to_leave(turns: list[str]) -> None:
    limiter = full()
    ticket = queued(limiter, turns, "a")
    queued(limiter, turns, "b")
    limiter.leave()
    assert not limiter.give_up(ticket)
    assert turns == ["a"]
    limiter.leave()
    assert turns == ["a", "b"]


def test_a_turn_that_nobody_can_be_told_of_passes_on(turns: list[str]) -> None:
    limiter = full()
    loop = asyncio.new_event_loop()
    loop.close()
    for _ in range(2):
        assert limiter.queue(lambda: loop.call_soon_threadsafe(list)) is not None
    queued(limiter, turns, "next")
    limiter.leave()
    assert turns == ["next"]
    assert limiter.queue(lambda: loop.call_soon_threadsafe(list)) is not None
    limiter.leave()
    assert has_room(limiter)


def test_a_thread_waits_for_its_turn() -> None:
    limiter, entered = full(), threading.Event()

    def work() -> None:
        enter(limiter, CallScope(limit=PATIENCE))
        entered.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert not entered.wait(0.01)
    limiter.leave()
    assert entered.wait(PATIENCE)
    thread.join()
    assert not has_room(limiter)


def test_a_thread_waits_no_longer_than_its_limit() -> None:
    limiter, late = full(), CallScope(limit=0.01)
    with pytest.raises(TimeLimitError):
        enter(limiter, late)
    assert late.is_stopped
    limiter.leave()
    assert has_room(limiter), "the place in the queue was given back"


def test_a_thread_whose_run_was_stopped_does_not_enter() -> None:
    limiter, stopped = full(), CallScope()
    stopped.stop()
    with pytest.raises(RunCancelledError):
        enter(limiter, stopped)
    limiter.leave()
    assert has_room(limiter)


def test_a_turn_that_comes_as_the_run_is_stopped_passes_on(turns: list[str]) -> None:
    limiter = full()
    stopped, moment = CallScope(), threading.Event()

    def stop_both() -> None:
        while not stopped._stops:
            moment.wait(0.001)
        queued(limiter, turns, "next")
        stopped.on_stop(limiter.leave)
        stopped.stop()

    thread = threading.Thread(target=stop_both)
    thread.start()
    with pytest.raises(RunCancelledError):
        enter(limiter, stopped)
    thread.join()
    assert turns == ["next"]


def test_one_leaves_once_however_often_it_is_said() -> None:
    limiter = full()
    leave = leave_once(limiter)
    for _ in range(3):
        leave()
    assert limiter.queue(list) is None
    assert limiter.queue(list) is not None
    leave_once(None)()


async def test_a_task_awaits_its_turn() -> None:
    limiter = full()
    task = asyncio.create_task(async_runner.enter(limiter))
    await asyncio.sleep(0)
    assert not task.done()
    limiter.leave()
    await asyncio.wait_for(task, PATIENCE)
    assert not has_room(limiter)


async def test_a_task_that_is_cancelled_gives_its_place_back(turns: list[str]) -> None:
    limiter = full()
    task = asyncio.create_task(async_runner.enter(limiter))
    await asyncio.sleep(0)
    queued(limiter, turns, "next")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    limiter.leave()
    assert turns == ["next"]


async def test_a_task_that_is_cancelled_as_its_turn_comes_passes_it_on(turns: list[str]) -> None:
    limiter = full()
    task = asyncio.create_task(async_runner.enter(limiter))
    await asyncio.sleep(0)
    queued(limiter, turns, "next")
    limiter.leave()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert turns == ["next"]


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
