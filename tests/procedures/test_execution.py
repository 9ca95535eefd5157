"""What steps do, one after another and at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from sovl_tools import ProcedureManager, StepContext, ToolError, ToolRegistry
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.run.environment import Event, StepEnded, StepRetried, StepStarted
from tests.conftest import Write
from tests.patience import wait_until
from tests.procedures.workshop import (
    Flaky,
    add,
    call,
    echo,
    inputs,
    manager_of,
    procedure,
    refuse,
    returning,
    run,
    story,
    values,
)
from tests.tables import check_each


def failing(source: Any, *functions: Any, **given: Any) -> StepError:
    with pytest.raises(StepError) as raised:
        run(source, *functions, **given)
    return raised.value


def choice(condition: Any, then: list[Any], *otherwise: Any, **keys: Any) -> dict[str, Any]:
    block = {"else": list(otherwise)} if otherwise else {}
    return {"action": "if", "condition": condition, "then": then, **block, **keys}


def loop(items: Any, *steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"action": "for_each", "items": items, "steps": [*steps], "save_as": "all", **keys}


def branches(**branches: list[dict[str, Any]]) -> dict[str, Any]:
    return {"action": "parallel", "branches": branches}


CONTINUED: dict[str, Any] = {"on_error": "continue"}
SUM = call("add", "sum", a="{{ item }}", b="{{ loop.index }}")
CELLS = loop([1, 2], values(cell="{{ row }}{{ column }}{{ loop.index }}"), result="{{ cell }}") | {
    "as": "column"
}


@check_each(
    ("steps", "output", "value"),
    [
        (
            [call("add", "x", a=1, b=2), call("add", "y", a="{{ x }}", b=3)],
            {"y": "{{ y }}"},
            {"y": 6},
        ),
        ([call("add", "x", a="{{ inputs.n }}", b="{{ inputs.m }}")], "{{ x }}", 8),
        ([values(z=1, a="{{ z + 1 }}", m="{{ a + z }}")], "{{ [z, a, m] }}", [1, 2, 3]),
        ([choice("inputs.n > 0", [values(way="then")], values(way="else"))], "{{ way }}", "then"),
        ([choice("inputs.n > 1", [values(way="then")], values(way="else"))], "{{ way }}", "else"),
        ([{"action": "if", "condition": False, "then": [call("refuse")]}], "done", "done"),
        (
            [values(x=1), {**values(x=2), "when": "x > 1"}, {**values(y=3), "when": True}],
            "{{ [x, y] }}",
            [1, 3],
        ),
        (
            [loop("{{ range(9) }}", SUM, at_once=4, result=["{{ sum }}", "{{ loop.count }}"])],
            "{{ all }}",
            [[2 * n + 1, 9] for n in range(9)],
        ),
        (
            [values(x=10), loop([1, 2], values(x="{{ x + item }}"), result="{{ x }}")],
            "{{ [x, all] }}",
            [10, [11, 12]],
        ),
        (
            [{**loop(["a", "b"], CELLS, result="{{ all }}"), "as": "row"}],
            "{{ all }}",
            [["a11", "a22"], ["b11", "b22"]],
        ),
        (
            [values(x=1), branches(left=[values(a="{{ x }}")], right=[values(b="{{ x + 1 }}")])],
            "{{ [x, a, b] }}",
            [1, 1, 2],
        ),
        (
            [
                values(x=1),
                branches(left=[values(x=2), values(a="{{ x }}")], right=[values(b="{{ x }}")]),
            ],
            "{{ [x, a, b] }}",
            [2, 2, 1],
        ),
        ([choice("true", [returning({"x": "{{ 1 + 1 }}"})]), call("refuse")], "no", {"x": 2}),
        ([{"action": "wait", "seconds": "{{ 0 }}"}, values(x=1)], "{{ x }}", 1),
        ([{**call("refuse", "x"), **CONTINUED}, values(y="{{ x is none }}")], "{{ y }}", True),
        (
            [choice("true", [values(x=1), call("refuse"), values(x=2)], **CONTINUED)],
            "{{ x | default(0) }}",
            0,
        ),
        ([{**values(x=1, y="{{ [][0] }}"), **CONTINUED}], "{{ x | default(0) }}", 0),
    ],
)
def test_steps_make_an_output(steps: list[Any], output: Any, value: Any) -> None:
    schema = inputs("n", n={"type": "integer"}, m={"type": "integer", "default": 7})
    assert run(procedure(*steps, output=output, inputs=schema), add, refuse, n=1) == value


SECONDS = {"action": "wait", "seconds": "{{ inputs.x }}"}
LATE = "steps.0: it was not done after 0.01 s"
LONG_WAIT: dict[str, Any] = {"action": "wait", "seconds": 60}
LIMIT = {"timeout": 0.01}


@check_each(
    ("step", "given", "message", "path"),
    [
        ({"action": "fail", "message": "no {{ inputs.x }}"}, 5, "steps.0: no 5", ("steps", 0)),
        (
            loop([1, 2], call("refuse", why="{{ item }}!")),
            None,
            "steps.0[0].steps.0: 1!",
            ("steps", 0, "steps", 0),
        ),
        (
            call("echo", value=[{"deep": "{{ inputs.x.y }}"}]),
            {"z": 1},
            "steps.0: 'inputs.x' is an object and has no 'y'",
            ("steps", 0, "arguments", "value", 0, "deep"),
        ),
        (
            values(y="{{ 1 / inputs.x }}"),
            0,
            "steps.0: division by zero",
            ("steps", 0, "values", "y"),
        ),
        (
            loop("{{ inputs.x }}", values(y=1)),
            "abc",
            'steps.0: items must be an array, not the string "abc"',
            ("steps", 0, "items"),
        ),
        *(
            (SECONDS, given, f"steps.0: seconds must be {words}", ("steps", 0, "seconds"))
            for given, words in (
                (-1, "at least 0, not -1"),
                ("soon", 'a number, not the string "soon"'),
                (True, "a number, not the boolean true"),
                (31_536_001, "at most 31536000, not 31536001"),
            )
        ),
        (choice("true", [LONG_WAIT], **LIMIT), None, LATE, ("steps", 0)),
        ({**LONG_WAIT, **LIMIT}, None, LATE, ("steps", 0)),
    ],
)
def test_a_failure_says_what_is_wrong_and_where(
    step: dict[str, Any], given: Any, message: str, path: tuple[Any, ...]
) -> None:
    source = procedure(step, inputs=inputs("x", x={}))
    error = failing(source, refuse, echo, x=given)
    assert (str(error), error.path, error.procedure) == (message, path, "sample")


@check_each(
    ("keys", "message"),
    [
        ({"output": "{{ {}.y }}"}, "sample: an object has no 'y'"),
        ({"timeout": 0.01}, "sample: the run was not done after 0.01 s"),
    ],
)
def test_a_run_fails_without_a_step(keys: dict[str, Any], message: str) -> None:
    wait = {"action": "wait", "seconds": 60 if "timeout" in keys else 0}
    error = failing(procedure(wait, **keys))
    assert (str(error), error.path, error.procedure) == (message, ("output",), "sample")


async def test_for_each_has_no_more_at_once_than_it_says() -> None:
    active: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        """Work."""
        active.append(number)
        most.append(len(active))
        await asyncio.sleep(0)
        active.remove(number)

    step = {
        "action": "for_each",
        "items": "{{ range(10) }}",
        "at_once": 3,
        "steps": [call("work", number="{{ item }}")],
    }
    await manager_of(work).run(procedure(step))
    assert max(most) == 3
    assert len(most) == 10


def test_the_first_failure_ends_the_other_branches() -> None:
    ended: list[str] = []

    async def wait() -> None:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("wait")
            raise

    branches = {"left": [call("wait")], "right": [call("refuse", why="enough")]}
    error = failing(procedure({"action": "parallel", "branches": branches}), wait, refuse)
    assert str(error) == "steps.0.branches.right.0: enough"
    assert error.__cause__ is None
    assert ended == ["wait"]


def test_waits_between_attempts_grow() -> None:
    flaky = Flaky(3, [])
    policy = {"retry": 3, "delay": 0.001, "backoff": 3}
    events: list[Event] = []
    source = procedure({**call("flaky"), "on_error": policy})
    manager_of(flaky.tool()).run_sync(source, on_event=events.append)
    delays = [each.delay for each in events if isinstance(each, StepRetried)]
    assert delays == pytest.approx([0.001, 0.003, 0.009])


def test_events_come_in_order() -> None:
    events: list[Event] = []
    steps = (
        {**call("flaky", "x"), "on_error": {"retry": 1, "delay": 0}},
        {**values(y=1), "when": "x > 5"},
        {**call("refuse", why="no"), "on_error": "continue"},
        {"action": "if", "condition": "true", "then": [returning("{{ x }}")]},
    )
    manager = manager_of(Flaky(1, []).tool(), refuse)
    assert manager.run_sync(procedure(*steps), on_event=events.append) == 2
    assert story(events) == [
        "run sample",
        "steps.0 started",
        "steps.0 attempt 1: ValueError: attempt 1",
        "steps.0 succeeded",
        "steps.1 skipped",
        "steps.2 started",
        "steps.2 continued: no",
        "steps.3 started",
        "steps.3.then.0 started",
        "steps.3.then.0 succeeded",
        "steps.3 succeeded",
    ]
    depths = [each.depth for each in events if isinstance(each, StepEnded)]
    assert depths == [0, 0, 0, 1, 0]


def test_a_cancelled_run_cancels_its_tools() -> None:
    async def main() -> list[str]:
        started, ended = asyncio.Event(), []

        async def wait() -> None:
            """Wait for ever."""
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("wait")

        branches = {"one": [call("wait")], "other": [{"action": "wait", "seconds": 60}]}
        source = procedure({"action": "parallel", "branches": branches, "on_error": "continue"})
        task = asyncio.create_task(manager_of(wait).run(source))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ended

    assert asyncio.run(main()) == ["wait"]


def test_handlers_get_the_step_with_templates_filled_in() -> None:
    seen: list[Any] = []

    def note(step: Any, context: StepContext) -> Any:
        seen.append((dict(step), context.inputs, dict(context.variables), context.run_id))
        return {"noted": step["what"]}

    step = {"action": "note", "what": "{{ x + 1 }}", "condition": True, "save_as": "kept"}
    source = procedure(values(x=1), step, output="{{ kept }}")
    assert manager_of(note=note).run_sync(source) == {"noted": 2}
    step = {"action": "note", "what": 2, "condition": True}
    assert seen == [(step, {}, {"inputs": {}, "x": 1}, "")]


async def test_a_handler_may_be_async_and_call_tools() -> None:
    async def total(step: Any, context: StepContext) -> Any:
        context.log("warning", "adding")
        result = await context.tooler.call("add", step["numbers"])
        return result.value

    events: list[Event] = []
    step = {"action": "total", "numbers": {"a": 1, "b": 2}, "save_as": "sum"}
    manager = manager_of(add, total=total)
    assert await manager.run(procedure(step, output="{{ sum }}"), on_event=events.append) == 3
    assert "total says adding" in story(events)


def raising(error: BaseException) -> Any:
    def handler(_: Any, __: StepContext) -> None:
        raise error

    return handler


@check_each(
    ("error", "message"),
    [
        (ValueError("broken"), "ValueError: broken"),
        (ToolError("not today"), "not today"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else "",
)
@check_each("action", ["now", "later"])
def test_what_a_handler_raises_is_a_failure_of_its_step(
    action: str, error: BaseException, message: str
) -> None:
    async def later(step: Any, context: StepContext) -> None:
        raising(error)(step, context)

    manager = manager_of(now=raising(error), later=later)
    with pytest.raises(StepError) as raised:
        manager.run_sync(procedure({"action": action}))
    assert raised.value.message in {message, "RuntimeError: coroutine raised StopIteration"}


def test_ctrl_c_in_a_handler_ends_the_run() -> None:
    source = procedure({"action": "act", "on_error": "continue"})
    with pytest.raises(KeyboardInterrupt):
        manager_of(act=raising(KeyboardInterrupt())).run_sync(source)


def test_a_handler_has_a_time_limit() -> None:
    async def hang(_: Any, __: StepContext) -> None:
        await asyncio.Event().wait()

    with pytest.raises(StepError, match="action 'hang' was not done after"):
        manager_of(hang=hang).run_sync(procedure({"action": "hang", "timeout": 0.01}))


def test_the_values_of_secrets_stay_out_of_messages(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.conftest import code_of, manifest_of

    monkeypatch.setenv("SECRET_KEY", "correct horse battery")
    code = 'def act(step, context):\n    raise ValueError("correct horse battery")\n'
    manifest = manifest_of("mail", requires={"env": ["SECRET_KEY"]})
    handlers = "\nSTEP_HANDLERS = {'act': act}\n"
    write("mail", manifest, f"{code_of('mail')}\n{code}{handlers}")
    manager = ProcedureManager(ToolRegistry.from_directory(tmp_path / "tools"))
    with pytest.raises(StepError, match=r"ValueError: \[SECRET_KEY\]"):
        manager.run_sync(procedure({"action": "act"}))


def test_variables_do_not_follow_what_a_tool_keeps_or_a_handler_changes() -> None:
    kept: list[int] = [1]

    def give() -> list[int]:
        """Give what is kept."""
        return kept

    def spoil(_: Any, context: StepContext) -> list[int]:
        kept.append(2)
        context.variables["x"].append(3)
        return kept

    steps = call("give", "x"), {"action": "spoil", "save_as": "y"}, {"action": "spoil"}
    manager = manager_of(give, spoil=spoil)
    assert manager.run_sync(procedure(*steps, output="{{ [x, y] }}")) == [[1], [1, 2]]


def test_a_procedure_runs_another_one() -> None:
    manager = manager_of(add)
    schema = inputs("a", a={"type": "integer"}, b={"type": "integer", "default": 5})
    inner = procedure(
        call("add", "sum", a="{{ inputs.a }}", b="{{ inputs.b }}"),
        returning("{{ sum }}"),
        name="inner",
        inputs=schema,
    )
    manager.add(inner)
    step = {"action": "procedure", "procedure": "inner", "inputs": {"a": "{{ x }}"}}
    events: list[Event] = []
    source = procedure(values(x=2), {**step, "save_as": "y"}, output="{{ [y, x] }}")
    assert manager.run_sync(source, on_event=events.append) == [7, 2]
    assert "steps.1/inner:steps.0 succeeded" in story(events)


def test_a_failure_in_another_procedure_says_where() -> None:
    manager = manager_of(refuse)
    manager.add(procedure(call("refuse", why="no"), name="inner"))
    with pytest.raises(StepError) as raised:
        manager.run_sync(procedure({"action": "procedure", "procedure": "inner"}))
    assert str(raised.value) == "steps.0/inner:steps.0: no"
    assert raised.value.procedure == "inner"


async def test_a_gate_is_awaited_before_each_step_and_time_limits_dont_count_it() -> None:
    passed: list[str] = []

    async def gate(step: StepStarted) -> None:
        passed.append(step.key)
        begun = perf_counter()
        await asyncio.to_thread(wait_until, lambda: perf_counter() > begun + 0.02)

    steps = (
        choice("true", [call("echo")], timeout=0.01),
        {**call("echo"), "when": "false"},
        {"action": "parallel", "branches": {"a": [call("echo")], "b": [call("echo")]}},
    )
    await manager_of(echo).run(procedure(*steps, timeout=0.01), gate=gate)
    assert passed[:3] == ["steps.0", "steps.0.then.0", "steps.2"]
    assert len(passed) == 5, "a step that is skipped has no gate"
