from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, TypedDict

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolContext
from sovl_tools.loading.function_spec import function_spec
from sovl_tools.scaffolding.jsonedit import edit_json
from sovl_tools.scaffolding.patch import patch_manifest
from tests.scaffolding.strategies import Case, cases, texts_of
from tests.schema.strategies import moderate


class Point(TypedDict):
    x: int


class Tree(TypedDict):
    point: Point
    other: Point
    children: list[Tree]


class Color(Enum):
    RED = "red"


def after(function: Any, document: dict[str, Any], *, prune: bool = False) -> dict[str, Any]:
    return patch_manifest(document, function_spec(function), name="made", prune=prune)


def parameters(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"name": "made", "description": "By hand.", "parameters": schema}


@moderate
@given(case=cases(), prune=st.booleans(), data=st.data())
def test_a_second_time_changes_nothing(case: Case, *, prune: bool, data: st.DataObject) -> None:
    once = after(case.function, case.document, prune=prune)
    assert json.dumps(after(case.function, once, prune=prune)) == json.dumps(once)
    text = edit_json(data.draw(texts_of(case.document)), once)
    assert json.dumps(json.loads(text)) == json.dumps(once)


@moderate
@given(cases())
def test_nothing_that_was_written_by_hand_is_lost(case: Case) -> None:
    found = after(case.function, case.document)
    assert kept(found, case.document) == []


def kept(found: Any, written: Any, path: str = "") -> list[str]:
    """Return the paths of what is not as it was written, lists of names and blank strings apart."""
    if isinstance(written, dict) and isinstance(found, dict):
        return [
            place
            for key, value in written.items()
            for place in kept(found.get(key), value, f"{path}/{key}")
            if place != "/parameters/required"
        ]
    is_blank = isinstance(written, str) and not written.strip()
    return [] if is_blank or found == written else [path]


def test_a_property_stands_after_the_one_before_it_in_the_signature() -> None:
    def made(first: int, second: int, third: int) -> None: ...

    known = {"second": {"type": "integer"}, "other": {}}
    found = after(made, parameters(known, "second"))["parameters"]
    assert list(found["properties"]) == ["first", "second", "third", "other"]
    assert found["required"] == ["first", "second", "third"]


def test_a_description_is_filled_where_there_is_none() -> None:
    def made(a: int, b: Annotated[int, "Of the annotation."], c: int, d: int = 1) -> None:
        """Do it.

        Args:
            a: Of the docstring.
            b: Of the docstring.
            c: Of the docstring.
            d: Of the docstring.
        """

    known = {
        "a": {"type": "integer", "x-own": 1},
        "b": {"type": "integer", "description": " "},
        "c": {"$ref": "#/$defs/c"},
        "d": True,
    }
    document = parameters(known, "a", "b", "c", **{"$defs": {"c": {"description": "Elsewhere."}}})
    found = after(made, {**document, "description": ""})
    assert found["description"] == "Do it."
    assert found["parameters"]["properties"] == {
        "a": {"type": "integer", "description": "Of the docstring.", "x-own": 1},
        "b": {"type": "integer", "description": "Of the annotation."},
        "c": {"$ref": "#/$defs/c"},
        "d": True,
    }
    assert list(found["parameters"]["properties"]["a"]) == ["type", "description", "x-own"]


def test_a_default_is_added_if_the_schema_takes_it() -> None:
    def made(a: int = 3, b: int = 3, c: int = 3, d: Color = Color.RED) -> None: ...

    known = {
        "a": {"type": "integer"},
        "b": {"type": "integer", "minimum": 5},
        "c": {"type": "integer", "default": 4},
        "d": {"type": "string"},
    }
    found = after(made, parameters(known, "a", "d"))["parameters"]
    assert {name: schema.get("default") for name, schema in found["properties"].items()} == {
        "a": 3, "b": None, "c": 4, "d": "red",
    }  # fmt: skip
    assert found["required"] == []


def test_definitions_come_with_the_properties_that_need_them() -> None:
    def made(a: Tree, b: Tree, c: int) -> None: ...

    own = {"Tree": {"description": "By hand."}}
    found = after(made, parameters({"c": {"type": "integer"}}, "c"))["parameters"]
    assert found["$defs"].keys() == {"Tree", "Point"}
    assert list(found)[-1] == "$defs"
    found = after(made, parameters({"c": {"type": "integer"}}, "c", **{"$defs": own}))
    assert found["parameters"]["$defs"].keys() == {"Tree", "Point", "Tree2"}
    assert found["parameters"]["$defs"]["Tree"] == own["Tree"]
    assert found["parameters"]["properties"]["a"] == {"$ref": "#/$defs/Tree2"}
    found = after(made, parameters({"a": {}, "b": {}, "c": {}}, "a", "b", "c"))
    assert "$defs" not in found["parameters"]


def test_a_property_that_is_not_taken_goes_only_if_it_is_pruned() -> None:
    def made(a: int, context: ToolContext) -> None: ...

    document = parameters({"a": {}, "old": {}, "context": {}}, "a", "old", "older", "context")
    assert after(made, document) == document
    found = after(made, document, prune=True)["parameters"]
    assert (found["properties"], found["required"]) == ({"a": {}}, ["a"])


def test_a_manifest_without_parameters_gets_them_whole() -> None:
    def made(a: int, _own: int = 1) -> None:
        """Do it."""

    assert after(made, {"$schema": "x", "tags": []}) == {
        "$schema": "x",
        "name": "made",
        "description": "Do it.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
        },
        "tags": [],
    }
    found = after(made, {"parameters": {"properties": {}}})
    assert list(found["parameters"]) == ["type", "properties", "required"]
