"""What ``tool`` attaches to a function, and what it rejects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import FunctionType
from typing import Any, Optional

import pytest

from sovl_tools import InferenceError, ToolDefinition, Tooler, ToolRegistry, definition_of, tool
from sovl_tools.authoring.decorator import (
    ATTRIBUTE,
    PendingDefinition,
)
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


async def forecast_later(city: str) -> str:
    """Tell the weather, later."""
    return city


class Station:
    @tool
    def forecast(self, city: str) -> str:
        """Tell the weather."""
        return city

    @tool(name="forecast_later")
    async def later(self, city: str) -> str:
        """Tell the weather, later."""
        return city

    @classmethod
    @tool
    def names(cls, prefix: str) -> list[str]:
        """Tell the names."""
        return [f"{prefix}{cls.__name__}"]

    @staticmethod
    @tool
    def units(kind: str) -> str:
        """Tell the units."""
        return kind


def copy_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return its own function, so that what is attached to it stays there."""
    made: Callable[..., Any] = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
    return made


@check_each("original", [forecast, forecast_later])
def test_a_decorated_function_is_the_function(original: Callable[..., Any]) -> None:
    for decorate in (tool, tool(), tool(name="other", tags=["weather"])):
        function = copy_of(original)
        before = {**vars(function)}
        names = dir(function)
        assert decorate(function) is function
        assert {**vars(function)} == {**before, ATTRIBUTE: definition_of(function)}
        assert dir(function) == sorted([*names, ATTRIBUTE])
        assert function.__name__ == original.__name__


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


@check_each("value", ["weather", 5, Station, str], ids=["text", "number", "own", "str"])
def test_what_is_no_function_is_refused(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        tool(value)
    assert str(caught.value) == f"tool() takes a function, not {value!r}"


@check_each("kind", [staticmethod, classmethod])
def test_the_order_of_decorators_is_told(kind: Any) -> None:
    with pytest.raises(TypeError) as caught:
        tool(kind(forecast))
    assert str(caught.value) == f"tool() takes a function; write @tool below @{kind.__name__}"


def test_a_builtin_is_refused() -> None:
    words = "nothing can be attached to <built-in function globals>; wrap it in your own function"
    with pytest.raises(TypeError, match=words):
        tool(globals)
    with pytest.raises(InferenceError, match="len: 'obj': positional-only"):
        tool(len)


@check_each("value", [forecast, Station, None, 5])
def test_what_is_not_decorated_has_no_definition(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        definition_of(value)
    assert str(caught.value) == f"{value!r:.80} is not decorated with @tool"


def shouted(function: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> str:
        return function(*arguments, **keywords).upper()

    return wrapper


def test_another_decorator_may_stand_on_either_side() -> None:
    inside, outside = tool(shouted(copy_of(forecast))), shouted(tool(copy_of(forecast)))
    for function in (inside, outside):
        definition = definition_of(function)
        assert definition.function is function
        assert definition.execute(city="Oslo") == "OSLO 1"
        assert definition.parameters["required"] == ["city"]


def test_a_forward_reference_waits_until_it_is_needed() -> None:
    space: dict[str, Any] = {"tool": tool}
    source = "def forecast(day: 'Day', city: str) -> str:\n    return f'{city} {day}'\n"
    exec(source, space)
    definition = definition_of(tool(tags=["weather"])(space["forecast"]))
    assert isinstance(definition, PendingDefinition)
    assert (definition.name, definition.tags) == ("forecast", ("weather",))
    with pytest.raises(InferenceError, match="'day': annotated 'Day', but the name 'Day' is not"):
        definition.to_schema()
    space["Day"] = int
    assert definition.parameters["properties"]["day"] == {"type": "integer"}
    assert definition.types == {"day": int, "city": str}


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


def test_the_tool_that_a_module_defines_first_stays(tmp_path: Path) -> None:
    (tmp_path / "greetings.py").write_text(
        "from sovl_tools import tool\n"
        "@tool(name='greet')\ndef zealous():\n    'First.'\n"
        "@tool(name='greet')\ndef aloof():\n    'Second.'\n"
    )
    registry = ToolRegistry()
    registry.load_modules(tmp_path)
    assert registry["greet"].description == "First."
    assert [each.code for each in registry.report.errors] == ["ST801"]


def test_a_function_that_wraps_itself_is_a_tool() -> None:
    def echo(text: str) -> str:
        """Say something."""
        return text

    vars(echo)["__wrapped__"] = echo
    registry = ToolRegistry()
    assert registry.register(tool(echo)) is registry["echo"]
