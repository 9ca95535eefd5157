"""Coverage is measured of the package as it is imported, and as fixtures and tests use it.

What measures it halves the speed of all that runs, be it the package's or not. So it rests while
pytest starts, collects and reports, while other libraries are imported for tests, and during tests
that are marked ``unmeasured``. Processes that tests start are not measured: a file of what each
has covered takes longer to write and to read than most of them run.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NamedTuple

import pytest

from tests.patience import PATIENCE

UNMEASURED = "unmeasured"


class Tracing(NamedTuple):
    """What Python calls at each line: in this thread, and in those that are yet to start."""

    here: Any = None
    elsewhere: Any = None

    @classmethod
    def current(cls) -> Tracing:
        return cls(sys.gettrace(), threading.gettrace())

    def begin(self) -> None:
        threading.settrace(self.elsewhere)
        sys.settrace(self.here)


class Measuring:
    """A plugin that lets the measuring of coverage rest but for where it matters."""

    def __init__(self) -> None:
        self._tracing = Tracing()
        self._on_threads: Any = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Leave it all to the workers if there are any."""
        if config.getoption("dist", "no") != "no":
            Tracing().begin()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Iterator[None]:
        self._tracing = Tracing.current()
        # of several workers, one measures what runs at import
        is_first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
        if is_first and self._tracing.here is not None:
            _import_package()
        Tracing().begin()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._measured(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(self, request: pytest.FixtureRequest) -> Iterator[None]:
        with self._measured(request.node):
            return (yield)

    @contextmanager
    def _measured(self, node: pytest.Item | pytest.Collector) -> Iterator[None]:
        before = Tracing.current()
        is_measured = node.get_closest_marker(UNMEASURED) is None
        tracing = self._tracing if is_measured else Tracing()
        tracing.begin()
        if tracing.elsewhere is not self._on_threads:
            self._on_threads = tracing.elsewhere
            _trace_waiting_threads(tracing.elsewhere)
        try:
            yield
        finally:
            before.begin()


def _trace_waiting_threads(trace: Any) -> None:
    """Have the threads that wait for the next call traced as those that start now, or not."""
    threads = sys.modules.get("sovl_tools.threads")
    if threads is not None:
        switched = threading.Semaphore(0)
        with threads._LOCK:
            workers, threads._IDLE[:] = threads._IDLE[:], []
        for each in workers:
            job = partial(sys.settrace, trace)
            each.work.put((copy_context(), job, lambda *_: switched.release()))
        for _ in workers:
            switched.acquire(timeout=PATIENCE)
    background = sys.modules.get("sovl_tools.dispatch.background")
    if background is not None:
        for each in background._LOOPS:
            each._loop.call_soon_threadsafe(sys.settrace, trace)


def _import_package() -> None:
    """Import all modules, so that what runs at import is measured before anything is collected."""
    package = import_module("sovl_tools")
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
