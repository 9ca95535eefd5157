from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Failure, ToolCall, ToolDefinition, Tooler, ToolError, ToolResult
from sovl_tools.dispatch.hooks import Hook, Pause
from sovl_tools.dispatch.middleware import cache, rate_limit, retry
from tests.dispatch.toolbox import Call, Shelf, catalog_of, each_way, properties, tool, tooler
from tests.schema.strategies import moderate
from tests.tables import check_each

HOUR = 3600.0
BROKEN = Failure("tool_error", "broken")


class Counter:
    """A tool that counts its calls and fails the first few times."""

    def __init__(self, failures: int = 0) -> None:
        self.calls = 0
        self._failures = failures

    def __call__(self, text: str = "") -> str:
        self.calls += 1
        if self.calls <= self._failures:
            raise ToolError(f"broken {self.calls}")
        return f"{text} {self.calls}"


def counting(function: Counter, name: str = "count", /, **annotations: bool) -> ToolDefinition:
    """Return a tool that takes a string or nothing."""
    schema = properties(text={"type": "string"})
    return replace(tool(function, schema, name=name), annotations=annotations)


def driven(
    hook: Hook, call: ToolCall, answer: Callable[[], ToolResult]
) -> tuple[ToolResult, list[float]]:
    """Run a generator hook; return its result and how long it asked to pause."""
    steps, reply = hook(call, lambda call: call), None
    pauses: list[float] = []
    while True:
        try:
            request = steps.send(reply)
        except StopIteration as stop:
            return stop.value, pauses
        if isinstance(request, Pause):
            pauses.append(request.seconds)
        reply = None if isinstance(request, Pause) else answer()


def answering(error: Failure | None = None) -> Callable[[], ToolResult]:
    return lambda: ToolResult("count", None, error, 0.0)


IDEMPOTENT = ToolCall(counting(Counter(), idempotent=True), {}, "")


@each_way
@pytest.mark.parametrize("annotation", ["idempotent", "read_only"])
def test_a_failed_call_is_repeated_until_it_succeeds(call: Call, annotation: str) -> None:
    count = Counter(failures=2)
    dispatcher = tooler(counting(count, **{annotation: True}), hooks=[retry(delay=0)])
    assert call(dispatcher, "count", {"text": "a"}).value == "a 3"
    assert call(dispatcher, "count", {"text": "b"}).value == "b 4"


@each_way
def test_a_failed_call_is_repeated_so_often_and_then_its_last_failure_counts(call: Call) -> None:
    count = Counter(failures=9)
    result = call(tooler(counting(count, idempotent=True), hooks=[retry(4, delay=0)]), "count")
    assert result.error is not None
    assert (result.error.message, count.calls) == ("broken 4", 4)


@each_way
@check_each("annotations", [{}, {"idempotent": False}, {"destructive": True}], ids=str)
def test_a_tool_that_is_not_idempotent_is_never_repeated(
    call: Call, annotations: dict[str, bool]
) -> None:
    count = Counter(failures=1)
    dispatcher = tooler(counting(count, **annotations), hooks=[retry(delay=0)])
    assert not call(dispatcher, "count").ok
    assert count.calls == 1


@each_way
def test_a_timeout_is_repeated_and_each_attempt_has_the_limit_for_itself(call: Call) -> None:
    starts: list[float] = []

    async def wait() -> str:
        starts.append(perf_counter())
        if len(starts) < 3:
            await asyncio.Event().wait()
        return "done"

    definition = replace(tool(wait), annotations={"read_only": True})
    result = call(tooler(definition, hooks=[retry(delay=0)]), "wait", timeout=0.03)
    assert result.value == "done"
    assert all(later - earlier >= 0.025 for earlier, later in pairwise(starts))
    assert len(starts) == 3


def test_pauses_double_up_to_the_longest_and_up_to_half_of_each_is_taken_off() -> None:
    for _ in range(50):
        _, pauses = driven(retry(7, delay=1, longest_delay=5), IDEMPOTENT, answering(BROKEN))
        bounds = [1, 2, 4, 5, 5, 5]
        assert all(b / 2 <= pause <= b for pause, b in zip(pauses, bounds, strict=True)), pauses
    _, (first,) = driven(retry(2, delay=60, longest_delay=1), IDEMPOTENT, answering(BROKEN))
    assert first <= 1


