from __future__ import annotations

from typing import Any

from hypothesis import given

from sovl_tools.loading.function_spec import function_spec
from sovl_tools.scaffolding.new_tool import sample, sample_argument
from tests.scaffolding.strategies import annotated_types
from tests.scaffolding.test_patching_below import taking
from tests.schema.strategies import moderate
from tests.schema.validators import validator
from tests.tables import check_each


@moderate
@given(annotated_types())
def test_a_sample_fits(annotation: Any) -> None:
    schema = function_spec(taking(annotation)).parameters
    value = sample(schema["properties"]["a"], schema)
    assert validator(schema).is_valid({"a": value})


@check_each(
    ("schema", "text"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "enum": ["m", "k"]}, "m"),
        ({"type": "string", "format": "date"}, "2026-01-31"),
        ({"type": "string", "examples": ["Oslo"]}, "Oslo"),
        ({"type": "integer"}, "1"),
        ({"type": "integer", "minimum": 3}, "3"),
        ({"type": "number"}, "1.5"),
        ({"type": "boolean"}, "true"),
        ({"type": ["null", "integer"]}, "1"),
        ({"type": "array", "minItems": 2, "items": {"type": "integer"}}, "[1, 1]"),
        ({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a", "b"]},
         '{"a": 1, "b": "text"}'),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, "{}"),
        ({"$ref": "#/$defs/Unit"}, '"é"'),
        ({}, '"text"'),
    ],
)  # fmt: skip
def test_a_sample_is_written_as_a_call_takes_it(schema: Any, text: str) -> None:
    definitions = {"Unit": {"type": "string", "enum": ["é"]}}
    parameters = {"type": "object", "properties": {"a": schema}, "$defs": definitions}
    assert sample_argument(parameters, "a") == text
