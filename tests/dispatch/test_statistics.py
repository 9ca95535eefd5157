from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Event, Thread
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.dispatch.statistics import FULL, CallLog, summary
from sovl_tools.model.result import FailureKind
from tests.schema.strategies import moderate

DAY = 86_400.0
PERCENTS = {"p50": 50, "p95": 95, "p99": 99}

durations = st.floats(1e-7, 10 * DAY) | st.sampled_from([1e-7, 0.001, 0.0625, 1.0, DAY])
kinds: st.SearchStrategy[FailureKind] = st.sampled_from(get_args(FailureKind))


def exact(values: list[float], percent: int) -> float:
    """Return the percentile by the nearest rank, from the values themselves."""
    return next(
        value for rank, value in enumerate(sorted(values), 1) if 100 * rank >= percent * len(values)
    )


@moderate
@given(st.lists(durations, min_size=1, max_size=300))
def test_a_percentile_is_at_most_one_percent_off(values: list[float]) -> None:
    log = CallLog()
    for value in values:
        log.succeeded(value)
    found = log.statistics("echo")
    for name, percent in PERCENTS.items():
        assert getattr(found, name) == pytest.approx(exact(values, percent), rel=0.01)


@moderate
@given(
    st.lists(durations, max_size=50),
    st.lists(st.tuples(kinds, durations, st.booleans()), max_size=50),
)
def test_every_call_is_counted_once(
    successes: list[float], failures: list[tuple[FailureKind, float, bool]]
) -> None:
    log = CallLog()
    for kind, duration, abandoned in failures:
        log.failed(kind, duration, abandoned=abandoned)
    for duration in successes:
        log.append(duration)
    found = log.statistics("echo")
    everything = successes + [duration for _, duration, _ in failures]
    assert found.calls == len(everything)
    assert found.failures == len(failures)
    assert found.errors == {
        kind: [each for each, _, _ in failures].count(kind) for kind, _, _ in failures
    }
    assert found.abandoned == sum(abandoned for _, _, abandoned in failures)
    assert found.total == pytest.approx(sum(everything))
    assert found.mean * found.calls == pytest.approx(sum(everything))
    assert found.longest == max(everything, default=0.0)
    assert found.shortest == min(everything, default=0.0)
    assert log.durations == []


def test_asking_twice_gives_the_same_and_the_log_goes_on() -> None:
    log = CallLog()
    log.succeeded(0.5)
    first = log.statistics("echo")
    assert log.statistics("echo") == first
    log.succeeded(1.5)
    assert (log.statistics("echo").calls, log.statistics("echo").total) == (2, 2.0)
    assert first.calls == 1


def test_of_a_single_call_all_times_are_exact() -> None:
    log = CallLog()
    log.succeeded(0.123456789)
    found = log.statistics("echo")
    assert {found.p50, found.p99, found.shortest, found.longest, found.mean} == {0.123456789}


def test_a_call_that_took_no_time_that_the_clock_could_tell_counts() -> None:
    log = CallLog()
    log.succeeded(0.0)
    found = log.statistics("echo")
    assert (found.calls, found.p50, found.longest) == (1, 0.0, 0.0)


def test_a_log_of_no_calls_is_all_zero() -> None:
    found = CallLog().statistics("echo")
    assert (found.calls, found.p50, found.p99, found.shortest, found.mean) == (0, 0, 0, 0, 0)
    assert found.errors == {}


def test_memory_is_bounded() -> None:
    log = CallLog()
    longest = 0
    for number in range(100 * FULL):
        log.succeeded(1e-7 * 1.0003**number)
        longest = max(longest, len(log.durations))
    assert longest < FULL
    assert len(log._histogram._buckets) < 6000
    assert log.statistics("echo").calls == 100 * FULL


def test_a_tool_that_only_fails_keeps_no_durations() -> None:
    log = CallLog()
    for _ in range(2 * FULL):
        log.failed("timeout", 1.0)
    assert log.durations == []


def test_a_summary_leaves_out_what_was_never_called() -> None:
    logs = {"echo": CallLog(), "idle": CallLog()}
    logs["echo"].failed("tool_error", 0.25)
    found = summary(logs)
    assert list(found) == ["echo"]
    assert found["echo"].tool == "echo"
    assert found["echo"].errors == {"tool_error": 1}


class Busy(list[float]):
    """Durations to which another thread adds one right after they were copied."""

    def __getitem__(self, index: Any) -> Any:
        copied = super().__getitem__(index)
        self.append(0.25)
        return copied


def test_what_is_appended_while_the_log_is_folded_waits_for_the_next_time() -> None:
    log = CallLog()
    log.durations = Busy([0.5, 0.5])
    log.fold()
    assert log.durations == [0.25]
    log.fold()
    assert log._histogram.total == 1.25


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def in_threads(*work: Callable[[], None]) -> None:
    """Run all of it at once."""
    start = Barrier(len(work))

    def started(function: Callable[[], None]) -> None:
        start.wait()
        function()

    threads = [Thread(target=started, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("frequent_switches")
def test_nothing_is_lost_or_counted_twice_while_threads_append_and_fold() -> None:
    log = CallLog()
    rounds, appenders, failers = 20_000, 3, 2
    done = Event()

    def append() -> None:
        for _ in range(rounds):
            log.append(0.5)

    def fail() -> None:
        for _ in range(rounds):
            log.failed("timeout", 0.5, abandoned=True)

    def fold() -> None:
        while not done.is_set():
            log.fold()
            seen = log.statistics("echo")
            assert seen.calls >= seen.failures == seen.abandoned

    folders = [Thread(target=fold) for _ in range(2)]
    for folder in folders:
        folder.start()
    in_threads(*[append] * appenders, *[fail] * failers)
    done.set()
    for folder in folders:
        folder.join()
    found = log.statistics("echo")
    assert found.calls == rounds * (appenders + failers)
    assert found.errors == {"timeout": rounds * failers}
    assert found.total == rounds * (appenders + failers) * 0.5


def test_a_summary_may_be_made_while_tools_are_added() -> None:
    logs: dict[str, CallLog] = {}
    sizes: list[int] = []

    def add() -> None:
        for number in range(5_000):
            logs.setdefault(f"tool_{number}", CallLog()).succeeded(0.1)

    def look() -> None:
        sizes.extend(len(summary(logs)) for _ in range(20))

    in_threads(add, look)
    assert len(sizes) == 20
    assert sizes == sorted(sizes)
    assert len(summary(logs)) == 5_000
