"""How large a schema is."""

from __future__ import annotations

from typing import Any

from sovl_tools.formats import size
from sovl_tools.formats.providers import OPENAI
from sovl_tools.formats.size import Size
from sovl_tools.formats.strict import strict_subset
from tests.formats.tools import arguments, shaped, tool

TEXT = {"type": "string"}


def size_of(schema: dict[str, Any]) -> Size:
    return size.size_of(strict_subset(schema, OPENAI.dialect, require_all=True).schema)


def test_everything_is_counted_once() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "ab": {"type": ["string", "null"], "enum": ["x", None]},
            "c": {"$ref": "#/$defs/node"},
            "d": {"$ref": "#/$defs/node"},
            "e": {"anyOf": [TEXT, {"type": "integer", "const": 12}]},
            "f": {"$ref": "#"},
            "g": {"type": "array", "items": {**TEXT, "enum": ["y"]}},
        },
        "required": ["ab"],
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"n": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["n"],
            }
        },
    }
    names = len("abcdefgnnode")
    values = len("xnull12y")
    assert size_of(schema) == Size(7, 4, characters=names + values, levels=4, unions=6)


def test_the_null_for_what_is_left_out_is_counted() -> None:
    choice = {**TEXT, "enum": ["x", "yz"]}
    made = size_of({"properties": {"a": choice, "b": {**choice, "const": "x"}}, "required": ["b"]})
    assert made == Size(2, 4, characters=len("abxyznullx"), levels=1, unions=1)


def test_a_long_choice_of_texts_is_measured() -> None:
    few, many = [[f"{index:03}" for index in range(count)] for count in (250, 251)]
    sizes = [
        size_of({"properties": {"a": {**TEXT, "enum": each}}, "required": ["a"]})
        for each in (few, many)
    ]
    assert [each.longest for each in sizes] == [0, 753]
    assert [each.values for each in sizes] == [250, 251]
    assert size_of({"properties": {"a": {**TEXT, "enum": few}}}).longest == len("null") + 750


def test_only_objects_and_arrays_in_one_another_are_levels() -> None:
    inner: dict[str, Any] = TEXT
    many = {f"b{number}": {"type": "array", "items": TEXT} for number in range(12)}
    losses = {}
    for level in range(2, 12):
        inner = {"anyOf": [{"type": "array", "items": inner}, {"type": "null"}]}
        shape = shaped("openai", tool(arguments("a", *many, a=inner, **many)), strict=True)
        losses[level] = [each.message for each in shape.losses if each.kind == "loose"]
    found = {level: messages for level, messages in losses.items() if messages}
    assert found == {11: ["not strict: it has 11 levels of nesting, more than 10"]}


def test_one_value_more_than_the_limit_is_not_strict() -> None:
    for count in (1000, 1001):
        choice = {**TEXT, "enum": [f"{index:03}" for index in range(count)]}
        shape = shaped("openai", tool(arguments("a", a=choice)), strict=True)
        assert shape.is_strict is (count == 1000)
