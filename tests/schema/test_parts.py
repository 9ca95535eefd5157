from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.subschemas import SchemaNode
from tests.schema.strategies import likely, moderate, plain_schemas, schemas
from tests.schema.validators import validator

ODD_NAMES = ("plain", "a b", "50%", "%41", "a/b", "~", "ä", '"', "#", "日本", "^", "a\\b")


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


def test_a_schema_that_can_not_be_used_refuses_nothing() -> None:
    schema = {"$ref": "urn:absent"}
    assert problems_at(SchemaNode((), schema, schema, ()), 1) == []
