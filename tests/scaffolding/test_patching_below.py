from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NotRequired, TypedDict

from annotated_types import Ge
from hypothesis import given

from sovl_tools.loading.function_spec import function_spec
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.rules.agreement import contradictions
from sovl_tools.model.diagnostic import Verdict
from sovl_tools.model.folder import Manifest
from sovl_tools.scaffolding.new_tool import manifest_of, sample
from sovl_tools.scaffolding.patch import patch_manifest
from sovl_tools.signature.signature import from_function
from tests.annotations.strategies import schema_of
from tests.scaffolding.strategies import annotated_types
from tests.scaffolding.test_patching import after, parameters
from tests.schema.strategies import moderate
from tests.schema.validators import validator
from tests.tables import check_each


@dataclass
class Place:
    city: str
    zone: int = 1


@dataclass
class Trip:
    start: Place
    end: Place | None = None


class Unit(Enum):
    METRE = "metre"
    FOOT = "foot"


class Open(TypedDict):
    value: int
    more: NotRequired[str]


CITY = {"type": "string", "description": "By hand."}
OLD_PLACE = {"type": "object", "properties": {"city": CITY}, "required": []}
PLACE = schema_of(Place)
DIFFERENT = "'a' is {!r} in the manifest, but the function takes {!r}"


def taking(annotation: Any, default: Any = ...) -> Any:
    """Return a function of one parameter ``a``."""

    def made(a): ...  # type: ignore[no-untyped-def] # noqa: ANN001,ANN202

    made.__annotations__ = {"a": annotation}
    made.__defaults__ = () if default is ... else (default,)
    return made


def mended_one(annotation: Any, schema: Any, *, prune: bool = False, **more: Any) -> Any:
    """Return what becomes of a property ``a`` that was written by hand."""
    found = after(taking(annotation), parameters({"a": schema}, "a", **more), prune=prune)
    return found["parameters"]["properties"]["a"]


def differences(schema: Any, function: Any) -> list[Verdict]:
    """Return what the rules say of the values that a manifest admits."""
    document = {"name": "made", "parameters": schema}
    interface = Interface(from_function(function), function=function)
    return contradictions(Manifest(document, ""), interface)


def told(annotation: Any, schema: Any, *, default: Any = ..., **more: Any) -> list[str]:
    """Return the messages about what can't be mended."""
    function = taking(annotation, default)
    found = after(function, parameters({"a": schema}, "a", **more))["parameters"]
    return [each.finding.message for each in differences(found, function)]


def test_a_field_is_added_with_its_requirement() -> None:
    found = mended_one(Place, OLD_PLACE)
    assert found == {
        "type": "object",
        "properties": {"city": CITY, "zone": {"type": "integer", "default": 1}},
        "required": ["city"],
    }


@check_each(
    ("annotation", "around"),
    [
        (list[Place], lambda inner: {"type": "array", "items": inner}),
        (dict[str, Place], lambda inner: {"type": "object", "additionalProperties": inner}),
        (
            tuple[int, Place],
            lambda inner: {"type": "array", "prefixItems": [{"type": "integer"}, inner]},
        ),
        (Place | None, lambda inner: {"anyOf": [inner, {"type": "null"}]}),
        (int | Place, lambda inner: {"anyOf": [{"type": "integer"}, inner]}),
    ],
)
def test_a_field_is_added_wherever_it_lies(annotation: Any, around: Any) -> None:
    found = mended_one(annotation, around(OLD_PLACE))
    assert '"zone": {"type": "integer", "default": 1}' in str(found).replace("'", '"')
    assert "By hand." in str(found)


def test_a_definition_is_mended_where_it_is_referred_to() -> None:
    def made(a: Place, b: Place) -> None: ...

    known: dict[str, Any] = {"a": {"$ref": "#/$defs/Spot"}}
    found = after(made, parameters(known, **{"$defs": {"Spot": OLD_PLACE}}))["parameters"]
    assert found["properties"]["b"] == {"$ref": "#/$defs/Spot"}
    assert list(found["$defs"]) == ["Spot"]
    assert found["$defs"]["Spot"]["properties"].keys() == {"city", "zone"}


