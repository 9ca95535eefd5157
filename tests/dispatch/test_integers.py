from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import given

from sovl_tools.dispatch.integers import integer_converter
from tests.dispatch.toolbox import properties
from tests.schema.strategies import moderate, schemas, values
from tests.schema.validators import validator
from tests.tables import check_each

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
DEFINED = {"$defs": {"size": INTEGER}}
TAGGED = [
    {"properties": {"kind": {"const": "count"}, "value": INTEGER}},
    {"properties": {"kind": {"const": "ratio"}, "value": NUMBER}},
]
RATIO = {"kind": "ratio", "value": 2.0}
IF_COUNT = {"properties": {"kind": {"const": "count"}}}


def converted(value: Any, schema: Any) -> Any:
    assert validator(schema).is_valid(value)
    convert = integer_converter(schema)
    return value if convert is None else convert(deepcopy(value))


@check_each(
    ("schema", "value", "wanted"),
    [
        (INTEGER, 2.0, "2"),
        (properties(a=INTEGER), {"a": 2.0}, "{'a': 2}"),
        ({"items": INTEGER}, [1.0, 2], "[1, 2]"),
        ({"prefixItems": [NUMBER, INTEGER]}, [1.0, 2.0], "[1.0, 2]"),
        ({"$ref": "#/$defs/size", **DEFINED}, 2.0, "2"),
        ({"anyOf": [{"type": "string"}, INTEGER]}, 2.0, "2"),
        ({"anyOf": [{"items": INTEGER, "type": "array"}, {"type": "null"}]}, [2.0], "[2]"),
        (
            {"properties": {"next": {"$ref": "#"}, "size": INTEGER}},
            {"next": {"next": {"size": 2.0}}},
            "{'next': {'next': {'size': 2}}}",
        ),
    ],
    ids=str,
)
def test_a_whole_number_is_an_int_where_the_schema_says_integer(
    schema: Any, value: Any, wanted: str
) -> None:
    assert repr(converted(value, schema)) == wanted


@check_each(
    ("schema", "value"),
    [
        (NUMBER, 2.0),
        ({"type": ["integer", "number"]}, 2.0),
        (properties(a=NUMBER), {"a": 2.0, "b": 3.0}),
        ({"anyOf": [NUMBER, {"type": "string"}]}, 2.0),
        ({"$ref": "#/$defs/ratio", "$defs": {"ratio": NUMBER, "size": INTEGER}}, 2.0),
        (
            {"patternProperties": {"^n_": NUMBER}, "additionalProperties": INTEGER},
            {"n_a": 2.0},
        ),
        (properties(a={"items": {"oneOf": TAGGED}}), {"a": [RATIO]}),
        (
            {"if": IF_COUNT, "then": TAGGED[0], "else": TAGGED[1]},
            RATIO,
        ),
    ],
    ids=str,
)
def test_a_number_stays_what_it_is_elsewhere(schema: Any, value: Any) -> None:
    assert repr(converted(value, schema)) == repr(value)


@moderate
@given(schemas.filter(lambda schema: isinstance(schema, dict)), values)
def test_a_value_stays_equal_and_valid(schema: Any, value: Any) -> None:
    fits = validator(schema).is_valid
    if fits(value):
        after = converted(value, schema)
        assert after == value
        assert fits(after)
