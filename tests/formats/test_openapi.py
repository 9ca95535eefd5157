from __future__ import annotations

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate

from sovl_tools import ToolDefinition, Tooler, ToolError, ToolRegistry
from sovl_tools.formats.openapi import ANSWERS
from sovl_tools.model.result import FailureKind
from sovl_tools.serving.problems import problem_of
from tests.conftest import REPOSITORY
from tests.formats.schemas import moderate, samples
from tests.formats.tools import collected, shaped
from tests.schema.strategies import values
from tests.schema.validators import validator
from tests.tables import check_each

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


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


def compiled(found: Any, name: str) -> Draft202012Validator:
    """Return a validator of a component, which finds the others."""
    return validator({"$ref": f"#/components/schemas/{name}", "components": found["components"]})


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
@given(st.data())
def test_a_component_takes_what_the_schema_of_the_tool_takes(data: st.DataObject) -> None:
    sample = data.draw(samples(strict=False))
    schema = sample.schema
    original = validator(schema)
    made = compiled(unvalidated(tool(schema)), "weather.arguments")
    for value in (*data.draw(sample.values), data.draw(values)):
        assert original.is_valid(value) is made.is_valid(value)
