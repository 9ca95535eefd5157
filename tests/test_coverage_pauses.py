"""Coverage is measured in tests unless they say otherwise, and in the threads they start."""

from __future__ import annotations

import sys
import threading

import pytest


def traced() -> list[bool]:
    """Tell whether anything is called at each line: here, and in a thread that starts now."""
    found = [sys.gettrace() is not None]
    thread = threading.Thread(target=lambda: found.append(sys.gettrace() is not None))
    thread.start()
    thread.join()
    return found


@pytest.fixture
def traced_before() -> list[bool]:
    return traced()


def test_fixtures_tests_and_threads_are_measured_where_coverage_is(
    request: pytest.FixtureRequest, traced_before: list[bool]
) -> None:
    is_wanted = request.config.pluginmanager.has_plugin("_cov")
    assert (traced_before, traced()) == ([is_wanted] * 2, [is_wanted] * 2)


@pytest.mark.unmeasured
def test_what_is_marked_is_not_measured(traced_before: list[bool]) -> None:
    assert (traced_before, traced()) == ([False] * 2, [False] * 2)
