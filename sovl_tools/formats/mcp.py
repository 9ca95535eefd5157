"""Tools with their schemas as the manifest has them: neutrally, and for MCP.

The neutral form is ``{name, description, parameters}``. A server of the Model Context Protocol
lists has the names of the wire; the protocol takes all of JSON Schema (draft 2020-12), with
definitions, anchors and conditions, and has no strict tools. Clients pass the definitions to a
provider, though: alternatives of all arguments together are omitted, which every provider
rejects, and names of arguments must suit Anthropic, too. Icons follow
``"metadata": {"icons": [{"src": …}]}``. Source: modelcontextprotocol.io, specification of revision
2026-07-28, Tools.
"""

from __future__ import annotations

from sovl_tools.formats.base import Format, Loss, Options, Shape, as_list
from sovl_tools.formats.providers import ANTHROPIC, Dialect, Provider
from sovl_tools.formats.transformer import loose, refused_names
from sovl_tools.model.definition import ToolDefinition, manifest_values
from sovl_tools.model.document import JSON, copied

HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
"""The protocol's names of a manifest's annotations."""

DEPRECATION = "sovl-tools/deprecation"
"""The key of ``_meta`` with a manifest's ``deprecated``, ``replaced_by`` and ``removed_in``."""


def _neutral(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; the only losses are keys that no provider reads."""
    parameters = copied(tool.parameters)
    definition = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return Shape(tool, definition)


def _listed(tool: ToolDefinition, _: Options) -> Shape:
    """Return one tool; a loss says whether older clients reject its output schema."""
    definition: dict[str, JSON] = {"name": tool.name}
    if tool.title:
        definition["title"] = tool.title
    definition["description"] = tool.description
    if _HANDED_ON.loose.root.isdisjoint(tool.parameters):
        definition["inputSchema"] = copied(tool.parameters)
        names = {*tool.parameters.get("properties", ())}
        losses = refused_names(tool.parameters, {"properties": names}, names, _HANDED_ON)
    else:
        made = loose(tool.parameters, _HANDED_ON)
        definition["inputSchema"], losses = made.schema, made.losses
    if tool.output_schema is not None:
        definition["outputSchema"] = copied(tool.output_schema)
    hints = {HINTS[name]: value for name, value in tool.annotations.items() if name in HINTS}
    if hints:
        definition["annotations"] = hints
    icons = tool.metadata.get("icons")
    # metadata are free: only what looks like icons is meant as such
    if isinstance(icons, list) and all(isinstance(e, dict) and "src" in e for e in icons):
        definition["icons"] = copied(icons)
    if tool.deprecation:
        keys = ("deprecated", "replaced_by", "removed_in")
        definition["_meta"] = {DEPRECATION: manifest_values(tool, keys)}
    return Shape(tool, definition, (*losses, *_refused(tool.output_schema)))


_HANDED_ON = Provider(
    "MCP", Dialect(root=ANTHROPIC.loose.root), names=ANTHROPIC.names, is_sure=ANTHROPIC.is_sure
)


def _refused(schema: dict[str, JSON] | None) -> tuple[Loss, ...]:
    if schema is None or schema.get("type") == "object":
        return ()
    message = "output_schema is not of type 'object', as clients before revision 2026-07-28 demand"
    return (Loss("doubt", ("output_schema",), message, "wrap the result in an object"),)


NEUTRAL = Format(_neutral, as_list)
MCP = Format(_listed, as_list)
