"""Anthropic's format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.formats import anthropic
from sovl_tools.formats.base import Loss, Options, Shape
from tests.formats.tools import TEXT, arguments, tool

STRICT = Options(strict=True)


def shapes_of(options: Options, *tools: Any) -> list[Shape]:
    return [anthropic.convert(each, options) for each in tools]


def test_a_definition_has_an_input_schema() -> None:
    shape = anthropic.convert(tool(arguments("text", text=TEXT)), Options())
    assert shape.definition == {
        "name": "echo",
        "description": "Say something.",
        "input_schema": arguments("text", text=TEXT),
    }
    assert (shape.losses, shape.undo, shape.is_strict) == ((), None, False)


def test_in_a_strict_one_optional_properties_stay_optional() -> None:
    number = {"type": "integer", "minimum": 1, "default": 3, "format": "uri"}
    shape = anthropic.convert(tool(arguments("text", text=TEXT, number=number)), STRICT)
    assert shape.definition["strict"] is True
    assert shape.definition["input_schema"] == arguments(
        "text",
        text=TEXT,
        number={"type": "integer", "default": 3, "format": "uri", "description": "At least 1."},
    )
    assert (shape.undo, shape.is_strict) == (None, True)


@pytest.mark.parametrize("options", [STRICT, Options()])
def test_a_name_that_is_refused_is_told(options: Options) -> None:
    shape = anthropic.convert(tool(arguments(**{"a b": TEXT})), options)
    assert [(each.kind, each.path[-1]) for each in shape.losses] == [("name", "a b")]


def test_arrays_may_demand_one_item_and_no_more() -> None:
    one, two = ({"type": "array", "items": TEXT, "minItems": count} for count in (1, 2))
    shape = anthropic.convert(tool(arguments(one=one, two=two)), STRICT)
    properties = shape.definition["input_schema"]["properties"]
    assert properties["one"] == one
    assert "minItems" not in properties["two"]


EXAMPLES: tuple[Any, ...] = (
    {"input": {"text": "a"}, "output": 1},
    {"input": "prose"},
    {"input": {}},
)


def test_examples_with_arguments_go_with_it() -> None:
    shape = anthropic.convert(tool(examples=EXAMPLES), Options())
    assert shape.definition["input_examples"] == [{"text": "a"}, {}]
    shape.definition["input_examples"][0]["text"] = "changed"
    assert EXAMPLES[0]["input"] == {"text": "a"}
    assert (
        "input_examples"
        not in anthropic.convert(tool(examples=EXAMPLES[1:2]), Options()).definition
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (STRICT, "they may not fit the strict schema"),
        (Options(defer_loading=frozenset({"echo"})), "a tool that is deferred can't have any"),
    ],
)
def test_examples_that_would_be_refused_are_left_out(options: Options, reason: str) -> None:
    inner = {"type": "object", "properties": {"a": TEXT}}
    shape = anthropic.convert(tool(arguments(text=TEXT, inner=inner), examples=EXAMPLES), options)
    assert "input_examples" not in shape.definition
    assert shape.losses[-1] == Loss("dropped", ("examples",), f"examples are left out: {reason}")


def test_examples_stay_if_they_certainly_fit_what_alternatives_became() -> None:
    alternatives = [{"required": ["city"]}, {"properties": {"city": TEXT}}]
    parameters = {"type": "object", "properties": {}, "oneOf": alternatives}
    for city, is_shown in (("Oslo", True), (0, False)):
        shape = anthropic.convert(tool(parameters, examples=[{"input": {"city": city}}]), Options())
        assert ("input_examples" in shape.definition) == is_shown
        reasons = [each.message for each in shape.losses if each.path == ("examples",)]
        assert [each.endswith("the schema that is sent") for each in reasons] == [True] * (
            not is_shown
        )


def optional(name: str, count: int) -> Any:
    return tool(arguments(**{f"p{number}": TEXT for number in range(count)}), name)


def unions(name: str, count: int) -> Any:
    either = {"type": ["string", "null"]}
    names = [f"p{number}" for number in range(count)]
    return tool(arguments(*names, **dict.fromkeys(names, either)), name)


def no_arguments(name: str) -> Any:
    return tool(arguments(), name)


@pytest.mark.parametrize(
    ("tools", "strict", "words"),
    [
        (
            [no_arguments(f"t{count}") for count in range(21)],
            [True] * 20 + [False],
            "20 strict tools",
        ),
        (
            [optional("a", 20), optional("b", 5), optional("c", 4)],
            [True, False, True],
            "24 optional parameters",
        ),
        ([unions("a", 16), unions("b", 1), no_arguments("c")], [True, False, True], "16 unions"),
    ],
)  # fmt: skip
def test_so_many_are_strict_as_a_request_may_have(
    tools: list[Any], strict: list[bool], words: str
) -> None:
    shapes = anthropic.apply_limits(shapes_of(Options(), *tools), STRICT)
    definitions, losses = anthropic.collect(shapes, STRICT)
    assert ["strict" in each for each in definitions] == strict
    assert [each.is_strict for each in shapes] == strict
    assert [each["name"] for each in definitions] == [each.name for each in tools]
    message = f"not strict: the request would have more than {words}"
    assert shapes[strict.index(False)].losses == (Loss("loose", ("parameters",), message),)
    assert losses == ()


def test_what_a_tool_loses_that_is_not_strict_in_the_end_is_told() -> None:
    refused = tool(arguments(**{"a b": TEXT}), "last")
    tools = [*(no_arguments(f"t{number}") for number in range(20)), refused]
    losses = anthropic.apply_limits(shapes_of(Options(), *tools), STRICT)[-1].losses
    assert [each.kind for each in losses] == ["loose", "name"]
    assert losses[1].path == ("parameters", "properties", "a b")


def test_the_last_definition_that_can_be_cached_is_marked() -> None:
    mark = {"type": "ephemeral"}
    options = Options(cache_control=mark, defer_loading=frozenset({"c"}))
    shapes = shapes_of(options, no_arguments("a"), no_arguments("b"), no_arguments("c"))
    definitions, losses = anthropic.collect(shapes, options)
    assert [each.get("cache_control") for each in definitions] == [None, mark, None]
    assert [each.get("defer_loading") for each in definitions] == [None, None, True]
    assert losses == ()
    assert "cache_control" not in shapes[1].definition
    assert anthropic.collect([], options)[0] == []


def test_what_concerns_all_tools_has_a_place_wherever_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    registry = ToolRegistry()

    @registry.tool
    def alone() -> None:
        """Be the only one."""

    assert registry.catalog.candidates[0].path == Path(__file__).name
    (found,) = registry.export("anthropic", defer_loading=["alone"]).diagnostics
    assert (found.code, found.path, found.line, found.column) == ("ST905", ".", 1, 1)


def test_that_every_tool_is_deferred_is_told() -> None:
    options = Options(defer_loading=frozenset({"a"}), cache_control={"type": "ephemeral"})
    definitions, (loss,) = anthropic.collect(shapes_of(options, no_arguments("a")), options)
    assert "cache_control" not in definitions[0]
    assert (loss.kind, loss.message) == ("limit", "every tool is deferred, which Anthropic refuses")
