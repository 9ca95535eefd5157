"""What is changed even in schemas that nobody enforces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.formats import providers
from sovl_tools.formats.compat import compatible, refused_names
from sovl_tools.formats.providers import Rules
from tests.formats.rules.anthropic import problems_of_schema as problems_of_anthropic
from tests.formats.rules.openai import problems_of_schema as problems_of_openai
from tests.formats.schemas import arguments_for, moderate, parameters
from tests.formats.tools import TEXT
from tests.schema.validators import validator

PROVIDERS = (providers.OPENAI, providers.ANTHROPIC, providers.OPENROUTER)
OPENAI, ANTHROPIC, OPENROUTER = (each.rules for each in PROVIDERS)
EVERY = pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC, OPENROUTER])
AHEAD = {"pattern": "^(?!x)"}
IN_WORDS = {"description": "Matches the regular expression `^(?!x)`."}


def eased(schema: dict[str, Any], rules: Rules) -> tuple[dict[str, Any], tuple[Any, ...]]:
    made, losses, _ = compatible(schema, rules)
    return made, losses


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def places(losses: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [(loss.kind, *loss.path[1:]) for loss in losses]


def containers(value: Any) -> Iterator[int]:
    """Yield what could be shared of a value."""
    if isinstance(value, dict | list):
        yield id(value)
        for each in value.values() if isinstance(value, dict) else value:
            yield from containers(each)


@EVERY
def test_a_plain_schema_stays_as_it_is(rules: Rules) -> None:
    schema = of(a={**TEXT, "pattern": "^x", "minLength": 1, "enum": ["x"], "default": "x"})
    made, losses = eased(schema, rules)
    assert (made, losses) == (schema, ())
    assert {*containers(made)}.isdisjoint(containers(schema))


@EVERY
def test_what_guides_a_model_may_stay_below_the_root(rules: Rules) -> None:
    schema = of(
        a={"oneOf": [TEXT, {"not": {"const": 1}}], "allOf": [{"minLength": 1}], "x-own": [1]},
        b={"if": TEXT, "then": {"format": "odd"}, "contains": {}, "maxContains": 1},
        c={"$ref": "#/$defs/c", "description": "A c.", "default": None},
    ) | {"$defs": {"c": {"uniqueItems": True, "enum": [1, None, {}]}}, "minProperties": 1}
    assert eased(schema, rules) == (schema, ())


@EVERY
def test_a_root_says_nothing_in_alternatives(rules: Rules) -> None:
    schema = {"$schema": "x", "$ref": "#a", "anyOf": [{"required": ["x"]}], "enum": [{"x": "y"}]}
    made, losses = eased(schema | {"$defs": {"a": of(x=TEXT) | {"$anchor": "a"}}}, rules)
    assert made == {
        **of(x=TEXT),
        "required": ["x"],
        "description": 'Fits at least one of: {"required":["x"]}. One of: {"x":"y"}.',
    }
    assert places(losses) == [("moved", "anyOf"), ("moved", "enum")]


def test_conditions_at_the_root_are_left_to_anthropic() -> None:
    schema = of(a=TEXT) | {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    assert eased(schema, ANTHROPIC) == (schema, ())
    assert places(eased(schema, OPENAI)[1]) == [("moved", "if")]


def test_arrays_say_what_their_items_are_and_objects_what_their_properties() -> None:
    schema = of(
        a={"type": "array"},
        b={"type": ["array", "null"], "prefixItems": [True]},
        c={"type": "array", "items": False},
        d={"type": "object"},
        e={"type": ["object", "array"], "items": TEXT},
        f={"items": {}},
    )
    assert eased(schema, OPENAI) == (
        of(
            a={"type": "array", "items": {}},
            b={"type": ["array", "null"], "prefixItems": [{}], "items": {}},
            c={"type": "array", "items": {"not": {}}},
            d=of(),
            e={"type": ["object", "array"], "items": TEXT, "properties": {}},
            f={"items": {}},
        ),
        (),
    )
    assert eased(of(a={"type": "array"}, d={"type": "object"}), ANTHROPIC) == (
        of(a={"type": "array"}, d={"type": "object"}),
        (),
    )


def test_items_that_were_the_rest_are_told_in_words() -> None:
    schema = of(a={"type": "array", "prefixItems": [TEXT], "unevaluatedItems": False})
    made, losses = eased(schema, OPENAI)
    assert made["properties"]["a"] == {
        "type": "array",
        "prefixItems": [TEXT],
        "items": {},
        "description": "No other items.",
    }
    assert places(losses) == [("moved", "properties", "a", "unevaluatedItems")]
    assert eased(of(a={**schema["properties"]["a"], "items": TEXT}), OPENAI)[1] == ()


@pytest.mark.parametrize("rules", [OPENAI, OPENROUTER])
def test_a_pattern_that_looks_around_is_told_in_words(rules: Rules) -> None:
    schema = of(a={**TEXT, **AHEAD}, b={**TEXT, "pattern": r"\(?=x"})
    made, losses = eased(schema, rules)
    assert made == of(a={**TEXT, **IN_WORDS}, b={**TEXT, "pattern": r"\(?=x"})
    assert losses == (
        (
            "moved",
            ("parameters", "properties", "a", "pattern"),
            "pattern stands in the description only",
            None,
        ),
    )
    assert eased(schema, ANTHROPIC) == (schema, ())


def test_properties_by_patterns_that_look_around_are_told_in_words() -> None:
    schema = of(
        a=of() | {"patternProperties": {"^(?=x)": {}, "y": {}}, "additionalProperties": False},
        b=of() | {"patternProperties": {"y": {}}, "additionalProperties": False},
    )
    made, losses = eased(schema, OPENAI)
    assert made["properties"]["a"] == of() | {
        "description": 'Properties by a pattern of their names: {"^(?=x)":{},"y":{}}. '
        "No other properties."
    }
    assert made["properties"]["b"] == schema["properties"]["b"]
    assert [place[-1] for place in places(losses)] == ["patternProperties", "additionalProperties"]


def test_what_would_admit_less_if_its_schemas_admit_more_is_told_in_words() -> None:
    schema = of(
        a={"not": {"items": AHEAD}, "if": AHEAD, "then": TEXT},
        b={"contains": AHEAD, "minContains": 2, "maxContains": 3},
        c={"contains": AHEAD},
        d={"not": {"$ref": "#/$defs/d"}, "if": TEXT, "else": AHEAD},
        e={"not": TEXT, "contains": TEXT, "maxContains": 1, "oneOf": [TEXT, True]},
    ) | {"$defs": {"d": {"type": "string"}}}
    made, losses = eased(schema, OPENAI)
    found = {name: {*each} for name, each in made["properties"].items()}
    assert found == {
        "a": {"description"},
        "b": {"description"},
        "c": {"contains"},
        "d": {"if", "else", "description"},
        "e": {"not", "contains", "maxContains", "oneOf"},
    }
    assert made["$defs"] == schema["$defs"]
    assert places(losses) == [
        ("moved", "properties", "a", "not"),
        ("moved", "properties", "a", "if"),
        ("moved", "properties", "b", "contains"),
        ("moved", "properties", "b", "minContains"),
        ("moved", "properties", "b", "maxContains"),
        ("moved", "properties", "c", "contains", "pattern"),
        ("moved", "properties", "d", "else", "pattern"),
        ("moved", "properties", "d", "not"),
    ]


def test_alternatives_that_exclude_one_another_no_more_may_all_fit() -> None:
    schema = of(
        a={"oneOf": [AHEAD, TEXT]},
        b={"oneOf": [AHEAD, TEXT], "anyOf": [TEXT], "allOf": [TEXT]},
        c={"oneOf": [TEXT, {"$ref": "#/properties/a"}]},
    )
    made, losses = eased(schema, OPENAI)
    assert made["properties"] == {
        "a": {"anyOf": [IN_WORDS, TEXT]},
        "b": {"anyOf": [TEXT], "allOf": [TEXT, {"anyOf": [IN_WORDS, TEXT]}]},
        "c": {"anyOf": [TEXT, {"$ref": "#/$defs/a"}]},
    }
    rewritten = [loss for loss in losses if loss.kind == "rewritten"]
    assert places(tuple(rewritten)) == [
        ("rewritten", "properties", name, "oneOf") for name in ("a", "b", "c")
    ]
    assert rewritten[0].message == "oneOf is said as anyOf"


@pytest.mark.parametrize("gone", [{"$dynamicRef": "#x"}, {"$ref": "https://example.org/x"}])
def test_a_reference_that_goes_makes_a_schema_admit_more(gone: dict[str, Any]) -> None:
    made, losses = eased(of(a={"not": gone}), ANTHROPIC)
    assert made["properties"]["a"].keys() == {"description"}
    assert places(losses) == [("moved", "properties", "a", "not")]


def test_alternatives_of_the_root_keep_their_name_in_words() -> None:
    made, losses = eased(of(a=TEXT) | {"oneOf": [of(a=AHEAD), True]}, OPENAI)
    assert made["description"].startswith("Fits exactly one of: ")
    assert places(losses) == [
        ("moved", "oneOf", 0, "properties", "a", "pattern"),
        ("moved", "oneOf"),
    ]


ODD = of(**{"größe": TEXT, "a.b-c": TEXT, "x" * 64: TEXT, "inner": of(**{"a b": TEXT, "": TEXT})})


def test_names_that_a_provider_refuses_stay_and_are_told() -> None:
    made, losses = eased(ODD, ANTHROPIC)
    assert made == ODD
    assert losses == (
        (
            "name",
            ("parameters", "properties", "größe"),
            "'größe' is refused as the name of a property",
            "rename it, so that it matches [a-zA-Z0-9_.-]{1,64}",
        ),
        (
            "doubt",
            ("parameters", "properties", "inner", "properties", ""),
            "'' may be refused as the name of a property",
            "rename it, so that it matches [a-zA-Z0-9_.-]{1,64}",
        ),
        (
            "doubt",
            ("parameters", "properties", "inner", "properties", "a b"),
            "'a b' may be refused as the name of a property",
            "rename it, so that it matches [a-zA-Z0-9_.-]{1,64}",
        ),
    )


def test_names_may_be_refused_further_on() -> None:
    assert {place[0] for place in places(eased(ODD, OPENROUTER)[1])} == {"doubt"}
    assert eased(ODD, OPENAI)[1] == ()


def test_names_of_what_becomes_an_argument_are_refused() -> None:
    schema = of() | {"anyOf": [{"$ref": "#/$defs/a"}, True], "$defs": {"a": of(größe=TEXT)}}
    losses = eased(schema, ANTHROPIC)[1]
    assert places(losses)[1:] == [("name", "$defs", "a", "properties", "größe")]


def test_names_that_a_definition_does_not_have_are_nothing_to_speak_of() -> None:
    assert refused_names(ODD, of(inner=TEXT), rules=ANTHROPIC) == ()


@moderate
@given(parameters())
def test_providers_take_whatever_schema_there_is(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    for rules in (OPENAI, OPENROUTER, ANTHROPIC):
        made, losses = eased(schema, rules)
        wrong = problems_of_openai(made, strict=False) if rules is not ANTHROPIC else []
        wrong += problems_of_anthropic(made, strict=False) if rules is ANTHROPIC else []
        told = any(loss.kind == "name" for loss in losses)
        assert [each for each in wrong if not (told and "the property name" in each)] == []
        assert len({*containers(made)}) == len([*containers(made)])
        assert {*containers(made)}.isdisjoint(containers(schema))
    assert json.dumps(schema) == before


@moderate
@given(parameters())
def test_places_are_those_of_the_manifest(schema: dict[str, Any]) -> None:
    for rules in (OPENAI, OPENROUTER, ANTHROPIC):
        for loss in eased(schema, rules)[1]:
            found: Any = {"parameters": schema}
            for part in loss.path:
                found = found[part]


AT_THE_ROOT = {"anyOf", "oneOf", "allOf", "if"}


@moderate
@given(st.data())
def test_what_fitted_before_fits(data: st.DataObject) -> None:
    schema = data.draw(parameters().filter(AT_THE_ROOT.isdisjoint))
    given_arguments = data.draw(arguments_for(schema))
    for rules in (OPENAI, ANTHROPIC):
        assert validator(eased(schema, rules)[0]).is_valid(given_arguments)
