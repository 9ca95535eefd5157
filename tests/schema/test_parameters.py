"""A tool's parameters one by one, whatever the tool is from."""

from __future__ import annotations

from typing import Any

from sovl_tools import (
    AITool,
    ToolDefinition,
    ToolParameterDefinition,
    ToolRegistry,
    tool,
)
from sovl_tools.schema.parameters import parameter_definitions
from tests.tables import check_each


def one(schema: Any, annotation: Any = None) -> ToolParameterDefinition:
    types = {} if annotation is None else {"x": annotation}
    (found,) = parameter_definitions({"properties": {"x": schema}}, types)
    return found


@check_each(
    ("schema", "text", "kind"),
    [
        ({"type": "string"}, "string", str),
        ({"type": "integer"}, "integer", int),
        ({"type": "array"}, "array", list),
        ({"type": ["string", "null"]}, "string | null", Any),
        ({"anyOf": [{"type": "string"}, {"type": ["integer", "string"]}]}, "string | integer", Any),
        ({}, "any", Any),
    ],
    ids=str,
)
def test_the_type_is_that_of_the_schema(schema: Any, text: str, kind: Any) -> None:
    found = one(schema)
    assert (found.type_str, found.param_type) == (text, kind)


EXPECTED = [
    ToolParameterDefinition("city", "Where.", str, "string", is_required=True),
    ToolParameterDefinition("days", "How far.", int, "integer", False, 1, True),  # noqa: FBT003
]


@tool
def forecast(city: str, days: int = 1) -> str:
    """Tell the weather.

    Args:
        city: Where.
        days: How far.
    """
    return city * days


class Station:
    @tool(params={"days": {"default": lambda station: station.days}})
    def forecast(self, city: str, days: int) -> str:
        """Tell the weather.

        Args:
            city: Where.
            days: How far.
        """
        return city * days

    days = 1


class Forecast(AITool):
    name = "forecast"
    description = "Tell the weather."
    parameters_schema = {  # noqa: RUF012 - nobody changes it
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "How far.", "default": 1},
        },
        "required": ["city"],
    }

    def execute(self, city: str, days: int) -> str:
        return city * days


def registered(value: Any) -> ToolDefinition:
    registry = ToolRegistry()
    registry.register(value)
    return registry["forecast"]


@check_each("value", [forecast, Station(), Forecast], ids=["def", "method", "class"])
def test_a_tool_in_code_has_them(value: Any) -> None:
    assert registered(value).parameter_definitions == EXPECTED
