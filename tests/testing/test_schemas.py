"""The schemas that the providers reject, strict and not."""

from __future__ import annotations

from typing import Any

from tests.tables import check_each
from tests.testing.test_requests import custom, errors, tool


def of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": [*properties],
        "additionalProperties": False,
    }  # fmt: skip


OPENAI, ANTHROPIC = "openai-responses", "anthropic"
TEXT = {"type": "string"}
REFERRING = {**of(a={"$ref": "#/$defs/x"}), "$defs": {"x": of(b={"$ref": "#"})}}


def faults(provider: str, *schemas: dict[str, Any], strict: bool) -> str:
    """Return what a provider rejects in a request with a tool for each schema."""
    tools = [
        tool(f"t{number}", parameters=schema, strict=strict)
        if provider == OPENAI
        else custom(f"t{number}", input_schema=schema, strict=strict)
        for number, schema in enumerate(schemas)
    ]
    return "\n".join(errors(provider, {"tools": tools}))


@check_each(
    ("provider", "schema"),
    [
        *((OPENAI, each) for each in (
            of(),
            of(a=TEXT, b={"type": ["integer", "null"], "minimum": 1}, c={"type": "null"}),
            of(a={"type": "array", "items": TEXT, "maxItems": 3}, minLength=TEXT, pattern=TEXT),
            of(a={"anyOf": [TEXT, of(b=TEXT)], "description": "x"}),
            of(a={"type": "string", "enum": ["x"], "format": "date"}, b={"type": "null"}),
            of(a={"type": "string", "pattern": r"^\\1\(?=[(?!]"}),
            REFERRING,
        )),
        *((ANTHROPIC, each) for each in (
            {**of(a=TEXT), "required": []},
            of(a={"type": "array", "items": TEXT, "minItems": 1}, b={"type": ["integer", "null"]}),
            of(a={"anyOf": [TEXT, of(b=TEXT)], "default": "x"}, minimum=TEXT),
            of(a={"allOf": [TEXT, {"type": "string", "format": "uri", "pattern": "^[a-z?]+$"}]}),
            {**of(a={"$ref": "#/$defs/x"}), "$defs": {"x": of(b=TEXT)}},
        )),
    ],
)  # fmt: skip
def test_what_a_strict_tool_can_say_is_accepted(provider: str, schema: dict[str, Any]) -> None:
    assert faults(provider, schema, strict=True) == faults(provider, schema, strict=False) == ""


EITHER, STRICT = True, False


@check_each(
    ("provider", "schema", "is_for_any_tool", "words"),
    [
        (OPENAI, {"type": "objekt"}, EITHER, "isn't a valid JSON Schema"),
        (OPENAI, {**of(), "anyOf": [of()]}, EITHER, "it can't have anyOf at the top level"),
        (OPENAI, of(a={"type": "object", "additionalProperties": False}), EITHER, "'properties'"),
        (OPENAI, of(a={"type": "array"}), EITHER, "properties.a: an array needs 'items'"),
        (OPENAI, of(a={"type": "string", "pattern": "a(?!b)"}), EITHER, "lookaround isn't"),
        (OPENAI, of(a={"$ref": "#/$defs/x"}), EITHER, "leads nowhere"),
        (OPENAI, of(a={"type": "object", "properties": {}}), STRICT, "'additionalProperties' must"),
        (OPENAI, {**of(a=TEXT), "required": []}, STRICT, "exactly the properties: a"),
        (OPENAI, of(a={"type": "string", "maxLength": 3}), STRICT, "'maxLength' isn't supported"),
        (OPENAI, of(a=True), STRICT, "needs a 'type'"),
        (OPENAI, {**of(a={"$ref": "#/$defs/x", "title": "x"}), "$defs": {"x": TEXT}}, STRICT,
         "'$ref' can't have other keywords"),
        (OPENAI, of(a={"type": "string", "format": "uri"}), STRICT, "the format 'uri' isn't"),
        (OPENAI, of(a={"type": "string", "pattern": r"(a)\1"}), STRICT, "pattern '(a)"),
        (ANTHROPIC, of(**{"a b": TEXT}), EITHER, "property keys must match"),
        (ANTHROPIC, of(a={"type": "number", "minimum": 1}), STRICT, "'minimum' isn't supported"),
        (ANTHROPIC, of(a={"type": "array", "items": TEXT, "minItems": 2}), STRICT, "0 or 1"),
        (ANTHROPIC, of(a={"enum": [{}]}), STRICT, "must be primitive"),
        (ANTHROPIC, {**of(a={"allOf": [{"$ref": "#/$defs/x"}]}), "$defs": {"x": TEXT}}, STRICT,
         "'allOf' can't have '$ref'"),
        (ANTHROPIC, REFERRING, STRICT, "recursive schemas aren't supported"),
    ],
)  # fmt: skip
def test_what_a_tool_cannot_say_is_rejected(
    provider: str, schema: dict[str, Any], words: str, *, is_for_any_tool: bool
) -> None:
    assert words in faults(provider, schema, strict=True)
    assert (words in faults(provider, schema, strict=False)) == is_for_any_tool


@check_each(
    ("schemas", "message"),
    [
        ([of()] * 21, "too many strict tools, 21; the limit is 20"),
        ([{**of(**{f"p{each}": TEXT for each in range(25)}), "required": []}],
         "too many optional parameters, 25; the limit is 24"),
        ([of(**{f"p{each}": {"type": ["string", "null"]} for each in range(17)})],
         "too many parameters with union types, 17; the limit is 16"),
    ],
)  # fmt: skip
def test_anthropic_limits_strict_tools_taken_together(
    schemas: list[dict[str, Any]], message: str
) -> None:
    assert message in faults(ANTHROPIC, *schemas, strict=True)
    assert faults(ANTHROPIC, of(a=TEXT), strict=True) == ""
