"""Debounce are gathered until they rest."""

from __future__ import annotations

import threading
from pathlib import Path
from time import perf_counter

import pytest

from sovl_tools.reloading.watcher import EMPTIED, LONGEST, QUIET, Batch, Debounce
from tests.patience import PATIENCE


@pytest.fixture
def debounce() -> Debounce:
    return Debounce()


def gathered(debounce: Debounce, timeout: float = PATIENCE) -> Batch:
    batch = debounce.next(timeout)
    assert batch is not None
    return batch


def test_a_file_that_is_empty_is_waited_for(debounce: Debounce, tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.touch()
    debounce.put(str(file))
    batch = gathered(debounce)
    assert batch.paths == {str(file)}
    assert perf_counter() - batch.since >= EMPTIED


def test_without_signs_a_batch_is_empty_after_the_time(debounce: Debounce) -> None:
    before = perf_counter()
    assert gathered(debounce, timeout=0.01).paths == set()
    assert perf_counter() - before >= 0.01
    assert gathered(debounce, timeout=0).paths == set()


class Restless(threading.Thread):
    """Tells of a path again and again, and remembers the longest rest in between."""

    def __init__(self, debounce: Debounce, path: str) -> None:
        super().__init__()
        self._debounce = debounce
        self._path = path
        self._is_over = threading.Event()
        self.longest_rest = 0.0

    def run(self) -> None:
        while not self._is_over.is_set():
            told = perf_counter()
            self._debounce.put(self._path)
            self._is_over.wait(QUIET / 50)
            self.longest_rest = max(self.longest_rest, perf_counter() - told)

    def end(self) -> None:
        self._is_over.set()
        self.join()


def restlessly_gathered(path: str) -> tuple[float, float]:
    """Return how long signs that should not rest were gathered, and their longest rest."""
    debounce = Debounce()
    restless = Restless(debounce, path)
    restless.start()
    try:
        batch = gathered(debounce)
        waited = perf_counter() - batch.since
    finally:
        restless.end()
    assert batch.paths == {path}
    return waited, restless.longest_rest


def test_signs_that_never_rest_are_told_of_after_the_longest_time(tmp_path: Path) -> None:
    empty = tmp_path / "empty"  # whose signs may rest ten times as long: a busy machine stalls
    empty.touch()
    attempts = (restlessly_gathered(str(empty)) for _ in range(10))
    waited = next(waited for waited, rest in attempts if rest < EMPTIED)
    assert waited >= LONGEST


def test_the_end_ends_the_waiting(debounce: Debounce) -> None:
    threading.Timer(0.01, debounce.end).start()
    assert debounce.next(PATIENCE) is None


def test_a_change_counts_from_its_sign_although_nobody_waited_for_it_then() -> None:
    debounce = Debounce()
    debounce.put("/tools/a")
    debounce.put("/tools/b")
    later = perf_counter()
    batch = debounce.next(QUIET)
    assert batch is not None
    assert batch.paths == {"/tools/a", "/tools/b"}
    assert batch.since < later
