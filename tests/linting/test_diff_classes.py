"""The class of each change of a tool: breaking, compatible, wording, or none."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sovl_tools.linting.diff import ToolVersion, compare
from tests.tables import check_each

TEXT = {"type": "string"}
TOOL: dict[str, Any] = {
    "name": "forecast",
    "description": "Return the forecast of a place.",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name.", "minLength": 1, "pattern": "^a"},
            "days": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "ratio": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
            "step": {"type": "integer", "multipleOf": 6},
            "unit": {"enum": ["C", "F"]},
            "tags": {"type": "array", "items": TEXT, "maxItems": 5, "uniqueItems": True},
            "start": {"type": ["string", "null"], "format": "date"},
            "place": {
                "type": "object",
                "properties": {"zip": TEXT, "street": TEXT},
                "required": ["zip"],
                "additionalProperties": False,
            },
            "options": {"type": "object", "properties": {"fast": {"type": "boolean"}}},
            "spot": {"$ref": "#/$defs/spot"},
            "either": {"anyOf": [TEXT, {"type": "integer"}]},
        },
        "required": ["city", "unit"],
        "$defs": {
            "spot": {"type": "object", "properties": {"lat": {"type": "number", "minimum": -90}}}
        },
    },
    "output_schema": {
        "type": "object",
        "properties": {"high": {"type": "number"}, "sky": {"enum": ["sun", "rain"]}},
        "required": ["high"],
        "additionalProperties": False,
    },
    "annotations": {"read_only": True, "idempotent": True, "destructive": False},
    "examples": [{"input": {"city": "a", "unit": "C"}}],
    "tags": ["weather"],
    "version": "1.0",
}
GONE = object()
"""Stands for a key that the new version doesn't have."""


