"""Null for fields that can be omitted: their schemas don't show it, and calls take it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import pydantic

from sovl_tools import Tooler, ToolRegistry
from tests.tables import check_each


@dataclass
class Filter:
    color: str | None = None
    day: date | None = None
    kind: Literal["a", "b"] | None = None
    size: int = 5
    count: int | None = 7
    inner: Filter | None = None


class Model(pydantic.BaseModel):
    a: int | None = None
    b: str = "x"
    c: Model | None = pydantic.Field(None, description="Another.")


class Pair(NamedTuple):
    x: int
    y: float | None = None


class Keys(TypedDict):
    q: NotRequired[int | None]


def find(  # noqa: PLR0913 - each is a case
    *,
    one: Filter | None = None,
    many: list[Pair] = [],  # noqa: B006 - it stays empty
    model: Model | None = None,
    keys: Keys | None = None,
    either: Filter | list[Model] | None = None,
    given: Filter = Filter(color="red"),  # noqa: B008 - it stays the same
    free: dict[str, Any] | None = None,
) -> str:
    """Find."""
    return repr([one, many, model, keys, either, given, free])


def registered() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(find)
    return registry


def inner_nulls(schema: Any) -> int:
    if isinstance(schema, dict):
        return (schema == {"type": "null"}) + sum(map(inner_nulls, schema.values()))
    return sum(map(inner_nulls, schema)) if isinstance(schema, list) else 0


def test_the_schema_shows_null_where_it_means_something() -> None:
    parameters = registered()["find"].parameters
    assert inner_nulls(parameters) == 2  # of Keys.q, which has no default, and of Filter.count
    fields = parameters["$defs"]["Filter"]["properties"]
    assert fields["color"] == {"type": "string"}
    assert fields["inner"] == {"$ref": "#/$defs/Filter"}
    assert parameters["$defs"]["Model"]["properties"]["c"] == {
        "$ref": "#/$defs/Model",
        "description": "Another.",
    }
    assert parameters["properties"]["given"]["default"] == {"color": "red", "size": 5, "count": 7}


@check_each(
    ("arguments", "same"),
    [
        ({"one": {"color": None}}, {"one": {}}),
        ({"one": {"inner": {"color": None, "size": 1}}}, {"one": {"inner": {"size": 1}}}),
        ({"many": [{"x": 1, "y": None}, {"x": 2}]}, {"many": [{"x": 1}, {"x": 2}]}),
        ({"either": {"color": None}}, {"either": {}}),
        ({"one": {"count": None}}, None),
        ({"keys": {"q": None}}, None),
    ],
)
def test_null_is_taken(arguments: dict[str, Any], same: dict[str, Any] | None) -> None:
    tooler = Tooler(registered())
    result = tooler.call_sync("find", arguments)
    assert result.error is None
    if same is None:
        assert "None}" in result.value or "count=None" in result.value
    else:
        assert result.value == tooler.call_sync("find", same).value


@check_each(
    ("arguments", "place"),
    [
        ({"one": {"size": None}}, "one.size"),
        ({"many": [{"x": None}]}, "many[0].x"),
        ({"one": {"color": None, "size": "big"}}, "one.size"),
    ],
)
def test_null_is_refused_where_it_means_something_else(
    arguments: dict[str, Any], place: str
) -> None:
    result = Tooler(registered()).call_sync("find", arguments)
    assert result.error is not None
    assert f"$.{place}" in {each.path for each in result.error.details}


@check_each(
    ("arguments", "value"),
    [
        ({"one": {"color": None, "size": "3"}}, "size=3"),
        ({"one": {"kind": "null"}}, "kind=None"),
        ({"one": {"inner": {"kind": "null", "size": "4"}}}, "size=4"),
    ],
)
def test_lenient_calls_repair_the_rest(arguments: dict[str, Any], value: str) -> None:
    result = Tooler(registered(), coerce="lenient").call_sync("find", arguments)
    assert result.error is None
    assert value in result.value
