"""OpenAI: tools of Chat Completions and of Responses, strict (Structured Outputs) and not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.formats.rules import checks
from tests.formats.rules.walking import Node, children, target, types, walk

NAME = r"[a-zA-Z0-9_-]{1,64}"
FORMATS = {
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
}  # fmt: skip

_IDENTITY = ("$schema", "$id", "$comment", "$anchor", "$dynamicAnchor")
_NOT_AT_THE_ROOT = (*checks.UNIONS, "enum", "const", "$ref", "if", "then", "else")

_ON_ANY = {"type", "description", "title", "enum", "const", "anyOf"}
_NUMERIC = {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"}
_ON_TYPE = {
    "string": {"pattern", "format"},
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}

MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_CHARACTERS = 120_000
MAX_VALUES = 1_000
LONG_ENUM = 250
MAX_CHARACTERS_OF_LONG_ENUM = 15_000


def problems_of_openai(definition: Any, *, strict: bool) -> list[str]:
    """Return what Chat Completions rejects in a tool that is, or isn't, marked strict."""
    wrong = list(checks.keys(definition, {"type": str, "function": dict}, {}))
    if wrong:
        return wrong
    function = definition["function"]
    optional: dict[str, checks.Kinds] = {
        "description": str,
        "parameters": dict,
        "strict": (bool, type(None)),
    }
    wrong += checks.keys(function, {"name": str}, optional, of="the function")
    wrong += _head(definition, function)
    if (function.get("strict") is True) is not strict:
        wrong.append(f"strict is {function.get('strict')!r}")
    return wrong + (problems_of_schema(function["parameters"], strict=strict) if not wrong else [])


def problems_of_openai_responses(definition: Any, *, strict: bool) -> list[str]:
    """Return what Responses rejects in a tool that is, or isn't, marked strict."""
    needed = {"type": str, "name": str, "parameters": dict, "strict": bool}
    optional = {
        "description": str, "defer_loading": bool, "allowed_callers": list,
        "output_schema": dict, "async": bool,
    }  # fmt: skip
    wrong = list(checks.keys(definition, needed, optional))
    if wrong:
        return wrong
    wrong += _head(definition, definition)
    if definition["strict"] is not strict:
        wrong.append(f"strict is {definition['strict']!r}")
    return wrong + problems_of_schema(definition["parameters"], strict=strict)


def _head(definition: dict[str, Any], named: dict[str, Any]) -> Iterator[str]:
    if definition["type"] != "function":
        yield f"the type is {definition['type']!r}"
    yield from checks.name(named.get("name"), NAME)


def problems_of_schema(schema: dict[str, Any], *, strict: bool) -> list[str]:
    """Return what OpenAI rejects in the schema of a tool's parameters."""
    wrong = [*checks.sound(schema)]
    if wrong:
        return wrong
    wrong += checks.leading_nowhere(schema)
    wrong += _root(schema)
    wrong += [
        f"{node.place or '/'}: {what}"
        for node in walk(schema)
        for rule in (_STRICT_RULES if strict else _LAX_RULES)
        for what in rule(node)
    ]
    return wrong + (list(_sizes(schema)) if strict and not wrong else [])


