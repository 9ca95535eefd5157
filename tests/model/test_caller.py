"""What callers hand over: numbers."""

from __future__ import annotations

import pytest

from sovl_tools.model.caller import check_number


@pytest.mark.parametrize("number", [10**400, -(10**400), float("inf"), float("nan")])
def test_a_number_that_no_float_holds_is_not_finite(number: float) -> None:
    with pytest.raises(ValueError, match="temperature must be a finite number, not "):
        check_number("temperature", number)
