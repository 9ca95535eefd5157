"""The keywords of JSON Schema (draft 2020-12), and the ones with subschemas."""

from __future__ import annotations

from typing import Literal, TypeAlias

Holds: TypeAlias = Literal["schema", "schemas", "schemas by name"]

NESTING: dict[str, Holds] = {
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), "schemas by name"),
    **dict.fromkeys(("$defs", "definitions"), "schemas by name"),
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), "schemas"),
    **dict.fromkeys(("items", "additionalProperties", "not", "if", "then", "else"), "schema"),
    **dict.fromkeys(("contains", "propertyNames", "contentSchema"), "schema"),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), "schema"),
}
"""Keywords with subschemas, and the form of their values."""
IN_LIST = frozenset(name for name, holds in NESTING.items() if holds == "schemas")
SINGLE = frozenset(name for name, holds in NESTING.items() if holds == "schema")

KEYWORDS = frozenset(NESTING) | {
    "$schema", "$id", "$anchor", "$dynamicAnchor", "$comment", "$vocabulary", "$ref", "$dynamicRef",
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "type",
    "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "pattern", "format", "contentMediaType", "contentEncoding",
    "minItems", "maxItems", "minContains", "maxContains", "uniqueItems", "required",
    "minProperties", "maxProperties", "dependentRequired", "dependencies",
}  # fmt: skip
"""All keywords, older drafts' ``definitions`` and ``dependencies`` included."""

BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
"""Keywords with a lower bound, each with its counterpart for the upper bound."""

IDENTITY = frozenset({"$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"})
"""Keywords without a meaning once all references lead to ``$defs``."""

SILENT = IDENTITY | {"$schema", "$comment", "$vocabulary"}
"""Keywords that don't describe values."""

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that describe a value without constraining it."""

COMBINING = frozenset({"allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"})
"""Keywords that can add properties which ``additionalProperties`` doesn't see."""

OF_SEVERAL_PROPERTIES = frozenset(
    {
        "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
        "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
    }
)  # fmt: skip
"""Keywords about several members of an object."""
