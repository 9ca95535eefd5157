"""Schemas that a provider takes without enforcing them."""

from __future__ import annotations

from typing import Any

from tests.formats.exports import schema_of
from tests.formats.tools import TEXT, shaped, tool
from tests.tables import check_each

LOOSE = ("openai", "openrouter", "anthropic", "gemini")
NUMBER = {"type": "integer"}
AHEAD = {"pattern": "^(?!x)"}
IN_WORDS = {"description": "Matches the regular expression `^(?!x)`."}


def of(*required: str, **properties: Any) -> dict[str, Any]:
    described = {"type": "object", "properties": properties}
    return {**described, "required": list(required)} if required else described


def made(name: str, schema: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """Return what becomes of a schema of arguments, and the kind and place of each loss."""
    shape = shaped(name, tool(schema))
    return schema_of(shape.definition), [(each.kind, *each.path[1:]) for each in shape.losses]


def said(name: str, schema: Any, **definitions: Any) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return what becomes of a property, and the kind and place in it of each loss."""
    whole, losses = made(name, of(a=schema) | ({"$defs": definitions} if definitions else {}))
    return whole["properties"]["a"], [
        (kind, *(path[2:] if path[:2] == ["properties", "a"] else path)) for kind, *path in losses
    ]


@check_each("name", ["openai", "openrouter", "anthropic"])
def test_what_guides_a_model_stays_as_it_is(name: str) -> None:
    schema = of(
        a={"oneOf": [TEXT, {"not": {"const": 1}}], "allOf": [{"minLength": 1}, {}], "x-own": [1]},
        b={"if": TEXT, "then": {"format": "odd"}, "contains": {}, "maxContains": 1},
        c={"$ref": "#/$defs/c", "description": "A c.", "default": None},
        d={**TEXT, "pattern": r"^\(?=x", "enum": ["x"], "examples": ["x"]},
        e={"type": "array", "items": TEXT, "unevaluatedItems": False},
    ) | {"$defs": {"c": {"uniqueItems": True, "enum": [1, None, {}]}}, "minProperties": 1}
    assert made(name, schema) == (schema, [])


@check_each(
    ("schema", "expected", "losses"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}, []),
        ({"type": "object"}, of(), []),
        (
            {"type": "array", "prefixItems": [TEXT], "unevaluatedItems": False},
            {
                "type": "array",
                "prefixItems": [TEXT],
                "items": {},
                "description": "No other items.",
            },
            [("moved", "unevaluatedItems")],
        ),
        ({**TEXT, **AHEAD}, {**TEXT, **IN_WORDS}, [("moved", "pattern")]),
        (
            of() | {"patternProperties": {"^(?=x)": {}, "y": {}}, "additionalProperties": False},
            of()
            | {
                "description": 'Properties by a pattern of their names: {"^(?=x)":{},"y":{}}. '
                "No other properties."
            },
            [("moved", "patternProperties")],
        ),
        (
            {"$ref": "https://example.org/x", "title": "A"},
            {"title": "A", "description": 'As defined at "https://example.org/x".'},
            [("moved", "$ref")],
        ),
        # an ``allOf`` of one, as pydantic 1 writes it
        (
            {"allOf": [{"$ref": "#/$defs/t"}], "title": "A", "default": "x"},
            {"$ref": "#/$defs/t", "title": "A", "default": "x"},
            [],
        ),
        ({"allOf": [TEXT], "minLength": 1}, {"allOf": [TEXT], "minLength": 1}, []),
    ],
)
def test_openai_refuses_little_where_it_does_not_enforce(
    schema: Any, expected: Any, losses: list[Any]
) -> None:
    assert said("openai", schema, t=TEXT) == (expected, losses)


@check_each(
    ("schema", "expected"),
    [
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"const": 5, "type": "number"}, {"type": "number", "enum": [5]}),
        ({"enum": ["x", "y"], "type": "string"}, {"type": "string", "enum": ["x", "y"]}),
        ({"enum": ["x", 1, 2.5]}, {"type": ["string", "integer", "number"], "enum": ["x", 1, 2.5]}),
        ({"oneOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"allOf": [{**TEXT, "enum": ["x"]}], "title": "A"}, {**TEXT, "enum": ["x"], "title": "A"}),
        ({**TEXT, "deprecated": False, "x-own": 1}, TEXT),
        # nothing stands beside a reference
        ({"$ref": "#/$defs/text"}, {"$ref": "#/$defs/text"}),
        (
            {"$ref": "#/$defs/text", "description": "A", "format": "date"},
            {"description": "A", "format": "date", "anyOf": [{"$ref": "#/$defs/text"}]},
        ),
        (
            {"allOf": [{"$ref": "#/$defs/text"}], "title": "A"},
            {"title": "A", "anyOf": [{"$ref": "#/$defs/text"}]},
        ),
    ],
)
def test_gemini_is_told_some_keywords_in_others(schema: Any, expected: Any) -> None:
    found, losses = said("gemini", schema, text=TEXT)
    assert (found, losses) == (expected, [])


@check_each(
    ("schema", "expected", "kind"),
    [
        ({"const": True}, {"type": "boolean", "description": "Must be true."}, "moved"),
        (
            {"const": {}, "type": "object"},
            {"type": "object", "description": "Must be {}."},
            "moved",
        ),
        (
            {"enum": [True, "auto"]},
            {"type": ["boolean", "string"], "description": 'One of: true, "auto".'},
            "moved",
        ),
        (
            {"type": "number", "exclusiveMinimum": 2},
            {"type": "number", "description": "Greater than 2."},
            "moved",
        ),
        ({**TEXT, "examples": ["x"]}, {**TEXT, "description": 'Examples: "x".'}, "moved"),
        ({"not": {"const": 1}}, {"description": 'Must not match {"const":1}.'}, "moved"),
        (
            {"allOf": [TEXT, {"format": "date"}]},
            {"description": 'Fits all of: {"type":"string"}, {"format":"date"}.'},
            "moved",
        ),
    ],
)
def test_what_gemini_is_told_less_exactly_is_reported(
    schema: Any, expected: Any, kind: str
) -> None:
    found, losses = said("gemini", schema)
    assert found == expected
    keywords = [each for each in schema if each not in ("type", "properties")]
    assert losses in [[(kind, keyword)] for keyword in keywords]


def test_references_lead_to_definitions_be_it_in_words() -> None:
    schema = of(
        a={"$ref": "#/$defs/x"}, b={"$ref": "#y"}, c={"not": {"$ref": "#/$defs/w/$defs/z"}}
    ) | {
        "$defs": {
            "x": {"type": "object", "properties": {"d": {"$ref": "#/properties/a"}}},
            "w": {"$defs": {"z": {"$anchor": "y", "multipleOf": 2}}},
        }
    }
    found, losses = made("gemini", schema)
    assert found["properties"] == {
        "a": {"$ref": "#/$defs/x"},
        "b": {"$ref": "#/$defs/y"},
        "c": {"description": 'Must not match {"$ref":"#/$defs/y"}.'},
    }
    assert found["$defs"]["y"] == {"description": "A multiple of 2."}
    assert losses == [
        ("moved", "properties", "c", "not"),
        ("moved", "$defs", "w", "$defs", "z", "multipleOf"),
    ]


@check_each("name", LOOSE)
def test_the_root_is_a_plain_object(name: str) -> None:
    for schema in ({"$comment": "x"}, {"type": ["object", "null"]}, {"type": "object"}):
        assert made(name, schema) == (of(), [])
    plain = of("a", a=TEXT) | {"description": "All.", "additionalProperties": False}
    assert made(name, plain) == (plain, [])
    wholes: tuple[dict[str, Any], ...]
    wholes = {"$ref": "#/$defs/args"}, {"allOf": [{"$ref": "#/$defs/args"}]}
    for whole in wholes:
        schema = whole | {"title": "All", "$defs": {"args": plain}}
        assert made(name, schema) == (plain | {"title": "All"}, [])


def test_what_is_said_of_all_arguments_is_left_out_and_told_once() -> None:
    schema = of("a", a=TEXT) | {
        "oneOf": [
            of("kind", kind={"const": "cat"}, purrs={"type": "boolean"}, age=NUMBER),
            {"$ref": "#/$defs/dog"},
        ],
        "allOf": [{"anyOf": [of(a=NUMBER, deep=TEXT), True]}, of(never=False)],
        "if": of(kind={"const": "cat"}),
        "then": of(whiskers=NUMBER),
        "else": of(tail=NUMBER),
        "unevaluatedProperties": False,
        "$defs": {"dog": of("name", "kind", kind={"const": "dog"}, age=NUMBER, name=TEXT)},
    }
    for name in ("openai", "openrouter"):
        found, losses = made(name, schema)
        assert found == of(
            "a",
            a=TEXT,
            whiskers=NUMBER,
            tail=NUMBER,
            kind={"anyOf": [{"const": "cat"}, {"const": "dog"}]},
            purrs={"type": "boolean"},
            age=NUMBER,
            deep=TEXT,
            name=TEXT,
        )
        assert losses == [("dropped", "oneOf")]
    (loss,) = shaped("openai", tool(schema)).losses
    assert loss.message == (
        "oneOf, allOf, if, then, else and unevaluatedProperties of all arguments are omitted"
    )
    assert loss.help
    assert made("gemini", schema)[0]["properties"]["kind"] == {
        "anyOf": [{**TEXT, "enum": ["cat"]}, {**TEXT, "enum": ["dog"]}]
    }


def test_no_properties_are_added_where_there_can_be_no_others() -> None:
    schema = of(a=TEXT) | {"anyOf": [of("a", "b", b=TEXT)], "additionalProperties": False}
    found, losses = made("openai", schema)
    assert found == of(a=TEXT) | {"additionalProperties": False}
    assert losses == [("dropped", "anyOf")]


ODD = of(**{"größe": TEXT, "a.b-c": TEXT, "x" * 64: TEXT, "inner": of(**{"a b": TEXT, "": TEXT})})


def test_names_that_a_provider_refuses_stay_and_are_told() -> None:
    shape = shaped("anthropic", tool(ODD))
    assert schema_of(shape.definition) == ODD
    assert shape.losses[0] == (
        "name",
        ("parameters", "properties", "größe"),
        "'größe' is rejected as the name of a property",
        "rename it, so that it matches [a-zA-Z0-9_.-]{1,64}",
    )
    assert shape.losses[1].message == "'' can be rejected as the name of a property"
    places = {
        name: [(loss.kind, *loss.path[2:]) for loss in shaped(name, tool(ODD)).losses]
        for name in LOOSE
    }
    within = [("inner", "properties", ""), ("inner", "properties", "a b")]
    assert places["anthropic"] == [("name", "größe"), *(("doubt", *each) for each in within)]
    assert places["openrouter"] == [("doubt", "größe"), *(("doubt", *each) for each in within)]
    assert places["gemini"][:1] == [("doubt", "a.b-c")]
    assert places["openai"] == []
