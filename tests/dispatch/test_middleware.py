from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import inf, nan
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Failure, ToolCall, ToolDefinition, Tooler, ToolError, ToolResult
from sovl_tools.dispatch.hooks import Hook, Pause
from sovl_tools.dispatch.middleware import cache, rate_limit, retry
from sovl_tools.model.result import FailureKind
from tests.dispatch.toolbox import TEXT, Call, Shelf, catalog_of, each_way, properties, tool, tooler
from tests.patience import PATIENCE
from tests.schema.strategies import moderate
from tests.tables import check_each

HOUR = 3600.0
NOT_ONE: list[Any] = [0, -1, nan]
NOT_POSITIVE = [-1, -0.001, nan]
ATTEMPTS = "attempts must be at least 1, delays at least 0"
ENTRIES = "seconds must be more than 0, max_entries at least 1"
CALLS = "calls must be at least 1, seconds more than 0"
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


@check_each(("kind", "attempts"), [("tool_error", 3), ("timeout", 3), ("invalid_result", 1)])
def test_only_some_kinds_of_failure_are_worth_another_attempt(
    kind: FailureKind, attempts: int
) -> None:
    _, pauses = driven(retry(), IDEMPOTENT, answering(Failure(kind, "")))
    assert len(pauses) == attempts - 1


@check_each("kinds", [["invalid_result"], "invalid_result"], ids=str)
def test_the_kinds_worth_another_attempt_can_be_chosen(kinds: Any) -> None:
    chosen = retry(5, kinds=kinds)
    _, pauses = driven(chosen, IDEMPOTENT, answering(Failure("invalid_result", "")))
    assert len(pauses) == 4
    assert driven(chosen, IDEMPOTENT, answering(BROKEN)) == (answering(BROKEN)(), [])


def test_pauses_double_up_to_the_longest_and_up_to_half_of_each_is_taken_off() -> None:
    for _ in range(50):
        _, pauses = driven(retry(7, delay=1, longest_delay=5), IDEMPOTENT, answering(BROKEN))
        bounds = [1, 2, 4, 5, 5, 5]
        assert all(b / 2 <= pause <= b for pause, b in zip(pauses, bounds, strict=True)), pauses
    _, (first,) = driven(retry(2, delay=60, longest_delay=1), IDEMPOTENT, answering(BROKEN))
    assert first <= 1


def test_pauses_of_many_callers_differ() -> None:
    found = {driven(retry(2), IDEMPOTENT, answering(BROKEN))[1][0] for _ in range(50)}
    assert len(found) > 25


def test_a_success_is_not_repeated() -> None:
    assert driven(retry(), IDEMPOTENT, answering()) == (answering()(), [])


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


def test_a_call_can_be_cancelled_between_two_attempts() -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ToolError("broken")

    definition = replace(tool(fail), annotations={"idempotent": True})
    dispatcher = tooler(definition, hooks=[retry(delay=HOUR, longest_delay=HOUR)])
    results: list[ToolResult] = []

    def work() -> None:
        results.append(dispatcher.call_sync("fail", call_id="mine"))

    thread = threading.Thread(target=work)
    thread.start()
    assert failed.wait(PATIENCE)
    assert dispatcher.cancel("mine")
    thread.join(PATIENCE)
    assert [result.error and result.error.kind for result in results] == ["cancelled"]


