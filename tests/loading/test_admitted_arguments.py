"""A tool without findings accepts what its schema admits, whatever its annotations are."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.schema.engine import compile_schema
from tests.annotations.test_admitted import values_of
from tests.conftest import manifest_of
from tests.schema.strategies import examples, moderate

HEAD = """from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Literal, TypedDict


class Unit(Enum):
    METRE = "metre"
    FOOT = "foot"


@dataclass
class Place:
    city: str
    zone: int = 1


@dataclass
class Tree:
    leaf: str
    branches: list["Tree"]


class Trip(TypedDict):
    start: Place
    days: list[date]


"""
ANNOTATIONS = (
    "str", "int", "list[int]", "Literal['a', 1]", "date", "Unit", "Place", "Tree", "Trip",
    "list[date]", "list[Place]", "date | None", "list[Unit]",
)  # fmt: skip
NAMES = ("city", "zone", "leaf", "branches", "start", "days")
TREE = {
    "type": "object", "required": ["leaf", "branches"],
    "properties": {
        "leaf": {"type": "string"},
        "branches": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
}  # fmt: skip
LEAVES: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date"},
    {"type": "string", "enum": ["metre"]}, {"type": "string", "enum": ["metre", "mile"]},
    {"enum": ["a", 1]}, {"$ref": "#/$defs/Tree"},
]  # fmt: skip


def _wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=2).flatmap(
            lambda found: st.lists(st.sampled_from([*found]), unique=True).map(
                lambda required: {"type": "object", "properties": found, "required": required}
            )
        ),
    )


schemas = st.recursive(st.sampled_from(LEAVES), _wider, max_leaves=3)


def _described(schema: Any) -> Any:
    found = {**schema, "description": "What it is."}
    if "properties" in schema:
        found["properties"] = {key: _described(each) for key, each in schema["properties"].items()}
    if "items" in schema and "$ref" not in schema["items"]:
        found["items"] = _described(schema["items"])
    return found


@settings(moderate, max_examples=examples(300))
@given(st.sampled_from(ANNOTATIONS), schemas, st.data())
def test_what_a_tool_without_findings_admits_it_takes(
    annotation: str, schema: dict[str, Any], data: st.DataObject
) -> None:
    parameters = {
        "type": "object", "properties": {"value": _described(schema)}, "required": ["value"],
        "$defs": {"Tree": _described(TREE)},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "echo"
        folder.mkdir()
        (folder / "echo.json").write_text(json.dumps(manifest_of("echo", parameters=parameters)))
        code = f"{HEAD}def echo(value: {annotation}) -> None:\n    return None\n"
        (folder / "echo.py").write_text(code)
        registry = ToolRegistry.from_directory(root)
        event(f"has findings: {bool(registry.report.diagnostics)}")
        # whether values that are listed are in the format of a date is not looked at
        is_listed = annotation == "Trip" or "date" in annotation
        if registry.report.diagnostics or (is_listed and '"enum"' in json.dumps(schema)):
            return
        value = data.draw(values_of(schema, parameters))
        assume(compile_schema(parameters).is_valid({"value": value}))
        result = Tooler(registry).call_sync("echo", {"value": value})
        assert result.ok, result.error