@check_each(
    ("schema", "values"),
    [
        ({"type": "string", "enum": ["m", "foot"]}, ["m", "foot", "metre"]),
        ({"enum": ["metre", None]}, ["metre", None, "foot"]),
        ({"type": "string"}, ["metre", "foot"]),
        ({"type": "string", "const": "foot"}, None),
    ],
)
def test_values_are_added_to_those_that_are_listed(schema: Any, values: Any) -> None:
    assert mended_one(Unit, schema).get("enum") == values


def test_values_and_fields_that_are_not_taken_go_only_if_they_are_pruned() -> None:
    schema: Any = {"type": "string", "enum": ["m", "foot", "metre"]}
    assert mended_one(Unit, schema) == schema
    assert mended_one(Unit, schema, prune=True)["enum"] == ["foot", "metre"]
    schema = {**PLACE, "properties": {**PLACE["properties"], "b": {}}, "required": ["city", "b"]}
    assert mended_one(Place, schema) == schema
    assert mended_one(Place, schema, prune=True) == PLACE
    schema = {"type": "object", "properties": {"value": {}, "own": {}}, "required": ["value"]}
    assert mended_one(Open, schema, prune=True)["properties"].keys() == {"value", "own", "more"}


@check_each(
    ("annotation", "schema", "expected"),
    [
        (int, {"type": "string"}, "'a' is annotated int, but its type is 'string'"),
        (int, {"type": "number"}, DIFFERENT.format("number", "integer")),
        (int, {"type": ["integer", "null"]}, ""),
        (int | None, {"type": ["integer", "null"]}, ""),
        (list[int], {"type": "array", "items": {"type": "string"}},
         "'a[]' is 'string' in the manifest, but the function takes 'integer'"),
        (Place, {**PLACE, "properties": {"city": {"type": "integer"}}},
         "'a.city' is 'integer' in the manifest, but the function takes 'string'"),
        (Unit, {"enum": ["metre", "m"]}, "\"m\" isn't a value that the function takes for 'a'"),
        (Unit, {"const": "m"}, "\"m\" isn't a value that the function takes for 'a'"),
        (Unit, {"enum": ["metre", None]},
         "'a' can be null in the manifest, but the function rejects that"),
        (Place, {**PLACE, "properties": {"b": {}}}, "'a.b' is not taken by the function"),
        (Open, {"type": "object", "properties": {"b": {}}}, ""),
        (Place, {**PLACE, "properties": {"zone": {"type": "integer", "default": 2}}},
         "'a.zone' is 1 by default, 2 in the manifest"),
        (Annotated[int, Ge(3)], {"type": "integer", "maximum": 2},
         "'a' has the maximum 2, but minimum 3 to the function"),
        (int | Place, {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
         "'a' is here none of the alternatives that the function takes"),
    ],
)  # fmt: skip
def test_what_contradicts_the_function_is_told(annotation: Any, schema: Any, expected: str) -> None:
    assert told(annotation, schema) == ([expected] if expected else [])


@check_each(
    ("default", "written", "is_told"),
    [(3, 4, True), (3, 3.0, False), (None, 4, False), (..., 4, False)],
)
def test_a_default_that_differs_is_told(default: Any, written: Any, is_told: bool) -> None:  # noqa: FBT001 - of pytest
    annotation = int if default is not None else int | None
    assert bool(told(annotation, {"default": written}, default=default)) == is_told


def lost(found: Any, written: Any, path: str = "") -> list[str]:
    """Return the paths of what is no longer there; lists can have grown."""
    if isinstance(written, dict) and isinstance(found, dict):
        return [
            each for key in written for each in lost(found.get(key), written[key], f"{path}/{key}")
        ]
    if isinstance(written, list) and isinstance(found, list) and len(found) >= len(written):
        return [
            each
            for index, value in enumerate(written)
            for each in lost(found[index], value, f"{path}/{index}")
        ]
    return [] if found == written else [path]


@moderate
@given(old=annotated_types(), new=annotated_types())
def test_after_any_drift_a_manifest_serves_the_function_or_something_is_told(
    old: Any, new: Any
) -> None:
    before = manifest_of("made", function_spec(taking(old)))
    function = taking(new)
    spec = function_spec(function)
    document = patch_manifest(before, spec, name="made")
    assert patch_manifest(document, spec, name="made") == document
    assert lost(document, before) == []
    schema = document["parameters"]
    if not differences(schema, function):
        validator(schema)
        value = {"a": sample(schema["properties"]["a"], schema)}
        assert validator(spec.parameters).is_valid(value)
