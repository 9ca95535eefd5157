"""The schemas that the providers reject, strict and not."""

from __future__ import annotations

from typing import Any

from sovl_tools.testing.schemas import ANTHROPIC, OPENAI, faults, over_limits, walk
from tests.formats.rules.openai import problems_of_schema as known_of_openai
from tests.tables import check_each


def of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": [*properties],
        "additionalProperties": False,
    }  # fmt: skip


def nested(levels: int) -> dict[str, Any]:
    return of(a=nested(levels - 1)) if levels > 1 else of()


TEXT = {"type": "string"}

GOOD_STRICT: dict[str, dict[str, Any]] = {
    "nothing": of(),
    "plain types": of(a=TEXT, b={"type": ["integer", "null"], "minimum": 1}, c={"type": "null"}),
    "arrays": of(a={"type": "array", "items": TEXT, "maxItems": 3}),
    "unions": of(a={"anyOf": [TEXT, of(b=TEXT)], "description": "x"}),
    "values": of(a={"type": "string", "enum": ["x"]}, b={"type": "integer", "const": 1}),
    "formats": of(
        a={"type": "string", "format": "date-time"}, b={"type": "string", "pattern": "^a"}
    ),
    "references": {**of(a={"$ref": "#/$defs/x"}), "$defs": {"x": of(b={"$ref": "#"})}},
    "names that are keywords": of(default=TEXT, minLength=TEXT, pattern=TEXT),
    "ten levels": nested(10),
}

BAD_STRICT: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown type": ({"type": "objekt"}, "is not valid under any"),
    "no object": ({"type": "array", "items": TEXT}, "got 'type: \"array\"'"),
    "a union": ({**of(), "anyOf": [of()]}, "not have 'oneOf'/'anyOf'/'allOf'"),
    "an open object": ({"type": "object", "properties": {}}, "'additionalProperties' is required"),
    "an open object within": (of(a={"type": "object", "properties": {}}), "('properties', 'a')"),
    "an optional property": ({**of(a=TEXT), "required": []}, "Missing 'a'"),
    "a property that is not there": ({**of(), "required": ["a"]}, "Extra 'a'"),
    "no properties": (
        of(a={"type": "object", "additionalProperties": False}),
        "missing properties",
    ),
    "no items": (of(a={"type": "array"}), "array schema missing items"),
    "a length": (of(a={"type": "string", "maxLength": 3}), "'maxLength' is not permitted"),
    "a default": (of(a={"type": "string", "default": "x"}), "'default' is not permitted"),
    "a dialect": ({**of(), "$schema": "x:y"}, "'$schema' is not permitted"),
    "an alternative": (of(a={"oneOf": [TEXT]}), "'oneOf' is not permitted"),
    "anything": (of(a={}), "must have a 'type' key"),
    "true": (of(a=True), "must have a 'type' key"),
    "a reference with more": (
        {**of(a={"$ref": "#/$defs/x", "description": "x"}), "$defs": {"x": TEXT}},
        "$ref cannot have keywords {'description'}",
    ),
    "a reference to nothing": (of(a={"$ref": "#/$defs/x"}), "leads nowhere"),
    "a format": (of(a={"type": "string", "format": "uri"}), "'uri' is not a valid format"),
    "lookaround": (of(a={"type": "string", "pattern": "a(?!b)"}), "lookaround is not supported"),
    "a lazy pattern": (of(a={"type": "string", "pattern": "a+?"}), "regex is not supported"),
    "eleven levels": (nested(11), "11 levels of nesting exceeds limit of 10"),
    "many values": (of(a={"type": "integer", "enum": [*range(1001)]}), "1001 enum values exceeds"),
    "many properties": (of(**{f"p{each}": TEXT for each in range(5001)}), "5001 object properties"),
    "many characters": (of(a={"type": "string", "const": "x" * 120_000}), "120001 characters"),
}

GOOD_LAX: dict[str, dict[str, Any]] = {
    "an open object": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}},
    "anything": {"type": "object", "properties": {"a": {}, "b": True}, "$schema": "x:y"},
    "an alternative": {"type": "object", "properties": {"a": {"oneOf": [TEXT], "default": "x"}}},
}
BAD_LAX: dict[str, tuple[dict[str, Any], str]] = {
    name: BAD_STRICT[name]
    for name in (
        "an unknown type",
        "no object",
        "a union",
        "no properties",
        "no items",
        "lookaround",
    )
}


@check_each("name", GOOD_STRICT)
def test_openai_accepts_in_strict_tools(name: str) -> None:
    assert list(faults(OPENAI, GOOD_STRICT[name], strict=True)) == []
    assert list(faults(OPENAI, GOOD_STRICT[name], strict=False)) == []


@check_each("name", BAD_STRICT)
def test_openai_refuses_in_strict_tools(name: str) -> None:
    schema, message = BAD_STRICT[name]
    assert any(message in fault for fault in faults(OPENAI, schema, strict=True))


