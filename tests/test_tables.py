"""A table of cases hides no row that fails."""

from __future__ import annotations

import pytest

from tests.tables import check_each


def test_all_rows_are_checked_and_those_that_fail_are_named() -> None:
    seen = []

    @check_each("left, right", [(1, 1), (1, 2), pytest.param(2, 3, id="odd")])
    def check(left: int, right: int) -> None:
        seen.append(left)
        assert left == right

    with pytest.raises(ExceptionGroup, match="2 rows fail") as caught:
        check()
    assert seen == [1, 1, 2]
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert notes == [["in the row left=1, right=2"], ["in the row odd"]]
