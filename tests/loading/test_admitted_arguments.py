"""A tool without findings accepts what its schema admits, whatever its annotations are."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.loading.function_spec import function_spec
from sovl_tools.schema.subschemas import nodes
from tests.conftest import manifest_of
from tests.schema.strategies import examples, fitting, moderate
from tests.schema.validators import validator

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
    "list[date]", "list[Place]", "date | None", "list[Unit]", "dict[str, date]", "int | Unit",
    "tuple[int, date]", "Place | Tree", "Unit | date", "date | int", "Literal['a'] | Unit | None",
)  # fmt: skip
NAMES = ("city", "zone", "leaf", "branches", "start", "days")
LEAVES: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date"},
    {"type": "string", "enum": ["metre"]}, {"type": "string", "enum": ["metre", "mile"]},
    {"enum": ["a", 1]}, {"type": "string", "enum": ["2026-11-23", "soon"]},
    {"type": "object", "properties": {}}, {"type": "array", "items": {"type": "integer"}},
    {"type": "string", "const": "soon"},
]  # fmt: skip
NULLABLE = [[each, "null"] for each in ("string", "integer", "object", "array")]
KEYWORDS = {
    "type": st.sampled_from(["string", "integer", "object", "array", *NULLABLE]),
    "format": st.just("date"),
    "enum": st.sampled_from([["metre"], ["2026-11-23"], [1, "a"], ["metre", "a", "2026-11-23"]]),
    "minLength": st.just(3),
    "maxItems": st.just(1),
    "additionalProperties": st.booleans() | st.sampled_from(LEAVES),
    "items": st.sampled_from(LEAVES),
}
SPACE: dict[str, Any] = {}
exec(compile(HEAD, "head", "exec", dont_inherit=True), SPACE)


def implied(annotation: str) -> dict[str, Any]:
    """Return the schema of the arguments of a function with one parameter, as sync writes it."""
    exec(f"def echo(value: {annotation}) -> None: ...", SPACE)
    found: dict[str, Any] = deepcopy(function_spec(SPACE["echo"]).parameters)
    return found


IMPLIED = {each: implied(each) for each in ANNOTATIONS}


@st.composite
def parameters_of(draw: st.DrawFn, annotation: str) -> dict[str, Any]:
    """Return the schema that an annotation implies, changed in a few places or in none."""
    found: dict[str, Any] = deepcopy(IMPLIED[annotation])
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        places = [each.schema for each in nodes(found, ()) if each.path]
        schema = draw(st.sampled_from(places))
        known = [key for key in schema if key != "$ref"]
        match draw(st.sampled_from(["put", "drop", "replace", "member", "require"])):
            case "drop" if known:
                del schema[draw(st.sampled_from(known))]
            case "replace":
                other = draw(st.sampled_from(LEAVES))
                schema.clear()
                schema.update(deepcopy(other))
            case "require" if schema.get("properties"):
                schema["required"] = draw(
                    st.lists(st.sampled_from([*schema["properties"]]), unique=True)
                )
            case "member" if "properties" in schema:
                name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(LEAVES))
                schema["properties"][name] = deepcopy(other)
            case _:
                key = draw(st.sampled_from([*KEYWORDS]))
                schema[key] = deepcopy(draw(KEYWORDS[key]))
    found = deepcopy(found)
    for node in nodes(found, ()):
        if node.is_property:
            node.schema["description"] = "What it is."
    return found


@contextmanager
def tools_of(annotation: str, parameters: dict[str, Any]) -> Iterator[ToolRegistry]:
    """Load a tool whose function takes one value."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "echo"
        folder.mkdir()
        (folder / "echo.json").write_text(json.dumps(manifest_of("echo", parameters=parameters)))
        code = f"{HEAD}def echo(value: {annotation}) -> None:\n    return None\n"
        (folder / "echo.py").write_text(code)
        yield ToolRegistry.from_directory(root)


@settings(moderate, max_examples=examples(300))
@given(st.sampled_from(ANNOTATIONS), st.data())
def test_what_a_tool_without_findings_admits_it_takes(annotation: str, data: st.DataObject) -> None:
    parameters = data.draw(parameters_of(annotation))
    with tools_of(annotation, parameters) as registry:
        found = {each.code for each in registry.report.diagnostics}
        event(f"findings: {bool(found)}")
        if found:
            return
        # who says nothing of further members invites none
        closed = deepcopy(parameters)
        for node in nodes(closed, ()):
            if "properties" in node.schema:
                node.schema.setdefault("additionalProperties", False)
        value = data.draw(fitting(closed["properties"]["value"], closed))
        assume(validator(parameters).is_valid({"value": value}))
        # where both admit null, a tool may be meant to receive nothing else
        types = parameters["properties"]["value"].get("type", "")
        assume(value is None or not ("None" in annotation and "null" in types))
        event("called")
        result = Tooler(registry).call_sync("echo", {"value": value})
        is_too_deep = "nested too deep" in str(result.error)  # a bound of all calls
        assert result.ok or is_too_deep, result.error


CHOICES = ("Unit", "date", "Unit | date", "int | Unit", "date | int", "Literal['a'] | Unit | None")


@settings(moderate, max_examples=examples(150))
@given(st.sampled_from(CHOICES), st.data())
def test_values_that_a_function_takes_may_be_listed(annotation: str, data: st.DataObject) -> None:
    own = IMPLIED[annotation]
    drawn = fitting(own["properties"]["value"], own)
    listed = data.draw(st.lists(drawn, min_size=1, max_size=4, unique_by=repr))
    value = {"enum": listed, "description": "What it is."}
    parameters = {"type": "object", "properties": {"value": value}, "required": ["value"]}
    with tools_of(annotation, parameters) as registry:
        assert not registry.report.errors
        for each in listed:
            result = Tooler(registry).call_sync("echo", {"value": each})
            assert result.ok, result.error
