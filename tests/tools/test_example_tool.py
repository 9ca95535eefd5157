"""The guide's own example."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Call


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


def test_takes_json_text_too(tooler: Any) -> None:
    result = tooler.call_sync("example_tool", json.dumps({"number1": 2, "number2": 2}))
    assert result.value["result"] == 4


def test_refuses_what_is_no_whole_number(call: Call) -> None:
    result = call("example_tool", number1="5", number2=3)
    assert result.error is not None
    assert result.error.kind == "invalid_arguments"
