"""Which schemas of tools the providers reject: one check, with a table for each provider.

After OpenAI's guide to Structured Outputs, "Supported schemas", Anthropic's guides to tool use and
to structured outputs, "JSON Schema limitations", and the APIs' own messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.engine import meta_schema
from sovl_tools.schema.subschemas import children, lookup

_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip
_UNIONS = ("oneOf", "anyOf", "allOf")
_DEFINITIONS = frozenset({"$defs", "definitions"})

# in this order: an escaped bracket opens no class, and in a class a parenthesis is a letter
_ESCAPE = re.compile(r"\\.")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_ELABORATE = re.compile(r"[*+?}]\?|\(\?<?[=!]|\(\?P=")
_BACKREFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)")


class Node(NamedTuple):
    """A subschema, or true or false, and its path from the root."""

    path: Path
    schema: JSON

    @property
    def keywords(self) -> dict[str, JSON]:
        """Its keywords; true and false don't have one."""
        return self.schema if isinstance(self.schema, dict) else {}

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it names."""
        named = self.keywords.get("type", ())
        return (named,) if isinstance(named, str) else tuple(named)


def walk(schema: JSON, path: Path = ()) -> Iterator[Node]:
    """Yield a schema and all that is in it, those above before those below."""
    node = Node(path, schema)
    yield node
    for below, child in children(node.keywords):
        yield from walk(child, (*path, *below))


Check = Callable[[Node], Iterator[str]]


class Rules(NamedTuple):
    """The limits of a provider and its messages.

    Attributes:
        unsound: message for a schema that draft 2020-12 rejects; None for the engine's finding.
        not_object: message for a root of another type.
        not_at_root: keywords that the root can't have.
        at_root: message for a root with such a keyword.
        place: start of the messages about a node.
        on_any: keywords that any strict schema can have.
        on_type: further keywords of a strict schema, by its type.
        formats: formats that a strict schema can have.
        keyword, format, pattern, open: messages for other problems.
        any_tool: checks each node of any tool.
        strict_tool: checks each node of a strict tool.
        root: checks a whole schema, strict or not.
    """

    unsound: str | None
    not_object: str
    not_at_root: tuple[str, ...]
    at_root: str
    place: str
    on_any: frozenset[str]
    on_type: Mapping[str, frozenset[str]]
    formats: frozenset[str]
    keyword: str
    format: str
    pattern: str
    open: str
    any_tool: Check
    strict_tool: Check
    root: Callable[[dict[str, Any], bool], Iterator[str]]


def faults(rules: Rules, schema: dict[str, Any], *, strict: bool) -> Iterator[str]:
    """Yield the faults that a provider finds in the schema of a tool's parameters."""
    for problem in meta_schema().problems(schema):
        # in the words of the APIs, which don't say much; the other checks need a sound schema
        yield rules.unsound or f"{problem.value!r} is not valid under any of the given schemas"
        return
    if schema.get("type") != "object":
        yield rules.not_object.format(schema.get("type"))
    elif any(keyword in schema for keyword in rules.not_at_root):
        yield rules.at_root
    for node in walk(schema):
        wrong = [*_leading_nowhere(schema, node), *rules.any_tool(node)]
        wrong += [*_unsupported(rules, node), *rules.strict_tool(node)] if strict else []
        yield from (f"{rules.place.format(node.path)}{what}" for what in wrong)
    yield from rules.root(schema, strict)


def _leading_nowhere(schema: JSON, node: Node) -> Iterator[str]:
    reference = node.keywords.get("$ref")
    if reference is not None and not isinstance(lookup(schema, reference).target, dict | bool):
        yield f"reference '{reference}' leads nowhere"


def _unsupported(rules: Rules, node: Node) -> Iterator[str]:
    """Yield the faults of a node in a strict schema, by the rules of both providers."""
    keywords = node.keywords
    known = rules.on_any.union(*(rules.on_type.get(each, ()) for each in node.types))
    # only the root has definitions
    known = known if node.path else known | _DEFINITIONS
    for each in keywords:
        if each not in known:
            yield rules.keyword.format(each, "/".join(node.types) or "schema")
    if "object" in node.types and keywords.get("additionalProperties") is not False:
        yield rules.open
    given = keywords.get("format")
    if given is not None and given not in rules.formats:
        yield rules.format.format(given)
    pattern = keywords.get("pattern", "")
    if _ELABORATE.search(_plain(pattern)) or _BACKREFERENCE.search(pattern):
        yield rules.pattern.format(pattern)


