"""The schemas of results, by return annotations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import pydantic

from sovl_tools.annotations.jsonvalues import to_json
from sovl_tools.schema.engine import compile_schema
from sovl_tools.signature.returned import returned
from tests.tables import check_each


class Color(Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float = 0.5


class Row(TypedDict):
    name: str
    note: NotRequired[str | None]


@dataclass
class Order:
    """An order.

    Attributes:
        number: Its number.
    """

    number: int
    day: date | None = None
    points: list[Point] = dataclasses.field(default_factory=list)
    total: float = dataclasses.field(init=False, default=0.0)


@dataclass
class Tree:
    left: Tree | None = None


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)

    name: str
    price: Decimal | None = None
    size: Annotated[int, pydantic.Field(serialization_alias="theSize")] = 1


@check_each(
    ("annotation", "values"),
    [
        (str, ["a", ""]),
        (int, [1, -2]),
        (str | None, ["a", None]),
        (list[int], [[], [1]]),
        (tuple[int, str], [(1, "a")]),
        (dict[str, int], [{}, {"a": 1}]),
        (Mapping[str, Sequence[float]], [{"a": [1.5]}]),
        (Color, [Color.RED]),
        (date, [date(2026, 1, 31)]),
        (datetime, [datetime(2026, 1, 31, 12, tzinfo=UTC)]),
        (Point, [Point(1), Point(1, 2)]),
        (Row, [{"name": "a"}, {"name": "a", "note": None}]),
        (Order, [Order(1), Order(2, date(2026, 1, 31), [Point(1)])]),
        (Order | Row, [Order(1), {"name": "a"}]),
        (Tree, [Tree(), Tree(Tree(Tree()))]),
        (Annotated[list[Model], "many"], [[Model(name="a")]]),
    ],
    ids=str,
)
def test_results_fit_the_schema_of_the_annotation(annotation: Any, values: list[Any]) -> None:
    def function() -> Any: ...

    function.__annotations__["return"] = annotation
    schema = returned(function)
    assert schema is not None
    validator = compile_schema(schema, with_formats=True)
    for value in values:
        assert validator.problems(to_json(value)) == [], schema
