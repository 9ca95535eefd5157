"""Exports of manifests, and who must accept them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from hypothesis import reject
from pydantic import TypeAdapter

from sovl_tools import ToolDefinition, ToolLoadError, ToolRegistry
from tests.formats import rules

PROBLEMS_OF: dict[str, Callable[..., list[str]]] = {
    "json-schema": rules.problems_of_json_schema,
    "openai": rules.problems_of_openai,
    "openai-responses": rules.problems_of_openai_responses,
    "anthropic": rules.problems_of_anthropic,
    "gemini": rules.problems_of_gemini,
    "openrouter": rules.problems_of_openrouter,
    "mcp": rules.problems_of_mcp,
}
"""What checks one definition, for each format that has definitions one by one."""

CAN_BE_STRICT = ("openai", "openai-responses", "anthropic", "openrouter")

TARGETS = (
    *((name, False) for name in PROBLEMS_OF),
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
