"""Subschemas changed one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from sovl_tools.formats.compat import Adaptation, Changed, Compatible
from sovl_tools.formats.providers import Rules
from tests.formats.tools import TEXT


class Node(NamedTuple):
    path: tuple[str | int, ...]
    written: dict[str, Any]
    schema: dict[str, Any]


Change = Callable[[Node], Changed | None]


def reworked(schema: dict[str, Any], change: Change) -> Compatible:
    class Work(Adaptation):
        @classmethod
        def concerns(cls, _: frozenset[str], __: str | None) -> bool:
            return True

        def adapted(
            self, schema: dict[str, Any], made: dict[str, Any], path: tuple[str | int, ...]
        ) -> Changed | None:
            return change(Node(path, schema, made))

    return Work(schema, Rules(frozenset())).whole()


def as_it_is(_: Node) -> None: ...


def without(*keywords: str) -> Change:
    """Return a change that tells some keywords in words."""
    return lambda node: Changed(node.schema, [each for each in keywords if each in node.written])


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_what_stands_below_is_changed_before() -> None:
    def change(node: Node) -> Changed:
        made = {**node.schema, "title": str(len(node.schema.get("properties", ())))}
        return Changed(made, notes=[f"has {[*node.schema.get('properties', {}).values()]}"])

    assert reworked(of(a=of()), change).schema["description"] == (
        "has [{'type': 'object', 'properties': {}, 'title': '0', 'description': 'has []'}]"
    )


def test_definitions_are_changed_where_they_stood() -> None:
    schema = of(a={"$ref": "#/$defs/x"}, b={"$ref": "#y"}) | {
        "$defs": {
            "x": {"pattern": "a"},
            "other": {"$defs": {"z": {"$anchor": "y", "pattern": "b"}}},
        }
    }
    found = reworked(schema, without("pattern"))
    assert found.schema["properties"] == {
        "a": {"$ref": "#/$defs/x"},
        "b": {"$ref": "#/$defs/y"},
    }
    assert found.schema["$defs"]["y"] == {"description": "Matches the regular expression `b`."}
    assert {loss.path for loss in found.losses} == {
        ("parameters", "$defs", "x", "pattern"),
        ("parameters", "$defs", "other", "$defs", "z", "pattern"),
    }


def test_true_and_false_become_objects_but_where_they_are_usual() -> None:
    schema = of(a=True, b=False, c={"type": "array", "items": True, "unevaluatedItems": False})
    schema |= {"additionalProperties": False}
    found = reworked(schema, as_it_is)
    assert found.schema == {
        "type": "object",
        "properties": {
            "a": {},
            "b": {"not": {}},
            "c": {"type": "array", "items": {}, "unevaluatedItems": False},
        },
        "additionalProperties": False,
    }
    assert found.losses == ()


def test_false_that_can_not_be_said_is_told_in_words() -> None:
    found = reworked(of(a=False), without("not"))
    assert found.schema == of(a={"description": "No value fits."})
    assert found.losses == (
        ("moved", ("parameters", "properties", "a"), "false stands in the description only", None),
    )


def test_a_condition_is_told_with_what_follows() -> None:
    schema = of(a={"if": TEXT, "then": {"minLength": 1}}, b={"then": TEXT})
    found = reworked(schema, without("if", "then"))
    assert found.schema["properties"] == {
        "a": {
            "description": 'The condition is that it fits {"type":"string"}. '
            'If the condition is met, it fits {"minLength":1}.'
        },
        "b": {},
    }
    assert [loss.path[-1] for loss in found.losses] == ["if"]


@pytest.mark.parametrize(
    "reference",
    ["#/nowhere", "https://example.org/schema", "https://json-schema.org/draft/2020-12/schema"],
)
def test_a_reference_that_leads_out_of_the_schema_is_told_in_words(reference: str) -> None:
    found = reworked(of(a={"$ref": reference, "title": "A"}), as_it_is)
    assert found.schema == of(a={"title": "A", "description": f'As defined at "{reference}".'})
    assert [loss.path[-1] for loss in found.losses] == ["$ref"]


def test_a_reference_that_only_an_engine_can_follow_is_told_in_words() -> None:
    found = reworked(of(a={"$dynamicRef": "#x"}), as_it_is)
    assert found.schema == of(a={"description": 'As defined at "#x".'})
    assert [loss.path[-1] for loss in found.losses] == ["$dynamicRef"]


def test_a_loss_is_told_once_however_often_its_place_is_referred_to() -> None:
    schema = of(a={"pattern": "x"}, b={"$ref": "#/properties/a"}, c={"$ref": "#/properties/a"})
    found = reworked(schema, without("pattern"))
    assert [loss.path for loss in found.losses] == [("parameters", "properties", "a", "pattern")]
