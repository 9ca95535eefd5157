from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.schema.engine import compiles, problems_at
from sovl_tools.schema.subschemas import SchemaNode
from tests.schema.strategies import likely, moderate, plain_schemas, schemas
from tests.schema.validators import validator
from tests.tables import check_each

ODD_NAMES = ("plain", "a b", "50%", "%41", "a/b", "~", "ä", '"', "#", "日本", "^", "a\\b")


@check_each(
    ("text", "name", "does"),
    [
        ("2024-02-03", "date", True),
        ("yesterday", "date", False),
        ("a@b.c", "email", True),
        ("a@b.c", "uuid", False),
        ("a", "no-format", True),
    ],
)
def test_formats_count_if_they_are_asked_for(text: str, name: str, *, does: bool) -> None:
    schema = {"type": "string", "format": name}
    node = SchemaNode((), schema, schema, ())
    assert (not problems_at(node, text, with_formats=True)) is does
    assert not problems_at(node, text)


@moderate
@given(st.data(), plain_schemas | schemas, st.sampled_from(ODD_NAMES))
def test_the_verdict_through_a_reference_is_the_engines(
    data: st.DataObject, schema: Any, name: str
) -> None:
    value = data.draw(likely(schema))
    child = {"description": "It.", "$ref": "#/$defs/it"}
    root = {"properties": {name: child}, "$defs": {"it": schema}}
    node = SchemaNode(("parameters", "properties", name), child, root, ("parameters",))
    accepted = validator(root).is_valid({name: value})
    assert (problems_at(node, value) == []) == accepted


@pytest.mark.parametrize("reference", ["#/$defs/it", "urn:mine#/$defs/it", "#it", "urn:it"])
def test_a_reference_is_followed_however_it_is_written(reference: str) -> None:
    definition = {"type": "integer", "$anchor": "it"}
    if reference == "urn:it":
        definition["$id"] = reference
    child = {"$ref": reference}
    root = {"$id": "urn:mine", "properties": {"a": child}, "$defs": {"it": definition}}
    node = SchemaNode(("parameters", "properties", "a"), child, root, ("parameters",))
    assert validator(root)
    assert [each.keyword for each in problems_at(node, "x")] == ["type"]
    assert problems_at(node, 1) == []


def test_a_schema_that_can_not_be_used_refuses_nothing() -> None:
    schema = {"$ref": "urn:absent"}
    assert problems_at(SchemaNode((), schema, schema, ()), 1) == []


@pytest.mark.parametrize(("pattern", "does"), [("^a+$", True), (r"\d{2}", True), ("(", False)])
def test_a_pattern_compiles_or_not(pattern: str, *, does: bool) -> None:
    assert compiles(pattern) is does
