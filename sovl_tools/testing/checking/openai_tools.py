"""The tools of a request to OpenAI, which its two APIs spell differently, and their schemas.

After the guide to Structured Outputs, "Supported schemas", and the API's own messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import lookup
from sovl_tools.testing.checking.schemas import (
    DEFINITIONS,
    FORMATS,
    UNIONS,
    Node,
    has_lookaround,
    is_elaborate,
    leading_nowhere,
    unsound,
    walk,
)
from sovl_tools.testing.exchange import Objection

NAME = "^[a-zA-Z0-9_-]+$"
MAX_NAME = 64
MAX_TOOLS = 128


class Function(NamedTuple):
    """A tool that is a function: its definition, and where that stands in the request."""

    definition: dict[str, JSON]
    place: str


def objections(body: dict[str, JSON], functions: list[Function]) -> Iterator[Objection]:
    """Yield what is refused in the tools of a request, which have the right shape."""
    count = len(body.get("tools", ()))
    if count > MAX_TOOLS:
        yield Objection(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS},"
            f" but got an array with length {count} instead.",
            "tools",
            "array_above_max_length",
        )
    for function in functions:
        yield from misnamed(function.definition["name"], f"{function.place}.name")
        yield from _of_parameters(function)
    yield from _repeated(functions)


def misnamed(name: str, place: str) -> Iterator[Objection]:
    """Yield that a name is empty, too long or has other characters in it."""
    yield from too_long(name, place, MAX_NAME)
    if not re.fullmatch(NAME, name):
        yield Objection(
            f"Invalid '{place}': string does not match pattern. Expected a string that matches the"
            f" pattern '{NAME}'.",
            place,
            "invalid_value",
        )


def too_long(text: str, place: str, most: int) -> Iterator[Objection]:
    """Yield that a text has too many characters."""
    if len(text) > most:
        yield Objection(
            f"Invalid '{place}': string too long. Expected a string with maximum length {most}, but"
            f" got a string with length {len(text)} instead.",
            place,
            "string_above_max_length",
        )


def empty(place: str) -> Objection:
    """Return that there has to be something in an array."""
    return Objection(
        f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty"
        " array instead.",
        place,
        "empty_array",
    )


def _of_parameters(function: Function) -> Iterator[Objection]:
    schema = function.definition.get("parameters")
    if schema is None:
        return
    name = function.definition["name"]
    for fault in faults(schema, strict=function.definition.get("strict") is True):
        yield Objection(
            f"Invalid schema for function '{name}': {fault}.",
            f"{function.place}.parameters",
            "invalid_function_parameters",
        )


def _repeated(functions: list[Function]) -> Iterator[Objection]:
    names = [function.definition["name"] for function in functions]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Objection(f"Duplicate function name '{name}' in 'tools'.", "tools", "invalid_value")


_NOT_AT_THE_ROOT = (*UNIONS, "enum", "not")
_NUMERIC = frozenset({
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
})  # fmt: skip
_ON_ANY = frozenset({"type", "description", "title", "enum", "const", "anyOf"})
_ON_TYPE = {
    "string": frozenset({"pattern", "format"}),
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}

MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_CHARACTERS = 120_000
MAX_VALUES = 1_000


def faults(schema: dict[str, JSON], *, strict: bool) -> Iterator[str]:
    """Yield what OpenAI refuses in the schema of a tool's parameters."""
    wrong = list(unsound(schema))
    if wrong:
        yield wrong[0]
        return
    yield from _of_root(schema)
    for node in leading_nowhere(schema):
        yield _told(node, f"reference '{node.schema['$ref']}' leads nowhere")
    for node in walk(schema):
        for rule in _STRICT if strict else _LAX:
            yield from (_told(node, what) for what in rule(node))
    if strict:
        yield from _sizes(schema)


def _told(node: Node, what: str) -> str:
    return f"In context={node.path!r}, {what}"


def _of_root(schema: dict[str, JSON]) -> Iterator[str]:
    given = schema.get("type")
    if given != "object":
        yield f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{given}\"'"
    elif any(keyword in schema for keyword in _NOT_AT_THE_ROOT):
        yield (
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at"
            " the top level"
        )


