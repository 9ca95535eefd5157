"""The tools of a request to Anthropic, their schemas, and which of them it wants to have called.

After the guides to tool use and to structured outputs, "JSON Schema limitations", and the API's
own messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.subschemas import lookup
from sovl_tools.testing.checking.anthropic_shapes import CUSTOM_TOOL
from sovl_tools.testing.checking.schemas import (
    DEFINITIONS,
    FORMATS,
    UNIONS,
    Node,
    is_elaborate,
    leading_nowhere,
    unsound,
    walk,
)
from sovl_tools.testing.checking.shapes import of_anthropic
from sovl_tools.testing.exchange import Objection

NAME = "^[a-zA-Z0-9_-]{1,128}$"


def of_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield what is refused in the tools of a request."""
    tools = body.get("tools", [])
    for index, tool in enumerate(tools):
        if tool.get("type") in (None, "custom"):
            yield from _of_tool(tool, f"tools.{index}.custom")
        elif not isinstance(tool.get("name"), str):
            yield Objection(f"tools.{index}.name: Field required")
    names = [tool.get("name") for tool in tools]
    if any(names.count(name) > 1 for name in names):
        yield Objection("tools: Tool names must be unique.")
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield Objection("All tools have defer_loading set. At least one tool must be non-deferred.")
    strict = [tool.get("input_schema") for tool in tools if tool.get("strict") is True]
    yield from (Objection(message) for message in over_limits(strict))


def _of_tool(tool: dict[str, Any], place: str) -> Iterator[Objection]:
    wrong = list(of_anthropic(CUSTOM_TOOL, tool))
    yield from (Objection(f"{place}.{each.message}") for each in wrong)
    if wrong:
        return
    if not re.fullmatch(NAME, tool["name"]):
        yield Objection(f"{place}.name: String should match pattern '{NAME}'")
    if tool.get("defer_loading") and tool.get("cache_control"):
        yield Objection(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set."
            " Tools with defer_loading cannot use prompt caching."
        )
    schema = tool["input_schema"]
    wrong = [
        Objection(f"{place}.{fault}") for fault in faults(schema, strict=tool.get("strict") is True)
    ]
    yield from wrong or _of_examples(tool, place)


def _of_examples(tool: dict[str, Any], place: str) -> Iterator[Objection]:
    examples = tool.get("input_examples", ())
    if not examples:
        return
    validator = compile_schema(tool["input_schema"])
    for index, example in enumerate(examples):
        if not validator.is_valid(example):
            yield Objection(
                f"{place}.input_examples.{index}: the example does not match the input_schema"
            )


def of_choice(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield that a request wants a tool called that it doesn't offer, or cannot have."""
    choice = body.get("tool_choice")
    if choice is None:
        return
    tools = body.get("tools", ())
    if not tools and choice["type"] != "none":
        yield Objection("tool_choice: tool_choice may only be specified while providing tools.")
    elif choice["type"] == "tool" and choice["name"] not in [tool.get("name") for tool in tools]:
        yield Objection(f"tool_choice: Tool '{choice['name']}' not found in provided tools")
    is_forced = choice["type"] in ("any", "tool")
    if is_forced and body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        yield Objection("Thinking may not be enabled when tool_choice forces tool use.")


PROPERTY = "^[a-zA-Z0-9_.-]{1,64}$"

MAX_STRICT = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16

_ON_ANY = frozenset({
    "type", "description", "title", "enum", "const", "anyOf", "allOf", "default", "$ref",
})  # fmt: skip
_ON_TYPE = {
    "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
    "array": frozenset({"items", "minItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}


def faults(schema: dict[str, Any], *, strict: bool) -> Iterator[str]:
    """Yield what Anthropic refuses in a tool's ``input_schema``, the place first."""
    if any(unsound(schema)):
        yield (
            "input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
            " (https://json-schema.org/draft/2020-12)."
        )
        return
    yield from _of_root(schema)
    for node in leading_nowhere(schema):
        yield f"input_schema: reference '{node.schema['$ref']}' leads nowhere"
    if strict:
        yield from _of_strict(schema)


def _of_strict(schema: dict[str, Any]) -> Iterator[str]:
    if _is_recursive(schema, schema):
        yield "input_schema: Recursive schemas are not supported"
    for node in walk(schema):
        for rule in _STRICT:
            yield from (f"input_schema: {what}" for what in rule(node))


def _is_recursive(root: JSON, schema: JSON, entered: tuple[str, ...] = ()) -> bool:
    """Tell whether following references leads to one that was followed before."""
    references = {node.keywords["$ref"] for node in walk(schema) if "$ref" in node.keywords}
    return any(
        reference in entered
        or _is_recursive(root, lookup(root, reference).target, (*entered, reference))
        for reference in references
    )


def _of_root(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "input_schema.type: Input should be 'object'"
    if any(union in schema for union in UNIONS):
        yield "input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
    for name in schema.get("properties", ()):
        if not re.fullmatch(PROPERTY, name):
            yield (
                "input_schema.properties: Property keys should match pattern"
                f" '{PROPERTY}', got '{name}'"
            )


def _known(node: Node) -> Iterator[str]:
    known = _ON_ANY.union(DEFINITIONS, *(_ON_TYPE.get(each, ()) for each in node.types))
    kind = "/".join(node.types) or "schema"
    for keyword in node.keywords:
        if keyword not in known:
            yield f"For '{kind}' type, property '{keyword}' is not supported"


def _closed(node: Node) -> Iterator[str]:
    if "object" in node.types and node.schema.get("additionalProperties") is not False:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"


def _few(node: Node) -> Iterator[str]:
    if node.keywords.get("minItems", 0) > 1:
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"


def _primitive(node: Node) -> Iterator[str]:
    values = [*node.keywords.get("enum", ()), node.keywords.get("const")]
    if any(isinstance(value, dict | list) for value in values):
        yield "Enum values must be primitive"


def _format(node: Node) -> Iterator[str]:
    given = node.keywords.get("format")
    if given is not None and given not in {*FORMATS, "uri"}:
        yield f"For 'string' type, format '{given}' is not supported"


def _pattern(node: Node) -> Iterator[str]:
    if is_elaborate(node.keywords.get("pattern", "")):
        yield f"Pattern '{node.schema['pattern']}' is not supported"


def _merged(node: Node) -> Iterator[str]:
    branches = node.keywords.get("allOf", ())
    if any("$ref" in each.keywords for branch in branches for each in walk(branch)):
        yield "allOf with $ref is not supported"


_STRICT: tuple[Callable[[Node], Iterator[str]], ...] = (
    _known, _closed, _few, _primitive, _format, _pattern, _merged,
)  # fmt: skip


def over_limits(strict: Sequence[JSON]) -> Iterator[str]:
    """Yield what is too much in the schemas of the strict tools of one request."""
    nodes = [node for schema in strict for node in walk(schema)]
    counts = (
        ("strict tools", len(strict), MAX_STRICT),
        ("optional parameters", sum(map(_optional, nodes)), MAX_OPTIONAL),
        ("parameters with union types", sum(map(_is_union, nodes)), MAX_UNIONS),
    )
    for what, count, most in counts:
        if count > most:
            yield f"Schemas contain too many {what} ({count}). The limit is {most}."


def _optional(node: Node) -> int:
    properties = node.keywords.get("properties", {}).keys()
    return len(properties - {*node.keywords.get("required", ())})


def _is_union(node: Node) -> bool:
    return "anyOf" in node.keywords or isinstance(node.keywords.get("type"), list)
