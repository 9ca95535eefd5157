"""Schemas that are plainly fine, told in a few steps."""

from __future__ import annotations

from sovl_tools.loading.fitting import compiles
from sovl_tools.model.document import JSON

_LEAF_KEYS = frozenset(
    {
        "type", "description", "title", "pattern", "format", "minLength", "maxLength", "minimum",
        "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "examples", "minItems",
        "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
_CLEAN_KEYS = _LEAF_KEYS | {"enum", "items", "properties", "required", "additionalProperties"}
_NONE: dict[str, JSON] = {}


def is_clean(schema: JSON) -> bool:
    """Tell whether surely no rule finds anything in a valid schema, down to its last subschema.

    It only ever saves time: what it does not understand is walked node by node. A property test
    holds it to that.
    """
    return _is_clean(schema, described=False)


def _is_clean(schema: JSON, *, described: bool) -> bool:
    if type(schema) is not dict or (described and not schema.get("description", "").strip()):
        return False
    keys = schema.keys()
    if "pattern" in keys and not compiles(schema["pattern"]):
        return False
    if keys <= _LEAF_KEYS:
        return type(schema.get("type")) is str and schema["type"] != "array"
    return keys <= _CLEAN_KEYS and _is_clean_container(schema)


def _is_clean_container(schema: dict[str, JSON]) -> bool:
    kind = schema.get("type")
    if "enum" in schema:
        return kind == "string" and all(type(value) is str for value in schema["enum"])
    if kind == "array":
        return "items" in schema and _is_clean(schema["items"], described=False)
    if kind != "object" or type(schema.get("additionalProperties", True)) is not bool:
        return False
    properties = schema.get("properties", _NONE)
    return all(name in properties for name in schema.get("required", ())) and all(
        _is_clean(child, described=True) for child in properties.values()
    )
