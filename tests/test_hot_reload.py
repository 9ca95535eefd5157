"""Every way in which a tool's files change, in a real directory and with the system's own events.

The table is that of ``scripts/bench/edits.py``, against which ``reload_peers.py`` runs other
products.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))

from edits import CASES, Case
from reload_products import SovlTools, Workbench
from trial import Patience, run

sys.path.pop(0)

PATIENCE = Patience(wait=60, watch=0.15)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_next_call_is_right_after_a_tool_was(case: Case, tmp_path: Path) -> None:
    product = SovlTools(tmp_path / "tools")
    verdict = run(case, Workbench(SovlTools.layout, tmp_path), product, patience=PATIENCE)
    if verdict.outcome == "not applicable":
        pytest.skip(verdict.words)
    assert verdict.outcome == "right", verdict.words
    assert [each.name for each in threading.enumerate() if "watcher" in each.name] == []
