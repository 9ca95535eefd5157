"""Do providers take what is exported: their SDKs' types, and their rules as documented?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sovl_tools import ToolRegistry
from tests.conftest import REPOSITORY
from tests.formats import remarkable
from tests.formats.exports import (
    CAN_BE_STRICT,
    PROBLEMS_OF,
    TARGETS,
    TYPED,
    accept,
    is_strict,
    registry_of,
    schema_of,
)
from tests.formats.rules import (
    problems_of_anthropic,
    problems_of_anthropic_request,
    problems_of_openapi,
    problems_of_prompt,
)
from tests.formats.schemas import manifests, moderate, strict_parameters
from tests.formats.scope import PLAIN_NAMES
from tests.schema.strategies import examples
from tests.tables import check_each

BEYOND_MENDING = ("the property name ", "recursion through required properties")
"""What no conversion can cure, as names are never altered: then a diagnostic must say so."""

TELLING = {"ST905", "ST906", "ST907"}
"""The codes of what is rejected, or can be."""


@pytest.fixture(scope="module")
def shipped() -> ToolRegistry:
    return ToolRegistry.from_directory(REPOSITORY / "tools")


def refusals(registry: ToolRegistry, format_name: str, *, strict: bool) -> list[str]:
    """Return what the provider rejects in an export, as far as no one was told of it."""
    export = registry.export(format_name, strict=strict)
    told = {found.code for found in export.diagnostics} & TELLING
    found = [
        problem
        for definition in export.definitions
        for problem in PROBLEMS_OF[format_name](definition, strict=is_strict(definition))
    ]
    return [each for each in found if not (told and each.startswith(BEYOND_MENDING))]


def accepted(registry: ToolRegistry, format_name: str, *, strict: bool) -> int:
    """Hand every definition to the SDK's type; return how many there are."""
    definitions = registry.export(format_name, strict=strict).definitions
    for each in definitions if format_name in TYPED else ():
        accept(format_name, each)
    return len(definitions)


@pytest.mark.unmeasured
@check_each(("format_name", "strict"), TARGETS)
def test_shipped_tools_are_taken(format_name: str, *, strict: bool, shipped: ToolRegistry) -> None:
    assert accepted(shipped, format_name, strict=strict) == len(shipped) > 10
    assert refusals(shipped, format_name, strict=strict) == []


@pytest.mark.unmeasured
@pytest.mark.parametrize("what", remarkable.SCHEMAS)
def test_tools_that_are_easily_got_wrong_are_taken(what: str) -> None:
    parameters = remarkable.SCHEMAS[what]
    registry = registry_of({"name": "f", "description": "Do it.", "parameters": parameters})
    for format_name, strict in TARGETS:
        assert accepted(registry, format_name, strict=strict) == 1
        assert (format_name, refusals(registry, format_name, strict=strict)) == (format_name, [])
    assert problems_of_openapi(registry.export("openapi").definitions) == []


@moderate
@given(manifests())
def test_tools_of_any_kind_are_taken(manifest: dict[str, Any]) -> None:
    registry = registry_of(manifest)
    for format_name, strict in TARGETS:
        assert accepted(registry, format_name, strict=strict) == 1
        assert (format_name, refusals(registry, format_name, strict=strict)) == (format_name, [])


@moderate
@given(manifests(strict_parameters(PLAIN_NAMES)))
def test_tools_that_hold_nothing_odd_are_taken(manifest: dict[str, Any]) -> None:
    registry = registry_of(manifest)
    for format_name in CAN_BE_STRICT:
        assert accepted(registry, format_name, strict=True) == 1
        assert (format_name, refusals(registry, format_name, strict=True)) == (format_name, [])


