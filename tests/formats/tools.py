"""Tools to be convert."""

from __future__ import annotations

from typing import Any

from sovl_tools import ToolDefinition

TEXT: dict[str, Any] = {"type": "string"}


def function(**_: Any) -> None:
    """Stand for a tool's function."""


def tool(parameters: dict[str, Any] | None = None, name: str = "echo", **fields: Any) -> Any:
    """Return a tool of those parameters, or of one text."""
    given = parameters or arguments(text=TEXT)
    return ToolDefinition(name, "Say something.", given, function, **fields)


def arguments(*required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