def _plain(pattern: str) -> str:
    """Return a regular expression without its escapes and classes."""
    return _CLASS.sub("_", _ESCAPE.sub("_", pattern))


def exceeded(counts: Iterable[tuple[str, int, int]], words: str) -> Iterator[str]:
    """Yield a message for each count that exceeds its limit."""
    for what, count, most in counts:
        if count > most:
            yield words.format(what=what, count=count, most=most)


# OpenAI's: of one strict schema
MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_CHARACTERS = 120_000
MAX_VALUES = 1_000


def _any_of_openai(node: Node) -> Iterator[str]:
    if "array" in node.types and not isinstance(node.schema.get("items"), dict):
        yield "array schema missing items"
    if "object" in node.types and "properties" not in node.schema:
        yield "object schema missing properties"
    if _LOOKAROUND.search(_plain(node.keywords.get("pattern", ""))):
        yield "regex lookaround is not supported"


def _strict_of_openai(node: Node) -> Iterator[str]:
    keywords = node.keywords
    is_closing = not isinstance(node.schema, dict) and node.path[-1] == "additionalProperties"
    if keywords.keys().isdisjoint({"type", "anyOf", "$ref"}) and not is_closing:
        yield "schema must have a 'type' key"
    beside = {*keywords} - {"$ref"}
    if "$ref" in keywords and beside:
        yield f"$ref cannot have keywords {beside!r}"
    if "object" not in node.types:
        return
    # both directions, because both lists must name the same keys
    properties, required = keywords.get("properties", {}).keys(), keywords.get("required", ())
    missing = [name for name in properties if name not in required]
    if missing:
        yield (
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{missing[0]}'"
        )
    for extra in [name for name in required if name not in properties]:
        yield f"'required' is required to be an array of keys of properties. Extra '{extra}'"


def _root_of_openai(schema: dict[str, Any], strict: bool) -> Iterator[str]:  # noqa: FBT001
    if not strict:
        return
    nodes = [node.keywords for node in walk(schema)]
    names = [name for node in nodes for name in node.get("properties", ())]
    words = names + [name for key in _DEFINITIONS for name in schema.get(key, ())]
    values = [value for node in nodes for value in node.get("enum", ())]
    texts = words + values + [node["const"] for node in nodes if "const" in node]
    characters = sum(len(each if isinstance(each, str) else json.dumps(each)) for each in texts)
    counts = (
        ("object properties", len(names), MAX_PROPERTIES),
        ("enum values", len(values), MAX_VALUES),
        ("characters in names and values", characters, MAX_CHARACTERS),
        ("levels of nesting", _levels(schema, schema), MAX_LEVELS),
    )
    yield from exceeded(counts, "{count} {what} exceeds limit of {most}")


def _levels(schema: JSON, root: JSON, entered: tuple[str, ...] = ()) -> int:
    """Return the depth of nested objects and arrays; a circle counts once."""
    node = Node((), schema)
    reference = node.keywords.get("$ref")
    if isinstance(reference, str):
        again = reference in entered
        target = lookup(root, reference).target
        return 0 if again else _levels(target, root, (*entered, reference))
    keywords = node.keywords
    inner = [*keywords.get("properties", {}).values(), *keywords.get("anyOf", ())]
    inner += [keywords["items"]] if "items" in keywords else []
    below = [_levels(child, root, entered) for child in inner]
    return (not {"array", "object"}.isdisjoint(node.types)) + max(below, default=0)


