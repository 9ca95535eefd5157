from __future__ import annotations

import pytest

from sovl_tools import ToolDefinition
from sovl_tools.search.ranking import FIELDS, texts
from tests.search.everyday_tools import made


def test_every_field_of_a_tool_is_told() -> None:
    tool = made(
        "echo",
        "Say something.",
        {"text": "What to say."},
        title="Echo",
        tags=("speech",),
        category="words",
        activation_phrases=("say it",),
        examples=({"description": "Hello.", "input": {"text": "hello", "n": 3}, "output": "no"},),
    )
    assert texts(tool) == {
        "name": ["echo"],
        "title": ["Echo"],
        "phrases": ["say it"],
        "tags": ["speech"],
        "category": ["words"],
        "description": ["Say something."],
        "parameters": ["", "", "text", "", "What to say."],
        "choices": [],
        "examples": ["Hello.", "hello"],
    }


def test_fields_and_weights_are_about_the_same() -> None:
    assert texts(made("echo")).keys() == FIELDS.keys()
    weights = [field.weight for field in FIELDS.values()]
    assert weights == sorted(weights, reverse=True)


def test_parameters_are_told_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"deep": {"title": "Down", "enum": ["a", 1, None]}}}
    outer = {"type": "array", "items": {"anyOf": [inner, {"description": "Or this."}]}}
    said = texts(made("echo", "", {"outer": outer}))
    assert {"outer", "deep", "Down", "Or this."} <= {*said["parameters"]}
    assert said["choices"] == ["a"]


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ({"input": '{"text": "a"}'}, ['{"text": "a"}']),
        ({"input": {"a": ["b", {"c": "d"}], "e": None}}, ["b", "d"]),
        ({"output": "a"}, []),
        ("no example", []),
    ],
)
def test_of_an_example_what_is_given_is_told(example: object, expected: list[str]) -> None:
    assert texts(made("echo", examples=(example,)))["examples"] == expected


def test_functions_in_a_schema_are_not_called() -> None:
    def fail() -> None:
        raise AssertionError

    color = {"description": "Which.", "enum": fail}
    properties = {"color": color, "later": fail}
    schema = {"type": "object", "properties": properties}
    tool = ToolDefinition("paint", "Paint.", schema, print, is_dynamic=True)
    assert [text for text in texts(tool)["parameters"] if text] == ["color", "later", "Which."]
