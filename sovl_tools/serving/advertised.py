"""What a server tells its clients of the tools: worked out once for each catalog.

The two eras of the Model Context Protocol differ in output schemas. In the handshake era (up to
2025-11-25) one must be of type ``object``, so that any other is wrapped: results of such tools are
``{"result": value}``. Since 2026-07-28 any schema will do.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from sovl_tools.dispatch.arguments import ArgumentCheck
from sovl_tools.formats.base import estimate
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.definition import ToolDefinition, manifest_values
from sovl_tools.model.document import JSON
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.rewrite import hoisted
from sovl_tools.search.slots import SLOT
from sovl_tools.serving.limits import MOST_TOKENS, MOST_TOOLS

_LOGGER = logging.getLogger("sovl_tools")

RESULT: Final = "result"
"""The property that holds a result that isn't an object, where the protocol wants objects."""

LIST_FIELDS: Final[dict[str, JSON]] = {
    "ttlMs": 0,
    "cacheScope": "private",
    "resultType": "complete",
}
"""What a list says of itself since 2026-07-28: that it can be another at any time."""


Kind: TypeAlias = Literal["tools", "prompts", "resources"]
"""What there are lists of."""


class LeftOut(NamedTuple):
    """A tool that clients don't see, and why."""

    tool: str
    reason: str

    def __str__(self) -> str:
        return f"tool {self.tool} is not offered: {self.reason}"


class Advertised(NamedTuple):
    """What clients see of the tools, at one moment.

    Attributes:
        catalog: the tools from which it was made.
        handshake: the definitions for clients up to 2025-11-25, by name.
        modern: the definitions for clients since 2026-07-28, by name.
        left_out: what the protocol or a provider rejects.
        hidden: the definitions that are found by searching alone, by name.
        is_searching: whether clients see only two tools, which find and call the others.
        prompts: by name.
        resources: by address.
        is_lasting: whether it holds for as long as the catalog does: no function makes a schema.
    """

    catalog: Catalog
    handshake: dict[str, dict[str, JSON]]
    modern: dict[str, dict[str, JSON]]
    left_out: tuple[LeftOut, ...]
    hidden: dict[str, dict[str, JSON]]
    is_searching: bool
    prompts: dict[str, dict[str, JSON]]
    resources: dict[str, dict[str, JSON]]
    is_lasting: bool

    def changes(self, before: Advertised) -> frozenset[Kind]:
        """Return which lists are others than they were for clients."""
        lists: dict[Kind, bool] = {
            "tools": self.modern != before.modern,
            "prompts": self.prompts != before.prompts,
            "resources": self.resources != before.resources,
        }
        return frozenset(kind for kind, is_other in lists.items() if is_other)


def advertise(
    registry: ToolRegistry, before: Advertised | None = None, *, is_searching: bool | None = None
) -> Advertised:
    """Return what clients see now; log each tool that is omitted and was not before.

    Args:
        registry: the tools.
        before: what clients saw before, for what has not changed since.
        is_searching: whether two tools that search and call represent all; None for where there
            are too many for a model to have them all before it.
    """
    catalog = registry.catalog
    if before is not None and before.catalog is catalog and before.is_lasting:
        return before
    export: Any = registry.export("mcp")
    left_out = [
        LeftOut(name, each.message) for name, each in export.losses if each.kind == "left_out"
    ]
    refused = {
        name: f"{loss.message} by the models of some clients; {loss.help}"
        for name, loss in export.losses
        if loss.kind == "name"
    }
    left_out += [LeftOut(*each) for each in refused.items()]
    modern, handshake = {}, {}
    for tool in export.definitions:
        if tool["name"] in refused:
            continue
        former = _handshake_form(tool)
        reason = _problem(tool, LATEST_MODERN_VERSION) or _problem(former, LATEST_HANDSHAKE_VERSION)
        if reason is None:
            modern[tool["name"]], handshake[tool["name"]] = tool, former
        else:
            left_out.append(LeftOut(tool["name"], reason))
    for each in left_out:
        if before is None or each not in before.left_out:
            _LOGGER.warning("%s", each)
    hidden: dict[str, dict[str, JSON]] = {}
    if is_searching is None:
        is_searching = len(modern) > MOST_TOOLS or sum(map(estimate, modern.values())) > MOST_TOKENS
    if is_searching:
        hidden = modern
        modern = handshake = {each["name"]: each for each in DEFINITIONS}
    tools = catalog.tools.values()
    return Advertised(
        catalog,
        handshake,
        modern,
        tuple(left_out),
        hidden,
        is_searching,
        prompts(tools),
        resources(tools),
        export.is_lasting,
    )


