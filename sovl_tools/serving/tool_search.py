"""Two tools in the place of many: one that finds tools, one that calls them.

A model that is offered hundreds of tools chooses worse and pays for each of them in every request;
and many clients never ask for the list again. Both tools look at the registry as it is now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sovl_tools.dispatch.arguments import ArgumentCheck
from sovl_tools.formats.tokens import estimate
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.limits import MOST_TOKENS, MOST_TOOLS

SEARCH: Final = "search_tools"
CALL: Final = "call_tool"
_MOST_FOUND = 20
_MOST_NAMES = 50
_TEXT: Mapping[str, JSON] = {"type": "string"}

DEFINITIONS: Final[tuple[dict[str, JSON], ...]] = (
    {
        "name": SEARCH,
        "title": "Search tools",
        "description": "Find tools for a task. Returns the definitions of the tools that fit best,"
        f" each with the schema of its arguments; {CALL} calls them. Ask again whenever no tool"
        " that you know fits: there may be new ones.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {**_TEXT, "description": "What the tool should do, in a few words."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MOST_FOUND,
                    "default": 5,
                    "description": "At most so many tools.",
                },
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": CALL,
        "title": "Call a tool",
        "description": f"Call a tool that {SEARCH} has found.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {**_TEXT, "description": "The tool's name."},
                "arguments": {
                    "type": "object",
                    "description": "Its arguments, as its inputSchema wants them.",
                },
            },
            "required": ["name"],
        },
    },
)


def is_too_much(definitions: Iterable[dict[str, JSON]]) -> bool:
    """Tell whether there are too many definitions for a model to have them all before it."""
    tools = list(definitions)
    return len(tools) > MOST_TOOLS or sum(map(estimate, tools)) > MOST_TOKENS


def found_tools(
    registry: ToolRegistry, definitions: Mapping[str, dict[str, JSON]], arguments: JSON
) -> ToolResult:
    """Return what ``search_tools`` answers: definitions, or some names where nothing fits."""

    def search_tools(query: str, limit: int = 5) -> JSON:
        matches = registry.search(query, limit=None)
        known = [definitions[each.tool] for each in matches if each.tool in definitions]
        if known:
            return {"tools": known[:limit]}
        some = list(definitions)[:_MOST_NAMES]
        return {"tools": [], "message": "no tool has words of the query", "some_names": some}

    search = DEFINITIONS[0]
    tool = ToolDefinition(SEARCH, search["description"], search["inputSchema"], search_tools)
    checked = ArgumentCheck(tool)(arguments)
    if isinstance(checked, Failure):
        return ToolResult(SEARCH, None, checked, 0.0)
    return ToolResult(SEARCH, search_tools(**checked), None, 0.0)


def called(arguments: JSON) -> tuple[str, JSON]:
    """Return what ``call_tool`` is to call, and with which arguments."""
    # a name that is none is refused as that of an unknown tool
    return str(arguments.get("name", "")), arguments.get("arguments")
