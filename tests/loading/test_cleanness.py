from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.loading.checks import manifest, schema
from sovl_tools.loading.cleanness import is_plain
from sovl_tools.model.diagnostic import ask
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.schemanodes import nodes
from sovl_tools.validation.published import published
from tests.conftest import manifest_of
from tests.validation.strategies import TYPES, examples, moderate, scalars

NAMES = ("color", "size", "user name")

enums = st.lists(st.sampled_from(["red", "green", 1, 2.5, None, True]), min_size=1, max_size=2)
oddities: dict[str, st.SearchStrategy[Any]] = {
    "type": st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
    "description": st.sampled_from(["", " ", "\n\t", "\u00a0", "\x1c", "It."]),
    "title": st.just("Title"),
    "enum": enums,
    "const": scalars,
    "default": scalars,
    "examples": st.lists(scalars, max_size=1),
    "pattern": st.sampled_from(["^a", "(", "[", "a{2,1}"]),
    "format": st.sampled_from(["date", "no-format"]),
    "minLength": st.integers(0, 3),
    "maximum": st.integers(0, 3),
    "minItems": st.integers(0, 3),
    "uniqueItems": st.booleans(),
    "minlength": st.just(1),
    "requried": st.just(["color"]),
    "x-minLenght": st.just(1),
    "nothing": st.just(1),
    "$ref": st.sampled_from(["#/$defs/absent", "#", "http://localhost/x"]),
    "additionalProperties": st.booleans(),
    "required": st.lists(st.sampled_from([*NAMES, "colour"]), max_size=2, unique=True),
    "properties": st.dictionaries(st.sampled_from(NAMES), st.just({"type": "array"}), max_size=1),
    "items": st.just({"type": "array"}),
    "patternProperties": st.just({"(": {}}),
    "not": st.just({"properties": {"color": {}}}),
}


def near_clean(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas as tools have them, with at most two oddities."""

    @st.composite
    def near(draw: st.DrawFn) -> dict[str, Any]:
        kind = draw(st.sampled_from(TYPES))
        made: dict[str, Any] = {"type": kind, "description": "It."}
        if kind == "array":
            made["items"] = draw(inner)
        if kind == "object":
            made["properties"] = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=2))
            made["required"] = sorted(made["properties"])[:1]
        for key in draw(st.lists(st.sampled_from(sorted(oddities)), max_size=2, unique=True)):
            made[key] = draw(oddities[key])
        for key in draw(st.sets(st.sampled_from(["type", "description", "items"]), max_size=1)):
            made.pop(key, None)
        return made

    return near()


schemas = st.recursive(near_clean(st.just({"type": "string"})), near_clean, max_leaves=4)
odd_keys = st.dictionaries(
    st.sampled_from(["tags", "title", "description", "examples", "x-own", "tgas", "execution"]),
    st.sampled_from(["", "text", [], [""], ["io"], [{"input": {}}], {"timeout": 5}, 5]),
    max_size=1,
)


def findings(document: dict[str, Any]) -> list[Any]:
    """Return all that is wrong with a manifest of the name ``echo``."""
    problems = published("tool").problems(document)
    folder = ToolFolder("echo", "tools/echo", "/tools/echo")
    found = ask(manifest.RULES, manifest.ManifestCase(folder, document, problems))
    for node in nodes(document["parameters"], ("parameters",)):
        found += ask(schema.RULES, node)
    return [*problems, *found]


def manifest_with(**keywords: Any) -> dict[str, Any]:
    """Return a manifest whose parameters have further keywords."""
    text = {"type": "string", "description": "What to say."}
    parameters = {"type": "object", "properties": {"text": text}}
    return manifest_of("echo", parameters={**parameters, **keywords})


@settings(moderate, max_examples=examples(600))
@example(manifest_with(default=5), {})
@example(manifest_with(pattern="("), {})
@example(manifest_with(enum=["a"]), {})
@example(manifest_with(items={"type": "array"}), {})
@example(manifest_with(properties={"text": {"type": "string", "description": "\x1c"}}), {})
@given(schemas.map(lambda parameters: manifest_with(**parameters)), odd_keys)
def test_no_rule_finds_anything_in_a_plain_manifest(
    document: dict[str, Any], keys: dict[str, Any]
) -> None:
    whole = {**document, **keys}
    assert not is_plain(whole) or findings(whole) == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {}},
        {
            "type": "object",
            "properties": {
                "color": {"type": "string", "enum": ["red"], "description": "Its color."},
                "sizes": {
                    "type": "array",
                    "description": "Its sizes.",
                    "items": {"type": "integer", "minimum": 1},
                    "default": [1],
                },
            },
            "required": ["color"],
            "additionalProperties": False,
        },
    ],
    ids=str,
)
def test_the_manifests_that_most_tools_have_are_plain(parameters: dict[str, Any]) -> None:
    keys = {"tags": ["io"], "activation_phrases": ["say it"], "examples": [{"input": {}}]}
    document = manifest_of("echo", parameters=parameters, **keys)
    assert findings(document) == []
    assert is_plain(document)
