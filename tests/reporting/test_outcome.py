from __future__ import annotations

import pytest

from sovl_tools import Diagnostic
from sovl_tools.model.catalog import Status
from sovl_tools.reporting.outcome import counted
from tests.reporting.findings import ODD, WRONG, folder, outcome
from tests.tables import check_each


@check_each(
    ("statuses", "found", "summary"),
    [
        ([], [], "0 tools checked in 0.25 s; no problems"),
        (["loaded"], [], "1 tool checked in 0.25 s: 1 loaded; no problems"),
        (
            ["loaded", "loaded", "rejected"],
            [WRONG, ODD, ODD],
            "3 tools checked in 0.25 s: 2 loaded, 1 rejected; 1 error, 2 warnings",
        ),
        (["disabled"], [ODD], "1 tool checked in 0.25 s: 1 disabled; 1 warning"),
        (["unavailable"], [WRONG] * 2, "1 tool checked in 0.25 s: 1 unavailable; 2 errors"),
    ],
)
def test_the_summary_says_what_came_of_it(
    statuses: list[Status], found: list[Diagnostic], summary: str
) -> None:
    folders = tuple(folder(f"tool{index}", status) for index, status in enumerate(statuses))
    assert outcome(*found, folders=folders, duration=0.25).summary == summary


def test_the_summary_is_the_same_in_whatever_order_the_folders_come() -> None:
    folders = (folder("a", "rejected"), folder("b", "loaded"))
    summaries = {outcome(folders=each).summary for each in (folders, folders[::-1])}
    assert len(summaries) == 1


@pytest.mark.parametrize(("number", "text"), [(0, "0 tools"), (1, "1 tool"), (2, "2 tools")])
def test_a_noun_follows_its_number(number: int, text: str) -> None:
    assert counted(number, "tool") == text