@check_each(
    ("make", "words"),
    [
        *[(partial(retry, number), ATTEMPTS) for number in NOT_ONE],
        *[(partial(retry, delay=number), ATTEMPTS) for number in (*NOT_POSITIVE, inf)],
        *[(partial(retry, longest_delay=number), ATTEMPTS) for number in NOT_POSITIVE],
        *[(partial(cache, number), ENTRIES) for number in NOT_ONE],
        *[(partial(cache, 1, max_entries=number), ENTRIES) for number in NOT_ONE],
        *[(partial(rate_limit, number, 1), CALLS) for number in NOT_ONE],
        *[(partial(rate_limit, 1, number), CALLS) for number in (*NOT_ONE, inf)],
    ],
)
def test_numbers_that_make_no_sense_are_refused(make: Callable[[], Hook], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_attempts_need_no_delay() -> None:
    assert retry(delay=0, longest_delay=0).concerns("any")


@each_way
def test_equal_calls_have_the_same_answer(call: Call) -> None:
    count = Counter()
    dispatcher = tooler(counting(count, read_only=True), hooks=[cache(HOUR)])
    texts = ["a", "b", "a", "b", "c", "a"]
    values = [call(dispatcher, "count", {"text": text}).value for text in texts]
    assert values == ["a 1", "b 2", "a 1", "b 2", "c 3", "a 1"]


@each_way
def test_calls_are_equal_if_their_arguments_are_equal_as_json(call: Call) -> None:
    ran: list[Any] = []

    def note(**arguments: Any) -> int:
        ran.append(arguments)
        return len(ran)

    schema = {**properties(a={"type": "integer"}, b={"default": [1]}), "required": ["a"]}
    definition = replace(tool(note, schema), annotations={"read_only": True})
    dispatcher = tooler(definition, hooks=[cache(HOUR)])
    equal = ['{"a": 1, "b": [1]}', {"b": [1], "a": 1.0}, {"a": 1}]
    assert [call(dispatcher, "note", given).value for given in equal] == [1, 1, 1]
    other = [{"a": 2}, {"a": 1, "b": ["1"]}, {"a": 1, "b": [1], "c": None}]
    assert [call(dispatcher, "note", given).value for given in other] == [2, 3, 4]


@each_way
@check_each("annotations", [{}, {"read_only": False}, {"idempotent": True}], ids=str)
def test_answers_of_tools_that_change_something_are_not_kept(
    call: Call, annotations: dict[str, bool]
) -> None:
    dispatcher = tooler(counting(Counter(), **annotations), hooks=[cache(HOUR)])
    assert [call(dispatcher, "count").value for _ in range(2)] == [" 1", " 2"]


@each_way
def test_answers_of_tools_that_are_named_are_kept_whatever_they_do(call: Call) -> None:
    tools = [counting(Counter(), name) for name in ("count_a", "count_b", "other")]
    dispatcher = tooler(*tools, hooks=[cache(HOUR, tools=["count_*"])])
    values = {each.name: [call(dispatcher, each.name).value for _ in range(2)] for each in tools}
    assert values == {"count_a": [" 1", " 1"], "count_b": [" 1", " 1"], "other": [" 1", " 2"]}


@each_way
def test_failures_are_not_kept(call: Call) -> None:
    dispatcher = tooler(counting(Counter(failures=1), read_only=True), hooks=[cache(HOUR)])
    assert not call(dispatcher, "count").ok
    assert [call(dispatcher, "count").value for _ in range(2)] == [" 2", " 2"]


@each_way
def test_an_answer_is_used_for_a_while_only(call: Call) -> None:
    dispatcher = tooler(counting(Counter(), read_only=True), hooks=[cache(1e-9)])
    assert [call(dispatcher, "count").value for _ in range(3)] == [" 1", " 2", " 3"]


@each_way
def test_the_oldest_answers_go_first(call: Call) -> None:
    dispatcher = tooler(counting(Counter(), read_only=True), hooks=[cache(HOUR, max_entries=2)])
    texts = ["a", "b", "a", "c", "b", "a", "b"]
    values = [call(dispatcher, "count", {"text": text}).value for text in texts]
    assert values == ["a 1", "b 2", "a 1", "c 3", "b 2", "a 4", "b 5"]


def test_an_answer_that_was_renewed_is_the_youngest() -> None:
    generations = [counting(Counter(), name, read_only=True) for name in "ab"]
    newer = counting(Counter(), "a", read_only=True)
    kept = cache(HOUR, max_entries=2)
    ran: list[str] = []

    def run(definition: ToolDefinition) -> None:
        def answer() -> ToolResult:
            ran.append(definition.name)
            return ToolResult(definition.name, None, None, 0.0)

        driven(kept, ToolCall(definition, {}, ""), answer)

    a, b = generations
    c = counting(Counter(), "c", read_only=True)
    for each in (a, b, newer, c, newer, b):
        run(each)
    assert ran == ["a", "b", "a", "c", "b"], "b was the oldest when c came"


@each_way
def test_a_tool_that_was_loaded_anew_starts_afresh(call: Call) -> None:
    shelf = Shelf(catalog_of(counting(Counter(), read_only=True)))
    dispatcher = Tooler(shelf, hooks=[cache(HOUR)])
    values = [call(dispatcher, "count").value for _ in range(2)]
    shelf.catalog = catalog_of(counting(Counter(failures=1), read_only=True))
    failure = call(dispatcher, "count")
    values += [call(dispatcher, "count").value for _ in range(2)]
    assert (values, failure.ok) == ([" 1", " 1", " 2", " 2"], False)


@each_way
def test_an_answer_that_is_kept_has_the_duration_of_its_own_call(call: Call) -> None:
    dispatcher = tooler(counting(Counter(), read_only=True), hooks=[cache(HOUR)])
    assert len({call(dispatcher, "count").duration for _ in range(5)}) > 1


def on_threads(count: int, work: Callable[[int], None]) -> None:
    """Do the work on so many threads that begin at the same time."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> None:
        barrier.wait(PATIENCE)
        work(number)

    threads = [threading.Thread(target=begin, args=(each,)) for each in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_many_threads_share_the_answers() -> None:
    def double(text: str) -> str:
        return 2 * text

    definition = replace(tool(double, TEXT), annotations={"read_only": True})
    dispatcher = tooler(definition, hooks=[cache(HOUR, max_entries=3)])
    wrong: list[ToolResult] = []

    def work(start: int) -> None:
        for number in range(start, start + 100):
            result = dispatcher.call_sync("double", {"text": str(number % 7)})
            if result.value != 2 * str(number % 7):
                wrong.append(result)

    on_threads(4, work)
    assert wrong == []


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


def test_a_time_that_is_over_does_not_count() -> None:
    limited = rate_limit(1, 1e-9)
    assert [paused(limited) for _ in range(5)] == [0] * 5


def test_threads_that_come_at_the_same_time_have_a_turn_each() -> None:
    limited, turns = rate_limit(1, HOUR), []

    def work(_number: int) -> None:
        for _ in range(20):
            turns.append(round(paused(limited) / HOUR))  # noqa: PERF401 - as others do meanwhile

    on_threads(4, work)
    assert sorted(turns) == list(range(80))


@each_way
def test_a_call_waits_for_its_turn_outside_its_time_limit(call: Call) -> None:
    async def tell() -> float:
        return perf_counter()

    dispatcher, started = tooler(tell, hooks=[rate_limit(1, 0.03)]), perf_counter()
    *_, last = [call(dispatcher, "tell", timeout=0.001).value for _ in range(3)]
    assert last - started >= 0.06


def test_tools_of_those_names_share_a_limit_and_others_have_none() -> None:
    limited = rate_limit(1, HOUR, tools=["count_*"])
    assert [limited.concerns(name) for name in ("count_a", "count_b", "other")] == [
        True,
        True,
        False,
    ]
    calls = [ToolCall(counting(Counter(), name), {}, "") for name in ("count_a", "count_b")]
    pauses = [sum(driven(limited, each, answering())[1]) for each in calls]
    assert pauses[0] == 0 < pauses[1]


@each_way
@pytest.mark.parametrize("error", [StopIteration, GeneratorExit])
def test_a_hook_may_raise_what_is_special_to_python(call: Call, error: type[BaseException]) -> None:
    def leave(_call: ToolCall, _following: Any) -> ToolResult:
        raise error("end")

    result = call(tooler(counting(Counter()), hooks=[leave]), "count")
    assert result.error is not None
    assert result.error.message == f"hook 'leave' failed: {error.__name__}: end"
    assert result.error.error_type == error.__name__


@each_way
def test_kept_answers_need_neither_a_turn_nor_another_attempt(call: Call) -> None:
    count = Counter(failures=1)
    hooks = [cache(HOUR), rate_limit(2, HOUR), retry(delay=0)]
    dispatcher = tooler(counting(count, read_only=True), hooks=hooks)
    assert [call(dispatcher, "count").value for _ in range(5)] == [" 2"] * 5
    assert count.calls == 2


@each_way
def test_what_a_caller_does_to_a_result_does_not_reach_the_next(call: Call) -> None:
    definition = replace(tool(lambda: {"a": [1]}, name="give"), annotations={"read_only": True})
    dispatcher = tooler(definition, hooks=[cache(60)])
    for _ in range(3):
        value = call(dispatcher, "give").value
        assert value == {"a": [1]}
        value["a"].append(2)


async def test_the_turn_of_a_cancelled_call_is_given_back() -> None:
    calls = tooler(counting(Counter()), hooks=[rate_limit(1, 0.2)])
    await calls.call("count")
    waiting = [asyncio.create_task(calls.call("count")) for _ in range(10)]
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    started = perf_counter()
    assert (await calls.call("count")).ok
    assert 0.1 < perf_counter() - started < PATIENCE


def test_a_cache_holds_no_definition() -> None:
    definition = counting(Counter(), read_only=True)
    keeping = cache(HOUR)
    assert tooler(definition, hooks=[keeping]).call_sync("count").ok
    held = weakref.ref(definition)
    del definition
    gc.collect()
    assert held() is None
