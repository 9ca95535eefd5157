"""The neutral form: ``{name, description, parameters}``, the schema as the manifest has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sovl_tools.formats.base import Loss, Options, Shape
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import copied


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; nothing is lost but what no provider is told either."""
    parameters = copied(tool.parameters)
    definition = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return Shape(tool, definition)


def collect(shapes: Sequence[Shape], _: Options) -> tuple[Any, tuple[Loss, ...]]:
    """Return the definitions as a list; there may be any number of them."""
    return [shape.definition for shape in shapes], ()
