"""Functions held against the schemas of their tools."""

from __future__ import annotations

import functools
from typing import Any, Optional

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import (
    ToolContext,
    ToolDefinition,
    Tooler,
    ToolLoadError,
    ToolRegistry,
)
from tests.schema.strategies import moderate
from tests.tables import check_each


def parameters(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


def definition(schema: dict[str, Any], function: Any, **fields: Any) -> ToolDefinition:
    return ToolDefinition("paint", "Paint.", schema, function, is_dynamic=True, **fields)


def codes(schema: dict[str, Any], function: Any, **fields: Any) -> list[str]:
    """Return the codes of what keeps a tool from being registered."""
    try:
        ToolRegistry().register(definition(schema, function, **fields))
    except ToolLoadError as error:
        return [each.code for each in error.diagnostics]
    return []


def paint(wall: str, coats: int = 1, *, color: str = "red") -> str:
    return f"{wall} {coats} {color}"


def takes_anything(wall: str, **others: Any) -> None: ...


def positional(wall: str, /) -> None: ...


def informed(context: ToolContext, wall: str) -> None: ...


def optional(wall: Optional[str]) -> None: ...  # noqa: UP045 - as it is meant


class Painter:
    def paint(self, wall: str) -> str:
        return wall

    def __call__(self, wall: str) -> str:
        return wall


SOUND: list[tuple[dict[str, Any], Any]] = [
    (parameters("wall", wall={}), paint),
    (parameters("wall", "coats", "color", wall={}, coats={}, color={}), paint),
    (parameters("wall", wall={}), Painter().paint),
    (parameters("wall", wall={}), Painter()),
    (parameters("coats", coats={}), functools.partial(paint, "north")),
    (parameters("wall", wall={}, more={}), takes_anything),
    (parameters("wall", wall={}), informed),
    (parameters(wall={}), optional),
    (parameters(wall={"type": "string", "default": "north"}), paint),
    (parameters(wall={"default": lambda: "north"}), paint),
    (parameters(wall=dict), paint),
    ({**parameters(wall={}), "required": lambda: ["wall"]}, paint),
    (
        {**parameters(), "$ref": "#/$defs/W", "$defs": {"W": parameters("wall", wall={})}},
        paint,
    ),
    ({**parameters(), "anyOf": [parameters("wall", wall={})]}, paint),
    (parameters(), lambda: None),
]

UNSOUND: list[tuple[dict[str, Any], Any, list[str]]] = [
    (parameters(), None, ["ST409"]),
    (parameters(), Painter, ["ST409"]),
    (parameters(), paint, ["ST403"]),
    (parameters(wall={}), paint, ["ST403"]),
    (parameters(wall={"type": "integer", "default": "north"}), paint, ["ST403"]),
    (parameters(wall={"type": "string", "default": 5}), Painter().paint, ["ST403"]),
    (parameters("wall", "side", wall={}, side={}), paint, ["ST402"]),
    (parameters("wall", wall={}, side={}), paint, ["ST404"]),
    (parameters("wall", wall={}), positional, ["ST405"]),
    (parameters("wall", wall={}, context={}), informed, ["ST411"]),
    (parameters("wal", wal={}), Painter().paint, ["ST402", "ST403"]),
]


@check_each(("schema", "function"), SOUND)
def test_what_a_call_gives_is_taken(schema: dict[str, Any], function: Any) -> None:
    assert codes(schema, function) == []


@check_each(("schema", "function", "found"), UNSOUND)
def test_what_would_fail_at_each_call_is_told(
    schema: dict[str, Any], function: Any, found: list[str]
) -> None:
    assert codes(schema, function) == found


@check_each(("schema", "function"), [each[:2] for each in UNSOUND[2:]])
def test_what_preprocess_gives_can_not_be_told(schema: dict[str, Any], function: Any) -> None:
    assert codes(schema, function, preprocess=dict) == []
    assert codes(schema, None, preprocess=dict) == ["ST409"]


ANY = st.sampled_from(["wall", "coats", "color", "side"])


@moderate
@given(st.sets(ANY), st.sets(ANY), st.booleans())
def test_a_tool_that_is_entered_can_be_called(
    names: set[str],
    required: set[str],
    is_typed: bool,  # noqa: FBT001 - of hypothesis
) -> None:
    schema = parameters(*sorted(names & required), **{name: {} for name in sorted(names)})
    types = dict.fromkeys(names, str) if is_typed else {}
    registry, tool_of = ToolRegistry(), definition(schema, paint, types=types)
    try:
        registry.register(tool_of)
    except ToolLoadError:
        least, most = sorted(names & required), sorted(names)
        failures = []
        for given_names in (least, most):
            try:
                paint(**dict.fromkeys(given_names, 1))  # type: ignore[arg-type]  # any will do
            except TypeError as error:
                failures.append(error)
        assert failures
    else:
        for given_names in (sorted(names & required), sorted(names)):
            assert Tooler(registry).call_sync("paint", dict.fromkeys(given_names, 1)).ok
