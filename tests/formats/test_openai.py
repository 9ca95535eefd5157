"""OpenAI's formats, and that of servers which have taken it over."""

from __future__ import annotations

from typing import Any

from sovl_tools import AITool
from sovl_tools.authoring.aitool import definition_of_instance
from tests.formats.tools import TEXT, arguments, collected, shaped, tool
from tests.tables import check_each

openai, openai_responses, openrouter = "openai", "openai-responses", "openrouter"
OPEN = {"type": "object", "additionalProperties": TEXT}


def test_a_definition_is_nested() -> None:
    shape = shaped(openai, tool(arguments("text", text=TEXT)))
    assert shape.definition == {
        "type": "function",
        "function": {
            "name": "echo",
            "description": "Say something.",
            "parameters": arguments("text", text=TEXT),
        },
    }
    assert (shape.losses, shape.undo, shape.is_strict) == ((), None, False)


def test_that_of_responses_is_flat_and_says_whether_it_is_strict() -> None:
    assert shaped(openai_responses, tool()).definition == {
        "type": "function",
        "name": "echo",
        "description": "Say something.",
        "parameters": arguments(text=TEXT),
        "strict": False,
    }
    assert shaped(openai_responses, tool(), strict=True).definition["strict"] is True


@check_each("module", [openai, openrouter, openai_responses])
def test_a_strict_definition_demands_all_and_can_be_undone(module: Any) -> None:
    shape = shaped(module, tool(), strict=True)
    function = shape.definition.get("function", shape.definition)
    assert function["strict"] is True
    assert function["parameters"] == arguments("text", text={"type": ["string", "null"]})
    assert shape.undo is not None
    assert shape.undo({"text": None}) == {}


def test_what_can_not_be_strict_is_exported_loosely_and_says_why() -> None:
    shape = shaped(openai, tool(arguments(labels=OPEN)), strict=True)
    expected = arguments(labels={**OPEN, "properties": {}})
    assert shape.definition["function"]["parameters"] == expected
    assert "strict" not in shape.definition["function"]
    place = ("parameters", "properties", "labels", "additionalProperties")
    message = "not strict: an object can have properties of any name"
    assert shape.losses == (("loose", place, message, None),)
    assert (shape.undo, shape.is_strict) == (None, False)


@check_each(("module", "words"), [(openai, "OpenAI"), (openrouter, "OpenAI, to")])
def test_more_tools_than_a_request_may_have_are_told(module: Any, words: str) -> None:
    shape = shaped(module, tool())
    definitions, losses = collected(module, [shape] * 128)
    assert (definitions, losses) == ([shape.definition] * 128, ())
    _, (loss,) = collected(module, [shape] * 129)
    assert (loss.kind, loss.path) == ("limit", ())
    assert loss.message.startswith(f"129 tools, more than the 128 that {words}")


class Plain(AITool):
    name = "plain"
    description = "Say."
    parameters_schema = arguments(text=TEXT)

    def execute(self, text: str) -> str:
        return text


class Own(Plain):
    def get_openrouter_tool_definition(self) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "plain", "description": "Mine."}}


def test_what_a_class_says_of_itself_is_what_openrouter_is_told() -> None:
    shapes = [shaped(openrouter, definition_of_instance(kind())) for kind in (Plain, Own)]
    assert shapes[0].definition["function"]["parameters"] == Plain.parameters_schema
    assert shapes[1].definition["function"] == {"name": "plain", "description": "Mine."}
    strict = shaped(openrouter, definition_of_instance(Own()), strict=True)
    assert [each.kind for each in strict.losses] == ["loose"]
    assert not shapes[1].losses


def test_openrouter_warns_of_names_that_some_models_refuse() -> None:
    shape = shaped(openrouter, tool(arguments(**{"a b": TEXT})))
    assert [each.kind for each in shape.losses] == ["doubt"]


@check_each("pattern", [r"(a)\1", "a+?", "(?P<x>a)(?P=x)", "^(?!a)", "[ab]{2}?"])
def test_an_elaborate_pattern_is_told_in_words(pattern: str) -> None:
    shape = shaped(openai, tool(arguments("a", a={**TEXT, "pattern": pattern})), strict=True)
    assert "pattern" not in shape.definition["function"]["parameters"]["properties"]["a"]
    assert [each.kind for each in shape.losses] == ["moved"]