@check_each("name", GOOD_LAX)
def test_openai_accepts_in_other_tools(name: str) -> None:
    assert list(faults(OPENAI, GOOD_LAX[name], strict=False)) == []


@check_each("name", BAD_LAX)
def test_openai_refuses_in_other_tools(name: str) -> None:
    schema, message = BAD_LAX[name]
    assert any(message in fault for fault in faults(OPENAI, schema, strict=False))


@check_each("name", [*GOOD_STRICT, *BAD_STRICT])
def test_what_openai_accepts_is_what_the_rules_of_formats_accept(name: str) -> None:
    schema = GOOD_STRICT[name] if name in GOOD_STRICT else BAD_STRICT[name][0]
    ours = list(faults(OPENAI, schema, strict=True))
    assert bool(ours) == bool(known_of_openai(schema, strict=True))


GOOD_OF_ANTHROPIC: dict[str, dict[str, Any]] = {
    "nothing": of(),
    "an optional property": {**of(a=TEXT), "required": []},
    "plain types": of(a=TEXT, b={"type": ["integer", "null"]}),
    "arrays": of(a={"type": "array", "items": TEXT, "minItems": 1}),
    "unions": of(a={"anyOf": [TEXT, of(b=TEXT)], "default": "x"}),
    "merged": of(a={"allOf": [TEXT, {"type": "string", "format": "uri"}]}),
    "references": {**of(a={"$ref": "#/$defs/x"}), "$defs": {"x": of(b=TEXT)}},
    "names that are keywords": of(minimum=TEXT, maximum=TEXT),
    "a pattern": of(a={"type": "string", "pattern": "^[a-z?]+$"}),
}
BAD_OF_ANTHROPIC: dict[str, tuple[dict[str, Any], str]] = {
    "a bound": (of(a={"type": "number", "minimum": 1}), "For 'number' type, property 'minimum' is"),
    "an alternative": (of(a={"oneOf": [TEXT]}), "For 'schema' type, property 'oneOf' is not"),
    "an open object within": (of(a={"type": "object"}), "must be explicitly set to false"),
    "two items": (of(a={"type": "array", "items": TEXT, "minItems": 2}), "other than 0 or 1"),
    "an object for a value": (of(a={"enum": [{}]}), "Enum values must be primitive"),
    "a format": (of(a={"type": "string", "format": "phone"}), "format 'phone' is not supported"),
    "a pattern": (of(a={"type": "string", "pattern": r"(a)\1"}), "Pattern '(a)\\1' is not"),
    "a merged reference": (
        {**of(a={"allOf": [{"$ref": "#/$defs/x"}]}), "$defs": {"x": TEXT}},
        "allOf with $ref is not supported",
    ),
    "recursion": (of(a={"anyOf": [TEXT, {"$ref": "#"}]}), "Recursive schemas are not supported"),
    "recursion by two": (
        {
            **of(a={"$ref": "#/$defs/x"}),
            "$defs": {"x": of(b={"$ref": "#/$defs/y"}), "y": of(b={"$ref": "#/$defs/x"})},
        },
        "Recursive schemas are not supported",
    ),
}


@check_each("name", GOOD_OF_ANTHROPIC)
def test_anthropic_accepts_in_strict_tools(name: str) -> None:
    assert list(faults(ANTHROPIC, GOOD_OF_ANTHROPIC[name], strict=True)) == []


@check_each("name", BAD_OF_ANTHROPIC)
def test_anthropic_refuses_in_strict_tools_and_only_there(name: str) -> None:
    schema, message = BAD_OF_ANTHROPIC[name]
    assert any(message in fault for fault in faults(ANTHROPIC, schema, strict=True))
    assert list(faults(ANTHROPIC, schema, strict=False)) == []


@check_each(
    ("schemas", "message"),
    [
        ([of()] * 21, "too many strict tools (21). The limit is 20"),
        (
            [{**of(**{f"p{each}": TEXT for each in range(25)}), "required": []}],
            "too many optional parameters (25). The limit is 24",
        ),
        (
            [of(**{f"p{each}": {"type": ["string", "null"]} for each in range(17)})],
            "too many parameters with union types (17). The limit is 16",
        ),
    ],
)
def test_anthropic_limits_strict_tools_taken_together(
    schemas: list[dict[str, Any]], message: str
) -> None:
    (told,) = over_limits(schemas)
    assert message in told
    assert list(over_limits([of(a=TEXT)])) == []


def test_values_are_no_subschemas() -> None:
    schema = of(a={"enum": [{"type": "x"}], "default": {"items": {}}})
    assert [node.path for node in walk(schema)] == [
        (), ("properties", "a"), ("additionalProperties",),
    ]  # fmt: skip


def test_a_reference_to_nothing_is_refused_by_anthropic_in_any_tool() -> None:
    for strict in (False, True):
        (fault,) = faults(ANTHROPIC, of(a={"$ref": "#/$defs/x"}), strict=strict)
        assert fault == "input_schema: reference '#/$defs/x' leads nowhere"
