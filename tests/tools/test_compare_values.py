"""Comparisons, as a tool and as a step of a procedure."""

from collections.abc import Callable
from typing import Any

import pytest

import sovl_tools
from tests.tables import check_each

from .conftest import Module, Refuse

Value = Callable[..., Any]
Step = dict[str, Any]


@check_each(
    ("left", "operator", "right", "expected"),
    [
        (1, "eq", 1.0, True),
        (1, "ne", 2, True),
        (1, "eq", "1", False),
        (1, "lt", 2, True),
        (2, "le", 2, True),
        (3, "gt", 2.5, True),
        ("a", "lt", "b", True),
        ("haystack", "contains", "stack", True),
        ("haystack", "contains", "needle", False),
        ("order-42", "matches", r"^order-\d+$", True),
        ("order-x", "matches", r"^order-\d+$", False),
    ],
)
def test_compares(value: Value, left: Any, operator: str, right: Any, expected: bool) -> None:  # noqa: FBT001
    answer = value("compare_values", left=left, operator=operator, right=right)
    assert answer == {"result": expected}


def test_a_hostile_regular_expression_is_stopped(
    refuse: Refuse, module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module("compare_values").patterns, "_SECONDS", 0.2)
    message = refuse("compare_values", left="a" * 100 + "!", operator="matches", right="(a|aa)+$")
    assert message == "the regular expression takes longer than 0.2 seconds"


@pytest.fixture
def check(registry: sovl_tools.ToolRegistry) -> Callable[[Step], object]:
    handler: Callable[..., object] = registry.step_handlers["assert"]
    return lambda step: handler({"action": "assert", **step}, None)


@check_each(
    ("step", "message"),
    [
        ({"left": 1, "right": 2, "message": "out of stock"}, "assertion failed: out of stock"),
        ({"left": 1, "right": 2}, "assertion failed: 1 eq 2 does not hold"),
        ({"left": True, "right": 1}, "assertion failed: True eq 1 does not hold"),
        ({"right": 1}, "the step 'assert' needs 'left'"),
        (
            {"left": 1, "operator": "like", "right": 1},
            "'like' isn't an operator: use one of eq, ne",
        ),
        ({"left": True, "operator": "lt", "right": True}, "a boolean and a boolean have no order"),
    ],
)
def test_a_step_that_does_not_hold_stops_the_run(
    check: Callable[[Step], object], step: Step, message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        check(step)
    assert message in str(caught.value)
