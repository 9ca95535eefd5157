"""What a run writes down, and how another continues."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ProcedureManager, ToolRegistry
from sovl_tools.procedures.errors import (
    ChangedProcedureError,
    RunBusyError,
    RunNotFoundError,
    RunOverError,
    StepError,
)
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.run.environment import Event, StepEnded
from tests.conftest import Write
from tests.procedures.workshop import (
    Flaky,
    add,
    call,
    defined,
    echo,
    inputs,
    manager_of,
    procedure,
    refuse,
    returning,
    story,
)
from tests.tables import check_each


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "runs.db") as journal:
        yield journal


class Shop:
    """Tools that are switched: ``sell`` fails, or waits for ever, as long as someone says so."""

    def __init__(self) -> None:
        self.sold: list[str] = []
        self.is_broken = False
        self.is_slow = False
        self.started = asyncio.Event()
        self.manager = self._manager()

    def _manager(self) -> ProcedureManager:
        registry = ToolRegistry()

        async def sell(what: str) -> str:
            """Sell something."""
            self.sold.append(what)
            self.started.set()
            if self.is_slow:
                await asyncio.Event().wait()
            if self.is_broken:
                raise ValueError("closed")
            return f"sold {what}"

        registry.register(sell)
        registry.tool(name="look", annotations={"read_only": True})(sell)
        return ProcedureManager(registry)

    async def interrupt(self, work: Any) -> None:
        """Cancel a run when its first tool is running."""
        self.is_slow = True
        self.started.clear()
        task = asyncio.ensure_future(work)
        await self.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        self.is_slow = False


@pytest.fixture
async def shop() -> Shop:
    return Shop()


def resumed(manager: ProcedureManager, journal: Journal, **options: Any) -> Any:
    (run,) = journal.runs()
    return asyncio.run(manager.resume(journal, run.id, **options))


def keys(journal: Journal) -> list[tuple[str, str]]:
    (run,) = journal.runs()
    return [(each.key, each.state) for each in journal.steps(run.id)]


def test_a_run_writes_down_what_it_does(journal: Journal, tmp_path: Path) -> None:
    steps = (
        call("add", "x", a="{{ inputs.n }}", b=2),
        {"action": "note", "what": "{{ x }}", "save_as": "y"},
        {"action": "for_each", "items": [1], "steps": [call("add", a="{{ item }}", b=0)]},
        {"action": "procedure", "procedure": "inner"},
    )
    source = procedure(*steps, inputs=inputs("n", n={}), output="{{ y }}")
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(source))
    manager = manager_of(add, note=lambda step, _: [step["what"]])
    manager.add(procedure({"action": "wait", "seconds": 0}, name="inner"))
    assert manager.run_sync(path, {"n": 1}, journal=journal) == [3]
    (run,) = journal.runs()
    assert run[1:4] == ("sample", str(path), path.read_text())
    assert (run.inputs, run.state, run.result, run.resumed) == ({"n": 1}, "succeeded", [3], 0)
    assert list(run.tools) == ["add", "bringer", "procedure inner"]
    records = [each[:6] for each in journal.steps(run.id)]
    assert records == [
        ("steps.0", "tool", "add", "succeeded", {"a": 1, "b": 2}, 3),
        ("steps.1", "note", None, "succeeded", {"what": 3}, [3]),
        ("steps.2", "for_each", None, "succeeded", {"items": [1]}, [None]),
        ("steps.2[0].steps.0", "tool", "add", "succeeded", {"a": 1, "b": 0}, 1),
        ("steps.3", "procedure", None, "succeeded", {"procedure": "inner", "inputs": {}}, None),
        ("steps.3/inner:steps.0", "wait", None, "succeeded", {"seconds": 0}, None),
    ]


def test_every_attempt_is_written_down(journal: Journal) -> None:
    policy = {"retry": 1, "delay": 0}
    step = {**call("flaky"), "on_error": policy}
    block = {"action": "if", "condition": "true", "then": [call("add", a=1, b=1), call("refuse")]}
    source = procedure(step, {**block, "on_error": {**policy, "then": "continue"}})
    manager_of(Flaky(1, []).tool(), add, refuse).run_sync(source, journal=journal)
    assert keys(journal) == [
        ("steps.0", "failed"),
        ("steps.0~2", "succeeded"),
        ("steps.1", "failed"),
        ("steps.1.then.0", "succeeded"),
        ("steps.1.then.1", "failed"),
        ("steps.1~2", "failed"),
        ("steps.1~2.then.0", "succeeded"),
        ("steps.1~2.then.1", "failed"),
    ]


async def test_what_is_known_is_told_as_such(journal: Journal, shop: Shop) -> None:
    source = procedure(call("look", "a", what="a"), call("refuse_once"), output="{{ a }}")
    calls: list[int] = []

    def refuse_once() -> None:
        """Fail once."""
        calls.append(1)
        if len(calls) == 1:
            raise ValueError

    shop.manager._registry.register(refuse_once)  # type: ignore[attr-defined]  # it is one
    with pytest.raises(StepError):
        await shop.manager.run(source, journal=journal)
    events: list[Event] = []
    (run,) = journal.runs()
    await shop.manager.resume(journal, run.id, on_event=events.append)
    states = [each.state for each in events if isinstance(each, StepEnded)]
    assert states == ["known", "succeeded"]
    assert shop.sold == ["a"]


async def test_a_step_under_way_is_not_repeated_unless_somebody_says_so(
    journal: Journal, shop: Shop
) -> None:
    source = procedure(call("sell", "x", what="a"), output="{{ x }}")
    await shop.interrupt(shop.manager.run(source, journal=journal))
    (run,) = journal.runs()
    before = journal.export(run.id)
    assert before["state"] == "cancelled"
    with pytest.raises(StepError) as raised:
        await shop.manager.resume(journal, run.id)
    assert raised.value.key == "steps.0"
    assert raised.value.message.startswith("tool 'sell' was running when the run was interrupted")
    assert shop.sold == ["a"]
    assert journal.export(run.id) == before
    assert await shop.manager.resume(journal, run.id, repeat_unfinished=True) == "sold a"
    assert shop.sold == ["a", "a"]


async def test_what_was_cancelled_in_a_block_that_was_gone_past_is_not_in_the_way(
    journal: Journal, shop: Shop
) -> None:
    async def fail_then() -> None:
        """Fail when the other one is running."""
        await shop.started.wait()
        raise ValueError("no")

    shop.manager._registry.register(fail_then)  # type: ignore[attr-defined]  # it is one
    shop.is_slow = True
    branches = {"a": [call("sell", what="a")], "b": [call("fail_then")]}
    block = {"action": "parallel", "branches": branches, "on_error": "continue"}
    source = procedure(block, call("refuse"), returning("done"))
    shop.manager._registry.register(refuse)  # type: ignore[attr-defined]  # it is one
    with pytest.raises(StepError, match="no reason"):
        await shop.manager.run(source, journal=journal)
    assert ("steps.0.branches.a.0", "started") in keys(journal)
    shop.manager._registry.unregister("refuse")  # type: ignore[attr-defined]  # it is one

    def refuse_no_more(why: str = "") -> None:
        """Do nothing."""

    refuse_no_more.__name__ = "refuse"
    shop.manager._registry.register(refuse_no_more)  # type: ignore[attr-defined]  # it is one
    assert await shop.manager.resume(journal, journal.runs()[0].id) == "done"
    assert shop.sold == ["a"]


def broken_later(failures: int) -> tuple[Callable[..., Any], list[int]]:
    """Return a tool that fails so often, and the list of its calls."""
    flaky = Flaky(failures, [])
    return flaky.tool(), flaky.calls


def test_a_failed_step_that_was_gone_past_is_not_repeated(journal: Journal) -> None:
    flaky, calls = broken_later(1)
    ends = Flaky(1, [])

    def end() -> int:
        """End."""
        return ends.tool()()

    policy = {"on_error": "continue"}
    source = procedure({**call("flaky", "x"), **policy}, call("end"), output="{{ x }}")
    manager = manager_of(flaky, end)
    with pytest.raises(StepError):
        manager.run_sync(source, journal=journal)
    events: list[Event] = []
    assert resumed(manager, journal, on_event=events.append) is None
    assert len(calls) == 1
    assert "steps.0 continued: ValueError: attempt 1" in story(events)


def test_a_block_that_is_tried_again_starts_anew(journal: Journal) -> None:
    """What an attempt has made is never taken for what the next one makes."""
    many = Flaky(0, [])
    counting, flaky, once = many.tool(), Flaky(2, []), Flaky(1, [])

    def count() -> int:
        """Count."""
        return counting()

    def end() -> int:
        """End."""
        return once.tool()()

    block = {
        "action": "if",
        "condition": True,
        "then": [call("count", "x"), call("flaky")],
        "on_error": {"retry": 2, "delay": 0},
    }
    source = procedure(block, call("end"), output="{{ x }}")
    manager = manager_of(count, flaky.tool(), end)
    with pytest.raises(StepError):
        manager.run_sync(source, journal=journal)
    assert resumed(manager, journal) == 3
    assert len(many.calls) == 3


def test_a_run_that_has_succeeded_is_over(journal: Journal) -> None:
    manager = manager_of()
    manager.run_sync(procedure(returning(1)), journal=journal)
    with pytest.raises(RunOverError, match=r"has succeeded$"):
        resumed(manager, journal)
    with pytest.raises(RunNotFoundError):
        asyncio.run(manager.resume(journal, "nothing"))


async def test_two_can_not_go_on_at_once(journal: Journal, shop: Shop, tmp_path: Path) -> None:
    source = procedure(call("look", "x", what="a"), output="{{ x }}")
    await shop.interrupt(shop.manager.run(source, journal=journal))
    (run,) = journal.runs()
    shop.is_slow = True
    shop.started.clear()
    first = asyncio.ensure_future(shop.manager.resume(journal, run.id))
    await shop.started.wait()
    with Journal(tmp_path / "runs.db") as other:
        for each in (journal, other):
            with pytest.raises(RunBusyError):
                await shop.manager.resume(each, run.id)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    shop.is_slow = False
    assert await shop.manager.resume(journal, run.id) == "sold a"


def failed(manager: ProcedureManager, source: Any, journal: Journal, **given: Any) -> None:
    with pytest.raises(StepError):
        manager.run_sync(source, given, journal=journal)


def test_a_changed_procedure_is_refused_unless_somebody_forces_it(
    journal: Journal, tmp_path: Path
) -> None:
    path = tmp_path / "sample.json"
    steps = call("echo", "x", value="one"), call("refuse")
    path.write_text(json.dumps(procedure(*steps)))
    manager = manager_of(echo, refuse)
    failed(manager, path, journal)
    path.write_text(json.dumps(procedure(steps[0], returning("{{ x }} two"))))
    with pytest.raises(ChangedProcedureError) as raised:
        resumed(manager, journal)
    assert str(raised.value).startswith("procedure 'sample' has changed since run ")
    assert journal.runs()[0].resumed == 0
    assert resumed(manager, journal, force=True) == "one two"


@check_each(("before", "after"), [(1, True), ({"a": [1]}, {"a": [True]})])
def test_arguments_that_only_look_alike_are_not_taken_for_one_another(
    before: Any, after: Any, tmp_path: Path
) -> None:
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(procedure(call("echo", "x", value=before), call("refuse"))))
    manager = manager_of(echo, refuse)
    with Journal(tmp_path / f"{json.dumps([before, after])}.db".replace('"', "")) as journal:
        failed(manager, path, journal)
        path.write_text(json.dumps(procedure(call("echo", "x", value=after), output="{{ [x] }}")))
        (value,) = resumed(manager, journal, force=True)
    assert json.dumps(value) == json.dumps(after)


def test_another_procedure_that_has_changed_is_refused_as_well(journal: Journal) -> None:
    manager = manager_of(refuse)
    manager.add(procedure(call("refuse"), name="inner"))
    failed(manager, procedure({"action": "procedure", "procedure": "inner"}), journal)
    manager.add(procedure(returning(1), name="inner"))
    with pytest.raises(ChangedProcedureError, match="procedure 'inner' has changed"):
        resumed(manager, journal)
    assert resumed(manager, journal, force=True) is None


def test_a_tool_whose_code_alone_has_changed_is_told(journal: Journal, write: Write) -> None:
    code = "def echo(text: str) -> str:\n    {}\n"
    registry = ToolRegistry.from_directory(
        write("echo", code=code.format("raise ValueError")).parent
    )
    failed(ProcedureManager(registry), procedure(call("echo", text="a")), journal)
    write("echo", code=code.format("return text"))
    registry.reload()
    events: list[Event] = []
    resumed(ProcedureManager(registry), journal, on_event=events.append)
    assert story(events)[0] == "echo says it has changed since the run began"


@pytest.mark.parametrize("annotation", ["idempotent", "read_only", "destructive"])
async def test_a_step_of_a_tool_that_may_be_repeated_is_repeated(
    annotation: str, journal: Journal
) -> None:
    began = asyncio.Event()
    is_slow = True

    async def note(step: Any, _: Any) -> str:
        began.set()
        if is_slow:
            await asyncio.Event().wait()
        return str(step["what"])

    def bringer() -> None:
        """Bring a step."""

    registry = ToolRegistry()
    tool = defined(bringer, annotations={annotation: True}, step_handlers={"note": note})
    registry.register(tool)
    manager = ProcedureManager(registry)
    source = procedure({"action": "note", "what": "a", "save_as": "x"}, output="{{ x }}")
    task = asyncio.ensure_future(manager.run(source, journal=journal))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    is_slow = False
    (run,) = journal.runs()
    assert list(run.tools) == ["bringer"]
    if annotation == "destructive":
        with pytest.raises(StepError, match="action 'note' was running"):
            await manager.resume(journal, run.id)
    else:
        assert await manager.resume(journal, run.id) == "a"


async def test_a_step_under_way_below_one_that_failed_for_good_is_not_repeated_unasked(
    journal: Journal, shop: Shop
) -> None:
    shop.is_slow = True
    fail = [{"action": "wait", "seconds": 0.1}, {"action": "fail", "message": "no"}]
    block = {"action": "parallel", "branches": {"a": [call("sell", what="a")], "b": fail}}
    with pytest.raises(StepError):
        await shop.manager.run(procedure(block), journal=journal)
    (run,) = journal.runs()
    states = {each.key: each.state for each in journal.steps(run.id)}
    assert states["steps.0"] == "failed"
    assert states["steps.0.branches.a.0"] == "started"
    with pytest.raises(StepError, match="tool 'sell' was running"):
        await shop.manager.resume(journal, run.id)
    assert shop.sold == ["a"]
