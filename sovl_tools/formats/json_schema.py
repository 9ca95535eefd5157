"""The neutral form: ``{name, description, parameters}``, the schema as the manifest has it."""

from __future__ import annotations

from sovl_tools.formats.base import Options, Shape, as_list
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import copied


def convert(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; nothing is lost but what no provider sees either."""
    parameters = copied(tool.parameters)
    definition = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return Shape(tool, definition)


collect = as_list
