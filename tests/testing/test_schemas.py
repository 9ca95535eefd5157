"""The schemas that the providers reject, strict and not."""

from __future__ import annotations

from typing import Any

from sovl_tools.testing.schemas import ANTHROPIC, OPENAI, Rules, faults, over_limits
from tests.tables import check_each


def of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": [*properties],
        "additionalProperties": False,
    }  # fmt: skip


TEXT = {"type": "string"}
REFERRING = {**of(a={"$ref": "#/$defs/x"}), "$defs": {"x": of(b={"$ref": "#"})}}


@check_each(
    ("rules", "schema"),
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
def test_what_a_strict_tool_can_say_is_accepted(rules: Rules, schema: dict[str, Any]) -> None:
    assert [*faults(rules, schema, strict=True), *faults(rules, schema, strict=False)] == []


EITHER, STRICT = True, False


@check_each(
    ("rules", "schema", "is_for_any_tool", "words"),
    [
        (OPENAI, {"type": "objekt"}, EITHER, "JSON schema is invalid"),
        (OPENAI, {"type": "array", "items": TEXT}, EITHER, "got 'type: \"array\"'"),
        (OPENAI, {**of(), "anyOf": [of()]}, EITHER, "not have 'oneOf'/'anyOf'/'allOf'"),
        (OPENAI, of(a={"type": "object", "additionalProperties": False}), EITHER, "missing prop"),
        (OPENAI, of(a={"type": "array"}), EITHER, "('properties', 'a'), array schema missing"),
        (OPENAI, of(a={"type": "string", "pattern": "a(?!b)"}), EITHER, "lookaround is not"),
        (OPENAI, of(a={"$ref": "#/$defs/x"}), EITHER, "leads nowhere"),
        (OPENAI, of(a={"type": "object", "properties": {}}), STRICT, "'additionalProperties' is"),
        (OPENAI, {**of(a=TEXT), "required": []}, STRICT, "Missing 'a'"),
        (OPENAI, {**of(), "required": ["a"]}, STRICT, "Extra 'a'"),
        (OPENAI, of(a={"type": "string", "maxLength": 3}), STRICT, "'maxLength' is not permitted"),
        (OPENAI, {**of(), "$schema": "x:y"}, STRICT, "'$schema' is not permitted"),
        (OPENAI, of(a={"oneOf": [TEXT]}), STRICT, "'oneOf' is not permitted"),
        (OPENAI, of(a={}), STRICT, "must have a 'type' key"),
        (OPENAI, of(a=True), STRICT, "must have a 'type' key"),
        (OPENAI, {**of(a={"$ref": "#/$defs/x", "title": "x"}), "$defs": {"x": TEXT}}, STRICT,
         "$ref cannot have keywords {'title'}"),
        (OPENAI, of(a={"type": "string", "format": "uri"}), STRICT, "'uri' is not a valid format"),
        (OPENAI, of(a={"type": "string", "pattern": "a+?"}), STRICT, "regex is not supported"),
        (OPENAI, of(a={"type": "string", "pattern": r"(a)\1"}), STRICT, "regex is not supported"),
        (ANTHROPIC, of(**{"a b": TEXT}), EITHER, "Property keys should match pattern"),
        (ANTHROPIC, of(a={"type": "number", "minimum": 1}), STRICT, "For 'number' type, property"),
        (ANTHROPIC, of(a={"type": "object"}), STRICT, "must be explicitly set to false"),
        (ANTHROPIC, of(a={"type": "array", "items": TEXT, "minItems": 2}), STRICT, "0 or 1"),
        (ANTHROPIC, of(a={"enum": [{}]}), STRICT, "Enum values must be primitive"),
        (ANTHROPIC, of(a={"type": "string", "format": "phone"}), STRICT, "format 'phone' is not"),
        (ANTHROPIC, {**of(a={"allOf": [{"$ref": "#/$defs/x"}]}), "$defs": {"x": TEXT}}, STRICT,
         "allOf with $ref is not supported"),
        (ANTHROPIC, REFERRING, STRICT, "Recursive schemas are not supported"),
    ],
)  # fmt: skip
def test_what_a_tool_cannot_say_is_rejected(
    rules: Rules, schema: dict[str, Any], words: str, *, is_for_any_tool: bool
) -> None:
    assert any(words in fault for fault in faults(rules, schema, strict=True))
    assert any(words in fault for fault in faults(rules, schema, strict=False)) == is_for_any_tool


@check_each(
    ("schemas", "message"),
    [
        ([of()] * 21, "too many strict tools (21). The limit is 20"),
        ([{**of(**{f"p{each}": TEXT for each in range(25)}), "required": []}],
         "too many optional parameters (25). The limit is 24"),
        ([of(**{f"p{each}": {"type": ["string", "null"]} for each in range(17)})],
         "too many parameters with union types (17). The limit is 16"),
    ],
)  # fmt: skip
def test_anthropic_limits_strict_tools_taken_together(
    schemas: list[dict[str, Any]], message: str
) -> None:
    (told,) = over_limits(schemas)
    assert message in told
    assert list(over_limits([of(a=TEXT)])) == []
