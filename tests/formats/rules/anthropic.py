"""Anthropic: tools of Messages, strict and not, and what a request can hold of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from tests.formats.rules import checks
from tests.formats.rules.openai import FORMATS as FORMATS_OF_OPENAI
from tests.formats.rules.walking import Node, edges, has_cycle, types, walk

NAME = r"[a-zA-Z0-9_-]{1,128}"
PROPERTY = r"[a-zA-Z0-9_.-]{1,64}"
FORMATS = {*FORMATS_OF_OPENAI, "uri"}

MAX_STRICT = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16
MAX_BREAKPOINTS = 4

_NOT_AT_THE_ROOT = (*checks.UNIONS, "$ref")
_ON_ANY = {"type", "description", "title", "enum", "const", "anyOf", "allOf", "default"}
_ON_TYPE = {
    "string": {"pattern", "format"},
    "array": {"items", "minItems"},
    "object": {"properties", "required", "additionalProperties"},
}
_TYPED_BY = {"type", "$ref", "anyOf", "allOf", "enum", "const"}
_REPEATED = re.compile(r"\{(\d*),?(\d*)\}")
_MAX_REPETITION = 16


def problems_of_anthropic(definition: Any, *, strict: bool) -> list[str]:
    """Return what Messages rejects in a tool that is, or isn't, marked strict."""
    optional: dict[str, checks.Kinds] = {
        "description": str, "strict": bool, "input_examples": list, "defer_loading": bool,
        "cache_control": (dict, type(None)), "type": str, "allowed_callers": list,
        "eager_input_streaming": (bool, type(None)),
    }  # fmt: skip
    wrong = list(checks.keys(definition, {"name": str, "input_schema": dict}, optional))
    if wrong:
        return wrong
    schema = definition["input_schema"]
    wrong += checks.name(definition["name"], NAME)
    wrong += _marks(definition, strict=strict)
    wrong += problems_of_schema(schema, strict=strict)
    return wrong + (list(_examples(definition)) if not wrong else [])


def _marks(definition: dict[str, Any], *, strict: bool) -> Iterator[str]:
    if definition.get("strict", False) is not strict:
        yield f"strict is {definition.get('strict')!r}"
    control = definition.get("cache_control")
    if definition.get("defer_loading"):
        if control is not None:
            yield "cannot have both defer_loading=true and cache_control set"
        if "input_examples" in definition:
            yield "input_examples are not usable with the search for tools"
    if control is not None:
        yield from checks.keys(control, {"type": str}, {"ttl": str}, of="cache_control")
        if control.get("type") != "ephemeral" or control.get("ttl", "5m") not in ("5m", "1h"):
            yield f"cache_control is {control!r}"


def _examples(definition: dict[str, Any]) -> Iterator[str]:
    validator = Draft202012Validator(definition["input_schema"])
    for example in definition.get("input_examples", ()):
        if not isinstance(example, dict) or not validator.is_valid(example):
            yield f"the example {example!r} is rejected by the schema"


def problems_of_schema(schema: dict[str, Any], *, strict: bool) -> list[str]:
    """Return what Anthropic rejects in the schema of a tool's parameters."""
    wrong = [*checks.sound(schema)]
    if wrong:
        return wrong
    wrong += _root(schema)
    if not strict:
        return wrong
    wrong += checks.leading_nowhere(schema)
    wrong += [
        f"{node.place or '/'}: {what}"
        for node in walk(schema)
        for rule in _STRICT_RULES
        for what in rule(node)
    ]
    return wrong + (["the schema is recursive"] if has_cycle(edges(schema)) else [])


