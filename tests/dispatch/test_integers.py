from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.dispatch.arguments import ArgumentCheck, with_integers
from tests.dispatch.toolbox import properties, tool
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
COUNTED = "{'kind': 'count', 'value': 2}"
IF_COUNT = {"properties": {"kind": {"const": "count"}}}


def converted(value: Any, schema: Any) -> Any:
    assert validator(schema).is_valid(value)
    return with_integers(value, schema)


@check_each(
    ("schema", "value", "wanted"),
    [
        (INTEGER, 2.0, "2"),
        (INTEGER, -0.0, "0"),
        ({"type": ["integer", "null"]}, 2.0, "2"),
        (properties(a=INTEGER), {"a": 2.0}, "{'a': 2}"),
        (properties(a=properties(b=INTEGER)), {"a": {"b": 2.0}}, "{'a': {'b': 2}}"),
        ({"items": INTEGER}, [1.0, 2], "[1, 2]"),
        ({"prefixItems": [NUMBER, INTEGER]}, [1.0, 2.0], "[1.0, 2]"),
        ({"prefixItems": [NUMBER], "items": INTEGER}, [1.0, 2.0, 3.0], "[1.0, 2, 3]"),
        ({**properties(a=NUMBER), "additionalProperties": INTEGER}, {"b": 2.0}, "{'b': 2}"),
        ({"patternProperties": {"^n_": INTEGER}}, {"n_a": 2.0}, "{'n_a': 2}"),
        ({"$ref": "#/$defs/size", **DEFINED}, 2.0, "2"),
        ({**properties(a={"$ref": "#/$defs/size"}), **DEFINED}, {"a": 2.0}, "{'a': 2}"),
        ({"allOf": [{}, INTEGER]}, 2.0, "2"),
        ({"anyOf": [{"type": "string"}, INTEGER]}, 2.0, "2"),
        ({"oneOf": [INTEGER, {"type": "string"}]}, 2.0, "2"),
        ({"items": {"anyOf": [{"type": "null"}, INTEGER]}}, [None, 2.0], "[None, 2]"),
        ({"if": IF_COUNT, "then": TAGGED[0]}, {"kind": "count", "value": 2.0}, COUNTED),
        ({"oneOf": TAGGED}, {"kind": "count", "value": 2.0}, COUNTED),
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
        (NUMBER, 2),
        ({}, 2.0),
        ({"type": ["integer", "number"]}, 2.0),
        ({"type": ["number", "null"]}, 2.0),
        (properties(a=NUMBER), {"a": 2.0, "b": 3.0}),
        ({"items": NUMBER}, [2.0]),
        ({"items": True}, [2.0]),
        ({"anyOf": [NUMBER, {"type": "string"}]}, 2.0),
        ({"$ref": "#/$defs/ratio", "$defs": {"ratio": NUMBER, "size": INTEGER}}, 2.0),
        (
            {"patternProperties": {"^n_": NUMBER}, "additionalProperties": INTEGER},
            {"n_a": 2.0},
        ),
        ({"oneOf": TAGGED}, RATIO),
        ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"anyOf": TAGGED}}}, RATIO),
        (properties(a={"items": {"oneOf": TAGGED}}), {"a": [RATIO]}),
        ({"anyOf": TAGGED}, RATIO),
        (
            {"if": IF_COUNT, "then": TAGGED[0], "else": TAGGED[1]},
            RATIO,
        ),
    ],
    ids=str,
)
def test_a_number_stays_what_it_is_elsewhere(schema: Any, value: Any) -> None:
    assert repr(converted(value, schema)) == repr(value)


def test_the_value_itself_is_not_changed() -> None:
    value = {"a": [2.0]}
    converted(value, properties(a={"items": INTEGER}))
    assert repr(value) == "{'a': [2.0]}"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#"}}},
        {"$ref": "#/$defs/absent"},
    ],
    ids=str,
)
def test_references_in_circles_end(schema: Any) -> None:
    assert with_integers(2.0, schema) == 2.0


class Counted(dict[str, Any]):
    """A schema that counts how often it is asked."""

    asked = 0

    def get(self, key: str, default: Any = None, /) -> Any:
        Counted.asked += 1
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        Counted.asked += 1
        return super().__contains__(key)


def effort(levels: int) -> int:
    """Return how often a recursive schema is asked about a value that is so deep."""
    branch = Counted({"properties": {"of": {"items": {"$ref": "#/$defs/either"}}}})
    either = Counted({"oneOf": [{"$ref": "#/$defs/all"}, {"$ref": "#/$defs/any"}, INTEGER]})
    root = Counted({"$ref": "#/$defs/either", "$defs": {"all": branch, "any": branch}})
    root["$defs"]["either"] = either
    value: Any = 2.0
    for _ in range(levels):
        value = {"of": [value]}
    Counted.asked = 0
    with_integers(value, root)
    return Counted.asked


def test_the_effort_grows_with_the_value_and_not_with_its_powers() -> None:
    assert effort(8) <= 4 * effort(4)


@moderate
@given(schemas.filter(lambda schema: isinstance(schema, dict)), values)
def test_a_value_stays_equal_and_valid(schema: Any, value: Any) -> None:
    fits = validator(schema).is_valid
    if fits(value):
        after = with_integers(value, schema)
        assert after == value
        assert fits(after)


@moderate
@given(st.integers(1, 9), st.sampled_from(["{}.0", "-{}e0", "{}0E-1", "{}"]))
def test_a_whole_number_is_an_int_however_it_is_written(number: int, form: str) -> None:
    text = form.format(number)
    check = ArgumentCheck(tool(effort, properties(size=INTEGER, ratio=NUMBER)))
    keywords = check(f'{{"size": {text}, "ratio": {text}}}')
    wanted = {"size": int(float(text)), "ratio": float(text) if form != "{}" else number}
    assert repr(keywords) == repr(wanted)
