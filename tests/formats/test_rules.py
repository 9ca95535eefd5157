"""Do the checkers of the providers' rules take what is right and refuse what is wrong?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.rules import (
    problems_of_anthropic,
    problems_of_anthropic_request,
    problems_of_gemini,
    problems_of_json_schema,
    problems_of_mcp,
    problems_of_openai,
    problems_of_openai_responses,
    problems_of_openapi,
    problems_of_openrouter,
    problems_of_prompt,
)
from tests.formats.rules.checks import has_lookaround, is_elaborate
from tests.formats.rules.openai import levels
from tests.formats.rules.walking import edges, has_cycle, target, walk
from tests.tables import check_each

ODD_NAMES = ("$ref", "default", "properties", "required", "pattern", "anyOf", "type", "a b")
NESTED = {"oneOf": [{"type": "string", "minLength": 1}, {"not": {"const": 3}}], "default": 2}


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has to have all the properties and no others."""
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
    ("schema", "words"),
    [
        (closed(a={"type": "string", "minLength": 1}), "/properties/a: 'minLength' is not perm"),
        (closed(a={"type": "string", "format": "uri"}), "'uri' is not a valid format"),
        (closed(a={"description": "Anything."}), "must have a 'type' key"),
        ({**closed(), "oneOf": []}, "is no schema"),
        (lax(), "additionalProperties"),
    ],
)
def test_openai_s_refusals_say_what_is_wrong(schema: dict[str, Any], words: str) -> None:
    assert any(words in problem for problem in openai(schema))


@pytest.mark.parametrize(
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


@check_each("name", ["a.b", "", "a" * 65, "é", "a b", "a\n"])
def test_openai_refuses_names(name: str) -> None:
    assert openai(closed(), name=name) != []


def test_openai_wants_each_key_in_its_place() -> None:
    function = {"name": "f", "parameters": closed()}
    assert problems_of_openai({"type": "function", "function": function}, strict=False) == []
    assert problems_of_openai({"type": "function", "function": function}, strict=True) != []
    assert problems_of_openai({"type": "function", **function}, strict=False) != []
    assert problems_of_openai({"type": "tool", "function": function}, strict=False) != []
    assert openai(closed(), description=None) != []
    assert openai(closed(), defer_loading=True) != []
    flat = {"type": "function", **function, "strict": False}
    assert problems_of_openai_responses(flat, strict=False) == []
    assert problems_of_openai_responses({"type": "function", **function}, strict=False) != []
    assert problems_of_openai_responses({**flat, "function": function}, strict=False) != []
    assert problems_of_openai_responses(flat, strict=True) != []


def test_openrouter_rules_as_openai_does() -> None:
    function = {"name": "f", "parameters": closed(a={"type": "string"}), "strict": True}
    assert problems_of_openrouter({"type": "function", "function": function}, strict=True) == []
    function = {"name": "f", "parameters": {"type": "object"}}
    assert problems_of_openrouter({"type": "function", "function": function}, strict=False) != []


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


@check_each(
    ("keys", "is_fine"),
    [
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, True),
        ({"cache_control": {"type": "ephemeral", "ttl": "2h"}}, False),
        ({"cache_control": {"type": "ephemeral", "x": 1}}, False),
        ({"cache_control": {"type": "ephemeral"}, "defer_loading": True}, False),
        ({"input_examples": [{"a": "x"}]}, True),
        ({"input_examples": [{"a": 3}]}, False),
        ({"input_examples": ["a=x"]}, False),
        ({"input_examples": [{"a": "x"}], "defer_loading": True}, False),
        ({"defer_loading": True}, True),
        ({"name": "a.b"}, False),
        ({"name": "a" * 128}, True),
        ({"parameters": {}}, False),
        ({"description": None}, False),
    ],
)
def test_anthropic_knows_its_own_keys(keys: dict[str, Any], is_fine: object) -> None:
    assert (anthropic(closed(a={"type": "string"}), **keys) == []) is is_fine


def test_anthropic_wants_the_mark_that_was_asked_for() -> None:
    assert anthropic(closed(), strict=False) == []
    definition = {"name": "f", "input_schema": closed()}
    assert problems_of_anthropic(definition, strict=False) == []
    assert problems_of_anthropic(definition, strict=True) != []
    assert problems_of_anthropic([], strict=True) != []


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


@pytest.mark.parametrize(
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


def test_gemini_knows_its_own_keys() -> None:
    assert problems_of_gemini({"name": "f"}) == []
    assert gemini(lax(), name="a.b:c-d", description="d") == []
    assert gemini(lax(), name="1a") != []
    assert gemini(lax(), description="") != []
    assert gemini(lax(), parameters={}) != []
    assert gemini(lax(), parameters_json_schema={}) != []


def test_mcp_takes_any_schema_of_an_object() -> None:
    schema = {**lax(a=NESTED, b={"$ref": "#x"}, c={"$id": "urn:c"}, d={"$ref": "urn:c"}), "if": {}}
    whole = {
        "name": "a.b",
        "title": "T",
        "inputSchema": with_definitions(schema, x={"$anchor": "x"}),
    }
    assert problems_of_mcp(whole) == []
    annotations = {"title": "T", "readOnlyHint": True}
    meta = {"dev.sovl-tools/tags": 1, "a": 2}
    assert problems_of_mcp({**whole, "annotations": annotations, "_meta": meta}) == []
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "items": []}
    assert problems_of_mcp({**whole, "inputSchema": draft_7}) == []


