"""Manifests whose parameters use all of JSON Schema, or just what strict tools can say."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.formats.arguments import arguments_for
from tests.formats.kinds import ALL_KINDS, STRICT_KINDS, object_, plain_object, schema
from tests.formats.scope import (
    DEFINITIONS,
    ODD_NAMES,
    PLAIN_NAMES,
    Draw,
    Schema,
    Scope,
    data,
    few,
    some,
)
from tests.schema.strategies import examples

__all__ = ["arguments_for", "manifests", "moderate", "parameters", "strict_parameters"]

moderate = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _pointer(*keys: str) -> str:
    parts = (quote(key.replace("~", "~0").replace("/", "~1"), safe="~$") for key in keys)
    return "#/" + "/".join(parts)


def _definitions(draw: Draw, scope: Scope) -> tuple[dict[str, Schema], Scope]:
    """Return definitions that may refer to those after them, and the scope of who uses them."""
    names = few(draw, DEFINITIONS)
    anchors = {
        name: f"anchor{index}"
        for index, name in enumerate(names)
        if scope.kinds is not STRICT_KINDS and draw(st.integers(0, 4)) == 0
    }
    circular = (
        "#",
        *(_pointer("$defs", name) for name in names),
        *(f"#{each}" for each in anchors.values()),
    )
    made: dict[str, Schema] = {}
    known: tuple[str, ...] = ()
    for name in reversed(names):
        own = schema(draw, scope._replace(depth=2, references=known, circular=circular))
        if name in anchors:
            anchor = draw(st.sampled_from(["$anchor", "$dynamicAnchor"]))
            own = {**(own if isinstance(own, dict) else {}), anchor: anchors[name]}
        made[name] = own
        known = (
            _pointer("$defs", name),
            *known,
            *([f"#{anchors[name]}"] if name in anchors else []),
        )
    return made, scope._replace(references=known, circular=circular)


@st.composite
def _parameters(draw: Draw, scope: Scope) -> Schema:
    definitions, scope = _definitions(draw, scope)
    is_plain = scope.kinds is STRICT_KINDS or draw(st.booleans())
    made = (plain_object if is_plain else object_)(draw, scope)
    made["properties"].update(_pointing(draw, scope, made["properties"]))
    if scope.kinds is not STRICT_KINDS:
        made = {**made, **_at_the_root(draw, made)}
    if definitions or draw(st.integers(0, 5)) == 0:
        made["$defs"] = definitions
    return made


def _pointing(draw: Draw, scope: Scope, properties: dict[str, Schema]) -> dict[str, Schema]:
    """Return, now and then, properties that refer to something that isn't a definition."""
    chosen = draw(st.sampled_from(["", "", "", "same", "inner"]))
    if chosen == "same" and properties:
        return {chosen: {"$ref": _pointer("properties", draw(st.sampled_from([*properties])))}}
    if chosen != "inner":
        return {}
    deep = {"$ref": _pointer("properties", chosen, "$defs", "x")}
    holder = {"type": "object", "properties": {"deep": deep}}
    inner = schema(draw, scope.within(may_end=True))
    return {chosen: {**holder, "additionalProperties": False, "$defs": {"x": inner}}}


def _at_the_root(draw: Draw, made: Schema) -> Schema:
    names = st.sampled_from([*made["properties"], "city"])
    types = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"const": "a"}, True])
    parts = names.map(lambda name: {"required": [name]}) | st.builds(
        lambda name, of_name: {"properties": {name: of_name}}, names, types
    )
    lists = st.lists(parts, min_size=1, max_size=2)
    return some(
        draw,
        {
            "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
            "$id": st.just("urn:example:tool"),
            "additionalProperties": st.booleans(),
            "allOf": lists,
            "anyOf": lists,
            "default": st.just({}),
            "definitions": st.just({"old": {"type": "string"}}),
            "description": st.just("The arguments."),
            "examples": st.just([{}]),
            "if": parts,
            "maxProperties": st.just(9),
            "not": st.just({"required": ["never"]}),
            "oneOf": lists,
            "then": st.just({"minProperties": 1}) | parts,
            "else": parts,
            "title": st.just("Arguments"),
            "x-own": data,
        },
    )


def parameters(names: Iterable[str] = PLAIN_NAMES + ODD_NAMES) -> st.SearchStrategy[Schema]:
    """Return schemas of arguments that use whatever there is."""
    return _parameters(Scope(3, ALL_KINDS, names=tuple(names)))


def strict_parameters(names: Iterable[str] = PLAIN_NAMES + ODD_NAMES) -> st.SearchStrategy[Schema]:
    """Return schemas of arguments that strict tools can express, but for optional properties."""
    return _parameters(Scope(3, STRICT_KINDS, names=tuple(names)))


_identifiers = (
    st.sampled_from(["lookup", "_x", "Type", "f" * 64])
    | st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
).filter(lambda name: not keyword.iskeyword(name))


@st.composite
def manifests(
    draw: Draw, of: st.SearchStrategy[Schema] | None = None, *, name: str | None = None
) -> dict[str, Any]:
    """Return manifests; ``of`` are the schemas of their arguments, by default the widest."""
    arguments = draw(parameters() if of is None else of)
    made = {
        "name": name or draw(_identifiers),
        "description": draw(st.sampled_from(["Look it up.", "Über: \n\n- a", "d" * 1100])),
        "parameters": arguments,
    }
    made.update(some(draw, _OTHER_KEYS, most=4))
    if draw(st.integers(0, 2)) == 0:
        made["examples"] = _examples(draw, arguments)
    return made


def _examples(draw: Draw, arguments: Schema) -> list[dict[str, Any]]:
    inputs = draw(st.lists(arguments_for(arguments, is_open=True), min_size=1, max_size=2))
    return [{"input": each, "output": draw(data), "description": "So."} for each in inputs]


_HINTS = ("read_only", "destructive", "idempotent", "open_world")
_OTHER_KEYS: dict[str, st.SearchStrategy[Any]] = {
    "title": st.just("Look up"),
    "annotations": st.dictionaries(st.sampled_from(_HINTS), st.booleans()),
    "output_schema": parameters()
    | st.sampled_from([{"type": "string"}, {"type": ["object", "null"]}, {}]),
    "instructions": st.just("Use it wisely."),
    "tags": st.just(["a", "b"]),
    "category": st.just("misc"),
    "version": st.just("1.0"),
}