def _root(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"the root has the type {schema.get('type')!r}"
    yield from (f"the root has {each!r}" for each in _NOT_AT_THE_ROOT if each in schema)
    if "$schema" in schema:
        yield "the root names its dialect"
    for name in schema.get("properties", ()):
        if not re.fullmatch(PROPERTY, name):
            yield f"the property name {name!r} does not match {PROPERTY}"


def _known(node: Node) -> Iterator[str]:
    if not isinstance(node.schema, dict):
        if not node.place.endswith("/additionalProperties"):
            yield "true and false aren't schemas here"
    elif "$ref" in node.schema:
        yield from (f"{each!r} next to $ref" for each in node.schema if each != "$ref")
    else:
        known = _ON_ANY.union(*(_ON_TYPE.get(each, ()) for each in types(node.schema)))
        definitions = set() if node.place else {"$defs", "definitions"}
        yield from (
            f"{each!r} is not supported" for each in node.schema.keys() - known - definitions
        )


def _typed(node: Node) -> Iterator[str]:
    if isinstance(node.schema, dict) and node.schema.keys().isdisjoint(_TYPED_BY):
        yield "a value of any type"


def _closed(node: Node) -> Iterator[str]:
    if "object" not in types(node.schema):
        return
    if node.schema.get("additionalProperties") is not False:
        yield "'additionalProperties' must be explicitly set to false"
    undeclared = {*node.schema.get("required", ())} - node.schema.get("properties", {}).keys()
    yield from (f"{name!r} is required and not declared" for name in undeclared)


def _array(node: Node) -> Iterator[str]:
    if "array" not in types(node.schema):
        return
    if "items" not in node.schema:
        yield "an array without items"
    if node.schema.get("minItems", 0) > 1:
        yield "minItems is over 1"


def _values(node: Node) -> Iterator[str]:
    if isinstance(node.schema, dict):
        values = [*node.schema.get("enum", ()), node.schema.get("const")]
        yield from (f"the value {each!r}" for each in values if isinstance(each, dict | list))


def _allof(node: Node) -> Iterator[str]:
    for branch in node.schema.get("allOf", ()) if isinstance(node.schema, dict) else ():
        if any("$ref" in checks.keywords(each) for each in walk(branch)):
            yield "allOf with $ref"


def _format(node: Node) -> Iterator[str]:
    given = node.schema.get("format") if isinstance(node.schema, dict) else None
    if given is not None and given not in FORMATS:
        yield f"format {given!r} is not supported"


def _pattern(node: Node) -> Iterator[str]:
    if "pattern" not in checks.keywords(node):
        return
    pattern = node.schema["pattern"]
    repeated = [int(each) for pair in _REPEATED.findall(pattern) for each in pair if each]
    unsupported = "(?" in pattern or re.search(r"\\[a-zA-Z0-9]", re.sub(r"\\[dws]", "", pattern))
    if unsupported or checks.is_elaborate(pattern) or max(repeated, default=0) > _MAX_REPETITION:
        yield f"the pattern {pattern!r} is too elaborate"


_STRICT_RULES: tuple[Callable[[Node], Iterator[str]], ...] = (
    _known, _typed, _closed, _array, _values, _allof, _format, _pattern,
)  # fmt: skip


def problems_of_anthropic_request(definitions: Sequence[dict[str, Any]]) -> list[str]:
    """Return what Messages rejects in the tools of one request taken together."""
    strict = [each["input_schema"] for each in definitions if each.get("strict")]
    totals = {
        "strict tools": (len(strict), MAX_STRICT),
        "optional parameters": (sum(map(optional_count, strict)), MAX_OPTIONAL),
        "parameters with unions": (sum(map(union_count, strict)), MAX_UNIONS),
        "breakpoints": (
            sum(each.get("cache_control") is not None for each in definitions), MAX_BREAKPOINTS,
        ),
    }  # fmt: skip
    wrong = [f"{count} {of}, over {most}" for of, (count, most) in totals.items() if count > most]
    if len({each["name"] for each in definitions}) < len(definitions):
        wrong.append("tool names must be unique")
    if definitions and all(each.get("defer_loading") for each in definitions):
        wrong.append("all tools have defer_loading set")
    return wrong


def optional_count(schema: dict[str, Any]) -> int:
    """Return how many properties of a schema, at every level, can be omitted."""
    return sum(
        len(node.schema.get("properties", {}).keys() - {*node.schema.get("required", ())})
        for node in walk(schema)
        if isinstance(node.schema, dict)
    )


def union_count(schema: dict[str, Any]) -> int:
    """Return how many subschemas use ``anyOf`` or a list of types."""
    return sum(
        isinstance(node.schema, dict)
        and ("anyOf" in node.schema or isinstance(node.schema.get("type"), list))
        for node in walk(schema)
    )
