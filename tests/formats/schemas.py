"""Schemas of arguments, each with values that match it, and manifests that have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.schema.strategies import examples

Schema: TypeAlias = Any
Values: TypeAlias = st.SearchStrategy[tuple[Any, Any]]

moderate = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

PLAIN_NAMES = ("city", "limit", "tags", "filters", "value_2", "X")
ODD_NAMES = (
    "properties", "type", "$ref", "default", "required", "null", "items", "enum", "const", "$defs",
    "a b", "é", "名前", "a.b", "a/b", "~", "x-own", "", "0", "self", "n" * 65,
)  # fmt: skip

STRICT_LEAVES: list[tuple[Schema, list[Any]]] = [
    ({"type": "string"}, ["", "red", "null"]),
    ({"type": "string", "pattern": "^[a-z]{2,4}$"}, ["ab", "abcd"]),
    ({"type": "string", "format": "email", "title": "A title"}, ["a@b.example"]),
    ({"type": "string", "enum": ["x", "y"]}, ["x", "y"]),
    ({"type": ["string", "null"], "enum": ["x", None]}, ["x", None]),
    ({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}, [1, 8]),
    ({"type": "number", "multipleOf": 0.5}, [1.5, 2]),
    ({"type": "boolean", "description": "Über alles"}, [True, False]),
    ({"type": ["string", "integer", "null"]}, ["1", 1, None]),
    ({"type": "null"}, [None]),
    ({"const": "a"}, ["a"]),
    ({"enum": ["a", 1, False]}, ["a", 1, False]),
    ({"type": "array", "items": {"type": "string"}}, [[], ["a", "b"]]),
]
ODD_LEAVES: list[tuple[Schema, list[Any]]] = [
    *STRICT_LEAVES,
    (True, [None, {}, "x"]),
    ({}, [[], 1]),
    ({"type": "string", "pattern": "^(?!x)", "minLength": 1}, ["a"]),
    ({"type": "string", "format": "uri", "default": "urn:x", "x-own": {"a": [1]}}, ["urn:a"]),
    ({"const": {"$ref": "#/nowhere"}}, [{"$ref": "#/nowhere"}]),
    ({"enum": [[], {"type": "x"}, None]}, [[], None]),
    ({"minimum": 3, "examples": [1, {}]}, [3, "x"]),
    ({"type": "string", "not": {"const": "red"}, "readOnly": True}, ["blue"]),
    ({"type": "array", "uniqueItems": True, "contains": {"const": 1}}, [[1], [1, 2]]),
    ({"type": "array", "prefixItems": [{"type": "string"}, {}], "items": False}, [["a"], ["a", 1]]),
    ({"type": "object"}, [{}, {"a": 1}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1}]),
    ({"type": "object", "patternProperties": {"^(?=x)": {}}, "minProperties": 1}, [{"x": 1}]),
    ({"allOf": [{"type": "string"}], "description": "One\n\ntwo"}, ["a"]),
    ({"allOf": [{"type": "string"}, {"minLength": 1}]}, ["a"]),
    ({"oneOf": [{"type": "integer"}, {"type": "string", "deprecated": True}]}, [1, "a"]),
    (
        {"type": "object", "properties": {"a": {}}, "if": {"required": ["a"]},
         "then": {"required": ["b"]}, "dependentRequired": {"c": ["a"]}},
        [{}, {"a": 1, "b": 2}],
    ),
]  # fmt: skip

_NODE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
    "required": ["value"],
    "additionalProperties": False,
}
_NODES = [
    ({"value": 1}, {"value": 1, "next": None}),
    ({"value": 1, "next": {"value": 2}}, {"value": 1, "next": {"value": 2, "next": None}}),
]


class Sample(NamedTuple):
    """A schema and values for it.

    Attributes:
        schema: the schema.
        values: pairs of a value and its form that omits no property, with null instead.
        takes_null: whether null is one of them.
    """

    schema: Schema
    values: Values
    takes_null: bool = False


def _leaf(schema: Schema, values: list[Any]) -> Sample:
    return Sample(schema, st.sampled_from([(each, each) for each in values]), None in values)


_KINDS = ("leaf", "leaf", "object", "object", "array", "nullable", "either", "reference")


@st.composite
def _samples(
    draw: st.DrawFn,
    leaves: Sequence[tuple[Schema, list[Any]]],
    names: Sequence[str],
    depth: int = 3,
) -> Sample:
    kind = draw(st.sampled_from(_KINDS)) if depth else "leaf"
    inner = _samples(leaves, names, depth - 1)
    if kind == "object":
        return draw(_object(inner, names))
    if kind == "array":
        of = draw(inner)
        lists = st.lists(of.values, max_size=2)
        pairs = lists.map(lambda found: ([each for each, _ in found], [each for _, each in found]))
        return Sample({"type": "array", "items": of.schema}, pairs)
    if kind == "nullable":
        of = draw(inner)
        nulls: Values = st.just((None, None))
        return Sample({"anyOf": [of.schema, {"type": "null"}]}, of.values | nulls, takes_null=True)
    if kind == "either":
        first, second = _leaf({"type": "string"}, ["s"]), draw(_object(inner, names))
        return Sample({"anyOf": [first.schema, second.schema]}, first.values | second.values)
    if kind == "reference":
        return Sample({"$ref": "#/$defs/node"}, st.sampled_from(_NODES))
    return _leaf(*draw(st.sampled_from(leaves)))


@st.composite
def _object(draw: st.DrawFn, inner: st.SearchStrategy[Sample], names: Sequence[str]) -> Sample:
    """Return an object of known properties, some of them required."""
    chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    members = {name: draw(inner) for name in chosen}
    required = [name for name in members if draw(st.booleans())]
    properties = {name: each.schema for name, each in members.items()}
    schema = {"type": "object", "properties": properties, "required": required}
    return Sample({**schema, "additionalProperties": False}, _objects(members, required))


@st.composite
def _objects(draw: st.DrawFn, members: dict[str, Sample], required: list[str]) -> tuple[Any, Any]:
    wanted, sent = {}, {}
    for name, member in members.items():
        # a null that is admitted isn't an omission
        if name in required or member.takes_null or draw(st.booleans()):
            wanted[name], sent[name] = draw(member.values)
        else:
            sent[name] = None
    return wanted, sent


def samples(*, strict: bool, names: Sequence[str] = PLAIN_NAMES + ODD_NAMES) -> Any:
    """Return schemas of arguments with their values: what strict tools can say, or anything."""
    inner = _samples(STRICT_LEAVES if strict else ODD_LEAVES, names)
    defined = {"$defs": {"node": _NODE}}
    return _object(inner, names).map(lambda it: it._replace(schema={**it.schema, **defined}))


def parameters() -> st.SearchStrategy[Schema]:
    """Return schemas of arguments that use whatever there is."""
    return samples(strict=False).map(lambda sample: sample.schema)  # type: ignore[no-any-return]


def manifests(of: st.SearchStrategy[Schema] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Return manifests; ``of`` are the schemas of their arguments, by default the widest."""
    hints = ("read_only", "destructive", "idempotent", "open_world")
    return st.fixed_dictionaries(
        {
            "name": st.sampled_from(["lookup", "_x", "Type", "f" * 64]),
            "description": st.sampled_from(["Look it up.", "Über: \n\n- a", "d" * 1100]),
            "parameters": parameters() if of is None else of,
        },
        optional={
            "title": st.just("Look up"),
            "annotations": st.dictionaries(st.sampled_from(hints), st.booleans()),
            "output_schema": st.sampled_from([{"type": "string"}, {"type": "object"}, {}]),
            "instructions": st.just("Use it wisely."),
            "tags": st.just(["a", "b"]),
        },
    )
