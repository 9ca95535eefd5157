from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.dispatch.statistics import RECENT, CallLog
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
    assert found.total == pytest.approx(sum(times))
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
