"""``validate`` and ``sync`` find the same contradictions, since both make the same comparison."""

from __future__ import annotations

import json

from tests.conftest import Run, Write, manifest_of

DEEP = """from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    METRE = "m"


@dataclass
class Place:
    x: int


def echo(places: list[Place], unit: Unit, sizes: list[int], day: int | None = None): ...
"""


def test_a_contradiction_is_told_as_deep_as_it_lies(run: Run, write: Write) -> None:
    spot = {"type": "object", "properties": {"y": {"type": "integer"}}, "required": ["y"]}
    properties = {
        "places": {"type": "array", "items": {"$ref": "#/$defs/Spot"}},
        "unit": {"type": "string", "enum": ["m", "ft"]},
        "sizes": {"type": "array", "items": {"type": "string"}},
        "day": {"type": "number"},
    }
    parameters = {
        "type": "object", "properties": properties, "required": ["places", "unit", "sizes"],
        "$defs": {"Spot": spot},
    }  # fmt: skip
    write("echo", manifest_of("echo", parameters=parameters), DEEP)
    done = run("validate", "--select", "ST408,ST412", "--format", "json")
    messages = [each["message"] for each in json.loads(done.out)["diagnostics"]]
    assert sorted(messages) == [
        "\"ft\" isn't a value that the function takes for 'unit'",
        "'day' is 'number' in the manifest, but the function takes 'integer'",
        "'places[].y' is not taken by the function",
        "'sizes[]' is 'string' in the manifest, but the function takes 'integer'",
        "the function needs 'places[].x', which the manifest lacks",
    ]
