"""Every kind of subschema that generated manifests have."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.formats.scope import (
    FORMATS,
    LOOKAROUND,
    OTHER_FORMATS,
    PATTERNS,
    Draw,
    Kind,
    Schema,
    Scope,
    data,
    few,
    scalars,
    some,
    texts,
)


def schema(draw: Draw, scope: Scope) -> Schema:
    """Return a schema of any kind that fits into the scope, mostly with a description."""
    kinds = scope.kinds if scope.depth > 0 else _leaves(scope.kinds)
    refers = bool(scope.possible) and draw(st.integers(0, 3)) == 3
    made = (reference if refers else draw(st.sampled_from(kinds)))(draw, scope)
    return _annotated(draw, made, scope)


@cache
def _leaves(kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    return tuple(each for each in kinds if each in _LEAVES)


def _annotated(draw: Draw, made: Schema, scope: Scope) -> Schema:
    if not isinstance(made, dict) or draw(st.integers(0, 2)) == 0:
        return made
    notes = some(draw, PLAIN_NOTES if scope.kinds is STRICT_KINDS else _NOTES)
    return {**notes, **made} if draw(st.booleans()) else {**made, **notes}


PLAIN_NOTES: dict[str, st.SearchStrategy[Any]] = {
    "description": st.sampled_from(["What it is.", "Über alles", "One\n\ntwo"]),
    "title": st.just("A title"),
}
_NOTES: dict[str, st.SearchStrategy[Any]] = {
    **PLAIN_NOTES,
    "default": data,
    "examples": st.lists(data, max_size=2),
    "deprecated": st.booleans(),
    "readOnly": st.booleans(),
    "$comment": st.just("Mind the gap."),
    "x-own": data,
}


def text(draw: Draw, _: Scope) -> Schema:
    low = draw(st.integers(0, 3))
    return {
        "type": "string",
        **draw(
            st.sampled_from(
                [
                    {},
                    {"minLength": low, "maxLength": low + 3},
                    {"minLength": low},
                    {"maxLength": 20, "pattern": "^[a-z]{2,4}$"},
                    *({"pattern": pattern} for pattern in PATTERNS + LOOKAROUND),
                    *({"format": name} for name in FORMATS + OTHER_FORMATS),
                    {"contentMediaType": "text/plain"},
                ]
            )
        ),
    }


def plain_text(draw: Draw, _: Scope) -> Schema:
    patterns: list[Schema] = [{"pattern": each} for each in PATTERNS]
    formats: list[Schema] = [{"format": each} for each in FORMATS]
    return {"type": "string", **draw(st.sampled_from([{}, {}, *patterns, *formats]))}


def number(draw: Draw, _: Scope) -> Schema:
    low = draw(st.integers(-9, 9))
    return {
        "type": draw(st.sampled_from(["integer", "number"])),
        **draw(st.sampled_from([{}, {"minimum": low}, {"exclusiveMinimum": low}])),
        **draw(st.sampled_from([{}, {"maximum": low + 9}, {"exclusiveMaximum": low + 9}])),
        **draw(st.sampled_from([{}, {}, {"multipleOf": 3}, {"multipleOf": 0.5}])),
    }


def flag(draw: Draw, _: Scope) -> Schema:
    return {"type": draw(st.sampled_from(["boolean", "boolean", "null"]))}


def choice(draw: Draw, _: Scope) -> Schema:
    """Return an enum: of strings, or of whatever, with or without a type."""
    values = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    mixed = draw(st.lists(data, min_size=1, max_size=4))
    return draw(
        st.sampled_from(
            [
                {"type": "string", "enum": values},
                {"enum": values},
                {"enum": mixed},
                {"type": ["string", "null"], "enum": [*values, None]},
                {"type": ["string", "null"], "enum": values},
                {"type": "integer", "enum": [1, 2]},
                {"type": ["integer", "boolean"], "enum": [0, 1, False]},
            ]
        )
    )


def plain_choice(draw: Draw, _: Scope) -> Schema:
    values = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    kinds = [{"type": "string", "enum": values}, {"enum": values}, {"type": "integer", "enum": [1]}]
    return draw(st.sampled_from([*kinds, {"type": ["string", "null"], "enum": [*values, None]}]))


def constant(draw: Draw, _: Scope) -> Schema:
    return {"const": draw(data)}


def plain_constant(draw: Draw, _: Scope) -> Schema:
    return {"const": draw(scalars)}


def several(draw: Draw, _: Scope) -> Schema:
    """Return a schema of several types."""
    types = st.sampled_from(["string", "integer", "boolean", "null"])
    return {"type": draw(st.lists(types, min_size=1, max_size=3, unique=True))}


def array(draw: Draw, scope: Scope) -> Schema:
    low = draw(st.sampled_from([0, 0, 1, 2]))
    bounds: list[Schema] = [{}, {"minItems": low}, {"maxItems": low + 1}, {"uniqueItems": True}]
    bound = draw(st.sampled_from(bounds))
    needed = scope.within(may_end=False)
    odd: list[Schema] = [{}, {"items": True}, {"contains": schema(draw, needed)}]
    items = {"items": schema(draw, scope.within(may_end="minItems" not in bound))}
    chosen = draw(st.sampled_from(odd)) if draw(st.integers(0, 3)) == 3 else items
    return {"type": "array", **chosen, **bound}


def plain_array(draw: Draw, scope: Scope) -> Schema:
    return {"type": "array", "items": schema(draw, scope.within(may_end=True))}


def tuple_(draw: Draw, scope: Scope) -> Schema:
    inner = scope.within(may_end=True)
    first = [schema(draw, inner) for _ in range(draw(st.integers(1, 2)))]
    rest: list[Schema] = [{}, {"items": False}, {"items": schema(draw, inner)}]
    return {"type": "array", "prefixItems": first, **draw(st.sampled_from(rest))}


def object_(draw: Draw, scope: Scope) -> Schema:
    """Return an object with properties, open or closed."""
    made = plain_object(draw, scope)
    inner = scope.within(may_end=True)
    extras: dict[str, Callable[[], Any]] = {
        "additionalProperties": lambda: draw(st.booleans()),
        "minProperties": lambda: draw(st.integers(0, 1)),
        "maxProperties": lambda: 5,
        "patternProperties": lambda: {"^x_": schema(draw, inner)},
        "propertyNames": lambda: {"maxLength": 70},
        "dependentRequired": lambda: {each: [*made["properties"]] for each in made["properties"]},
        "dependentSchemas": lambda: {"city": {"required": ["city"]}},
        "unevaluatedProperties": lambda: draw(st.booleans()),
    }
    for each in draw(st.lists(st.sampled_from(sorted(extras)), max_size=2, unique=True)):
        made[each] = extras[each]()
    return made


def plain_object(draw: Draw, scope: Scope) -> Schema:
    """Return an object of known properties, some of them required."""
    names = few(draw, scope.names)
    required = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    properties = {name: schema(draw, scope.within(may_end=name not in required)) for name in names}
    made: Schema = {"type": "object", "properties": properties}
    if draw(st.booleans()) or required:
        made["required"] = required
    return {**made, "additionalProperties": False} if draw(st.booleans()) else made


def map_(draw: Draw, scope: Scope) -> Schema:
    """Return an object of any properties."""
    values = {"additionalProperties": schema(draw, scope.within(may_end=True))}
    kinds: list[Schema] = [
        {}, {"additionalProperties": True}, values, {**values, "properties": {}},
    ]  # fmt: skip
    return {"type": "object", **draw(st.sampled_from(kinds))}


def nullable(draw: Draw, scope: Scope) -> Schema:
    inner = scope._replace(depth=scope.depth - 1, may_end=True)
    branches = [schema(draw, inner), {"type": "null"}]
    return {"anyOf": draw(st.permutations(branches))}


def union(draw: Draw, scope: Scope) -> Schema:
    return {draw(st.sampled_from(["anyOf", "oneOf"])): _branches(draw, scope)}


def plain_union(draw: Draw, scope: Scope) -> Schema:
    return {"anyOf": _branches(draw, scope)}


def _branches(draw: Draw, scope: Scope) -> list[Schema]:
    inner = scope._replace(depth=scope.depth - 1)
    return [schema(draw, inner) for _ in range(draw(st.integers(1, 3)))]


def told_apart(draw: Draw, scope: Scope) -> Schema:
    """Return alternatives that a constant property tells apart."""
    kinds = draw(st.lists(st.sampled_from(["cat", "dog", "fish"]), min_size=1, max_size=2))
    made = []
    for each in dict.fromkeys(kinds):
        own = plain_object(draw, scope._replace(depth=scope.depth - 1))
        own["properties"] = {"kind": {"const": each}, **own["properties"]}
        own["properties"]["kind"] = {"const": each}
        own["required"] = [*{"kind": 0, **dict.fromkeys(own.get("required", ()))}]
        made.append(own)
    return {draw(st.sampled_from(["anyOf", "oneOf"])): made}


def all_of(draw: Draw, scope: Scope) -> Schema:
    inner = scope._replace(depth=scope.depth - 1)
    parts = st.sampled_from(
        [
            [schema(draw, inner)],
            [schema(draw, inner), {"description": "And so on."}],
            [{"type": "string"}, {"minLength": 1}, {"maxLength": 9}],
            [plain_object(draw, inner), {"type": "object", "minProperties": 0}],
            [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}],
        ]
    )
    return {"allOf": draw(parts)}


def negated(draw: Draw, scope: Scope) -> Schema:
    inner = scope._replace(depth=scope.depth - 1)
    made = schema(draw, inner)
    refused = draw(st.sampled_from([{"const": "red"}, {"type": "object"}, {"enum": [1, None]}]))
    return {**made, "not": refused} if isinstance(made, dict) else {"not": refused}


def conditional(draw: Draw, scope: Scope) -> Schema:
    made = plain_object(draw, scope)
    names = st.sampled_from([*made["properties"], "city"])
    chances = {
        "then": names.map(lambda name: {"required": [name]}),
        "else": st.just({"properties": {"limit": {"type": "integer"}}}),
    }
    return {**made, "if": {"required": [draw(names)]}, **some(draw, chances)}


def reference(draw: Draw, scope: Scope) -> Schema:
    if not scope.possible:
        return plain_text(draw, scope)
    to = draw(st.sampled_from(scope.possible))
    is_dynamic = to.startswith("#anchor") and draw(st.booleans())
    made: Schema = {"$dynamicRef" if is_dynamic else "$ref": to}
    if draw(st.integers(0, 2)) == 0:
        beside = {"description": st.just("One of them."), "default": data, "title": st.just("T")}
        made.update(some(draw, PLAIN_NOTES if scope.kinds is STRICT_KINDS else beside))
    return made


def anything(draw: Draw, _: Scope) -> Schema:
    return draw(st.sampled_from([True, {}, {"description": "Whatever."}, {"x-own": 1}]))


def nothing(_: Draw, scope: Scope) -> Schema:
    return False if scope.may_end else {"type": "null"}


def untyped(draw: Draw, scope: Scope) -> Schema:
    made: Schema = plain_object(draw, scope)
    del made["type"]
    return draw(st.sampled_from([made, {"minimum": 3}, {"maxLength": 3}, {"items": {}}]))


_LEAVES: tuple[Kind, ...] = (
    text, plain_text, number, flag, choice, plain_choice, constant, plain_constant, several,
    anything, nothing, reference,
)  # fmt: skip
STRICT_KINDS: tuple[Kind, ...] = (
    plain_text, number, flag, plain_choice, plain_constant, several, plain_array, plain_object,
    plain_object, nullable, plain_union, reference,
)  # fmt: skip
ALL_KINDS: tuple[Kind, ...] = (
    text, number, flag, choice, constant, several, array, array, tuple_, object_, object_, map_,
    nullable, union, told_apart, all_of, negated, conditional, reference, anything, nothing,
    untyped, plain_object,
)  # fmt: skip
