"""Types whose schemas pydantic makes."""

from __future__ import annotations

from dataclasses import make_dataclass
from datetime import date
from typing import Annotated, Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.annotations.strategies import defined
from tests.annotations.test_agreement import accepts, taking
from tests.annotations.test_mapping import DATE, INTEGER, STRING, Stranger, kinds, parameter
from tests.dispatch.toolbox import tool, tooler
from tests.tables import check_each

DAY = date(2026, 1, 31)

pydantic = pytest.importorskip("pydantic")
Field = pydantic.Field
Toy = pydantic.create_model("Toy", name=(str, ...))
Pet = pydantic.create_model(
    "Pet", __doc__="A pet.", born=(date, ...), toys=(kinds.List[Toy], []), best=(Toy, None)
)


def test_a_model_s_definitions_are_at_the_root() -> None:
    own = Pet.model_json_schema()
    definitions = own.pop("$defs")
    assert own["properties"]["best"].pop("default") is None
    assert parameter(Pet) == {
        "type": "object",
        "properties": {"value": own},
        "required": ["value"],
        "$defs": definitions,
    }
    items = parameter(kinds.List[Pet])
    assert items["properties"]["value"] == {"type": "array", "items": own}
    assert items["$defs"] == definitions
    assert parameter(kinds.Optional[Pet])["properties"] == {"value": own}


FIELDS: list[tuple[Any, Any]] = [
    (Annotated[int, Field(ge=1, le=5)], {**INTEGER, "minimum": 1, "maximum": 5}),
    (
        Annotated[int | None, Field(ge=1, description="how many")],
        {**INTEGER, "minimum": 1, "description": "how many"},
    ),
    (
        Annotated[int, "not this", Field(description="this", title="T", examples=[5])],
        {**INTEGER, "description": "this", "title": "T", "examples": [5]},
    ),
    (Annotated[kinds.List[date], Field(min_length=1)],
     {"type": "array", "items": DATE, "minItems": 1}),
    (Annotated[int, pydantic.AfterValidator(abs)], INTEGER),
    (Annotated[Stranger, pydantic.PlainValidator(str), pydantic.WithJsonSchema(STRING)], STRING),
]  # fmt: skip


@check_each(("annotation", "schema"), FIELDS, ids=range(len(FIELDS)))
def test_fields_and_validators_are_described(annotation: Any, schema: Any) -> None:
    assert parameter(annotation)["properties"] == {"value": schema}


Strict = pydantic.create_model(
    "Strict", __config__=pydantic.ConfigDict(strict=True), day=(date, ...)
)
Aliased = pydantic.create_model("Aliased", day=(date, Field(alias="on")))
Made = pydantic.dataclasses.dataclass(make_dataclass("Made", [("day", date)]))
DEFAULTS: list[tuple[Any, Any, Any]] = [
    (Strict, Strict(day=DAY), {"day": "2026-01-31"}),
    (Aliased, Aliased(on=DAY), {"on": "2026-01-31"}),
    (Made, Made(DAY), {"day": "2026-01-31"}),
    (kinds.List[Toy], [Toy(name="ball")], [{"name": "ball"}]),
    (Annotated[int, Field(ge=1)], 3, 3),
]


@check_each(("annotation", "default", "written"), DEFAULTS, ids=repr)
def test_a_model_is_shown_as_the_object_that_it_is_made_of(
    annotation: Any, default: Any, written: Any
) -> None:
    function, received = taking(annotation, default)
    schema = defined(function).parameters
    assert schema["properties"]["value"]["default"] == written
    assert accepts(schema, {"value": written})
    assert tooler(tool(function, schema)).call_sync("function", {}).ok
    assert received == [default]
    assert type(received[0]) is type(default)


def test_a_field_in_the_place_of_a_default_is_read() -> None:
    def function(
        city: str = Field(description="The city."),
        count: int = Field(3, ge=1),
        names: list[str] = Field(default_factory=lambda: ["a"], max_length=2),  # noqa: B008
        day: date = Field(default=date(2025, 1, 1)),  # noqa: B008
    ) -> Any:
        return [city, count, names, day]

    tool = defined(function)
    assert tool.parameters["required"] == ["city"]
    properties = tool.parameters["properties"]
    assert properties["city"]["description"] == "The city."
    assert (properties["count"]["minimum"], properties["count"]["default"]) == (1, 3)
    assert properties["names"]["maxItems"] == 2
    registry = ToolRegistry()
    registry.register(tool)
    calls = Tooler(registry)
    assert calls.call_sync("function", {"city": "Oslo"}).value == ["Oslo", 3, ["a"], "2025-01-01"]
    assert not calls.call_sync("function", {"city": "Oslo", "count": 0}).ok