@settings(moderate, max_examples=examples(40))
@given(data=st.data())
def test_a_request_keeps_to_the_limits_of_anthropic(data: st.DataObject) -> None:
    plain = manifests(strict_parameters(PLAIN_NAMES))
    several = data.draw(st.lists(plain, min_size=1, max_size=4)) * 4
    names = [f"tool_{index:02}" for index in range(len(several))]
    many = [{**each, "name": name} for each, name in zip(several, names, strict=True)]
    deferred = data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    control = data.draw(st.sampled_from([None, {"type": "ephemeral", "ttl": "1h"}]))
    definitions = (
        registry_of(*many)
        .export("anthropic", strict=True, cache_control=control, defer_loading=deferred)
        .definitions
    )
    assert problems_of_anthropic_request(definitions) == []
    for each in definitions:
        accept("anthropic", each)
        assert problems_of_anthropic(each, strict=is_strict(each)) == []
    assert {each["name"] for each in definitions if "defer_loading" in each} == {*deferred}
    marked = [each["name"] for each in definitions if "cache_control" in each]
    assert marked == ([max({*names} - {*deferred})] if control else [])


@check_each(
    ("properties", "required", "count", "strict"),
    [
        ({}, [], 21, 20),
        ({f"p{index}": {"type": "string"} for index in range(5)}, [], 5, 4),
        ({f"p{index}": {"type": ["string", "null"]} for index in "abc"}, ["pa", "pb", "pc"], 6, 5),
    ],
)
def test_as_many_tools_are_strict_at_anthropic_as_may_be(
    properties: dict[str, Any], required: list[str], count: int, strict: int
) -> None:
    parameters = {"type": "object", "properties": properties, "required": required}
    manifest = {
        "description": "Do it.",
        "parameters": {**parameters, "additionalProperties": False},
    }
    export = registry_of(*({"name": f"f{n}", **manifest} for n in range(count))).export(
        "anthropic", strict=True
    )
    assert problems_of_anthropic_request(export.definitions) == []
    assert sum(map(is_strict, export.definitions)) == strict
    assert [found.code for found in export.diagnostics] == ["ST904"] * (count - strict)


@moderate
@given(manifests())
def test_a_document_and_a_text_describe_tools_of_any_kind(manifest: dict[str, Any]) -> None:
    registry = registry_of(manifest)
    document = registry.export("openapi").definitions
    assert problems_of_openapi(document) == []
    assert len(document["paths"]) == 1
    text = registry.export("prompt").definitions
    assert problems_of_prompt(text) == []
    assert manifest["name"] in text


def test_shipped_tools_are_described_by_a_document(shipped: ToolRegistry) -> None:
    document = shipped.export("openapi").definitions
    assert problems_of_openapi(document) == []
    assert len(document["paths"]) == len(shipped)


@moderate
@given(manifests())
def test_the_neutral_format_passes_schemas_on_as_they_are(manifest: dict[str, Any]) -> None:
    (definition,) = registry_of(manifest).definitions("json-schema")
    assert schema_of(definition) == manifest["parameters"]


@check_each(
    ("format_name", "definition"),
    [
        ("openai", {"type": "function", "function": {"name": "f", "x": 1}}),
        ("openai", {"type": "function", "function": {"name": "f"}, "x": 1}),
        ("openai-responses", {"type": "function", "name": "f", "parameters": {}}),
        ("anthropic", {"name": "f", "input_schema": {"type": "object"}, "parameters": {}}),
        ("anthropic", {"name": "f", "input_schema": {"type": "object"}, "input_examples": ["x"]}),
        ("gemini", {"name": "f", "parameters_json_schema": {}}),
        ("gemini", {"name": "f", "parameters": {"$defs": {}}}),
        ("mcp", {"name": "f", "input_schema": {"type": "object"}}),
        ("mcp", {"name": "f", "inputSchema": {"type": "object"}, "annotations": {"x": 1}}),
    ],
)
def test_the_types_refuse_keys_that_they_do_not_know(format_name: str, definition: Any) -> None:
    with pytest.raises(ValidationError):
        accept(format_name, definition)
