"""Do the checkers of the providers' rules take what is right and reject what is wrong?"""

from __future__ import annotations

from typing import Any

from tests.formats.rules import (
    problems_of_anthropic,
    problems_of_anthropic_request,
    problems_of_gemini,
    problems_of_openai,
    problems_of_openai_responses,
)
from tests.formats.rules.openai import levels
from tests.tables import check_each

ODD_NAMES = ("$ref", "default", "properties", "required", "pattern", "anyOf", "type", "a b")
NESTED = {"oneOf": [{"type": "string", "minLength": 1}, {"not": {"const": 3}}], "default": 2}


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that must have all the properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def lax(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def with_definitions(schema: dict[str, Any], **definitions: Any) -> dict[str, Any]:
    return {**schema, "$defs": definitions}


def openai(schema: dict[str, Any], *, strict: bool = True, **keys: Any) -> list[str]:
    function = {"name": "f", "description": "d", "parameters": schema, "strict": strict, **keys}
    return problems_of_openai({"type": "function", "function": function}, strict=strict)


def anthropic(schema: dict[str, Any], *, strict: bool = True, **keys: Any) -> list[str]:
    definition = {"name": "f", "description": "d", "input_schema": schema, "strict": strict}
    return problems_of_anthropic({**definition, **keys}, strict=strict)


def gemini(schema: dict[str, Any], **keys: Any) -> list[str]:
    return problems_of_gemini({"name": "f", "parametersJsonSchema": schema, **keys})


RECURSIVE = with_definitions(
    closed(a={"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}], "description": "An n."}),
    n=closed(value={"type": "number", "minimum": 1}, next={"$ref": "#/$defs/n"}),
)
STRICT_AT_OPENAI = [
    closed(),
    closed(**{name: {"type": "string"} for name in ODD_NAMES}),
    closed(a={"type": ["string", "null"], "enum": ["x", None]}),
    closed(a={"type": "string", "const": "x", "title": "A"}, b={"$ref": "#"}),
    closed(a={"type": "string", "pattern": "^(a|b)+$", "format": "uuid"}),
    closed(a={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}),
    closed(a={"type": "string", "enum": [{"oneOf": 3, "default": 1}]}),
    RECURSIVE,
]
BAD_AT_OPENAI = [
    {"type": "array", "items": {}},
    {"$ref": "#/$defs/x", "$defs": {"x": closed()}},
    {**closed(), "anyOf": [closed()]},
    lax(a={"type": "string"}),
    {**closed(a={"type": "string"}), "additionalProperties": True},
    {**closed(a={"type": "string"}), "required": []},
    {**closed(a={"type": "string"}), "required": ["a", "b"]},
    closed(a={}),
    closed(a=True),
    closed(a={"description": "Anything."}),
    closed(a={"enum": ["x"]}),
    closed(a={"type": "array"}),
    closed(a={"type": "array", "items": {}}),
    closed(a={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    closed(a={"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}}),
    closed(a={"type": "object", "properties": {}}),
    closed(a={"type": ["object", "null"], "additionalProperties": False}),
    closed(a={"type": "string", "minLength": 1}),
    closed(a={"type": "string", "minimum": 1}),
    closed(a={"type": "string", "default": "x"}),
    closed(a={"type": "string", "x-own": 1}),
    closed(a={"type": "string", "format": "uri"}),
    closed(a={"type": "string", "pattern": "a(?!b)"}),
    closed(a={"type": "string", "pattern": "a+?"}),
    closed(a={"type": "string", "pattern": r"(a)\1"}),
    closed(a={"oneOf": [{"type": "string"}]}),
    closed(a={"anyOf": [{"type": "string", "default": "x"}]}),
    closed(a={"type": "string", "not": {"type": "null"}}),
    closed(a=with_definitions(closed(), n={"type": "string"})),
    with_definitions(closed(a={"$ref": "#/$defs/n", "description": "x"}), n={"type": "string"}),
    with_definitions(closed(a={"$ref": "#/$defs/m"}), n={"type": "string"}),
    with_definitions(closed(a={"$ref": "#/properties/b"}, b={"type": "string"})),
    with_definitions(closed(a={"$ref": "#x"}), n={"type": "string", "$anchor": "x"}),
    with_definitions(closed(), n={"type": "object"}),
]


@check_each("schema", STRICT_AT_OPENAI)
def test_openai_takes_a_strict_schema(schema: dict[str, Any]) -> None:
    assert openai(schema) == []
    flat = {"type": "function", "name": "f", "parameters": schema, "strict": True}
    assert problems_of_openai_responses(flat, strict=True) == []


@check_each("schema", BAD_AT_OPENAI)
def test_openai_refuses_what_strict_tools_may_not_say(schema: dict[str, Any]) -> None:
    assert openai(schema) != []
    flat = {"type": "function", "name": "f", "parameters": schema, "strict": True}
    assert problems_of_openai_responses(flat, strict=True) != []


@check_each(
    "schema",
    [
        lax(a=NESTED, b={"type": "array", "items": {}}, c=True),
        {**lax(), "patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}},
        with_definitions(lax(a={"$ref": "#/$defs/n", "description": "x"}), n=lax()),
        lax(a={"type": "string", "pattern": r"\(?=a"}),
    ],
)
def test_openai_takes_nearly_anything_below_the_root_of_other_tools(schema: dict[str, Any]) -> None:
    assert openai(schema, strict=False) == []


@check_each(
    "schema",
    [
        {"type": "object"},
        {**lax(), "oneOf": [{"required": ["a"]}]},
        {**lax(), "not": {"required": ["a"]}},
        {**lax(), "if": {"required": ["a"]}},
        {**lax(), "$id": "urn:x"},
        {"type": ["object", "null"], "properties": {}},
        lax(a={"type": "array"}),
        lax(a={"type": ["array", "null"], "items": True}),
        lax(a={"type": "array", "prefixItems": [{"type": "string"}]}),
        lax(a={"type": "object"}),
        lax(a={"type": "string", "pattern": "(?<!a)b"}),
        lax(a={"$ref": "#/$defs/n"}),
        with_definitions(lax(a={"$ref": "#n"}), n=lax()),
        lax(a={"$comment": "Mind."}),
    ],
)
def test_openai_refuses_a_few_things_in_other_tools(schema: dict[str, Any]) -> None:
    assert openai(schema, strict=False) != []


def test_openai_counts_sizes() -> None:
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(9):
        nested = closed(a=nested)
    assert levels(closed(a=nested), closed()) == 10
    assert levels(RECURSIVE, RECURSIVE) == 2
    assert openai(closed(a=nested)) == []
    assert "11 levels of nesting, over 10" in openai(closed(a=closed(a=nested)))
    values = [f"{number:060}" for number in range(251)]
    assert openai(closed(a={"type": "string", "enum": values[:250]})) == []
    assert "15060 characters of an enum, over 15000" in openai(
        closed(a={"type": "string", "enum": values})
    )
    many = {"type": "integer", "enum": [*range(501)]}
    assert openai(closed(a=many, b=many)) == ["1002 enum values, over 1000"]
    assert openai(closed(**{"a" * 120_001: {"type": "null"}})) == ["120001 characters, over 120000"]
    numbered = {f"a{number}": {"type": "null"} for number in range(5001)}
    assert openai(closed(**numbered)) == ["5001 properties, over 5000"]


STRICT_AT_ANTHROPIC = [
    {**closed(a={"type": "string"}), "required": []},
    closed(a={"type": "string", "enum": ["x", 1, None, True]}, b={"const": 3}),
    closed(a={"type": ["string", "null"], "default": "x", "format": "uri"}),
    closed(a={"type": "array", "items": {"type": "string"}, "minItems": 1}),
    closed(a={"allOf": [{"type": "string"}, {"description": "x"}], "default": {}})
    | {"properties": {"a": {"allOf": [{"type": "string"}]}}},
    closed(a={"type": "string", "pattern": r"^\d{2,4}[a-z_]*\.(x|y)?$"}),
    with_definitions(closed(a={"$ref": "#/$defs/n"}), n=closed(b={"type": "boolean"})),
    closed(default={"type": "string"}, pattern={"type": "null"}),
]
BAD_AT_ANTHROPIC = [
    {"type": "array"},
    {**closed(), "allOf": [closed()]},
    {**closed(), "$schema": "https://json-schema.org/draft/2020-12/schema"},
    lax(a={"type": "string"}),
    closed(a={"type": "object", "properties": {}}),
    {**closed(), "required": ["a"]},
    closed(a={"type": "integer", "minimum": 1}),
    closed(a={"type": "string", "maxLength": 1}),
    closed(a={"type": "array", "items": {"type": "string"}, "minItems": 2}),
    closed(a={"type": "array", "items": {"type": "string"}, "maxItems": 2}),
    closed(a={"type": "array"}),
    closed(a={"enum": [{}]}),
    closed(a={"const": []}),
    closed(a={}),
    closed(a=True),
    closed(a={"oneOf": [{"type": "string"}]}),
    closed(a={"type": "string", "format": "phone"}),
    closed(a={"type": "string", "pattern": r"\bx"}),
    closed(a={"type": "string", "pattern": "x{2,17}"}),
    closed(a={"type": "string", "pattern": "(?:x)"}),
    closed(a={"type": "string", "$comment": "x"}),
    with_definitions(closed(a={"$ref": "#/$defs/n", "description": "x"}), n={"type": "null"}),
    with_definitions(closed(a={"allOf": [{"$ref": "#/$defs/n"}]}), n={"type": "null"}),
    with_definitions(closed(a={"$ref": "#/$defs/n"}), n=closed(b={"$ref": "#/$defs/n"})),
    closed(a={"type": ["object", "null"], "properties": {"b": {"$ref": "#"}}}),
    closed(a={"$ref": "https://example.com/x"}),
    closed(**{"a b": {"type": "string"}}),
]


@check_each("schema", STRICT_AT_ANTHROPIC)
def test_anthropic_takes_a_strict_schema(schema: dict[str, Any]) -> None:
    assert anthropic(schema) == []


@check_each("schema", BAD_AT_ANTHROPIC)
def test_anthropic_refuses_what_strict_tools_may_not_say(schema: dict[str, Any]) -> None:
    assert anthropic(schema) != []


def test_anthropic_looks_at_the_root_of_other_tools_and_at_their_soundness() -> None:
    assert anthropic({**lax(a=NESTED), "if": {}, "then": {}}, strict=False) == []
    assert anthropic({**lax(), "oneOf": [{}]}, strict=False) != []
    assert anthropic({"type": "string"}, strict=False) != []
    assert anthropic(lax(a={"type": "integer", "minimum": "1"}), strict=False) != []
    assert anthropic(lax(**{"a" * 65: {}}), strict=False) == [
        f"the property name {'a' * 65!r} does not match [a-zA-Z0-9_.-]{{1,64}}"
    ]


def test_anthropic_counts_over_a_request() -> None:
    def tools(count: int, schema: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
        common = {"input_schema": schema, "strict": True, **keys}
        return [{"name": f"f{number}", **common} for number in range(count)]

    optional = {**closed(a=closed(b={"type": "null"}), c={"type": "null"}), "required": []}
    union = closed(a={"anyOf": [{"type": ["string", "null"]}]})
    control = {"cache_control": {"type": "ephemeral"}}
    assert problems_of_anthropic_request([]) == []
    assert problems_of_anthropic_request(tools(20, closed())) == []
    assert problems_of_anthropic_request(tools(21, closed())) == ["21 strict tools, over 20"]
    assert problems_of_anthropic_request(tools(12, optional)) == []
    assert problems_of_anthropic_request(tools(13, optional)) == ["26 optional parameters, over 24"]
    assert problems_of_anthropic_request(tools(8, union)) == []
    assert problems_of_anthropic_request(tools(9, union)) == ["18 parameters with unions, over 16"]
    assert problems_of_anthropic_request(tools(50, union, strict=False)) == []
    assert problems_of_anthropic_request(tools(5, closed(), **control)) == ["5 breakpoints, over 4"]
    assert problems_of_anthropic_request(tools(2, closed(), defer_loading=True)) != []
    assert problems_of_anthropic_request(tools(1, closed()) * 2) != []


@check_each(
    "schema",
    [
        lax(a={"type": "string", "enum": ["x", 1]}, b={"type": "array", "prefixItems": [{}]}),
        with_definitions(lax(a={"$ref": "#/$defs/n", "description": "x"}), n=lax()),
        lax(const={"oneOf": [{"type": "integer", "minimum": 1}], "default": {"const": 1}}),
        with_definitions(lax(a={"$ref": "#/$defs/n"}), n=lax(b={"$ref": "#/$defs/n"})),
    ],
)
def test_gemini_takes_the_keywords_that_it_knows(schema: dict[str, Any]) -> None:
    assert gemini(schema) == []


@check_each(
    "schema",
    [
        {"type": "object"},
        {"type": "array"},
        lax(a={"const": 1}),
        lax(a={"type": "integer", "exclusiveMinimum": 1}),
        lax(a={"allOf": [{}]}),
        lax(a={"enum": [True]}),
        lax(a={"enum": [None]}),
        lax(a={"$ref": "#/$defs/n"}),
        with_definitions(lax(a={"$ref": "#/$defs/n", "type": "object"}), n=lax()),
        lax(a={"$comment": "x"}),
        {**lax(a={"$ref": "#/$defs/n"}), "$defs": {"n": closed(b={"$ref": "#/$defs/n"})}},
        lax(a={"type": "integer", "minimum": "1"}),
    ],
)
def test_gemini_refuses_or_ignores_others(schema: dict[str, Any]) -> None:
    assert gemini(schema) != []
