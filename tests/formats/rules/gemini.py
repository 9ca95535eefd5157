"""Gemini: function declarations with ``parametersJsonSchema``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.formats.rules import checks
from tests.formats.rules.walking import Node, edges, has_cycle, walk

NAME = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"

_KNOWN = {
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering", "default", "minLength", "maxLength",
    "pattern", "uniqueItems", "minProperties", "maxProperties",
}  # fmt: skip
_BESIDE_REFERENCE = {"description", "default"}


def problems_of_gemini(definition: Any, *, strict: bool = False) -> list[str]:
    """Return what Gemini rejects or ignores in a declaration; strictness is the request's."""
    optional = {"description": str, "parametersJsonSchema": dict, "responseJsonSchema": dict}
    wrong = list(checks.keys(definition, {"name": str}, optional))
    if wrong:
        return wrong
    wrong += checks.name(definition["name"], NAME)
    if definition.get("description") == "":
        wrong.append("the description is empty")
    schema = definition.get("parametersJsonSchema", {"type": "object", "properties": {}})
    return wrong + problems_of_schema(schema)


def problems_of_schema(schema: dict[str, Any]) -> list[str]:
    """Return what Gemini rejects or ignores in the schema of a tool's parameters."""
    wrong = [*checks.sound(schema)]
    if wrong:
        return wrong
    wrong += checks.leading_nowhere(schema)
    if schema.get("type") != "object":
        wrong.append(f"the root has the type {schema.get('type')!r}")
    if not isinstance(schema.get("properties"), dict):
        wrong.append("value for properties at top-level must be an object")
    wrong += [f"{node.place or '/'}: {what}" for node in walk(schema) for what in _node(node)]
    needed = [edge for edge in edges(schema) if not edge.is_optional] if not wrong else []
    return wrong + (["recursion through required properties"] if has_cycle(needed) else [])


def _node(node: Node) -> Iterator[str]:
    if not isinstance(node.schema, dict):
        return
    yield from (f"{each!r} is ignored" for each in node.schema.keys() - _KNOWN)
    for value in node.schema.get("enum", ()):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            yield f"{value!r} in an enum"
    if "$ref" in node.schema:
        beside = {each for each in node.schema if not each.startswith("$")} - _BESIDE_REFERENCE
        yield from (f"{each!r} next to $ref" for each in beside)
