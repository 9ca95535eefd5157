from __future__ import annotations

from copy import deepcopy
from typing import Any, get_args

from hypothesis import given, reject
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate

from sovl_tools import ToolDefinition, Tooler, ToolError, ToolRegistry
from sovl_tools.formats.openapi import ANSWERS
from sovl_tools.model.result import FailureKind
from sovl_tools.serving.problems import problem_of
from tests.conftest import REPOSITORY
from tests.formats.schemas import arguments_for, moderate, parameters
from tests.formats.tools import collected, shaped
from tests.schema.strategies import values
from tests.schema.validators import validator
from tests.tables import check_each

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
MOVED = "default is in the description only: its own schema may reject it"


def tool(schema: dict[str, Any] = EMPTY, name: str = "weather", **fields: Any) -> ToolDefinition:
    return ToolDefinition(name, "Tell it.", schema, print, **fields)


def unvalidated(*tools: ToolDefinition) -> Any:
    """Return the document of tools."""
    found, losses = collected("openapi", [shaped("openapi", each) for each in tools])
    assert losses == ()
    return found


def document(*tools: ToolDefinition) -> Any:
    """Return the document of tools, which a checker has found valid."""
    found = unvalidated(*tools)
    validate(found)
    return found


def components(schema: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the schemas of the document of one tool, but for that of failures."""
    schemas = document(tool(schema, **fields))["components"]["schemas"]
    return {name: each for name, each in schemas.items() if name != "Problem"}


def component(schema: Any) -> Any:
    """Return what a property becomes."""
    found = components({"type": "object", "properties": {"city": schema}})
    return found["weather.arguments"]["properties"]["city"]


def losses(schema: Any) -> tuple[Any, ...]:
    """Return what is lost of a property."""
    return shaped("openapi", tool({"type": "object", "properties": {"city": schema}})).losses


def compiled(found: Any, name: str) -> Draft202012Validator:
    """Return a validator of a component, which finds the others."""
    return validator({"$ref": f"#/components/schemas/{name}", "components": found["components"]})


def test_a_document_of_no_tools_is_valid() -> None:
    found = document()
    assert found["openapi"] == "3.1.0"
    assert found["paths"] == {}
    assert found["jsonSchemaDialect"] == "https://json-schema.org/draft/2020-12/schema"


def test_each_tool_is_one_post() -> None:
    found = document(tool(tags=("io", "io"), returns="The weather."), tool(name="time"))
    assert list(found["paths"]) == ["/tools/weather", "/tools/time"]
    operation = found["paths"]["/tools/weather"]["post"]
    reference = {"$ref": "#/components/schemas/weather.arguments"}
    assert operation == {
        "operationId": "weather",
        "summary": "Tell it.",
        "description": "Tell it.",
        "tags": ["io", "io"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": reference}}},
        "responses": {
            "200": {"description": "The weather.", "content": {"application/json": {"schema": {}}}},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
    assert found["components"]["schemas"]["weather.arguments"] == EMPTY


def test_the_summary_is_the_title_or_the_first_sentence_of_the_description() -> None:
    lines = ToolDefinition("lines", " Tell it.\nAll of it.", EMPTY, print)
    long = ToolDefinition("long", "Tell 1.5 of it: so much. And more.", EMPTY, print)
    found = document(lines, long, tool(title="Weather"))["paths"]
    assert found["/tools/lines"]["post"]["summary"] == "Tell it."
    assert found["/tools/long"]["post"]["summary"] == "Tell 1.5 of it: so much."
    assert found["/tools/lines"]["post"]["description"] == " Tell it.\nAll of it."
    assert found["/tools/weather"]["post"]["summary"] == "Weather"


def test_the_result_is_described_by_the_output_schema() -> None:
    found = document(tool(output_schema={"type": "array", "items": {"$ref": "#"}}))
    answer = found["paths"]["/tools/weather"]["post"]["responses"]["200"]
    reference = {"$ref": "#/components/schemas/weather.result"}
    assert answer == {
        "description": "What the tool returned.",
        "content": {"application/json": {"schema": reference}},
    }
    assert found["components"]["schemas"]["weather.result"]["items"] == reference


def test_every_kind_of_failure_has_a_status_of_its_own() -> None:
    assert set(ANSWERS) == {*get_args(FailureKind)}
    statuses = [each.status for each in ANSWERS.values()]
    assert len(set(statuses)) == len(statuses)
    assert all(400 <= status < 600 for status in statuses)


def test_a_result_of_which_nothing_is_said_may_be_anything() -> None:
    found = document(tool())
    answer = found["paths"]["/tools/weather"]["post"]["responses"]["200"]
    assert answer == {"$ref": "#/components/responses/Value"}
    assert found["components"]["responses"]["Value"] == {
        "description": "What the tool returned.",
        "content": {"application/json": {"schema": {}}},
    }


def test_the_answer_to_a_failure_describes_each_status_and_has_one_schema() -> None:
    problem = document(tool())["components"]["responses"]["Problem"]
    reference = {"$ref": "#/components/schemas/Problem"}
    assert problem["content"] == {"application/problem+json": {"schema": reference}}
    for name, (status, _, words) in ANSWERS.items():
        assert f"\n- {status} `{name}`: {words}" in problem["description"]


def test_a_problem_fits_its_schema() -> None:
    def weather(city: str) -> str:
        raise ToolError(f"no {city}")

    registry = ToolRegistry()
    registry.register(weather)
    tooler, check = Tooler(registry), compiled(document(), "Problem")
    for name, arguments in (("weather", {"city": "x"}), ("weather", {}), ("wether", {})):
        failure = tooler.call_sync(name, arguments).error
        assert failure is not None
        told = problem_of(failure)
        assert check.is_valid(told)
        assert not check.is_valid({**told, "type": "other"})
        assert not check.is_valid({**told, "errors": [{"pointer": "#"}]})


def test_definitions_of_arguments_and_result_are_components_apart() -> None:
    reference = {"$ref": "#/$defs/result"}
    schema = {"type": "object", "properties": {"a": reference}, "$defs": {"result": {"minimum": 1}}}
    other = {"type": "object", "properties": {"a": reference}, "$defs": {"result": {"minimum": 2}}}
    found = components(schema, output_schema=other)
    assert {name: each.get("minimum") for name, each in found.items()} == {
        "weather.arguments": None,
        "weather.arguments.result": 1,
        "weather.result": None,
        "weather.result.result": 2,
    }
    inner = found["weather.result"]["properties"]["a"]
    assert inner == {"$ref": "#/components/schemas/weather.result.result"}


@check_each("reference", ["#/$defs/city", "#here", "#/properties/other/items"])
def test_a_reference_leads_to_a_component_however_it_is_written(reference: str) -> None:
    target = {"$anchor": "here", "type": "string"}
    place: dict[str, Any] = {"$ref": reference, "description": "Where."}
    found = components(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:weather",
            "type": "object",
            "properties": {"city": place, "other": {"items": target}},
            "$defs": {"city": {"type": "string"}},
        }
    )
    (name,) = found.keys() - {"weather.arguments"}
    assert found["weather.arguments"] == {
        "type": "object",
        "properties": {
            "city": {"description": "Where.", "$ref": f"#/components/schemas/{name}"},
            "other": {"items": {"type": "string"}},
        },
    }
    assert found[name] == {"type": "string"}


def test_a_dynamic_reference_is_a_plain_one() -> None:
    tree: dict[str, Any] = {
        "$dynamicAnchor": "tree",
        "type": "object",
        "properties": {"next": {"$dynamicRef": "#tree"}},
    }
    found = components({**EMPTY, "properties": {"a": {"$dynamicRef": "#tree"}, "b": tree}})
    reference = {"$ref": "#/components/schemas/weather.arguments.tree"}
    assert found["weather.arguments"]["properties"]["a"] == reference
    assert found["weather.arguments.tree"]["properties"]["next"] == reference


def test_two_references_in_one_place_both_hold() -> None:
    found = components(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/low", "$dynamicRef": "#high"}},
            "$defs": {"low": {"minimum": 1}, "high": {"$dynamicAnchor": "high", "maximum": 2}},
        }
    )
    assert found["weather.arguments"]["properties"]["a"] == {
        "allOf": [{"$ref": "#/components/schemas/weather.arguments.high"}],
        "$ref": "#/components/schemas/weather.arguments.low",
    }


@check_each("target", [True, False])
def test_a_reference_to_a_boolean_is_that_boolean(target: bool) -> None:  # noqa: FBT001 - a schema
    schema = {**EMPTY, "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": target}}
    assert components(schema)["weather.arguments"]["properties"]["a"] == {"allOf": [target]}


@check_each("reference", ["https://json-schema.org/draft/2020-12/schema", "inner", "urn:inner#/x"])
def test_a_reference_to_another_document_is_dropped_with_a_word(reference: str) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"$ref": reference, "type": "object"}},
        "$defs": {"inner": {"$id": "urn:inner"}},
    }
    assert components(schema)["weather.arguments"]["properties"]["a"] == {"type": "object"}
    assert shaped("openapi", tool(schema)).losses == (
        (
            "dropped",
            ("parameters", "properties", "a", "$ref"),
            "$ref leads to nothing that a document could hold",
            "put what is meant under '$defs'",
        ),
    )


FITTING: list[tuple[Any, dict[str, Any]]] = [
    ("a", {"type": "string", "title": "City", "minLength": 1, "maxLength": 1, "pattern": "^a"}),
    (3, {"type": "integer", "minimum": 3, "maximum": 3}),
    (3, {"type": "number", "exclusiveMinimum": 2, "exclusiveMaximum": 4}),
    (2.5, {"type": ["null", "number"]}),
    (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    (True, {"allOf": [{"type": "boolean"}, True], "examples": [False]}),
    ("a", {"enum": [1, "a"]}),
    ({"a": [1]}, {"const": {"a": [1]}}),
    ([1, 2], {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
    ([1, "a"], {"type": "array"}),
    ({"a": 1}, {"properties": {"a": {"type": "integer"}}, "required": ["a"]}),
    ({"b": 1}, {"type": "object", "additionalProperties": {"type": "integer"}}),
    ("2026-11-22", {"type": "string", "format": "date"}),
    ("a.b@c.example", {"type": "string", "format": "email"}),
    ("123e4567-e89b-12d3-a456-426614174000", {"type": "string", "format": "uuid"}),
    (4, {"type": "integer", "multipleOf": 2}),
    ([1, 2], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    (1, {"pattern": "^a", "minLength": 3, "minItems": 1, "required": ["a"], "deprecated": True}),
    ("a", {"minimum": 3, "exclusiveMaximum": 1, "properties": {"a": False}, "items": False}),
]


@check_each(("default", "schema"), FITTING)
def test_a_default_that_fits_its_own_schema_stays(default: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "default": default}
    assert component(whole) == whole
    assert losses(whole) == ()


UNFIT: list[tuple[Any, dict[str, Any]]] = [
    (None, {"type": "string"}),
    (True, {"type": "integer"}),
    (2.5, {"type": "integer"}),
    (2, {"minimum": 3}),
    (4, {"maximum": 3}),
    (3, {"exclusiveMinimum": 3}),
    (3, {"exclusiveMaximum": 3}),
    ("", {"minLength": 1}),
    ("ab", {"maxLength": 1}),
    ("b", {"pattern": "^a"}),
    ([], {"minItems": 1}),
    ([1, 2], {"maxItems": 1}),
    (True, {"enum": [1]}),
    (0, {"const": False}),
    (3, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    (3, {"allOf": [True, False]}),
    ([1, "a"], {"items": {"type": "integer"}}),
    ({"a": 1}, {"properties": {"a": False}}),
    ({"a": 1}, {"additionalProperties": False}),
    ({}, {"required": ["a"]}),
    ("soon", {"format": "date"}),
    ("soon", {"format": "date-time"}),
    (3, {"not": {"type": "integer"}}),
    ({"$ref": "#/$defs/a"}, {"type": "object"}),
]


@check_each(("default", "schema"), UNFIT)
def test_any_other_default_moves_into_the_description(default: Any, schema: dict[str, Any]) -> None:
    found = component({"description": "Where.", "default": default, **schema})
    assert {**found, "description": ""} == {**schema, "description": ""}
    assert found["description"].startswith("Where.\n\nDefault: ")
    path: tuple[str | int, ...] = ("parameters", "properties", "city", "default")
    words = "correct or remove it"
    assert losses({**schema, "default": default}) == (("moved", path, MOVED, words),)


def test_a_default_that_may_fit_moves_too() -> None:
    schema = {"type": "string", "pattern": r"^\p{L}$", "default": "a"}
    assert [each.message for each in losses(schema)] == [
        MOVED,
        "pattern is in the description only: not everyone can read it",
    ]


def test_a_set_within_a_set_moves_and_nobody_is_warned_of_it() -> None:
    schema = {"type": "string", "pattern": "^[[:alpha:]]$"}
    assert component(schema) == {
        "type": "string",
        "description": "Matches the regular expression `^[[:alpha:]]$`.",
    }
    assert [each.path[-1] for each in losses(schema)] == ["pattern"]


@check_each(
    ("target", "stays"),
    [({"enum": ["red"]}, True), ({"enum": ["blue"]}, False)],
)
def test_a_default_has_to_fit_what_its_schema_refers_to(target: Any, *, stays: bool) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"color": {"$ref": "#/$defs/color", "default": "red"}},
        "$defs": {"color": target},
    }
    found = shaped("openapi", tool(schema))
    arguments = found.definition[1]
    assert ("default" in arguments["properties"]["color"]) is stays
    assert bool(found.losses) is not stays


def test_a_default_beside_a_foreign_reference_moves_if_it_breaks_that() -> None:
    reference = "https://json-schema.org/draft/2020-12/schema"
    for default, expected in (({}, ["dropped"]), ({"type": 5}, ["moved", "dropped"])):
        found = losses({"$ref": reference, "default": default})
        assert [each.kind for each in found] == expected


def test_a_property_called_default_is_none() -> None:
    schema = {"type": "object", "properties": {"default": {"type": "string"}, "$ref": True}}
    assert components(schema) == {"weather.arguments": schema}
    assert shaped("openapi", tool(schema)).losses == ()


def test_what_a_result_defaults_to_is_a_loss_at_its_place() -> None:
    found = shaped("openapi", tool(output_schema={"type": "string", "default": 3}))
    assert [each.path for each in found.losses] == [("output_schema", "default")]


def test_what_is_required_because_of_a_condition_is_required() -> None:
    condition = {"if": {}, "then": {"properties": {"b": {"type": "string"}}}}
    schema = {**EMPTY, "allOf": [condition], "required": ["b"]}
    assert components(schema)["weather.arguments"] == {
        **EMPTY,
        "allOf": [condition, {"required": ["b"]}],
    }


def test_what_is_required_and_described_stays_where_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "allOf": [{}], "required": ["a"]}
    assert components(schema) == {"weather.arguments": schema}


def test_the_tools_that_are_shipped_lose_nothing() -> None:
    tools = list(ToolRegistry.from_directory(REPOSITORY / "tools"))
    found = document(*tools)
    assert [shaped("openapi", each).losses for each in tools] == [()] * len(tools)
    assert list(found["paths"]) == [f"/tools/{each.name}" for each in tools]
    for each in tools:
        made = found["components"]["schemas"][f"{each.name}.arguments"]
        assert made == each.parameters
        assert made is not each.parameters


@moderate
@given(parameters(), parameters())
def test_every_document_is_valid(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = deepcopy([first, second])
    shapes = [
        shaped("openapi", each)
        for each in (tool(first, output_schema=second), tool(second, name="time"))
    ]
    found, _ = collected("openapi", shapes)
    assert [first, second] == before
    try:
        validate(found)
    except RecursionError:
        reject()  # the checker follows some alternatives that lead to themselves without end


@moderate
@given(st.data())
def test_a_component_takes_what_the_schema_of_the_tool_takes(data: st.DataObject) -> None:
    schema = data.draw(parameters())
    # the checker of documents follows some references to themselves without end
    found = unvalidated(tool(schema))
    original, made = validator(schema), compiled(found, "weather.arguments")
    for value in data.draw(st.lists(arguments_for(schema) | values, min_size=1, max_size=3)):
        assert original.is_valid(value) is made.is_valid(value)