def edited(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a document in which the value at a path is another, or gone."""
    found = deepcopy(document)
    *above, last = [int(key) if key.isdecimal() else key for key in path.split("/")]
    owner: Any = found
    for key in above:
        owner = owner[key]
    if value is GONE:
        del owner[last]
    else:
        owner[last] = value
    return found


def class_of(old: ToolVersion, new: ToolVersion) -> str:
    """Return the most serious kind of the changes between two versions."""
    kinds = {each.kind for tool in compare({"it": old}, {"it": new}) for each in tool.changes}
    order = ("breaking", "compatible", "wording")
    return next((each for each in order if each in kinds), "none")


MUTATIONS: list[tuple[str, Any, str]] = [
    # arguments
    ("parameters/properties/new", TEXT, "compatible"),
    ("parameters/properties/city", GONE, "breaking"),
    ("parameters/required", ["city", "unit", "days"], "breaking"),
    ("parameters/required", ["city"], "compatible"),
    ("parameters/properties/city/description", "Its proper name.", "wording"),
    ("parameters/properties/city/minLength", 2, "breaking"),
    ("parameters/properties/city/pattern", "^b", "breaking"),
    ("parameters/properties/city/type", "integer", "breaking"),
    ("parameters/properties/city/type", ["string", "null"], "compatible"),
    ("parameters/properties/days/minimum", 2, "breaking"),
    ("parameters/properties/days/exclusiveMinimum", 0, "none"),
    ("parameters/properties/days/maximum", 10, "compatible"),
    ("parameters/properties/days/type", "number", "compatible"),
    ("parameters/properties/days/default", 4, "compatible"),
    ("parameters/properties/ratio/type", "integer", "breaking"),
    ("parameters/properties/ratio/exclusiveMinimum", 0, "breaking"),
    ("parameters/properties/step/multipleOf", 12, "breaking"),
    ("parameters/properties/unit/enum", ["C", "F", "K"], "compatible"),
    ("parameters/properties/unit/enum", ["C"], "breaking"),
    ("parameters/properties/tags/items", {"type": "string", "maxLength": 9}, "breaking"),
    ("parameters/properties/start/type", "string", "breaking"),
    ("parameters/properties/place/properties/street", GONE, "breaking"),
    ("parameters/properties/place/additionalProperties", GONE, "compatible"),
    ("parameters/properties/options/properties/fast", GONE, "compatible"),
    ("parameters/properties/options/additionalProperties", False, "breaking"),
    ("parameters/properties/either/anyOf/1", {"type": "number"}, "compatible"),
    ("parameters/properties/either/anyOf/1", GONE, "breaking"),
    ("parameters/properties/spot", TOOL["parameters"]["$defs"]["spot"], "none"),
    ("parameters/$defs/spot/properties/lat/minimum", 0, "breaking"),
    ("parameters/additionalProperties", False, "none"),
    # results
    ("output_schema/properties/high/type", "integer", "compatible"),
    ("output_schema/properties/high/type", ["number", "null"], "breaking"),
    ("output_schema/properties/sky/enum", ["sun"], "compatible"),
    ("output_schema/properties/sky/enum", ["sun", "rain", "snow"], "breaking"),
    ("output_schema/required", ["high", "sky"], "compatible"),
    ("output_schema/properties/high/description", "At noon.", "wording"),
    # annotations
    ("annotations/read_only", False, "breaking"),
    ("annotations/destructive", GONE, "none"),
    ("annotations/open_world", True, "breaking"),
    # the rest of the manifest
    ("description", "Return a place's forecast.", "wording"),
]


@check_each(("path", "value", "expected"), MUTATIONS)
def test_a_change_of_a_tool_has_a_class(path: str, value: Any, expected: str) -> None:
    old, new = ToolVersion(TOOL), ToolVersion(edited(TOOL, path, value))
    assert class_of(old, new) == expected, path


@check_each(
    ("path", "value", "expected"),
    [
        ("annotations/read_only", True, "compatible"),
        ("annotations/idempotent", True, "compatible"),
        ("annotations/destructive", False, "compatible"),
        ("annotations/open_world", False, "compatible"),
        ("output_schema", TEXT, "compatible"),
    ],
)
def test_what_a_tool_promises_anew_breaks_nothing(path: str, value: Any, expected: str) -> None:
    careful = {"read_only": False, "destructive": True, "open_world": True}
    plain = {key: each for key, each in TOOL.items() if key != "output_schema"}
    old = {**plain, "annotations": careful}
    assert class_of(ToolVersion(old), ToolVersion(edited(old, path, value))) == expected


def test_a_dropped_property_breaks_only_what_does_not_take_further_arguments() -> None:
    new = edited(TOOL, "parameters/properties/tags", GONE)
    assert class_of(ToolVersion(TOOL), ToolVersion(new)) == "breaking"
    open_ = [ToolVersion(each, is_open=True) for each in (TOOL, new)]
    assert class_of(*open_) == "compatible"


REF = {"$ref": "#/$defs/one"}
ONE = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}


@check_each(
    ("one", "other"),
    [
        (TEXT, {"type": ["string"]}),
        (TEXT, {"anyOf": [TEXT]}),
        (TEXT, {"allOf": [{}, TEXT, True]}),
        (TEXT, {"type": "string", "minLength": 0}),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"enum": [True, False]}, {"type": "boolean"}),
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"type": "number", "multipleOf": 1}, {"type": "integer"}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, {"minimum": 1, "maximum": 3}),
        ({"type": "array"}, {"type": "array", "items": True, "minItems": 0, "uniqueItems": False}),
        ({"type": "array", "items": {}}, {"type": "array"}),
        ({"type": "object"}, {"type": "object", "additionalProperties": {}, "minProperties": 0}),
        (ONE, REF),
        ({}, True),
    ],
)  # fmt: skip
def test_equivalent_schemas_do_not_differ(one: Any, other: Any) -> None:
    for before, now in ((one, other), (other, one)):
        versions = [
            ToolVersion({"parameters": each, "output_schema": each})
            for each in (
                {"properties": {"it": side}, "$defs": {"one": ONE}} for side in (before, now)
            )
        ]
        assert compare({"it": versions[0]}, {"it": versions[1]}) == []
