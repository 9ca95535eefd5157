from __future__ import annotations

from sovl_tools import Diagnostic
from sovl_tools.model.catalog import Status
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
