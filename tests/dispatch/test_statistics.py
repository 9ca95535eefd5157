from __future__ import annotations

from threading import Thread
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.dispatch.statistics import RECENT, CallLog, summary
from sovl_tools.model.result import Failure, FailureKind
from tests.schema.strategies import moderate

durations = st.floats(1e-7, 1e6)
kinds: st.SearchStrategy[FailureKind] = st.sampled_from(get_args(FailureKind))
failures = st.builds(Failure, kinds, st.just(""), is_abandoned=st.booleans())


@moderate
@given(st.lists(st.tuples(durations, st.none() | failures), max_size=50))
def test_every_call_is_counted_once(calls: list[tuple[float, Failure | None]]) -> None:
    log = CallLog()
    for duration, error in calls:
        log.add(duration, error)
    found = log.statistics("echo")
    times, errors = [each for each, _ in calls], [each for _, each in calls if each is not None]
    assert (found.calls, found.failures) == (len(calls), len(errors))
    kinds = [each.kind for each in errors]
    assert found.errors == {each: kinds.count(each) for each in kinds}
    assert found.abandoned == sum(each.is_abandoned for each in errors)
    assert found.total == sum(times)
    assert (found.shortest, found.longest) == (min(times, default=0), max(times, default=0))


def test_percentiles_are_of_the_latest_calls() -> None:
    log = CallLog()
    log.add(99.0)
    for number in range(RECENT):
        log.add(number / RECENT)
    found = log.statistics("echo")
    shown = [round(each, 2) for each in (found.p50, found.p95, found.p99)]
    assert shown == [0.5, 0.95, 0.99]
    assert (found.calls, found.longest) == (RECENT + 1, 99.0)


def test_asking_twice_gives_the_same_and_the_log_goes_on() -> None:
    log = CallLog()
    log.add(0.5)
    first = log.statistics("echo")
    assert log.statistics("echo") == first
    assert {first.p50, first.p99, first.shortest, first.longest, first.mean} == {0.5}
    log.add(1.5)
    assert (log.statistics("echo").calls, log.statistics("echo").total) == (2, 2.0)
    assert first.calls == 1


def test_a_summary_leaves_out_what_was_never_called() -> None:
    logs = {"echo": CallLog(), "idle": CallLog()}
    logs["echo"].add(0.25, Failure("tool_error", ""))
    assert CallLog().statistics("idle").p50 == 0
    assert [(name, each.tool, each.errors) for name, each in summary(logs).items()] == [
        ("echo", "echo", {"tool_error": 1})
    ]


def test_threads_count_together() -> None:
    log = CallLog()

    def work() -> None:
        for _ in range(5_000):
            log.add(0.5, Failure("timeout", "", is_abandoned=True))

    threads = [Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = log.statistics("echo")
    assert (found.calls, found.failures, found.abandoned, found.total) == (20_000,) * 3 + (10_000,)
