"""The guide's own example."""

from collections.abc import Callable
from typing import Any

import pytest


def test_adds_two_numbers(value: Callable[..., Any]) -> None:
    assert value("example_tool", number1=5, number2=3) == {
        "result": 8,
        "message": "The sum of 5 and 3 is 8.",
    }


def test_prints_what_it_does_apart_from_its_result(
    value: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    value("example_tool", number1=-1, number2=1)
    assert capfd.readouterr().out == "example_tool is adding -1 and 1\n"
