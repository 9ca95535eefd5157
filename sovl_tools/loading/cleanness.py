"""Manifests that are plainly fine, told in a few microseconds.

Most manifests use the same few keywords and use them well. One strict schema recognises them; it
knows all that the meta-schema and the rules ask of such a manifest but what no schema can say:
that required names exist, that patterns compile, that defaults fit. What it refuses is not wrong
but looked at closely. A property test holds that whatever is plain breaks no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sovl_tools.model.document import JSON
from sovl_tools.schema.fit import compiles, surely_fits
from sovl_tools.validation import Validator, compile_schema

_TEXT = {"type": "string"}
_WORDS = {"type": "string", "pattern": "[!-~]"}  # something to see, in ASCII
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}
_SCHEMA: dict[str, JSON] = {
    "type": "object",
    "required": ["type"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["string", "integer", "number", "boolean", "null", "array", "object"]},
        "description": _WORDS,
        "title": _TEXT,
        "default": True,
        "enum": {"type": "array", "items": _TEXT},
        "format": _TEXT,
        "pattern": _TEXT,
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
        "uniqueItems": {"type": "boolean"},
        "items": {"$ref": "#/$defs/schema"},
        "properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/property"}},
        "required": {"type": "array", "items": _TEXT, "uniqueItems": True},
        "additionalProperties": {"type": "boolean"},
    },
    "allOf": [
        {
            "if": {"properties": {"type": {"const": "array"}}},
            "then": {"required": ["items"]},
        },
        {
            "if": {"required": ["enum"]},
            "then": {"properties": {"type": {"const": "string"}}},
        },
    ],
}
_EXAMPLE = {
    "type": "object",
    "required": ["input"],
    "additionalProperties": False,
    "properties": {
        "input": {"type": ["object", "string"]},
        "output": True,
        "output_is": {"enum": ["value", "description"]},
        "description": _TEXT,
    },
}
_MANIFEST = {
    "type": "object",
    "required": ["name", "description", "parameters"],
    "additionalProperties": False,
    "properties": {
        "$schema": _TEXT,
        "name": _TEXT,
        "title": _TEXT,
        "description": _WORDS,
        "parameters": {
            "$ref": "#/$defs/schema",
            "required": ["properties"],
            "properties": {"type": {"const": "object"}},
        },
        "examples": {"type": "array", "items": _EXAMPLE},
        "tags": {"type": "array", "items": _WORDS},
        "activation_phrases": {"type": "array", "items": _TEXT},
        "enabled": {"type": "boolean"},
        "category": _WORDS,
        "version": _TEXT,
        "instructions": _TEXT,
        "metadata": {"type": "object"},
    },
    "$defs": {
        "schema": _SCHEMA,
        "property": {"$ref": "#/$defs/schema", "required": ["description"]},
    },
}


def is_plain(document: Mapping[str, JSON]) -> bool:
    """Tell whether surely no rule finds anything in a manifest, its name and examples aside."""
    return _validator().is_valid(document) and _is_coherent_property(document["parameters"])


@cache
def _validator() -> Validator:
    return compile_schema(_MANIFEST)


def _is_coherent(schema: dict[str, JSON]) -> bool:
    """Tell whether an object's or array's schema keeps its word, as far as no schema can tell."""
    if "items" in schema and not _is_coherent_property(schema["items"]):
        return False
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    for name in required:
        if name not in properties or "default" in properties[name]:
            return False
    return all(_is_coherent_property(child) for child in properties.values())


def _is_coherent_property(schema: dict[str, JSON]) -> bool:
    if "pattern" in schema and not compiles(schema["pattern"]):
        return False
    if "default" in schema and not surely_fits(schema["default"], schema):
        return False
    if "properties" in schema or "items" in schema or "required" in schema:
        return _is_coherent(schema)
    return True