def _items(node: Node) -> Iterator[str]:
    if "array" in node.types and not isinstance(node.schema.get("items"), dict):
        yield "array schema missing items"


def _properties(node: Node) -> Iterator[str]:
    if "object" in node.types and "properties" not in node.schema:
        yield "object schema missing properties"


def _lookaround(node: Node) -> Iterator[str]:
    if has_lookaround(node.keywords.get("pattern", "")):
        yield "regex lookaround is not supported"


def _known(node: Node) -> Iterator[str]:
    if not isinstance(node.schema, dict):
        if node.path[-1] != "additionalProperties":
            yield "schema must have a 'type' key"
    elif "$ref" in node.schema:
        beside = {*node.schema} - {"$ref"}
        if beside:
            yield f"$ref cannot have keywords {beside!r}"
    else:
        known = _ON_ANY.union(*(_ON_TYPE.get(each, ()) for each in node.types))
        known = known.union(DEFINITIONS) if not node.path else known
        yield from (f"'{each}' is not permitted" for each in node.schema if each not in known)


def _typed(node: Node) -> Iterator[str]:
    if isinstance(node.schema, dict) and node.schema.keys().isdisjoint({"type", "$ref", "anyOf"}):
        yield "schema must have a 'type' key"


def _closed(node: Node) -> Iterator[str]:
    if "object" not in node.types:
        return
    if node.schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false"
    properties = node.schema.get("properties", {}).keys()
    missing = [name for name in properties if name not in node.schema.get("required", ())]
    if missing or ("required" not in node.schema and "properties" in node.schema and properties):
        yield (
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{missing[0]}'"
        )
    for extra in {*node.schema.get("required", ())} - properties:
        yield f"'required' is required to be an array of keys of properties. Extra '{extra}'"


def _format(node: Node) -> Iterator[str]:
    given = node.keywords.get("format")
    if given is not None and given not in FORMATS:
        yield f"'{given}' is not a valid format"


def _pattern(node: Node) -> Iterator[str]:
    if is_elaborate(node.keywords.get("pattern", "")):
        yield "regex is not supported"


_Rule = Callable[[Node], Iterator[str]]
_LAX: tuple[_Rule, ...] = (_items, _properties, _lookaround)
_STRICT: tuple[_Rule, ...] = (
    _known, _typed, _items, _properties, _closed, _format, _lookaround, _pattern,
)  # fmt: skip


def _sizes(schema: dict[str, JSON]) -> Iterator[str]:
    nodes = [node.keywords for node in walk(schema)]
    names = [name for node in nodes for name in node.get("properties", ())]
    words = names + [name for key in DEFINITIONS for name in schema.get(key, ())]
    values = [value for node in nodes for value in node.get("enum", ())]
    texts = words + values + [node["const"] for node in nodes if "const" in node]
    counts = (
        ("object properties", len(names), MAX_PROPERTIES),
        ("enum values", len(values), MAX_VALUES),
        ("characters in names and values", sum(map(_length, texts)), MAX_CHARACTERS),
        ("levels of nesting", _levels(schema, schema), MAX_LEVELS),
    )
    for what, count, most in counts:
        if count > most:
            yield f"{count} {what} exceeds limit of {most}"


def _length(value: JSON) -> int:
    return len(value if isinstance(value, str) else json.dumps(value))


def _levels(schema: JSON, root: JSON, entered: tuple[str, ...] = ()) -> int:
    """Return how many objects and arrays lie in one another, a circle entered once."""
    node = Node((), schema)
    reference = node.keywords.get("$ref")
    if isinstance(reference, str):
        again = reference in entered
        target = lookup(root, reference).target
        return 0 if again else _levels(target, root, (*entered, reference))
    below = [_levels(child, root, entered) for child in _inner(node.keywords)]
    return (not {"array", "object"}.isdisjoint(node.types)) + max(below, default=0)


def _inner(keywords: dict[str, JSON]) -> list[JSON]:
    """Return the subschemas directly in a strict schema, but for its definitions."""
    items = [keywords["items"]] if "items" in keywords else []
    return [*keywords.get("properties", {}).values(), *keywords.get("anyOf", ()), *items]
