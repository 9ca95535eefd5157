"""What clients offer users beside tools: activation phrases as prompts, texts as resources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.definition import ToolDefinition, manifest_values
from sovl_tools.model.document import JSON
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.dynamic import without_functions

MANIFEST: Final = "sovl-tools://manifest/"
INSTRUCTIONS: Final = "sovl-tools://instructions/"

TEMPLATES: Final[tuple[dict[str, JSON], ...]] = (
    {
        "uriTemplate": f"{MANIFEST}{{name}}",
        "name": "manifest",
        "description": "The manifest of a tool.",
        "mimeType": "application/json",
    },
    {
        "uriTemplate": f"{INSTRUCTIONS}{{name}}",
        "name": "instructions",
        "description": "What a tool wants a system prompt to say.",
        "mimeType": "text/markdown",
    },
)


def prompts(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, JSON]]:
    """Return a prompt for each tool that has activation phrases, by name.

    Its arguments are the tool's, all of them optional: what is not given the model asks for.
    """
    made = {}
    for tool in tools:
        if not tool.activation_phrases:
            continue
        prompt: dict[str, JSON] = {"name": tool.name, "title": tool.activation_phrases[0]}
        prompt["description"] = tool.description
        properties = without_functions(tool.parameters).get("properties", {})
        prompt["arguments"] = [_argument(name, each) for name, each in properties.items()]
        made[tool.name] = prompt
    return made


def _argument(name: str, schema: JSON) -> dict[str, JSON]:
    made: dict[str, JSON] = {"name": name, "required": False}
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(description, str):
        made["description"] = description
    return made


def prompt_text(tool: ToolDefinition, arguments: Mapping[str, str]) -> str:
    """Return what the user says with a prompt."""
    said = f"{tool.activation_phrases[0]}\n\nUse the tool {tool.name}"
    if not arguments:
        return f"{said}."
    return f"{said} with {json.dumps(dict(arguments), ensure_ascii=False)}."


def resources(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, JSON]]:
    """Return the manifests of the tools, and their instructions, by address."""
    made: dict[str, dict[str, JSON]] = {}
    for tool in tools:
        _add(made, MANIFEST, tool.name, "application/json")
        if tool.instructions:
            _add(made, INSTRUCTIONS, tool.name, "text/markdown")
    return made


def _add(made: dict[str, dict[str, JSON]], kind: str, name: str, media_type: str) -> None:
    word = kind.split("/")[2]
    uri = f"{kind}{name}"
    made[uri] = {"uri": uri, "name": f"{name} {word}", "mimeType": media_type}


def resource_text(registry: ToolRegistry, uri: str) -> str | None:
    """Return the text at an address; None if there is nothing.

    Raises:
        ResolutionError: a function that makes a part of a schema fails.
    """
    for kind in (MANIFEST, INSTRUCTIONS):
        if uri.startswith(kind):
            tool = registry.get(uri[len(kind) :])
            if tool is not None:
                return _manifest(tool) if kind == MANIFEST else tool.instructions
    return None


def updated_resources(change: CatalogChange, before: Catalog, now: Catalog) -> Iterator[str]:
    """Yield the addresses at which another text is to be read than before, or none any more."""
    for name in (*change.added, *change.updated, *change.removed):
        old, new = before.tools.get(name), now.tools.get(name)
        if any(getattr(old, key, None) != getattr(new, key, None) for key in _KEYS):
            yield f"{MANIFEST}{name}"
        if getattr(old, "instructions", None) != getattr(new, "instructions", None):
            yield f"{INSTRUCTIONS}{name}"


_KEYS = (
    "name", "title", "description", "parameters", "output_schema", "category", "tags", "version",
    "activation_phrases", "instructions", "examples", "annotations", "execution", "metadata",
)  # fmt: skip


def _manifest(tool: ToolDefinition) -> str:
    manifest = manifest_values(tool.resolve(), _KEYS)
    return json.dumps(
        {key: value for key, value in manifest.items() if value}, indent=2, ensure_ascii=False
    )