def _problem(tool: dict[str, JSON], version: str) -> str | None:
    """Return why a version of the protocol rejects a definition, or None."""
    try:
        validate_server_result("tools/list", version, {"tools": [tool], **LIST_FIELDS})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # the first two steps are "tools" and its place in the list
        place = ".".join(map(str, first["loc"][2:]))
        return f"the protocol rejects {place}: {first['msg']}"
    except RecursionError:
        return "its schemas are nested too deep"
    return find_invalid_x_mcp_header(tool["inputSchema"])


def is_wrapped(tool: dict[str, JSON]) -> bool:
    """Return whether clients of the handshake era get ``{"result": value}`` of a tool."""
    return "outputSchema" in tool and tool["outputSchema"].get("type") != "object"


def _handshake_form(tool: dict[str, JSON]) -> dict[str, JSON]:
    """Return a definition whose output schema is that of an object.

    The references in it lead to definitions at the root, where readers search for them.
    """
    if not is_wrapped(tool):
        return tool
    place = f"#/properties/{RESULT}"
    copy = hoisted(tool["outputSchema"], lambda name: place if name is None else f"#/$defs/{name}")
    schema: dict[str, JSON] = {"type": "object", "properties": {RESULT: copy.schema}}
    schema["required"] = [RESULT]
    if copy.definitions:
        schema["$defs"] = copy.definitions
    return {**tool, "outputSchema": schema}


def page(
    tools: dict[str, dict[str, JSON]], cursor: str | None, size: int
) -> tuple[list[dict[str, JSON]], str | None]:
    """Return a page of the definitions after a cursor, and the cursor of those after them.

    A cursor holds the name of the tool before it, so that nothing is skipped or listed twice where
    tools come and go between two pages.

    Raises:
        ValueError: the cursor isn't one of this list.
    """
    names = sorted(tools)
    if cursor is not None:
        if not cursor.startswith(_CURSOR):
            raise ValueError(f"{cursor!r:.80} isn't a cursor of this list")
        names = names[bisect_right(names, cursor.removeprefix(_CURSOR)) :]
    following = _CURSOR + names[size - 1] if len(names) > size else None
    return [tools[name] for name in names[:size]], following


_CURSOR: Final = "after:"
_INSTRUCTIONS: Final = "sovl-tools://instructions/"
_MANIFEST: Final = "sovl-tools://manifest/"

TEMPLATES: Final[tuple[dict[str, JSON], ...]] = (
    {
        "uriTemplate": f"{_MANIFEST}{{name}}",
        "name": "manifest",
        "description": "The manifest of a tool.",
        "mimeType": "application/json",
    },
    {
        "uriTemplate": f"{_INSTRUCTIONS}{{name}}",
        "name": "instructions",
        "description": "What a tool wants a system prompt to say.",
        "mimeType": "text/markdown",
    },
)
"""The strings that clients can read of each tool; instructions only of one that has any."""


def prompts(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, JSON]]:
    """Return a prompt for each tool that has activation phrases, by name.

    Its arguments are the tool's, all of them optional: what is not given the model asks for.
    """
    made = {}
    for tool in tools:
        if tool.activation_phrases:
            arguments: list[dict[str, JSON]] = []
            properties = without_functions(tool.parameters).get("properties", {})
            for name, schema in properties.items():
                arguments.append({"name": name, "required": False})
                description = schema.get("description") if isinstance(schema, dict) else None
                if isinstance(description, str):
                    arguments[-1]["description"] = description
            made[tool.name] = {
                "name": tool.name,
                "title": tool.activation_phrases[0],
                "description": tool.description,
                "arguments": arguments,
            }
    return made


