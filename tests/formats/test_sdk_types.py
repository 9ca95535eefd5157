"""Do providers take what is exported: their SDKs' types, and their rules as documented?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import ToolRegistry
from tests.conftest import REPOSITORY
from tests.formats import remarkable
from tests.formats.exports import (
    TARGETS,
    TYPED,
    accept,
    is_strict,
    refused,
    registry_of,
)
from tests.formats.schemas import PLAIN_NAMES, manifests, moderate, samples
from tests.schema.strategies import examples
from tests.tables import check_each

TELLING = {"ST905", "ST906", "ST907"}
"""The codes of what is rejected, or can be."""


def refusals(registry: ToolRegistry, format_name: str, *, strict: bool) -> list[str]:
    """Return what the provider rejects in an export, as far as no one was told of it."""
    export = registry.export(format_name, strict=strict)
    told = {found.code for found in export.diagnostics} & TELLING
    for each in export.definitions if format_name in TYPED else ():
        accept(format_name, each)
    found = refused(format_name, export.definitions)
    # names are never altered
    return [each for each in found if not (told and "property keys must match" in each)]


@pytest.mark.unmeasured
@check_each(("format_name", "strict"), TARGETS)
def test_shipped_tools_are_taken(format_name: str, *, strict: bool) -> None:
    shipped = ToolRegistry.from_directory(REPOSITORY / "tools")
    assert len(shipped.definitions(format_name, strict=strict)) == len(shipped) > 10
    assert refusals(shipped, format_name, strict=strict) == []


@pytest.mark.unmeasured
@pytest.mark.parametrize("what", remarkable.SCHEMAS)
def test_tools_that_are_easily_got_wrong_are_taken(what: str) -> None:
    parameters = remarkable.SCHEMAS[what]
    registry = registry_of({"name": "f", "description": "Do it.", "parameters": parameters})
    for format_name, strict in TARGETS:
        assert (format_name, refusals(registry, format_name, strict=strict)) == (format_name, [])


@moderate
@given(manifests())
def test_tools_of_any_kind_are_taken(manifest: dict[str, Any]) -> None:
    registry = registry_of(manifest)
    for format_name, strict in TARGETS:
        assert (format_name, refusals(registry, format_name, strict=strict)) == (format_name, [])
    assert registry.definitions("json-schema")[0]["parameters"] == manifest["parameters"]
    assert manifest["name"] in registry.definitions("prompt")


@settings(moderate, max_examples=examples(40))
@given(data=st.data())
def test_a_request_keeps_to_the_limits_of_anthropic(data: st.DataObject) -> None:
    plain = manifests(samples(strict=True, names=PLAIN_NAMES).map(lambda sample: sample.schema))
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
    assert refused("anthropic", definitions) == []
    for each in definitions:
        accept("anthropic", each)
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
    assert refused("anthropic", export.definitions) == []
    assert sum(map(is_strict, export.definitions)) == strict
    assert [found.code for found in export.diagnostics] == ["ST904"] * (count - strict)
