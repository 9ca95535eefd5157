"""Coverage is measured in tests unless they say otherwise, and in the threads they start."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.dispatch.toolbox import tooler


def traced() -> list[bool]:
    """Tell whether anything is called at each line: here, and in other threads.

    Those are one that starts now, one that calls share, and that of a loop.
    """
    found = [is_traced()]
    thread = threading.Thread(target=lambda: found.append(is_traced()))
    thread.start()
    thread.join()
    calls = tooler(is_traced, is_traced_later)
    found.append(calls.call_sync("is_traced", mode="thread").value)
    found.append(calls.call_sync("is_traced_later").value)
    return found


def is_traced() -> bool:
    return sys.gettrace() is not None


async def is_traced_later() -> bool:
    return is_traced()


@pytest.fixture
def traced_before() -> list[bool]:
    return traced()


def test_fixtures_tests_and_threads_are_measured_where_coverage_is(
    request: pytest.FixtureRequest, traced_before: list[bool]
) -> None:
    is_wanted = request.config.pluginmanager.has_plugin("_cov")
    assert (traced_before, traced()) == ([is_wanted] * 4, [is_wanted] * 4)


@pytest.mark.unmeasured
def test_what_is_marked_is_not_measured(traced_before: list[bool]) -> None:
    assert (traced_before, traced()) == ([False] * 4, [False] * 4)
