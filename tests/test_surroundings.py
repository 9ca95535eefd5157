"""A test that leaves something changed fails by it, and no other does."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surroundings import Surroundings, kept_loggers
from tests.tables import check_each


@check_each(
    ("change", "words"),
    [
        (lambda patch, _: patch.setenv("LEFT", "s3cret"), "the variable b'LEFT'"),
        (lambda patch, path: patch.chdir(path), "directory: "),
        (lambda patch, path: patch.syspath_prepend(path), "path: "),
        (lambda patch, _: patch.setitem(sys.modules, "left", 5), "kinds: "),
    ],
)
def test_what_is_left_behind_is_named(
    change: Callable[[Any, Path], object], words: str, tmp_path: Path
) -> None:
    before = Surroundings.now()
    assert before.changes() == []
    with pytest.MonkeyPatch.context() as patch:
        change(patch, tmp_path)
        (found,) = before.changes()
    assert found.startswith(words)
    assert "s3cret" not in found
    assert before.changes() == []


def test_a_module_that_goes_is_nothing_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "left", 5)
    before = Surroundings.now()
    monkeypatch.delitem(sys.modules, "left")
    assert before.changes() == []


def test_loggers_are_put_back() -> None:
    logger = logging.getLogger("sovl_tools")
    before = (logger.level, logger.propagate, logger.handlers[:])
    with kept_loggers():
        logger.setLevel(logging.CRITICAL)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    assert (logger.level, logger.propagate, logger.handlers) == before
