from __future__ import annotations

import os
import signal

import pytest

from tests.dispatch.toolbox import run_script

INTERRUPTED = """
import asyncio, signal, sys, threading
from tests.dispatch.toolbox import tooler
ended, main = threading.Event(), threading.main_thread().ident
def interrupt():
    while sys._current_frames()[main].f_code.co_name not in {"wait", "get_within"}:
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


PREFORKED = """
import asyncio, os, signal, threading
from tests.dispatch.toolbox import tool, tooler

started, end = threading.Event(), threading.Event()

def alone():
    return "alone"

def sync():
    return "sync"

async def later():
    await asyncio.sleep(0)
    return "async"

def wait():
    started.set()
    return end.wait(60)

names = []
tools = [sync, later, tool(alone, max_concurrency=1), tool(wait, max_concurrency=1)]
calls = tooler(*tools, max_threads=1, observers=[lambda event: names.append(event.call_id)])

def answers():
    found = []
    for name in ("sync", "later", "alone"):
        found += [calls.call_sync(name), calls.call_sync(name, timeout=20)]
        found += [asyncio.run(calls.call(name)), asyncio.run(calls.call(name, timeout=20))]
    return [each.value for each in found]

expected, number = answers(), len(names)
threading.Thread(target=calls.call_sync, args=("wait",), kwargs={"timeout": 60}).start()
assert started.wait(60)  # it holds the only thread and the only place of its tool
reading, writing = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        signal.alarm(30)
        end.set()
        is_right = answers() == expected and calls.call_sync("wait", timeout=20).value
        os.write(writing, f"{is_right} {names[number]}|".encode())
        os._exit(0)
for _ in range(2):
    os.wait()
end.set()
first, second, _ = os.read(reading, 1000).decode().split("|")
known = [first.split()[1], second.split()[1], *names]
print(expected == answers(), first.split()[0], second.split()[0], len({*known}) == len(known))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there's no fork")
def test_a_server_that_forks_after_calls_answers_in_each_child() -> None:
    """The children have threads, loops, places in queues and names of calls of their own."""
    assert run_script(PREFORKED) == "True True True True"
