"""Tools with their schemas as the manifest has them: neutrally, and for MCP.

The neutral form is ``{name, description, parameters}``. What a server of the Model Context Protocol
lists has the names of the wire; the protocol takes all of JSON Schema (draft 2020-12), with
definitions, anchors and conditions, and knows no strict tools. Icons are those of
``"metadata": {"icons": [{"src": …}]}``. Source: modelcontextprotocol.io, specification of revision
2026-07-28, Tools.
"""

from __future__ import annotations

from sovl_tools.formats.base import Format, Loss, Options, Shape, as_list
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied

HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
"""What the protocol calls a manifest's annotations."""


def _neutral(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; nothing is lost but what no provider sees either."""
    parameters = copied(tool.parameters)
    definition = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return Shape(tool, definition)


def _listed(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; a loss tells whether older clients refuse its output schema."""
    definition: dict[str, JSON] = {"name": tool.name}
    if tool.title:
        definition["title"] = tool.title
    definition["description"] = tool.description
    definition["inputSchema"] = copied(tool.parameters)
    if tool.output_schema is not None:
        definition["outputSchema"] = copied(tool.output_schema)
    hints = {HINTS[name]: value for name, value in tool.annotations.items() if name in HINTS}
    if hints:
        definition["annotations"] = hints
    icons = tool.metadata.get("icons")
    # metadata are free: only what looks like icons is meant as such
    if isinstance(icons, list) and all(isinstance(e, dict) and "src" in e for e in icons):
        definition["icons"] = copied(icons)
    return Shape(tool, definition, _refused(tool.output_schema))


def _refused(schema: dict[str, JSON] | None) -> tuple[Loss, ...]:
    if schema is None or schema.get("type") == "object":
        return ()
    message = "output_schema is not of type 'object', as clients before revision 2026-07-28 demand"
    return (Loss("doubt", ("output_schema",), message, "wrap the result in an object"),)


NEUTRAL = Format(_neutral, as_list)
MCP = Format(_listed, as_list)
