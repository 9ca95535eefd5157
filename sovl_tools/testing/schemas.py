"""Which schemas of tools the providers reject: one check, with a table for each provider.

After OpenAI's guide to Structured Outputs, "Supported schemas", Anthropic's guides to tool use and
to structured outputs, "JSON Schema limitations", and the APIs' own messages. The limits of size
are not checked, except Anthropic's for all strict tools of a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_ESCAPE = re.compile(r"\\[^1-9k]")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_ELABORATE = re.compile(r"[*+?}]\?|\(\?<?[=!]|\(\?P=|\\[1-9k]")


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


class Rules(NamedTuple):
    """The limits of a provider and its messages.

    Attributes:
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
        recursion: whether references of a strict schema can lead back.
    """

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
    any_tool: Callable[[Node], Iterator[str]]
    strict_tool: Callable[[Node], Iterator[str]]
    recursion: bool


def faults(rules: Rules, schema: dict[str, Any], *, strict: bool) -> Iterator[str]:
    """Yield the faults that a provider finds in the schema of a tool's parameters."""
    for _ in meta_schema().problems(schema):
        yield f"{rules.place.format(())}JSON schema is invalid"  # the other checks need a valid one
        return
    if schema.get("type") != "object":
        yield rules.not_object.format(schema.get("type"))
    elif any(keyword in schema for keyword in rules.not_at_root):
        yield rules.at_root
    for node in walk(schema):
        wrong = [*_leading_nowhere(schema, node), *rules.any_tool(node)]
        wrong += [*_unsupported(rules, node), *rules.strict_tool(node)] if strict else []
        yield from (f"{rules.place.format(node.path)}{what}" for what in wrong)
    if strict and not rules.recursion and _is_recursive(schema, schema):
        yield f"{rules.place}Recursive schemas are not supported"


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
    if _ELABORATE.search(_plain(pattern)):
        yield rules.pattern.format(pattern)


def _plain(pattern: str) -> str:
    """Return a regular expression without its escapes and classes."""
    return _CLASS.sub("_", _ESCAPE.sub("_", pattern))


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
    properties, required = keywords.get("properties", {}), keywords.get("required", ())
    missing = [name for name in properties if name not in required]
    if missing:
        yield (
            "'required' is required to be supplied and to be an array including every key in"
            f" properties. Missing '{missing[0]}'"
        )
    for extra in [name for name in required if name not in properties]:
        yield f"'required' is required to be an array of keys of properties. Extra '{extra}'"


_NUMERIC = frozenset({
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
})  # fmt: skip
OPENAI = Rules(
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
    pattern="regex is not supported: {}",
    open="'additionalProperties' is required to be supplied and to be false",
    any_tool=_any_of_openai,
    strict_tool=_strict_of_openai,
    recursion=True,
)

_PROPERTY = "^[a-zA-Z0-9_.-]{1,64}$"


def _any_of_anthropic(node: Node) -> Iterator[str]:
    for name in node.keywords.get("properties", ()) if not node.path else ():
        if not re.fullmatch(_PROPERTY, name):
            yield f"Property keys should match pattern '{_PROPERTY}', got '{name}'"


def _strict_of_anthropic(node: Node) -> Iterator[str]:
    keywords = node.keywords
    if keywords.get("minItems", 0) > 1:
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    # null is primitive, so that an absent const does no harm
    values = [*keywords.get("enum", ()), keywords.get("const")]
    if any(isinstance(value, dict | list) for value in values):
        yield "Enum values must be primitive"
    if any("$ref" in each.keywords for part in keywords.get("allOf", ()) for each in walk(part)):
        yield "allOf with $ref is not supported"


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
    recursion=False,
)  # fmt: skip


def over_limits(strict: Sequence[JSON]) -> Iterator[str]:
    """Yield the limits of Anthropic that the strict schemas of one request exceed together."""
    nodes = [node.keywords for schema in strict for node in walk(schema)]
    optional = sum(
        len({*node.get("properties", ())} - {*node.get("required", ())}) for node in nodes
    )
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    for what, count, most in (
        ("strict tools", len(strict), 20),
        ("optional parameters", optional, 24),
        ("parameters with union types", unions, 16),
    ):
        if count > most:
            yield f"Schemas contain too many {what} ({count}). The limit is {most}."
