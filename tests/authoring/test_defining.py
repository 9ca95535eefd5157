"""From a function and the options of ``tool`` to a definition."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from sovl_tools import InferenceError, ToolDefinition, definition_of, tool
from sovl_tools.model.errors import UnresolvedReferenceError
from tests.tables import check_each


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def paint(wall: str, color: Color = Color.RED, coats: int | None = None) -> str:
    """Paint a wall.

    Two coats are best.

    Args:
        wall: Which wall.

    Returns:
        What has been done.
    """
    return f"{wall} {color.value} {coats}"


def defined(function: Any, options: Any = None) -> ToolDefinition:
    return definition_of(tool(**options or {})(function))


def property_of(options: Any, name: str = "color") -> Any:
    return defined(paint, options).parameters["properties"][name]


def test_a_fragment_is_laid_over_what_is_inferred() -> None:
    options = {"params": {"coats": {"minimum": 1, "description": "How many."}}}
    assert property_of(options, "coats") == {
        "type": "integer",
        "minimum": 1,
        "description": "How many.",
    }
    assert property_of(options, "wall") == {"type": "string", "description": "Which wall."}


@check_each(
    "fragment",
    [
        {"type": "boolean"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"const": "three"},
        {"enum": ["one", "two"], "type": "string"},
    ],
    ids=lambda fragment: next(iter(fragment)),
)
def test_a_fragment_that_says_what_a_value_is_stands_alone(fragment: dict[str, Any]) -> None:
    annotated = {"params": {"coats": fragment}}
    assert property_of(annotated, "coats") == fragment
    assert property_of({"params": {"wall": fragment}}, "wall") == {
        "description": "Which wall.",
        **({"type": "string"} if "const" in fragment else {}),
        **fragment,
    }


def test_a_fragment_that_is_none_hides_a_parameter() -> None:
    hidden = {"params": {"coats": None}}
    assert [*defined(paint, hidden).parameters["properties"]] == ["wall", "color"]
    supplied = {"params": {"wall": None}, "preprocess": lambda given: given}
    assert defined(paint, supplied).parameters["required"] == []
    with pytest.raises(InferenceError, match=r"'wall': it is hidden, but has no default"):
        defined(paint, {"params": {"wall": None}})


def test_a_default_in_a_fragment_supplies_a_parameter() -> None:
    options = {"params": {"wall": {"default": "north"}}}
    assert defined(paint, options).parameters["required"] == []
    assert defined(paint, options | {"required": []}).parameters["required"] == []
    assert defined(paint, options | {"required": ["wall"]}).parameters["required"] == ["wall"]


@check_each(
    ("fragment", "words"),
    [
        ({"default": 3}, "its default must be a string, not the integer 3"),
        (
            {"type": "integer", "default": True},
            "its default must be an integer, not the boolean true",
        ),
        ({"enum": ["a"], "default": "b"}, 'its default must be one of "a", not "b"'),
    ],
)
def test_a_default_that_breaks_its_own_schema_supplies_nothing(
    fragment: dict[str, Any], words: str
) -> None:
    options: dict[str, Any] = {"params": {"wall": fragment}}
    for each in (options, options | {"required": []}):
        with pytest.raises(InferenceError) as caught:
            defined(paint, each)
        assert (caught.value.parameter, caught.value.help) == ("wall", "give it another default")
        assert words in str(caught.value)


@check_each("params", [{}, {"wall": {"maxLength": 3}}, {"wall": lambda: {"maxLength": 3}}])
def test_what_nothing_would_supply_is_refused(params: dict[str, Any]) -> None:
    options = {"required": [], "params": params}
    with pytest.raises(InferenceError) as caught:
        defined(paint, options)
    assert str(caught.value) == (
        "paint: 'wall': has no default and is not required, so it would always be missing; "
        "give it a default, require it, or supply it in a preprocess"
    )
    supplied = options | {"preprocess": dict}
    assert defined(paint, supplied).parameters["required"] == []


@check_each(
    ("options", "words"),
    [
        ({"param_descriptions": {"colour": ""}}, "'colour': param_descriptions names no"),
        ({"params": {"colour": {}}}, "'colour': params names no parameter"),
        ({"required": ["colour"]}, "'colour': required names no parameter"),
    ],
    ids=["param_descriptions", "params", "required"],
)
def test_a_name_of_no_parameter_is_refused_with_a_suggestion(options: Any, words: str) -> None:
    with pytest.raises(InferenceError) as caught:
        defined(paint, options)
    assert str(caught.value).startswith(f"paint: {words}")
    assert (caught.value.parameter, caught.value.help) == ("colour", "did you mean 'color'?")


def undocumented(x: Any, y) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 - missing


def test_without_a_docstring_the_name_is_the_description_and_a_remark_says_so() -> None:
    definition = defined(undocumented)
    assert definition.description == "Tool: undocumented"
    assert definition.remarks == (
        (None, "has neither a docstring nor a description"),
        ("y", "it has no annotation, so that any type is admitted"),
    )


@check_each(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string", "description": "What has been done."}),
        ({"description": "Mine."}, {"description": "Mine."}),
        (None, None),
    ],
)
def test_the_result_is_described_by_the_docstring_if_by_nothing_else(
    schema: Any, expected: Any
) -> None:
    options = {"output_schema": schema}
    assert defined(paint, options).output_schema == expected


def late(day: Day, *, colors: str = "red") -> Day:  # type: ignore[name-defined]  # noqa: F821
    """Tell the day.

    Args:
        day: Which day.
    """
    return day


def pending(options: Any = None) -> Any:
    return defined(late, options)


def test_what_waits_knows_all_but_what_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = pending({"description": "Say it.", "tags": ["time"]})
    assert repr(definition) == f"<ToolDefinition 'late' from {__name__}.late>"
    assert (definition.description, definition.tags) == ("Say it.", ("time",))
    for name in ("parameters", "types", "remarks"):
        with pytest.raises(UnresolvedReferenceError, match="the name 'Day' is not defined"):
            getattr(definition, name)
    monkeypatch.setattr(f"{__name__}.Day", int, raising=False)
    assert definition.types == {"day": int, "colors": str}
    assert definition.parameters["properties"]["day"] == {
        "type": "integer",
        "description": "Which day.",
    }
    assert definition.remarks == ()


class Screen:
    """A type for which there's no JSON."""


def show(text: str, screen: Screen, size: Screen | None = None) -> str:
    """Show a string."""
    return f"{text} on {screen}"


@check_each("fragment", [{"type": "string"}, lambda: {"enum": [1]}], ids=["schema", "function"])
def test_a_fragment_stands_for_a_type_without_json(fragment: Any) -> None:
    size = {"$ref": "#/$defs/Size"}
    definition = defined(show, {"params": {"screen": fragment, "size": size}})
    assert definition.parameters["properties"]["screen"] == fragment
    assert definition.parameters["required"] == ["text", "screen"]
    assert definition.types["screen"] is Any
