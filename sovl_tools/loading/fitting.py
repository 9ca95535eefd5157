"""Does a value fit a schema? Quickly where that is plain, by the engine where it is not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache

from sovl_tools.model.document import JSON, kind, pointer
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.schemanodes import SchemaNode
from sovl_tools.validation import Problem, Validator, compile_schema

_UNDERSTOOD = frozenset(
    {
        "type", "description", "title", "default", "examples", "items", "properties", "enum",
        "required", "minimum", "maximum", "minLength", "maxLength", "pattern",
    }
)  # fmt: skip


def problems(node: SchemaNode, value: JSON) -> list[Problem]:
    """Return what the subschema refuses in the value."""
    if surely_fits(value, node.schema):
        return []
    try:
        return _validator(node).problems(value)
    except SchemaError:
        return []


def _validator(node: SchemaNode) -> Validator:
    """Compile the subschema as a part of its root, so that its references still lead somewhere."""
    from urllib.parse import quote  # noqa: PLC0415 - 4 ms, for doubtful values only

    name = node.root.get("$id", "urn:root")
    place = quote(pointer(node.path[len(node.base) :]))
    root = {**node.root, "$id": name}
    return compile_schema({"$ref": f"{name}#{place}", "$defs": {"root": root}})


def surely_fits(value: JSON, schema: JSON) -> bool:
    """Tell whether the value certainly fits; False means only that the engine must be asked."""
    if type(schema) is not dict or not schema.keys() <= _UNDERSTOOD:
        return False
    kinds = schema.get("type")
    fits = _FITS.get((kinds, type(value))) if type(kinds) is str else None
    if fits is None or ("enum" in schema and not _is_listed(value, schema["enum"])):
        return False
    return fits(value, schema)


def _is_listed(value: JSON, values: list[JSON]) -> bool:
    return type(value) is str and value in values


def _text_fits(value: str, schema: dict[str, JSON]) -> bool:
    length = len(value)
    if not schema.get("minLength", length) <= length <= schema.get("maxLength", length):
        return False
    return "pattern" not in schema or matches(schema["pattern"], value)


def compiles(pattern: str) -> bool:
    """Tell whether a pattern is a regular expression that the engine can use."""
    return _pattern_validator(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern is found in a text, as the engine sees it."""
    validator = _pattern_validator(pattern)
    return validator is not None and validator(text)


@lru_cache(maxsize=1024)
def _pattern_validator(pattern: str) -> Callable[[JSON], bool] | None:
    try:
        return compile_schema({"pattern": pattern}).is_valid
    except SchemaError:
        return None


def _number_fits(value: float, schema: dict[str, JSON]) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _array_fits(value: list[JSON], schema: dict[str, JSON]) -> bool:
    if "items" in schema:
        items = schema["items"]
        for item in value:
            if not surely_fits(item, items):
                return False
    return True


def _object_fits(value: dict[str, JSON], schema: dict[str, JSON]) -> bool:
    for name in schema.get("required", ()):
        if name not in value:
            return False
    properties = schema.get("properties", {})
    for name, item in value.items():
        if name in properties and not surely_fits(item, properties[name]):
            return False
    return True


def _always(_: JSON, __: dict[str, JSON]) -> bool:
    return True


_FITS: dict[tuple[str, type], Callable[[JSON, dict[str, JSON]], bool]] = {
    ("string", str): _text_fits,
    ("integer", int): _number_fits,
    ("number", int): _number_fits,
    ("number", float): _number_fits,
    ("boolean", bool): _always,
    ("array", list): _array_fits,
    ("object", dict): _object_fits,
    ("null", type(None)): _always,
}


def has_type(value: JSON, types: Collection[str]) -> bool:
    """Tell whether a value is of one of the JSON Schema types."""
    name = kind(value)
    if name == "integer" or (name == "number" and float(value).is_integer()):
        return "integer" in types or "number" in types
    return name in types
