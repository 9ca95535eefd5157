"""The dispatch framework: an object whose decorated methods work on a map."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sovl_tools import Tooler, ToolError, ToolRegistry, tool

PARCELS = {"zoning": ["R1", "R1", "C2"], "parks": ["P"]}


def extract_filters(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with everything that the method needs."""
    if arguments.get("style") == "unknown":
        raise ToolError("there's no such style")
    return {"filters": [], "style": "fill", "color": "grey", **arguments}


class MapDesk:
    """A map with layers; ``tables`` changes while it is in use."""

    def __init__(self, *tables: str) -> None:
        self.tables = [*tables]
        self.layers: dict[str, tuple[str, str, str]] = {}

    @tool(
        name="add_map_layer",
        description="Draw a table on the map.",
        params={
            "table": {"type": "string", "enum": lambda self: self.tables},
            "layer_id": {"type": "string"},
            "style": {"type": "string"},
            "color": {"type": "string"},
            "filters": {"type": "array", "items": {"type": "object"}},
        },
        required=["table", "layer_id"],
        preprocess=extract_filters,
        postprocess=lambda count: f"{count} parcels match",
    )
    def put_layer(
        self, table: str, filters: list[dict[str, Any]], style: str, color: str, layer_id: str
    ) -> int:
        if table not in PARCELS:
            raise LookupError(f"nothing is known of {table}")
        self.layers[layer_id] = (table, style, color)
        zones = {each["zone"] for each in filters}
        return sum(not zones or parcel in zones for parcel in PARCELS[table])

    @tool(description="Take a layer off the map.", params={"layer_id": {"type": "string"}})
    def remove_map_layer(self, layer_id: str) -> bool:
        return self.layers.pop(layer_id, None) is not None

    @tool(description="Analyse what is on the map.", required=["prompt"])
    async def run_analysis(self, prompt: str) -> str:
        await asyncio.sleep(0)
        return f"{prompt}: {len(self.layers)} layers"


@pytest.fixture
def desk() -> MapDesk:
    return MapDesk("zoning", "parks")


@pytest.fixture
def registry(desk: MapDesk) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(desk)
    return registry


@pytest.fixture
def tooler(registry: ToolRegistry) -> Tooler:
    return Tooler(registry)


LAYER = {"table": "zoning", "layer_id": "one"}


def enum_of(registry: ToolRegistry) -> Any:
    return registry["add_map_layer"].to_schema()["parameters"]["properties"]["table"]["enum"]


def test_a_definition_has_the_fragments_and_the_required_names(registry: ToolRegistry) -> None:
    assert registry["add_map_layer"].to_schema() == {
        "name": "add_map_layer",
        "description": "Draw a table on the map.",
        "parameters": {
            "type": "object",
            "properties": {
                "table": {"type": "string", "enum": ["zoning", "parks"]},
                "filters": {"type": "array", "items": {"type": "object"}},
                "style": {"type": "string"},
                "color": {"type": "string"},
                "layer_id": {"type": "string"},
            },
            "required": ["table", "layer_id"],
        },
    }


def test_the_method_may_be_called_otherwise_than_the_tool(tooler: Tooler, desk: MapDesk) -> None:
    assert tooler.call_sync("add_map_layer", LAYER).value == "3 parcels match"
    assert desk.layers == {"one": ("zoning", "fill", "grey")}


def test_an_enum_that_changes_between_two_calls_is_shown_and_enforced(
    registry: ToolRegistry, tooler: Tooler, desk: MapDesk
) -> None:
    assert tooler.call_sync("add_map_layer", LAYER).ok
    desk.tables = ["parks", "rivers"]
    assert enum_of(registry) == ["parks", "rivers"]
    stale = tooler.call_sync("add_map_layer", LAYER).error
    assert stale is not None
    assert stale.kind == "invalid_arguments"
    assert 'must be one of "parks", "rivers", not "zoning"' in stale.message
    assert tooler.call_sync("add_map_layer", {**LAYER, "table": "parks"}).value == "1 parcels match"


@pytest.mark.parametrize("tables", [None, "zoning"], ids=["nothing", "a string"])
def test_an_enum_that_is_no_list_takes_the_tool_out_until_it_is_one(
    registry: ToolRegistry, tooler: Tooler, desk: MapDesk, tables: Any
) -> None:
    desk.tables = tables
    names = [each["name"] for each in registry.schemas()]
    assert names == ["remove_map_layer", "run_analysis"]
    error = tooler.call_sync("add_map_layer", LAYER).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "properties.table.enum" in error.message
    desk.tables = ["zoning"]
    assert len(registry.schemas()) == 3
    assert tooler.call_sync("add_map_layer", LAYER).ok


def test_a_subclass_keeps_replaces_and_drops_what_it_inherits() -> None:
    class Kiosk(MapDesk):
        remove_map_layer = None  # type: ignore[assignment]

        async def run_analysis(self, prompt: str) -> str:
            return f"{prompt} is not for visitors"

    registry = ToolRegistry()
    registry.register(Kiosk("parks"))
    assert [each.name for each in registry] == ["add_map_layer", "run_analysis"]
    assert registry["run_analysis"].description == "Analyse what is on the map."
    result = Tooler(registry).call_sync("run_analysis", {"prompt": "density"})
    assert result.value == "density is not for visitors"