def prompt_text(tool: ToolDefinition, arguments: Mapping[str, str]) -> str:
    """Return what the user says with a prompt."""
    phrase = SLOT.sub(lambda slot: arguments.get(slot[1], slot[1]), tool.activation_phrases[0])
    said = f"{phrase}\n\nUse the tool {tool.name}"
    if not arguments:
        return f"{said}."
    return f"{said} with {json.dumps(dict(arguments), ensure_ascii=False)}."


def resources(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, JSON]]:
    """Return the manifests of the tools, and their instructions, by address."""
    found: list[dict[str, JSON]] = [
        {
            "uri": template["uriTemplate"].replace("{name}", tool.name),
            "name": f"{tool.name} {template['name']}",
            "mimeType": template["mimeType"],
        }
        for tool in tools
        for template in TEMPLATES[: 2 if tool.instructions else 1]
    ]
    return {each["uri"]: each for each in found}


def resource_text(registry: ToolRegistry, uri: str) -> str | None:
    """Return the text at the address of a resource; None if the tool doesn't have one anymore.

    Raises:
        ResolutionError: a function that makes a part of a schema fails.
    """
    tool = registry.get(uri.rpartition("/")[2])
    if tool is None:
        return None
    if uri.startswith(_INSTRUCTIONS):
        return tool.instructions
    manifest = manifest_values(tool.resolve(), _KEYS)
    return json.dumps(
        {key: value for key, value in manifest.items() if value}, indent=2, ensure_ascii=False
    )


def updated_resources(change: CatalogChange, before: Catalog, now: Catalog) -> Iterator[str]:
    """Yield the addresses at which another text must be read than before, or none anymore."""
    for name in (*change.added, *change.updated, *change.removed):
        old, new = before.tools.get(name), now.tools.get(name)
        for place, keys in ((_MANIFEST, _KEYS), (_INSTRUCTIONS, ("instructions",))):
            if any(getattr(old, key, None) != getattr(new, key, None) for key in keys):
                yield f"{place}{name}"


_KEYS = (
    "name", "title", "description", "parameters", "output_schema", "category", "tags", "version",
    "activation_phrases", "instructions", "examples", "annotations", "execution", "metadata",
    "deprecated", "replaced_by", "removed_in",
)  # fmt: skip


SEARCH: Final = "search_tools"
CALL: Final = "call_tool"
_MOST_FOUND = 20
_MOST_NAMES = 50
_TEXT: Mapping[str, JSON] = {"type": "string"}

DEFINITIONS: Final[tuple[dict[str, JSON], ...]] = (
    {
        "name": SEARCH,
        "title": "Search tools",
        "description": "Find tools for a task. Returns the definitions of the best matches,"
        f" each with the schema of its arguments; {CALL} calls them. Ask again whenever no tool"
        " that you know matches: there can be new ones.",
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


def found_tools(
    registry: ToolRegistry, definitions: Mapping[str, dict[str, JSON]], arguments: JSON
) -> ToolResult:
    """Return what ``search_tools`` answers: definitions, or some names where nothing matches."""

    def search_tools(query: str, limit: int = 5) -> JSON:
        fitting = registry.suggest(query, limit=None)
        known = [definitions[each.tool] for each in fitting if each.tool in definitions]
        if known:
            return {"tools": known[:limit]}
        nearest = [each.tool for each in registry.search(query, limit=None)]
        if names := [name for name in nearest if name in definitions][:limit]:
            return {"tools": [], "message": f"no tool fits well; nearest: {', '.join(names)}"}
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
    # a name that isn't one is rejected as that of an unknown tool
    return str(arguments.get("name", "")), arguments.get("arguments")
