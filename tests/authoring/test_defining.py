"""From a function and the options of ``tool`` to a definition."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import InferenceError, ToolDefinition, definition_of, tool
from sovl_tools.model.errors import UnresolvedReferenceError
from tests.schema.strategies import moderate
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


def test_a_fragment_wins_over_a_description_and_that_over_the_docstring() -> None:
    described = {"param_descriptions": {"wall": "One wall."}}
    both = described | {"params": {"wall": {"description": "Any wall."}}}
    assert property_of(described, "wall")["description"] == "One wall."
    assert property_of(both, "wall")["description"] == "Any wall."


@check_each(
    "fragment",
    [
        {"type": "boolean"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"const": 1}]},
        {"allOf": [{"minimum": 1}]},
        {"const": "three"},
        {"enum": ["one", "two"], "type": "string"},
        {"$ref": "#/$defs/Coats"},
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


@check_each(
    ("fragment", "schema"),
    [
        ({"type": "integer"}, {"type": "integer"}),
        ({"enum": ["red"]}, {"type": "string", "enum": ["red"]}),
        ({"const": "red"}, {"type": "string", "const": "red"}),
        ({"enum": [1, 2]}, {"enum": [1, 2]}),
        ({"title": "Color"}, {"type": "string", "enum": ["red", "blue"], "title": "Color"}),
        ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 3}),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, {"anyOf": [{"const": 1}, {"const": 2}]}),
    ],
)
def test_a_fragment_keeps_what_fits_it(fragment: dict[str, Any], schema: dict[str, Any]) -> None:
    def mix(color: Literal["red", "blue"] = "red") -> None: ...

    own = defined(mix, {"params": {"color": fragment}}).parameters["properties"]["color"]
    assert own == {**schema, "default": "red"}


def test_a_fragment_that_is_none_hides_a_parameter() -> None:
    hidden = {"params": {"coats": None}}
    assert [*defined(paint, hidden).parameters["properties"]] == ["wall", "color"]
    supplied = {"params": {"wall": None}, "preprocess": lambda given: given}
    assert defined(paint, supplied).parameters["required"] == []
    with pytest.raises(InferenceError, match=r"'wall': it is hidden, but has no default"):
        defined(paint, {"params": {"wall": None}})


def test_required_is_what_the_author_says() -> None:
    assert defined(paint).parameters["required"] == ["wall"]
    assert defined(paint, {"required": ("coats", "wall")}).parameters["required"] == [
        "coats",
        "wall",
    ]


def test_a_default_in_a_fragment_supplies_a_parameter() -> None:
    options = {"params": {"wall": {"default": "north"}}}
    assert defined(paint, options).parameters["required"] == []
    assert defined(paint, options | {"required": []}).parameters["required"] == []
    assert defined(paint, options | {"required": ["wall"]}).parameters["required"] == ["wall"]


@check_each(
    ("fragment", "words"),
    [
        ({"default": 3}, "its default 3 does not match its type 'string'"),
        ({"default": None}, "its default None does not match its type 'string'"),
        (
            {"type": ["null", "integer"], "default": "a"},
            "does not match its type ['null', 'integer']",
        ),
        ({"type": "integer", "default": 1.5}, "its default 1.5 does not match its type 'integer'"),
        (
            {"type": "integer", "default": True},
            "its default True does not match its type 'integer'",
        ),
        ({"enum": ["a"], "default": "b"}, "its default 'b' does not match its enum ['a']"),
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


@check_each(
    "fragment",
    [
        {"default": "a"},
        {"type": "integer", "default": 1.0},
        {"type": "number", "default": 1},
        {"type": ["null", "integer"], "default": None},
        {"anyOf": [{"type": "null"}], "default": 5},
        {"enum": ["a"], "default": "a"},
        {"enum": lambda: ["a"], "default": "b"},
        {"enum": ["a", lambda: "c"], "default": "b"},
        {"default": lambda: 5},
        {"type": lambda: "integer", "default": 5},
        {"type": 5, "enum": 5, "default": 5},
    ],
    ids=range(11),
)
def test_a_default_that_may_fit_supplies_a_parameter(fragment: dict[str, Any]) -> None:
    assert defined(paint, {"params": {"wall": fragment}}).parameters["required"] == []


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


@moderate
@given(st.sets(st.sampled_from(["wall", "color", "coats", "walls", "rest", ""])))
def test_required_names_parameters_and_nothing_else(names: set[str]) -> None:
    options = {"required": sorted(names), "preprocess": dict}
    if names <= {"wall", "color", "coats"}:
        assert defined(paint, options).parameters["required"] == sorted(names)
    else:
        with pytest.raises(InferenceError, match="required names no parameter"):
            defined(paint, options)


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


def test_a_mark_that_names_nothing_is_refused_as_soon_as_it_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    definition = pending({"required": ["colour"]})
    monkeypatch.setattr(f"{__name__}.Day", int, raising=False)
    with pytest.raises(
        InferenceError, match="'colour': required names no parameter; did you mean 'colors'"
    ):
        definition.to_schema()


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


def test_a_fragment_that_says_less_does_not() -> None:
    options = {"params": {"screen": {"description": "Where."}, "size": {"type": "string"}}}
    with pytest.raises(InferenceError, match="there's no JSON for Screen") as caught:
        defined(show, options)
    assert caught.value.parameter == "screen"
