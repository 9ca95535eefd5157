"""Which schemas of tools the providers reject.

After OpenAI's guide to Structured Outputs, "Supported schemas", and Anthropic's guides to tool use
and to structured outputs, "JSON Schema limitations". The limits of size aren't checked, except
Anthropic's for all strict tools of a request. A ``$ref`` that leads nowhere is rejected in every
tool, although only strict ones document it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, dotted
from sovl_tools.schema.engine import meta_schema
from sovl_tools.schema.subschemas import SchemaNode, children, nodes

_ANY = frozenset({"type", "description", "title", "enum", "const", "anyOf", "$ref"})
_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_NUMERIC = frozenset({
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
})  # fmt: skip
_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip


class Strict(NamedTuple):
    """What a provider accepts in strict schemas: keywords, keywords of a type, and formats."""

    keywords: frozenset[str]
    of_type: Mapping[str, frozenset[str]]
    formats: frozenset[str]


_OPENAI = Strict(
    _ANY,
    {
        "string": frozenset({"pattern", "format"}),
        "number": _NUMERIC,
        "integer": _NUMERIC,
        "array": frozenset({"items", "minItems", "maxItems"}),
        "object": _OBJECT,
    },
    _FORMATS,
)
_ANTHROPIC = Strict(
    _ANY | {"allOf", "default"},
    {
        "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
        "array": frozenset({"items", "minItems"}),
        "object": _OBJECT,
    },
    _FORMATS | {"uri"},
)
_DEFINITIONS = frozenset({"$defs", "definitions"})
_UNIONS = frozenset({"oneOf", "anyOf", "allOf"})
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

# in this order: an escaped bracket opens no class, and in a class a parenthesis is a letter
_ESCAPE = re.compile(r"\\[^1-9k]")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_ELABORATE = re.compile(r"[*+?}]\?|\(\?<?[=!]|\(\?P=|\\[1-9k]")


def faults(schema: dict[str, Any], *, of_openai: bool, strict: bool) -> Iterator[str]:
    """Yield why a provider rejects the schema of a tool's parameters."""
    if meta_schema().problems(schema):
        yield "it isn't a valid JSON Schema"  # the other checks need a valid one
        return
    if schema.get("type") != "object":
        yield "it must have the type 'object'"
    unions = schema.keys() & (_UNIONS | {"enum", "not"} if of_openai else _UNIONS)
    if unions:
        yield f"it can't have {', '.join(sorted(unions))} at the top level"
    for node in nodes(schema, ()):
        wrong = [*_of_any_tool(node, of_openai=of_openai)]
        if strict:
            wrong += _of_strict_tool(node, _OPENAI if of_openai else _ANTHROPIC)
            wrong += _of_strict_openai(node) if of_openai else _of_strict_anthropic(node)
        yield from (f"{dotted(node.path) or 'its root'}: {what}" for what in wrong)


def _of_any_tool(node: SchemaNode, *, of_openai: bool) -> Iterator[str]:
    schema, types = node.schema, _types(node.schema)
    if "$ref" in schema and node.target() is None:
        yield f"the reference {schema['$ref']!r} leads nowhere"
    if not of_openai:
        for name in schema.get("properties", ()) if not node.path else ():
            if not _PROPERTY.fullmatch(name):
                yield f"property keys must match {_PROPERTY.pattern!r}, unlike {name!r}"
        return
    if "array" in types and not isinstance(schema.get("items"), dict):
        yield "an array needs 'items'"
    if "object" in types and "properties" not in schema:
        yield "an object needs 'properties'"
    if _LOOKAROUND.search(_plain(schema.get("pattern", ""))):
        yield "regex lookaround isn't supported"


def _of_strict_tool(node: SchemaNode, strict: Strict) -> Iterator[str]:
    schema, types = node.schema, _types(node.schema)
    known = strict.keywords.union(*(strict.of_type.get(each, ()) for each in types))
    known = known if node.path else known | _DEFINITIONS  # only the root has definitions
    yield from (f"{each!r} isn't supported here" for each in schema if each not in known)
    if "object" in types and schema.get("additionalProperties") is not False:
        yield "'additionalProperties' must be false"
    if schema.get("format") not in {None, *strict.formats}:
        yield f"the format {schema['format']!r} isn't supported"
    if _ELABORATE.search(_plain(schema.get("pattern", ""))):
        yield f"the pattern {schema['pattern']!r} isn't supported"


def _of_strict_openai(node: SchemaNode) -> Iterator[str]:
    schema = node.schema
    loose = [below for below, child in children(schema) if isinstance(child, bool)]
    if schema.keys().isdisjoint({"type", "anyOf", "$ref"}) or {*loose} - {
        ("additionalProperties",)
    }:
        yield "each schema needs a 'type'"
    if "$ref" in schema and len(schema) > 1:
        yield "'$ref' can't have other keywords next to it"
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if properties.keys() != {*required}:
        yield f"'required' must list exactly the properties: {', '.join(properties)}"


def _of_strict_anthropic(node: SchemaNode) -> Iterator[str]:
    schema = node.schema
    if schema.get("minItems", 0) > 1:
        yield "'minItems' can only be 0 or 1"
    if any(
        isinstance(each, dict | list) for each in (*schema.get("enum", ()), schema.get("const"))
    ):
        yield "the values of 'enum' must be primitive"
    if "$ref" in str(schema.get("allOf", "")):
        yield "'allOf' can't have '$ref' in it"
    if _leads_back(node):
        yield "recursive schemas aren't supported"


def _leads_back(node: SchemaNode) -> bool:
    """Return whether references below a node lead to it."""
    reached, pending = set(), [node]
    for each in pending:  # which grows
        pending += each.children()
        target = each.target()
        if target is not None and target.path not in reached:
            reached.add(target.path)
            pending.append(target)
    return node.path in reached


def _types(schema: JSON) -> tuple[str, ...]:
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


def _plain(pattern: str) -> str:
    """Return a regular expression without its escapes and classes."""
    return _CLASS.sub("_", _ESCAPE.sub("_", pattern))


def over_limits(strict: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the limits of Anthropic that the strict schemas of one request exceed together."""
    every = [node.schema for schema in strict for node in nodes(schema, ())]
    optional = sum(
        len({*each.get("properties", ())} - {*each.get("required", ())}) for each in every
    )
    unions = sum("anyOf" in each or isinstance(each.get("type"), list) for each in every)
    for what, count, most in (
        ("strict tools", len(strict), 20),
        ("optional parameters", optional, 24),
        ("parameters with union types", unions, 16),
    ):
        if count > most:
            yield f"the schemas have too many {what}, {count}; the limit is {most}"
