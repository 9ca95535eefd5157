"""A value that fits a schema, to show how a tool is called."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sovl_tools.model.document import JSON
from sovl_tools.schema import fit
from sovl_tools.schema.applicators import alternatives_of, values_of
from sovl_tools.schema.subschemas import SchemaNode, follow

_DEEPEST = 8
_PLACE = "the sample of a call"  # no name of a definition that anybody writes
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def sample_argument(parameters: dict[str, JSON], name: str) -> str:
    """Return a value for a property as ``KEY=VALUE`` takes it: text as it stands, or JSON."""
    schema = parameters["properties"][name]
    value = sample(schema, parameters)
    is_text = isinstance(schema, dict) and schema.get("type") == "string"
    return value if is_text else json.dumps(value, ensure_ascii=False)


def sample(schema: JSON, root: dict[str, JSON], depth: int = 0) -> JSON:
    """Return the first value that comes to mind and fits; the last one if none fits."""
    value: JSON = "text"
    found = follow(schema, root)
    if not isinstance(found, dict) or depth > _DEEPEST:
        return value
    # References in a part are followed from the root, so that it needs a place there.
    whole = {**root, "$defs": {**root.get("$defs", {}), _PLACE: found}}
    node = SchemaNode(("parameters", "$defs", _PLACE), found, whole, ("parameters",))
    for value in _values(found, root, depth):
        # A guess may fail over keywords that nobody thought of here.
        if not fit.problems(node, value):
            break
    return value


def _values(schema: dict[str, JSON], root: dict[str, JSON], depth: int) -> Iterator[JSON]:
    yield from values_of(schema) or ()
    yield from schema.get("examples", ())
    # The first one that fits will do.
    for each in alternatives_of(schema):
        if each is not schema:
            yield sample(each, root, depth + 1)
    said = schema.get("type", [])
    kinds = [said] if isinstance(said, str) else said
    # null fits an optional value, and shows nothing
    for kind in sorted(kinds, key=lambda kind: kind == "null") or ["string"]:
        match kind:
            case "string":
                yield from _texts(schema)
            case "integer":
                yield from _numbers(schema, 1)
            case "number":
                yield from _numbers(schema, 1.5)
            case "boolean":
                yield True
            case "array":
                items = [sample(each, root, depth + 1) for each in schema.get("prefixItems", ())]
                count = min(schema.get("minItems", 0), _DEEPEST) - len(items)
                item = sample(schema.get("items", {}), root, depth + 1) if count > 0 else None
                yield [*items, *[item] * count]
            case "object":
                properties = schema.get("properties", {})
                yield {
                    name: sample(properties.get(name, {}), root, depth + 1)
                    for name in schema.get("required", ())
                }
            case _:
                yield None


def _texts(schema: dict[str, JSON]) -> Iterator[str]:
    text = _FORMATS.get(schema.get("format", ""), "text")
    yield text
    length = schema.get("minLength", len(text))
    yield (text * (length // len(text) + 1))[: max(length, schema.get("maxLength", 1))]
    yield text[: schema.get("maxLength", len(text))]
    yield "1"  # many a pattern takes a digit


def _numbers(schema: dict[str, JSON], first: float) -> Iterator[float]:
    yield first
    for key in ("minimum", "maximum", "multipleOf"):
        if key in schema:
            yield schema[key]
    if "exclusiveMinimum" in schema:
        yield schema["exclusiveMinimum"] + 1
    if "exclusiveMaximum" in schema:
        yield schema["exclusiveMaximum"] - 1
