"""What ``tool`` attaches to a function, and what it rejects."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import FunctionType
from typing import Any, Optional

import pytest

from sovl_tools import InferenceError, ToolDefinition, Tooler, ToolRegistry, definition_of, tool
from tests.dispatch.toolbox import run_script
from tests.tables import check_each


def forecast(city: str, days: int = 1) -> str:
    """Tell the weather.

    Args:
        city: Where.
        days: How far ahead.

    Returns:
        One line.
    """
    return f"{city} {days}"


def copy_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return its own function, so that what is attached to it stays there."""
    made: Callable[..., Any] = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
    return made


def test_a_bare_decorator_infers_everything() -> None:
    definition = definition_of(tool(copy_of(forecast)))
    assert definition.name == "forecast"
    assert definition.description == "Tell the weather."
    assert definition.returns == "One line."
    assert definition.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "default": 1, "description": "How far ahead."},
        },
        "required": ["city"],
    }
    assert definition.types == {"city": str, "days": int}
    assert not definition.is_dynamic
    assert definition.instance is None
    assert definition.remarks == ()


def test_what_the_author_says_wins() -> None:
    decorated = tool(
        name="weather",
        description="Say it.",
        param_descriptions={"city": "Which city."},
        params={"days": {"maximum": 9}},
        required=("days", "city"),
    )(copy_of(forecast))
    definition = definition_of(decorated)
    assert definition.to_schema() == {
        "name": "weather",
        "description": "Say it.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Which city."},
                "days": {
                    "type": "integer",
                    "default": 1,
                    "description": "How far ahead.",
                    "maximum": 9,
                },
            },
            "required": ["days", "city"],
        },
    }


class Place(Enum):
    OSLO = "Oslo"
    ROME = "Rome"


def test_an_enum_in_a_fragment_is_its_values() -> None:
    for enum in (Place, list(Place), ["Oslo", Place.ROME]):
        definition = definition_of(tool(params={"city": {"enum": enum}})(copy_of(forecast)))
        assert definition.parameters["properties"]["city"]["enum"] == ["Oslo", "Rome"]
        assert not definition.is_dynamic


def test_nothing_is_registered_and_nothing_run_by_decorating() -> None:
    source = """
import sys
from sovl_tools import tool
ran = []
@tool(params={"city": {"enum": lambda: ran.append("enum") or ["Oslo"]}}, preprocess=ran.append)
def forecast(city: str) -> str:
    ran.append("forecast")
    return city
print(ran, "sovl_tools.registry" in sys.modules)
"""
    assert run_script(source) == "[] False"


@check_each(
    ("given", "words"),
    [
        ({"tag": ["io"]}, "tool() takes no argument 'tag'; did you mean 'tags'?"),
        ({"fields": {}}, "tool() takes no argument 'fields'"),
        ({"zzz": 1, "aaa": 1}, "tool() takes no argument 'aaa'"),
        (
            {"annotations": {"read_onyl": True}},
            "'read_onyl' is not a key of 'annotations'; did you mean 'read_only'?",
        ),
        ({"execution": {"retries": 3}}, "'retries' is not a key of 'execution'"),
        ({"preprocess": 5}, "preprocess must be a function, not 5"),
        ({"postprocess": "upper"}, "postprocess must be a function, not 'upper'"),
        ({"params": ["city"]}, "params must be a dictionary, by parameter, not ['city']"),
        (
            {"param_descriptions": "city"},
            "param_descriptions must be a dictionary, by parameter, not 'city'",
        ),
        ({"required": "city"}, "required must be a list of names of parameters, not 'city'"),
        ({"required": 5}, "required must be a list of names of parameters, not 5"),
        ({"required": ["a", 3]}, "required must be a list of names of parameters, not ['a', 3]"),
        ({"required": {"a": 1}}, "required must be a list of names of parameters, not {'a': 1}"),
        (
            {"params": {"a": {"type": str}}},
            "a.type is the class str, which isn't JSON Schema; write it as in {'type': 'string'}",
        ),
    ],
)
def test_an_argument_that_is_none_of_its_own_is_refused_at_once(
    given: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError) as caught:
        tool(**given)
    assert str(caught.value) == words


def test_the_registry_decorates_and_registers() -> None:
    registry = ToolRegistry()
    bare, marked = copy_of(forecast), copy_of(forecast)
    assert registry.tool(bare) is bare
    assert registry.tool(name="weather", tags=["io"])(marked) is marked
    assert [each.name for each in registry] == ["forecast", "weather"]
    assert registry["weather"] is definition_of(marked)
    assert isinstance(registry["forecast"], ToolDefinition)


def test_null_is_accepted_for_an_optional_parameter_with_a_default() -> None:
    registry = ToolRegistry()

    @registry.tool
    def weather(unit: Optional[str] = "celsius", days: int | None = 3) -> str:  # noqa: UP045 - both ways
        """Tell the weather."""
        return f"{unit} {days}"

    assert registry["weather"].parameters["properties"]["unit"]["type"] == "string"
    tooler = Tooler(registry)
    assert tooler.call_sync("weather", {"unit": None, "days": None}).value == "None None"
    assert tooler.call_sync("weather", {}).value == "celsius 3"


def test_params_are_what_the_model_sees_where_preprocess_makes_the_arguments() -> None:
    class Doubled:
        @tool(
            params={"a": {"type": "integer"}},
            required=["a"],
            preprocess=lambda given: {"b": 2 * given["a"]},
        )
        def z(self, b: int) -> int:
            """Double it."""
            return b

        @tool(params={"a": {"type": "integer"}}, required=["a"])
        def open(self, **others: int) -> dict[str, int]:
            """Take any."""
            return others

    registry = ToolRegistry()
    registry.register(Doubled())
    assert registry["z"].parameters["properties"] == {"a": {"type": "integer"}}
    assert Tooler(registry).call_sync("z", {"a": 4}).value == 8
    assert Tooler(registry).call_sync("open", {"a": 4}).value == {"a": 4}
    with pytest.raises(InferenceError, match="'a': params names no parameter"):
        tool(params={"a": {"type": "integer"}})(lambda b: b)
