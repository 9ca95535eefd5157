"""Every way that a tool's files change, in a real directory with the system's own events."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.hot_reload.edits import CASES, Case
from tests.hot_reload.trial import Patience, run
from tests.hot_reload.workbench import SovlTools, Workbench

PATIENCE = Patience(wait=60, watch=0.15)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_next_call_is_right_after_a_tool_was(case: Case, tmp_path: Path) -> None:
    product = SovlTools(tmp_path / "tools")
    verdict = run(case, Workbench(SovlTools.layout, tmp_path), product, patience=PATIENCE)
    if verdict.outcome == "not applicable":
        pytest.skip(verdict.words)
    assert verdict.outcome == "right", verdict.words
    assert [each.name for each in threading.enumerate() if "watcher" in each.name] == []
