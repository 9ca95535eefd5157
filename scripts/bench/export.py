"""What the definitions of a thousand tools cost, as a multiple of copying every schema.

No two tools have the same schema. CPU time counts, and the least of all rounds.

    python scripts/bench/export.py [ROUNDS [SHAPE...]]
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

from measuring import show

from sovl_tools import ToolDefinition, ToolRegistry
from sovl_tools.formats.base import FORMATS, STRICT

TOOLS, BUDGET = 1000, 10
Schema = dict[str, Any]


def of(*required: str, **properties: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": [*required]}


def plain(number: int) -> Schema:
    return of(
        "path",
        **{f"limit_{number}": {"type": "integer", "description": "How many."}},
        path={"type": "string", "description": "Which file."},
        is_deep={"type": "boolean", "description": "Whether to go on below."},
    )


def described(number: int) -> Schema:
    query = {
        "type": "string",
        "title": "Query",
        "description": f"What to search for in {number}.",
        "pattern": "^[a-z]+$",
        "minLength": 1,
        "examples": ["walnut", "oak"],
    }
    mode = {"type": "string", "description": "How.", "enum": ["fast", "exact"], "default": "fast"}
    count = {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 50}
    day = {"type": "string", "description": "Since when.", "format": "date"}
    return of("query", query=query, mode=mode, count=count, day=day)


def nullable(number: int) -> Schema:
    note = {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A note."}
    return {**plain(number), "properties": {**plain(number)["properties"], "note": note}}


def references(number: int) -> Schema:
    sizes = {"circle": "radius", "square": "side"}
    shapes = {
        kind: {
            "type": "object",
            "properties": {
                "kind": {"const": kind},
                size: {"type": "number", "description": f"In {number} metres."},
            },
            "required": ["kind", size],
            "additionalProperties": False,
        }
        for kind, size in sizes.items()
    }
    shape = {"oneOf": [{"$ref": f"#/$defs/{each}"} for each in shapes]}
    colour = {"type": "string", "enum": ["red", "green", "blue"], "description": "A colour."}
    found = of("shape", shape={"$ref": "#/$defs/shape"}, colour={"$ref": "#/$defs/colour"})
    return {**found, "$defs": {**shapes, "shape": shape, "colour": colour}}


def nested(number: int) -> Schema:
    point = of("x", "y", x={"type": "number", "description": "East."}, y={"type": "number"})
    rows = {"type": "array", "items": {"type": "array", "items": point}, "description": "Rows."}
    labels = {
        "type": "object",
        "description": f"Labels of {number}.",
        "properties": {},
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
    return of("rows", rows=rows, labels=labels)


def refused(number: int) -> Schema:
    """Most of this is refused by some provider."""
    code = {"type": "string", "pattern": f"^(?!x){number}", "minLength": 1, "maxLength": 9}
    tags = {"type": "array", "uniqueItems": True, "minItems": 2, "items": {"type": "string"}}
    return {
        **of("code", code=code, tags=tags, any={"type": "array"}, free={}),
        "anyOf": [{"required": ["code"]}, {"required": ["tags"]}],
        "if": {"required": ["tags"]},
        "then": {"required": ["code"]},
    }


def bounded(number: int) -> Schema:
    """Formats, bounds and annotations that some providers ignore."""
    address = {"type": "string", "format": "email", "maxLength": number + 9}
    link = {"type": "string", "format": "uri", "examples": ["https://example.com"]}
    share = {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}
    note = {"type": "string", "pattern": "^a+$", "x-note": number}
    return of("address", address=address, link=link, share=share, note=note)


def conditional(number: int) -> Schema:
    """Conditions within an argument, and properties by a pattern of their names."""
    order = {
        **of("mode", mode={"enum": ["fast", "exact"]}, limit={"type": "integer"}),
        "if": {"properties": {"mode": {"const": "exact"}}},
        "then": {"required": ["limit"]},
        "not": {"required": ["none"]},
    }
    labels = {
        "type": "object",
        "patternProperties": {"^x": {"type": "string"}},
        "minProperties": 1,
        "propertyNames": {"maxLength": number + 5},
    }
    return of("order", order=order, labels=labels)


def tuples(number: int) -> Schema:
    pair = {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
    }
    bag = {"type": "array", "contains": {"const": number}, "maxItems": 5, "uniqueItems": True}
    return of("pair", pair=pair, bag=bag)


def recursive(number: int) -> Schema:
    children = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    label = {"type": "string", "description": f"Node of {number}."}
    node = of("label", label=label, children=children)
    return {**of("tree", tree={"$ref": "#/$defs/node"}), "$defs": {"node": node}}


SHAPES: dict[str, Callable[[int], Schema]] = {
    each.__name__: each
    for each in (
        *(plain, described, nullable, references, nested, refused),
        *(bounded, conditional, tuples, recursive),
    )
}


def registry_of(make: Callable[[int], Schema]) -> ToolRegistry:
    """Return a registry of tools with such schemas."""
    registry = ToolRegistry()
    for number in range(TOOLS):
        name = f"tool_{number}"
        registry.register(ToolDefinition(name, f"Do {number}.", make(number), lambda **_: None))
    return registry


def copy_of(value: Any) -> Any:
    """Return a copy, member by member: what any export does that shares nothing."""
    if isinstance(value, dict):
        return {key: copy_of(each) for key, each in value.items()}
    return [copy_of(each) for each in value] if isinstance(value, list) else value


def taken(work: Callable[[], object]) -> float:
    """Return the CPU time of a call in seconds."""
    gc.collect()
    started = process_time()
    work()
    return process_time() - started


def main(rounds: int, shapes: list[str]) -> None:
    """Measure each format, and each strict form, for each shape."""
    forms = [*((name, False) for name in FORMATS), *((name, True) for name in sorted(STRICT))]
    for shape in shapes:
        registry = registry_of(SHAPES[shape])
        schemas = [tool.parameters for tool in registry]
        floor = min(taken(partial(copy_of, schemas)) for _ in range(rounds))
        for name, strict in forms:
            times = []
            for _ in range(rounds):
                # as if no one had asked before
                registry._exporter = type(registry._exporter)()  # noqa: SLF001
                ask = partial(registry.definitions, name, strict=strict)
                times.append(taken(ask))
            label = f"{shape}: {name}{' strict' if strict else ''}"
            show(label, min(times) / floor, "copying", BUDGET, f"{min(times) * 1e3:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:] or list(SHAPES))