def _root(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"the root has the type {schema.get('type')!r}"
    yield from (f"the root has {each!r}" for each in _NOT_AT_THE_ROOT if each in schema)


def _identity(node: Node) -> Iterator[str]:
    yield from (f"{each!r} is no use" for each in _IDENTITY if each in checks.keywords(node))


def _items(node: Node) -> Iterator[str]:
    if "array" in types(node.schema) and not isinstance(node.schema.get("items"), dict):
        yield "array schema missing items"


def _properties(node: Node) -> Iterator[str]:
    if "object" in types(node.schema) and "properties" not in node.schema:
        yield "object schema missing properties"


def _lookaround(node: Node) -> Iterator[str]:
    if "pattern" in checks.keywords(node) and checks.has_lookaround(node.schema["pattern"]):
        yield "regex lookaround is not supported"


def _known(node: Node) -> Iterator[str]:
    if not isinstance(node.schema, dict):
        if not node.place.endswith("/additionalProperties"):
            yield "true and false aren't schemas here"
    elif "$ref" in node.schema:
        yield from (f"$ref cannot have {each!r}" for each in node.schema if each != "$ref")
        if node.schema["$ref"] != "#" and not node.schema["$ref"].startswith("#/$defs/"):
            yield f"a reference {node.schema['$ref']!r}"
    else:
        known = _ON_ANY.union(*(_ON_TYPE.get(each, ()) for each in types(node.schema)))
        definitions = set() if node.place else {"$defs", "definitions"}
        yield from (
            f"{each!r} is not permitted" for each in node.schema.keys() - known - definitions
        )


def _typed(node: Node) -> Iterator[str]:
    if isinstance(node.schema, dict) and node.schema.keys().isdisjoint({"type", "$ref", "anyOf"}):
        yield "schema must have a 'type' key"


def _closed(node: Node) -> Iterator[str]:
    if "object" not in types(node.schema):
        return
    if node.schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false"
    required = node.schema.get("required")
    if required is None or {*required} != node.schema.get("properties", {}).keys():
        yield "'required' is required to be supplied and to name every property"


def _format(node: Node) -> Iterator[str]:
    given = node.schema.get("format") if isinstance(node.schema, dict) else None
    if given is not None and given not in FORMATS:
        yield f"{given!r} is not a valid format"


def _pattern(node: Node) -> Iterator[str]:
    if "pattern" in checks.keywords(node) and checks.is_elaborate(node.schema["pattern"]):
        yield f"the pattern {node.schema['pattern']!r} is too elaborate"


_Rule = Callable[[Node], Iterator[str]]
_LAX_RULES: tuple[_Rule, ...] = (_identity, _items, _properties, _lookaround)
_STRICT_RULES: tuple[_Rule, ...] = (
    _known, _typed, _items, _properties, _closed, _format, _pattern,
)  # fmt: skip


def _sizes(schema: dict[str, Any]) -> Iterator[str]:
    nodes = [node.schema for node in walk(schema) if isinstance(node.schema, dict)]
    enums = [node["enum"] for node in nodes if "enum" in node]
    names = [name for node in nodes for name in node.get("properties", ())]
    words = names + [name for key in ("$defs", "definitions") for name in schema.get(key, ())]
    values = [value for enum in enums for value in enum]
    values += [node["const"] for node in nodes if "const" in node]
    yield from _beyond("properties", len(names), MAX_PROPERTIES)
    yield from _beyond("levels of nesting", levels(schema, schema), MAX_LEVELS)
    yield from _beyond("enum values", sum(map(len, enums)), MAX_VALUES)
    yield from _beyond("characters", sum(map(_length, words + values)), MAX_CHARACTERS)
    for enum in enums:
        texts = [value for value in enum if isinstance(value, str)]
        if len(enum) > LONG_ENUM:
            length = sum(map(len, texts))
            yield from _beyond("characters of an enum", length, MAX_CHARACTERS_OF_LONG_ENUM)


def _beyond(what: str, number: int, limit: int) -> Iterator[str]:
    if number > limit:
        yield f"{number} {what}, over {limit}"


def _length(value: Any) -> int:
    return len(value if isinstance(value, str) else json.dumps(value))


def levels(schema: Any, root: Any, entered: tuple[str, ...] = ()) -> int:
    """Return how many objects and arrays lie in each other, a circle entered once."""
    if not isinstance(schema, dict):
        return 0
    if "$ref" in schema:
        reference = schema["$ref"]
        again = reference in entered
        return 0 if again else levels(target(root, reference), root, (*entered, reference))
    below = [
        levels(child.schema, root, entered)
        for child in children(Node("", schema))
        if not child.place.startswith(("/$defs/", "/definitions/"))
    ]
    return ({"array", "object"} & {*types(schema)} != set()) + max(below, default=0)