_NUMERIC = frozenset({
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
})  # fmt: skip
OPENAI = Rules(
    unsound=None,
    not_object="schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{}\"'",
    not_at_root=(*_UNIONS, "enum", "not"),
    at_root=(
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at"
        " the top level"
    ),
    place="In context={!r}, ",
    on_any=frozenset({"type", "description", "title", "enum", "const", "anyOf", "$ref"}),
    on_type={
        "string": frozenset({"pattern", "format"}),
        "number": _NUMERIC,
        "integer": _NUMERIC,
        "array": frozenset({"items", "minItems", "maxItems"}),
        "object": frozenset({"properties", "required", "additionalProperties"}),
    },
    formats=_FORMATS,
    keyword="'{}' is not permitted",
    format="'{}' is not a valid format",
    pattern="regex is not supported",
    open="'additionalProperties' is required to be supplied and to be false",
    any_tool=_any_of_openai,
    strict_tool=_strict_of_openai,
    root=_root_of_openai,
)

PROPERTY = "^[a-zA-Z0-9_.-]{1,64}$"

# Anthropic's: of all strict tools of a request together
MAX_STRICT = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16


def _any_of_anthropic(_node: Node) -> Iterator[str]:
    # a tool that isn't strict can use all of JSON Schema
    yield from ()


def _strict_of_anthropic(node: Node) -> Iterator[str]:
    keywords = node.keywords
    if keywords.get("minItems", 0) > 1:
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    # null is primitive, so that an absent const does no harm
    values = [*keywords.get("enum", ()), keywords.get("const")]
    if any(isinstance(value, dict | list) for value in values):
        yield "Enum values must be primitive"
    branches = keywords.get("allOf", ())
    if any("$ref" in each.keywords for branch in branches for each in walk(branch)):
        yield "allOf with $ref is not supported"


def _root_of_anthropic(schema: dict[str, Any], strict: bool) -> Iterator[str]:  # noqa: FBT001
    for name in schema.get("properties", ()):
        if not re.fullmatch(PROPERTY, name):
            yield (
                "input_schema.properties: Property keys should match pattern"
                f" '{PROPERTY}', got '{name}'"
            )
    if strict and _is_recursive(schema, schema):
        yield "input_schema: Recursive schemas are not supported"


def _is_recursive(root: JSON, schema: JSON, entered: tuple[str, ...] = ()) -> bool:
    """Return whether following references leads back to a reference followed before."""
    # exponential in theory, but schemas of tests are small
    references = {node.keywords["$ref"] for node in walk(schema) if "$ref" in node.keywords}
    return any(
        reference in entered
        or _is_recursive(root, lookup(root, reference).target, (*entered, reference))
        for reference in references
    )


ANTHROPIC = Rules(
    unsound=(
        "input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
        " (https://json-schema.org/draft/2020-12)."
    ),
    not_object="input_schema.type: Input should be 'object'",
    not_at_root=_UNIONS,
    at_root="input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    place="input_schema: ",
    on_any=frozenset({
        "type", "description", "title", "enum", "const", "anyOf", "allOf", "default", "$ref",
        *_DEFINITIONS,
    }),
    on_type={
        "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
        "array": frozenset({"items", "minItems"}),
        "object": frozenset({"properties", "required", "additionalProperties"}),
    },
    formats=_FORMATS | {"uri"},
    keyword="For '{1}' type, property '{0}' is not supported",
    format="For 'string' type, format '{}' is not supported",
    pattern="Pattern '{}' is not supported",
    open="For 'object' type, 'additionalProperties' must be explicitly set to false",
    any_tool=_any_of_anthropic,
    strict_tool=_strict_of_anthropic,
    root=_root_of_anthropic,
)  # fmt: skip


def over_limits(strict: Sequence[JSON]) -> Iterator[str]:
    """Yield the limits of Anthropic that the strict schemas of one request exceed together."""
    nodes = [node.keywords for schema in strict for node in walk(schema)]
    optional = sum(
        len({*node.get("properties", ())} - {*node.get("required", ())}) for node in nodes
    )
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    counts = (
        ("strict tools", len(strict), MAX_STRICT),
        ("optional parameters", optional, MAX_OPTIONAL),
        ("parameters with union types", unions, MAX_UNIONS),
    )
    yield from exceeded(counts, "Schemas contain too many {what} ({count}). The limit is {most}.")
