"""The plan of a decorator: its weather tool and what it promises of metadata and registration."""

from __future__ import annotations

from typing import Any, Dict, List, Optional  # noqa: UP035 - as the plan writes them

import pytest

from sovl_tools import (
    ToolDefinition,
    Tooler,
    ToolParameterDefinition,
    ToolRegistry,
    definition_of,
    tool,
)
from tests.documents.conftest import Install
from tests.tables import check_each


@tool(
    name="get_current_weather",
    description="Say what the weather in a place is like now.",
    param_descriptions={"unit": "In which unit: celsius or fahrenheit."},
)
async def get_weather(
    location: str,
    unit: Optional[str] = "celsius",  # noqa: UP045 - as the plan writes it
) -> str:
    """Check the sky above a city.

    Args:
        location (str): Which city: "London", or "Paris, FR".
        unit (Optional[str]): This text gives way to the decorator's.
    """
    return f"12 degrees {unit} in {location}"


@pytest.fixture
def registry() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(get_weather)
    return registry


def test_the_parameters_carry_all_metadata_that_the_plan_lists(registry: ToolRegistry) -> None:
    location, unit = registry["get_current_weather"].parameter_definitions
    assert location == ToolParameterDefinition(
        name="location",
        description='Which city: "London", or "Paris, FR".',
        param_type=str,
        type_str="string",
        is_required=True,
        default_value=None,
        has_default=False,
    )
    assert unit == ToolParameterDefinition(
        name="unit",
        description="In which unit: celsius or fahrenheit.",
        param_type=str | None,
        type_str="string",
        is_required=False,
        default_value="celsius",
        has_default=True,
    )


def test_the_decorator_attaches_a_definition_and_changes_nothing_else() -> None:
    async def bare(location: str) -> str:
        """Look."""
        return location

    assert tool(bare) is bare
    definition = definition_of(bare)
    assert vars(bare) == {"_tool_definition": definition}
    assert isinstance(definition, ToolDefinition)
    assert definition.function is bare


TYPES = [
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (bool, "boolean"),
    (list, "array"),
    (dict, "object"),
    (List[int], "array"),  # noqa: UP006 - as the plan writes it
    (Dict[str, int], "object"),  # noqa: UP006 - likewise
    (Optional[int], "integer"),  # noqa: UP045 - likewise
    (int | str, "integer | string"),
    (Any, "any"),
]


@check_each(("annotation", "text"), TYPES, ids=repr)
def test_each_type_has_a_word(annotation: Any, text: str) -> None:
    def echo(value: Any) -> None:
        """Say it again."""

    echo.__annotations__["value"] = annotation
    (parameter,) = definition_of(tool(echo)).parameter_definitions
    assert (parameter.type_str, parameter.param_type) == (text, annotation)


PACKAGE = {
    "commander/__init__.py": "",
    "commander/weather.py": """
from sovl_tools import tool

@tool
async def get_current_weather(location: str) -> str:
    "Read it in the paper."
    return "from the package"

@tool
async def tides(port: str) -> str:
    "Say when the sea is high."
    return "at noon"

def no_tool(): ...
""",
    "commander/broken.py": "import nothing_of_that_name\n",
    "commander/below/__init__.py": "from commander.weather import tides\n",
    "commander/below/moon.py": """
from sovl_tools import tool

@tool
def moon(night: int) -> str:
    "Say how full the moon is."
    return "half"
""",
}


def test_a_scan_finds_the_tools_of_all_modules_and_survives_a_broken_one(install: Install) -> None:
    install(PACKAGE)
    registry = ToolRegistry()
    change = registry.load_package("commander")
    assert change.added == ("get_current_weather", "moon", "tides")
    [error] = registry.report.errors
    assert (error.code, "nothing_of_that_name" in error.message) == ("ST701", True)
    assert Tooler(registry).call_sync("tides", {"port": "Kiel"}).value == "at noon"


def test_a_definition_is_made_of_parameter_objects() -> None:
    def move(where: str, steps: int = 1, note: Any = None) -> str:
        return f"{where} {steps} {note}"

    objects = [
        ToolParameterDefinition("where", "In which direction.", str, "string", is_required=True),
        ToolParameterDefinition(
            "steps", "How far.", int, "integer", is_required=False, default_value=3
        ),
        ToolParameterDefinition("note", "", Any, "any", is_required=False),
    ]
    definition = ToolDefinition("move", "Move.", function=move, parameters=objects)
    assert definition.parameters == {
        "type": "object",
        "properties": {
            "where": {"type": "string", "description": "In which direction."},
            "steps": {"type": "integer", "description": "How far.", "default": 3},
            "note": {},
        },
        "required": ["where"],
    }
    where, steps, note = definition.parameter_definitions
    assert (where, note) == (objects[0], objects[2])
    assert steps == objects[1]._replace(has_default=True)
    registry = ToolRegistry()
    registry.register(definition)
    call = Tooler(registry).call_sync
    assert call("move", {"where": "up"}).value == "up 3 None"
    assert not call("move", {"where": "up", "steps": "many"}).ok
    with pytest.raises(TypeError, match="parameters must be ToolParameterDefinition, not 'where'"):
        ToolDefinition("move", "Move.", function=move, parameters=["where"])