@check_each(
    "keys",
    [
        {"name": "a b"},
        {"name": ""},
        {"inputSchema": {"type": "array"}},
        {"inputSchema": {"type": "object", "required": "a"}},
        {"inputSchema": lax(a={"$ref": "https://example.com/x"})},
        {"outputSchema": {"type": "objekt"}},
        {"outputSchema": True},
        {"input_schema": {}},
        {"execution": {"taskSupport": "optional"}},
        {"annotations": {"read_only": True}},
        {"annotations": {"readOnlyHint": "yes"}},
        {"_meta": {"dev.mcp/x": 1}},
        {"_meta": {"/x": 1}},
        {"_meta": {"a b": 1}},
    ],
)
def test_mcp_refuses_others(keys: dict[str, Any]) -> None:
    assert problems_of_mcp({"name": "f", "inputSchema": lax(), **keys}) != []


def test_a_neutral_definition_has_three_keys() -> None:
    definition = {"name": "f", "description": "d", "parameters": lax(a=NESTED)}
    assert problems_of_json_schema(definition) == []
    assert problems_of_json_schema({**definition, "title": "T"}) != []
    assert problems_of_json_schema({"name": "f", "parameters": lax()}) != []
    assert problems_of_json_schema({**definition, "parameters": {"type": "x"}}) != []


def document(**schemas: Any) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/f.arguments"}
    operation = {
        "operationId": "f",
        "requestBody": {"required": True, "content": {"application/json": {"schema": reference}}},
        "responses": {"200": {"description": "Done."}, "400": {"description": "Refused."}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tools", "version": "1"},
        "paths": {"/tools/f": {"post": operation}},
        "components": {"schemas": {"f.arguments": lax(), **schemas}},
    }


def test_a_document_has_one_post_per_tool() -> None:
    assert problems_of_openapi(document(x=NESTED)) == []
    assert problems_of_openapi({}) != []
    assert problems_of_openapi(document(x={"$ref": "#/$defs/x"})) != []
    assert problems_of_openapi(document(**{"a b": {}})) != []
    inline = document()
    body = inline["paths"]["/tools/f"]["post"]["requestBody"]
    body["content"]["application/json"]["schema"] = {"type": "objekt"}
    assert problems_of_openapi(inline) == ["the arguments of /tools/f stand inline"]
    silent = document()
    del silent["paths"]["/tools/f"]["post"]["responses"]["400"]
    assert problems_of_openapi(silent) == ["/tools/f describes no errors"]
    other = document()
    other["paths"]["/tools/f"] = {"get": {"responses": {"200": {"description": "Done."}}}}
    assert problems_of_openapi(other) == ["/tools/f has ['get']"]


def test_a_prompt_is_text() -> None:
    assert problems_of_prompt("Use it.") == []
    assert problems_of_prompt([]) != []


@check_each("pattern", ["(?=a)", "x(?!a)", "(?<=a)b", "(?<!a)b", r"\\(?=a)"])
def test_lookaround_is_found(pattern: str) -> None:
    assert has_lookaround(pattern)


@check_each("pattern", [r"\(?=a", "[(?=]", "(?:a)", "(?P<x>a)", "a=!"])
def test_what_only_resembles_lookaround_is_not(pattern: str) -> None:
    assert not has_lookaround(pattern)


def test_laziness_and_backreferences_are_found() -> None:
    assert [
        each for each in ("a*?", "a+?", "a??", "a{2}?", r"(a)\1") if not is_elaborate(each)
    ] == []
    assert [
        each for each in (r"\+?", "[+*]?", r"\\\\1", "a{2}", "(a)?") if is_elaborate(each)
    ] == []


def test_names_and_values_are_no_schemas() -> None:
    schema = lax(**{"enum": {"enum": [{"a": {}}], "default": {"items": {}}}, "a/b": True})
    assert [node.place for node in walk(schema)] == ["", "/properties/enum", "/properties/a~1b"]
    assert target(schema, "#/properties/a~1b") is True
    assert target(schema, "#/properties/enum/enum/0/a") == {}
    assert target(schema, "#/properties/enum/enum/1") is None
    assert target(schema, "#anchor") is None


def test_circles_are_found_along_any_way() -> None:
    schema = with_definitions(
        lax(a={"$ref": "#/$defs/n"}),
        n={"type": "array", "items": {"$ref": "#/$defs/m"}},
        m={"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]},
        lone={"properties": {"x": {"$ref": "#/$defs/lone"}}},
    )
    found = edges(schema)
    assert has_cycle(found)
    assert not has_cycle(edge for edge in found if edge.source != "#/$defs/m")
    assert [edge.is_optional for edge in found] == [True, False, False]
    assert "#/$defs/lone" not in {edge.source for edge in found}