@each_way
@pytest.mark.parametrize("patterns", ["steady_*", ["other", "steady_one"]], ids=str)
def test_repeats_are_for_the_tools_of_those_names(call: Call, patterns: Any) -> None:
    steady, shaky = Counter(failures=1), Counter(failures=1)
    dispatcher = tooler(
        counting(steady, "steady_one", idempotent=True),
        counting(shaky, "shaky", idempotent=True),
        hooks=[retry(delay=0, tools=patterns)],
    )
    assert call(dispatcher, "steady_one").ok
    assert not call(dispatcher, "shaky").ok


@each_way
def test_each_attempt_has_the_arguments_as_they_were(call: Call) -> None:
    def pick(items: list[int]) -> int:
        if items.pop() > 1:
            raise ToolError("not yet")
        return len(items)

    seen: list[Any] = []

    def see(call: ToolCall, following: Any) -> Any:
        result = yield following(call)
        seen.append(call.arguments)
        return result

    schema = properties(items={"type": "array"})
    definition = replace(tool(pick, schema), annotations={"idempotent": True})
    result = call(tooler(definition, hooks=[retry(delay=0), see]), "pick", {"items": [1, 2, 3]})
    assert not result.ok, "no attempt sees what another took out"
    assert seen == [{"items": [1, 2, 3]}] * 3


@each_way
def test_equal_calls_have_the_same_answer(call: Call) -> None:
    count = Counter()
    dispatcher = tooler(counting(count, read_only=True), hooks=[cache(HOUR)])
    texts = ["a", "b", "a", "b", "c", "a"]
    values = [call(dispatcher, "count", {"text": text}).value for text in texts]
    assert values == ["a 1", "b 2", "a 1", "b 2", "c 3", "a 1"]


@each_way
@check_each("annotations", [{}, {"read_only": False}, {"idempotent": True}], ids=str)
def test_answers_of_tools_that_change_something_are_not_kept(
    call: Call, annotations: dict[str, bool]
) -> None:
    dispatcher = tooler(counting(Counter(), **annotations), hooks=[cache(HOUR)])
    assert [call(dispatcher, "count").value for _ in range(2)] == [" 1", " 2"]


@each_way
def test_failures_are_not_kept(call: Call) -> None:
    dispatcher = tooler(counting(Counter(failures=1), read_only=True), hooks=[cache(HOUR)])
    assert not call(dispatcher, "count").ok
    assert [call(dispatcher, "count").value for _ in range(2)] == [" 2", " 2"]


@each_way
def test_the_oldest_answers_go_first(call: Call) -> None:
    dispatcher = tooler(counting(Counter(), read_only=True), hooks=[cache(HOUR, max_entries=2)])
    texts = ["a", "b", "a", "c", "b", "a", "b"]
    values = [call(dispatcher, "count", {"text": text}).value for text in texts]
    assert values == ["a 1", "b 2", "a 1", "c 3", "b 2", "a 4", "b 5"]


@each_way
def test_a_tool_that_was_loaded_anew_starts_afresh(call: Call) -> None:
    shelf = Shelf(catalog_of(counting(Counter(), read_only=True)))
    dispatcher = Tooler(shelf, hooks=[cache(HOUR)])
    values = [call(dispatcher, "count").value for _ in range(2)]
    shelf.catalog = catalog_of(counting(Counter(failures=1), read_only=True))
    failure = call(dispatcher, "count")
    values += [call(dispatcher, "count").value for _ in range(2)]
    assert (values, failure.ok) == ([" 1", " 1", " 2", " 2"], False)


def paused(hook: Hook) -> float:
    """Return how long the hook has a call wait, without waiting."""
    _, pauses = driven(hook, IDEMPOTENT, answering())
    return sum(pauses)


@moderate
@given(calls=st.integers(1, 5), count=st.integers(1, 20))
def test_in_any_such_time_no_more_calls_begin_than_that(calls: int, count: int) -> None:
    limited = rate_limit(calls, HOUR)
    turns = [round(paused(limited) / HOUR, 2) for _ in range(count)]
    assert turns == [float(number // calls) for number in range(count)]


@each_way
def test_a_call_waits_for_its_turn_outside_its_time_limit(call: Call) -> None:
    async def tell() -> float:
        return perf_counter()

    dispatcher, started = tooler(tell, hooks=[rate_limit(1, 0.03)]), perf_counter()
    *_, last = [call(dispatcher, "tell", timeout=0.001).value for _ in range(3)]
    assert last - started >= 0.06


@each_way
def test_what_a_caller_does_to_a_result_does_not_reach_the_next(call: Call) -> None:
    definition = replace(tool(lambda: {"a": [1]}, name="give"), annotations={"read_only": True})
    dispatcher = tooler(definition, hooks=[cache(60)])
    for _ in range(3):
        value = call(dispatcher, "give").value
        assert value == {"a": [1]}
        value["a"].append(2)
