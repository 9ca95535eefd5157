"""Tools, and what formats make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sovl_tools import ToolDefinition
from sovl_tools.formats.base import Options, Shape, format_of

TEXT: dict[str, Any] = {"type": "string"}


def function(**_: Any) -> None:
    """Stand for a tool's function."""


def tool(parameters: dict[str, Any] | None = None, name: str = "echo", **fields: Any) -> Any:
    """Return a tool of those parameters, or of one string."""
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


def shaped(name: str, definition: ToolDefinition, **options: Any) -> Shape:
    """Return what the format of a name makes of a tool."""
    return format_of(name).convert(definition, Options(**options))


def collected(name: str, shapes: Sequence[Shape], **options: Any) -> Any:
    """Return what the format of a name makes of several tools, and what gets lost by that."""
    return format_of(name).collect(shapes, Options(**options))
