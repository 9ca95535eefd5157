from __future__ import annotations

from sovl_tools import ToolDefinition

PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}


def echo(text: str = "nothing") -> str:
    return text


def test_the_neutral_definition_is_the_callers_own() -> None:
    definition = ToolDefinition("echo", "Say it.", PARAMETERS, echo)
    definition.to_schema()["parameters"]["properties"]["text"]["type"] = "integer"
    definition.to_schema()["parameters"]["properties"].clear()
    assert definition.parameters == {
        "type": "object",
        "properties": {"text": {"type": "string"}},
    }
