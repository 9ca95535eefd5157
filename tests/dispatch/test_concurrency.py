from __future__ import annotations

import asyncio
import json
import threading
from contextvars import ContextVar
from typing import Any

from sovl_tools import Tooler, ToolRegistry
from tests.dispatch.toolbox import (
    Call,
    each_way,
    properties,
    run_script,
    tool,
    tooler,
)
from tests.patience import PATIENCE
from tests.tables import check_each

LEVEL = {**properties(level={"type": "integer"}), "required": ["level"]}


async def test_sync_tools_run_beside_each_other() -> None:
    barrier = threading.Barrier(12)

    def meet() -> bool:
        return barrier.wait(PATIENCE) >= 0

    dispatcher = tooler(meet)
    results = await asyncio.gather(*(dispatcher.call("meet") for _ in range(12)))
    assert [result.value for result in results] == [True] * 12


async def test_an_inline_tool_runs_where_the_loop_runs() -> None:
    dispatcher = tooler(tool(threading.get_ident, name="inline", mode="inline"))
    assert (await dispatcher.call("inline")).value == threading.get_ident()


@check_each("execution", [{}, {"mode": "thread"}, {"timeout": 30}], ids=str)
async def test_a_sync_tool_runs_elsewhere_when_it_is_awaited(execution: dict[str, Any]) -> None:
    dispatcher = tooler(tool(threading.get_ident, name="elsewhere", **execution))
    result = await dispatcher.call("elsewhere")
    assert result.ok
    assert result.value != threading.get_ident()


def test_a_sync_tool_without_a_limit_runs_in_the_callers_thread() -> None:
    dispatcher = tooler(tool(threading.get_ident, name="here"))
    assert dispatcher.call_sync("here").value == threading.get_ident()


async def test_an_async_tool_runs_on_the_callers_loop() -> None:
    async def where() -> int:
        return id(asyncio.get_running_loop())

    dispatcher, own = tooler(where), id(asyncio.get_running_loop())
    for _ in range(2):
        assert (await dispatcher.call("where")).value == own
        assert (await dispatcher.call("where", timeout=30)).value == own


async def test_an_async_tool_can_be_called_synchronously_under_a_running_loop() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert tooler(answer).call_sync("answer").value == 42


def test_async_tools_that_threads_call_share_one_loop() -> None:
    barrier = asyncio.Barrier(4)

    async def meet() -> int:
        async with asyncio.timeout(PATIENCE), barrier:
            return id(asyncio.get_running_loop())

    dispatcher, found = tooler(meet), []

    def work() -> None:
        found.append(dispatcher.call_sync("meet").value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


@each_way
def test_sync_and_async_tools_may_call_each_other(call: Call) -> None:
    async def later() -> str:
        return "a" + str(dispatcher.call_sync("latest").value)

    async def latest() -> str:
        await asyncio.sleep(0)
        return "b"

    def first() -> str:
        return "c" + str(dispatcher.call_sync("later").value)

    dispatcher = tooler(later, latest, first)
    assert call(dispatcher, "first").value == "cab"


NESTED = """
from tests.dispatch.toolbox import properties, tool, tooler
async def count(level):
    return 1 + dispatcher.call_sync("count", {"level": level - 1}).value if level else 0
dispatcher = tooler(tool(count, properties(level={"type": "integer"})))
print(dispatcher.call_sync("count", {"level": 4}).value)
"""


def test_async_tools_may_call_each_other_synchronously() -> None:
    assert run_script(NESTED) == "4"


SPEAKER = ContextVar("SPEAKER", default="nobody")


@check_each("timeout", [None, 30])
@check_each("mode", [None, "inline", "thread"])
def test_what_a_tool_sets_in_context_variables_ends_with_its_call(
    mode: Any, timeout: float | None
) -> None:
    def speak() -> str:
        before = SPEAKER.get()
        SPEAKER.set("the tool")
        return before

    async def speak_later() -> str:
        before = speak()
        await asyncio.sleep(0)
        assert SPEAKER.get() == "the tool"
        return before

    dispatcher = tooler(speak, speak_later, mode=mode)
    for name in ("speak", "speak_later"):
        found = [dispatcher.call_sync(name, timeout=timeout).value for _ in range(2)]
        assert found == ["nobody", "nobody"]
        assert SPEAKER.get() == "nobody"


def test_one_dispatcher_serves_many_threads() -> None:
    def twice(level: int) -> int:
        return 2 * level

    dispatcher, wrong = tooler(tool(twice, LEVEL)), []

    def work(start: int) -> None:
        for level in range(start, start + 200):
            result = dispatcher.call_sync("twice", {"level": float(level)})
            if repr(result.value) != repr(2 * level):
                wrong.append(result)

    threads = [threading.Thread(target=work, args=(1000 * each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert dispatcher.statistics()["twice"].calls == 4 * 200


@check_each(
    "value",
    [
        ["x"] * 20_000,
        {str(number): 1 for number in range(10_000)},
        [1] * 20_000 + ["x"],
    ],
)
async def test_the_loop_goes_on_while_large_arguments_are_rejected(value: Any) -> None:
    def total(values: list[int | None] | None) -> int:
        """Count values."""
        return len(values or ())

    registry = ToolRegistry()
    registry.register(total)
    dispatcher, turns = Tooler(registry), 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    for given in ({"values": value}, json.dumps({"values": value})):
        turns = 0
        result = await dispatcher.call("total", given)
        assert result.error is not None
        assert result.error.kind == "invalid_arguments"
        assert turns > 0
    counting.cancel()
