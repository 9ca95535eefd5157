from __future__ import annotations

import os
import signal
import threading
from contextvars import ContextVar, copy_context
from typing import Any

import pytest

from sovl_tools.dispatch.runner import IS_ON_THREAD, ThreadWork
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.threads import (
    _Worker,
    start,
)
from tests.dispatch.toolbox import run_script
from tests.patience import PATIENCE

MOOD = ContextVar("MOOD", default="calm")


class Outcome:
    """What became of a job."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._result: tuple[Any, BaseException | None] = (None, None)

    def __call__(self, value: Any, error: BaseException | None) -> None:
        self._result = value, error
        self._done.set()

    @property
    def result(self) -> tuple[Any, BaseException | None]:
        assert self._done.wait(PATIENCE)
        return self._result


def done_by(worker: _Worker, function: Any) -> Any:
    """Have a new worker do something and return its value; afterwards it is anybody's."""
    outcome = Outcome()
    worker.work.put((copy_context(), function, outcome))
    value, error = outcome.result
    assert error is None
    return value


def done(function: Any) -> Any:
    outcome = Outcome()
    start(function, outcome)
    return outcome.result[0]


def test_a_job_is_done_on_a_daemon_thread() -> None:
    thread = done(threading.current_thread)
    assert thread is not threading.current_thread()
    assert (thread.daemon, thread.name) == (True, "sovl-tools-call")


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_job_raises_is_reported(error: BaseException) -> None:
    def fail() -> None:
        raise error

    outcome = Outcome()
    start(fail, outcome)
    assert outcome.result == (None, error)


def test_a_job_has_the_context_of_whoever_started_it() -> None:
    def upset() -> str:
        before = MOOD.get()
        MOOD.set("upset")
        return before

    token = MOOD.set("glad")
    try:
        assert [done(upset) for _ in range(3)] == ["glad"] * 3
        assert MOOD.get() == "glad"
    finally:
        MOOD.reset(token)
    assert done(MOOD.get) == "calm"


def test_a_job_knows_that_it_has_a_thread_of_a_tooler() -> None:
    assert done(ThreadWork(IS_ON_THREAD.get, None)) is True
    assert done(IS_ON_THREAD.get) is False
    assert IS_ON_THREAD.get() is False


def test_a_thread_that_has_had_no_job_for_a_while_ends() -> None:
    thread = done_by(_Worker(idle_seconds=0.01), threading.current_thread)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_thread_that_has_just_been_taken_does_not_end() -> None:
    worker = _Worker(idle_seconds=0.001)
    threading.Event().wait(0.02)
    assert done_by(worker, lambda: "done") == "done"


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    scope = CallScope()
    ran: list[bool] = []
    begin = ThreadWork(lambda: ran.append(True), scope, is_tool=False)
    begin()
    assert begin.has_ended
    begin = ThreadWork(lambda: ran.append(True), scope, is_tool=False)
    scope.stop()
    with pytest.raises(RunCancelledError):
        begin()
    assert (ran, begin.has_ended) == ([True], False)


INTERRUPTED = """
import asyncio, signal, sys, threading
from tests.dispatch.toolbox import tooler
ended, main = threading.Event(), threading.main_thread().ident
def interrupt():
    while sys._current_frames()[main].f_code.co_name not in {"wait", "run_on_thread"}:
        threading.Event().wait(0.001)
    threading.Event().wait(0.05)  # until the system waits too: Python misses a signal before that
    signal.pthread_kill(main, signal.SIGINT)
async def wait_later(context: "ToolContext"):
    interrupt()
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()
def tarry(context: "ToolContext"):
    interrupt()
    while not context.cancelled:
        threading.Event().wait(0.001)
    ended.set()
events = []
calls = tooler(tarry, wait_later, observers=[events.append], max_threads=1)
for name in ("tarry", "wait_later", "tarry"):
    ended.clear()
    try:
        calls.call_sync(name, timeout=30)
    except KeyboardInterrupt:
        print(name, ended.wait(60), end=" ")
while len(events) < 3:
    threading.Event().wait(0.001)
print(*[event.kind for event in events])
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals go to the process")
def test_an_interrupt_ends_the_waiting_and_the_call() -> None:
    script = f"from sovl_tools import ToolContext\n{INTERRUPTED}"
    kinds = "cancelled cancelled cancelled"
    assert run_script(script) == f"tarry True wait_later True tarry True {kinds}"


REUSE = """
import threading
from sovl_tools.dispatch.runner import IS_ON_THREAD, ThreadWork
from sovl_tools.threads import start
def names():
    return [each.name for each in threading.enumerate()].count("sovl-tools-call")
def do(function):
    done, found = threading.Event(), []
    start(function, lambda value, error: (found.append(value), done.set()))
    return done, found
"""
ONE_AFTER_ANOTHER = """
from sovl_tools.dispatch.runner import IS_ON_THREAD, ThreadWork
from sovl_tools.threads import _IDLE
used = set()
def note():
    used.add(threading.get_ident())
    raise SystemExit
for _ in range(50):
    done, found = do(note)
    assert done.wait(60)
    while not _IDLE:
        threading.Event().wait(0.001)
print(len(used), names())
"""
AT_THE_SAME_TIME = """
barrier = threading.Barrier(40)
jobs = [do(lambda: barrier.wait(60)) for _ in range(40)]
assert all(done.wait(60) for done, _ in jobs)
for _ in range(30_000):
    if names() == 32:
        break
    threading.Event().wait(0.001)
print(sorted(found[0] for _, found in jobs) == list(range(40)), names())
"""


def test_a_thread_that_has_nothing_to_do_is_used_again() -> None:
    assert run_script(REUSE + ONE_AFTER_ANOTHER) == "1 1"


def test_only_so_many_threads_are_kept() -> None:
    assert run_script(REUSE + AT_THE_SAME_TIME) == "True 32"


FORK = """
import os
from sovl_tools import threads
done, found = do(threading.get_ident)
assert done.wait(60)
while not threads._IDLE:
    threading.Event().wait(0.001)
with threads._LOCK:
    pid = os.fork()
    if pid == 0:
        done, found = do(lambda: 42)
        os._exit(found[0] if done.wait(60) else 1)
status = os.waitpid(pid, 0)[1]
done, found = do(threading.get_ident)
print(os.waitstatus_to_exitcode(status), done.wait(60))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert run_script(REUSE + FORK) == "42 True"


FORKED_IDS = """
import os
from sovl_tools.dispatch.scope import new_call_id
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, new_call_id().encode())
    os._exit(0)
print(os.read(reading, 100).decode() != new_call_id())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_calls_of_a_forked_process_have_other_names() -> None:
    assert run_script(FORKED_IDS) == "True"


FORKED_TOOLER = """
import os
from tests.dispatch.toolbox import tool, tooler
def answer():
    return 42
calls = tooler(answer, max_threads=1)
assert calls.call_sync("answer", mode="thread").ok
pid = os.fork()
if pid == 0:
    os._exit(calls.call_sync("answer", mode="thread", timeout=3).value or 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_sync_tools_are_called_on_threads_in_a_forked_process_too() -> None:
    assert run_script(FORKED_TOOLER) == "42"
