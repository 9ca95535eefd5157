"""Exports of manifests, and who must accept them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from hypothesis import reject
from pydantic import TypeAdapter

from sovl_tools import ToolDefinition, ToolLoadError, ToolRegistry
from sovl_tools.formats.base import FORMATS
from sovl_tools.schema.subschemas import nodes
from sovl_tools.testing import Request
from sovl_tools.testing.script import Memory
from sovl_tools.testing.server import APIS
from tests.testing.test_requests import BODIES, HEADERS, PATHS

CAN_BE_STRICT = ("openai", "openai-responses", "anthropic", "openrouter")

TARGETS = (
    *((name, False) for name in FORMATS if name not in {"openapi", "prompt", "markdown"}),
    *((name, True) for name in CAN_BE_STRICT),
)
"""Formats of one definition per tool, each with whether it must be strict."""


# By name, so that type checkers need not read the SDKs.
_TYPES = {
    "openai": "openai.types.chat:ChatCompletionToolParam",
    "openai-responses": "openai.types.responses:FunctionToolParam",
    "anthropic": "anthropic.types:ToolParam",
    "gemini": "google.genai.types:FunctionDeclaration",
    "openrouter": "openai.types.chat:ChatCompletionToolParam",
    "mcp": "mcp_types:Tool",
}
TYPED = tuple(_TYPES)


@cache
def _adapter(format_name: str) -> TypeAdapter[Any]:
    module, _, attribute = _TYPES[format_name].partition(":")
    return TypeAdapter(getattr(import_module(module), attribute))


def accept(format_name: str, definition: Any) -> None:
    """Hand a definition to the type of the provider's SDK, keys as they are sent.

    Raises:
        ValidationError: the type rejects it, or has no such key.
    """
    value = _adapter(format_name).validate_python(
        definition, extra="forbid", by_alias=True, by_name=False
    )
    if isinstance(value, dict):
        list(value.get("input_examples", ()))  # looked at only when iterated


_CHECKED_AS = {"openrouter": "openai"}


def refused(format_name: str, definitions: list[Any]) -> list[str]:
    """Return why a provider rejects definitions in a request, or ignores parts of them."""
    if format_name == "gemini":
        schemas = [schema_of(each) for each in definitions]
        found = [node.schema for each in schemas for node in nodes(each, ())]
        return [why for each in found for why in _refused_by_gemini(each)]
    provider = _CHECKED_AS.get(format_name, format_name)
    if provider not in PATHS:
        return []
    body = {**BODIES[provider], "tools": definitions}
    asked = Request(provider, PATHS[provider], HEADERS[provider], b"{}", body)
    return [each.message for each in APIS[PATHS[provider]].objections(asked, Memory())]


_OF_GEMINI = {
    "$defs", "$ref", "type", "format", "title", "description", "enum", "items", "prefixItems",
    "minItems", "maxItems", "minimum", "maximum", "anyOf", "properties", "additionalProperties",
    "required", "default", "minLength", "maxLength", "pattern", "uniqueItems", "minProperties",
    "maxProperties",
}  # fmt: skip


def _refused_by_gemini(schema: dict[str, Any]) -> Iterator[str]:
    yield from (f"{each!r} is ignored" for each in schema.keys() - _OF_GEMINI)
    for value in schema.get("enum", ()):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            yield f"{value!r} in an enum"
    if "$ref" in schema and len(schema) > 1:
        yield "something next to $ref"


def registry_of(*manifests: dict[str, Any]) -> ToolRegistry:
    """Return a registry with tools that take anything and do nothing."""
    registry = ToolRegistry()
    for each in manifests:
        try:
            registry.register(ToolDefinition(**each, function=_nothing))
        except ToolLoadError:  # no value fits a schema that was drawn
            reject()
    return registry


def _nothing(**_: Any) -> None: ...


def is_strict(definition: dict[str, Any]) -> bool:
    """Return whether a definition is marked strict."""
    return definition.get("function", definition).get("strict") is True


def schema_of(definition: dict[str, Any]) -> Any:
    """Return the schema of the arguments in a definition of any format."""
    inner = definition.get("function", definition)
    keys = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
    return next(inner[key] for key in keys if key in inner)
