"""Schemas by hand that are easily got wrong, next to those that chance finds."""

from __future__ import annotations

from typing import Any


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**of(**properties), "required": [*properties], "additionalProperties": False}


_TEXT = {"type": "string"}
_NODE = of(value={"type": "integer"}, next={"$ref": "#/$defs/node"})
_TREE = closed(left={"$ref": "#/$defs/tree"}, right={"anyOf": [{"$ref": "#"}, {"type": "null"}]})

SCHEMAS: dict[str, dict[str, Any]] = {
    "no properties": of(),
    "names of keywords": of(
        **{
            name: {"type": "string", "default": "x"}
            for name in (
                "$ref", "$defs", "default", "properties", "required", "pattern", "anyOf", "type",
                "enum", "const", "format", "title", "description", "additionalProperties", "items",
            )
        }
    ),
    "a definition called properties": {
        **of(a={"$ref": "#/$defs/properties"}),
        "$defs": {"properties": of(type=_TEXT)},
    },
    "keywords in values": of(
        a={"enum": [{"oneOf": [1]}, {"$ref": "#/no"}], "default": {"$defs": {"x": 1}}},
        b={"const": {"pattern": "(?=a)"}},
        c={"type": "object", "properties": {}, "default": {"$ref": "#/$defs/none"}},
    ),
    "lookaround": of(
        a={"type": "string", "pattern": "^(?!x)"},
        b={"type": "string", "pattern": r"a(?<=a)\\(?=b)"},
        c={"type": "array", "items": {"type": "string", "pattern": "(?<!a)b"}},
    ),
    "elaborate patterns": of(
        a={"type": "string", "pattern": "a+?b"},
        b={"type": "string", "pattern": "a{1,200}"},
        c={"type": "string", "pattern": r"\bword\b"},
        d={"type": "string", "pattern": "(?:a|b)"},
    ),
    "every format": of(
        **{
            name: {"type": "string", "format": name.replace("_", "-")}
            for name in ("date", "date_time", "uri", "ipv6", "phone", "duration", "hostname", "x")
        }
    ),
    "bounds": of(
        a={"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2},
        b={"type": "string", "minLength": 1, "maxLength": 9},
        c={"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 3, "uniqueItems": True},
        d={**closed(x=_TEXT), "minProperties": 1, "maxProperties": 1},
        e={"type": ["integer", "string"], "minimum": 1, "minLength": 1},
    ),
    "arrays without items": of(
        a={"type": "array"},
        b={"type": ["array", "null"]},
        c={"type": "array", "items": True},
        d={"type": "array", "prefixItems": [_TEXT]},
        e={"type": "array", "prefixItems": [_TEXT], "items": False},
        f={"type": "array", "items": {}},
    ),
    "objects without properties": of(
        a={"type": "object"},
        b={"type": ["object", "null"]},
        c={"type": "object", "additionalProperties": {"type": "integer"}},
        d={"type": "object", "additionalProperties": False},
        e={"type": "object", "patternProperties": {"^(?!x)": _TEXT}},
    ),
    "no type": of(
        a={},
        b=True,
        c={"description": "Whatever."},
        d={"properties": {"x": _TEXT}},
        e={"items": _TEXT},
        f={"minimum": 3},
        g={"enum": ["x", 1, None, True]},
        h={"const": None},
    ),
    "every kind of null": of(
        a={"type": ["string", "null"]},
        b={"type": "null"},
        c={"anyOf": [_TEXT, {"type": "null"}]},
        d={"enum": ["x", None]},
        e={"type": ["string", "null"], "enum": ["x"]},
        f={"const": None},
        g={"oneOf": [{"type": "null"}, {"type": "integer"}]},
    ),
    "alternatives that overlap": of(
        a={"oneOf": [{"type": "integer"}, {"type": "number"}]},
        b={"anyOf": [of(x=_TEXT), of(x={"type": "integer"})]},
        c={"anyOf": [{"anyOf": [_TEXT, {"type": "null"}]}, {"type": "boolean"}]},
        d={"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "^$"}]},
    ),
    "all of": of(
        a={"allOf": [of(x=_TEXT), of(y=_TEXT)]},
        b={"allOf": [{"$ref": "#/$defs/node"}], "description": "A node."},
        c={"allOf": [_TEXT, {"minLength": 1}, {"maxLength": 2}]},
        d={"allOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]},
    )
    | {"$defs": {"node": _NODE}},
    "what strict tools can't say": of(
        a={"type": "string", "not": {"const": "x"}},
        b={**of(x=_TEXT), "if": {"required": ["x"]}, "then": {"required": ["y"]}},
        c={**of(x=_TEXT), "dependentRequired": {"x": ["y"]}},
        d={**of(x=_TEXT), "propertyNames": {"maxLength": 3}},
        e={"type": "array", "items": _TEXT, "contains": {"const": "x"}, "minContains": 2},
        f={"type": "string", "contentEncoding": "base64", "x-own": {"type": "string"}},
        g={"type": "string", "default": "x", "examples": ["y"], "deprecated": True},
    ),
    "a list that refers to itself": {
        **of(first={"$ref": "#/$defs/node"}),
        "$defs": {"node": _NODE},
    },
    "the root refers to itself": of(a=_TEXT, inner={"type": "array", "items": {"$ref": "#"}}),
    "recursion through required properties": {
        **closed(tree={"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}),
        "$defs": {"tree": {"anyOf": [_TREE, {"type": "null"}]}},
    },
    "siblings of a reference": {
        **of(
            a={"$ref": "#/$defs/node", "description": "The first.", "default": {}},
            b={"$ref": "#/$defs/word", "minLength": 2, "title": "Word"},
            c={"$ref": "#/$defs/word"},
        ),
        "$defs": {"node": _NODE, "word": {"type": "string", "maxLength": 9}},
    },
    "references in every spelling": {
        **of(
            a={"$ref": "#/$defs/a~1b"},
            b={"$ref": "#/$defs/a%20b"},
            c={"$ref": "#word"},
            d={"$ref": "#/properties/a"},
            e={"$ref": "#/definitions/old"},
            f={"$ref": "#/$defs/holder/properties/x"},
            g={"$dynamicRef": "#dynamic"},
            h={"$ref": "urn:example:tool#/$defs/a~1b"},
        ),
        "$id": "urn:example:tool",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "a/b": _TEXT,
            "a b": {"type": "integer"},
            "word": {"$anchor": "word", "type": "string", "$comment": "Mind."},
            "holder": of(x=_TEXT),
            "dynamic": {"$dynamicAnchor": "dynamic", "type": "boolean"},
        },
        "definitions": {"old": {"type": "number"}},
    },
    "definitions of equal names": {
        **of(
            a={**of(x={"$ref": "#/properties/a/$defs/n"}), "$defs": {"n": {"type": "integer"}}},
            b={"$ref": "#/$defs/n"},
        ),
        "$defs": {"n": _TEXT},
    },
    "alternatives at the root": {
        **of(a=_TEXT, b=_TEXT),
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "alternatives at the root with properties": {
        **of(kind={"type": "string"}),
        "oneOf": [closed(kind={"const": "a"}, x=_TEXT), closed(kind={"const": "b"}, y=_TEXT)],
    },
    "conditions at the root": {
        **of(a=_TEXT, b=_TEXT),
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "else": {"properties": {"b": {"const": "x"}}},
        "not": {"required": ["c"]},
        "dependentRequired": {"b": ["a"]},
    },
    "a reference at the root": {
        "type": "object",
        "properties": {},
        "$ref": "#/$defs/whole",
        "$defs": {"whole": {**of(a=_TEXT), "required": ["a"]}},
    },
    "all of at the root": {
        **of(a=_TEXT),
        "allOf": [of(b={"type": "integer"}), {"required": ["a"]}, {"$ref": "#/$defs/more"}],
        "$defs": {"more": of(c=_TEXT)},
    },
    "an open root": {**of(a=_TEXT), "additionalProperties": True},
    "many optional properties": of(**{f"p{number}": _TEXT for number in range(30)}),
    "many unions": closed(**{f"p{n}": {"type": ["string", "null"]} for n in range(20)}),
}  # fmt: skip

_OPTIONAL = of(x=_TEXT, y={"type": ["integer", "null"]})

RESTORED: list[tuple[dict[str, Any], Any, Any]] = [
    (of(a=_TEXT), {"a": None}, {}),
    (of(a={"type": ["string", "null"]}), {"a": None}, {"a": None}),
    (of(a={"enum": ["x", None]}), {"a": None}, {"a": None}),
    (of(a={"enum": ["x"]}, b={"const": 1}), {"a": None, "b": None}, {}),
    (of(a={"anyOf": [_TEXT, {"type": "integer"}]}), {"a": None}, {}),
    (of(a=_OPTIONAL), {"a": {"x": None, "y": None}}, {"a": {"y": None}}),
    (of(a=_OPTIONAL), {"a": None}, {}),
    (
        of(a={"type": "array", "items": _OPTIONAL}),
        {"a": [{"x": None, "y": 1}, {"x": "", "y": None}]},
        {"a": [{"y": 1}, {"x": "", "y": None}]},
    ),
    (
        {**of(a={"$ref": "#/$defs/node"}), "$defs": {"node": _NODE}},
        {"a": {"value": None, "next": {"value": 1, "next": None}}},
        {"a": {"next": {"value": 1}}},
    ),
    (
        of(value=_TEXT, children={"type": "array", "items": {"$ref": "#"}}),
        {"value": None, "children": [{"value": "x", "children": None}]},
        {"children": [{"value": "x"}]},
    ),
    (
        of(a={"anyOf": [closed(x={"type": "integer"}), of(x=_TEXT, z=_TEXT)]}),
        {"a": {"x": "text", "z": None}},
        {"a": {"x": "text"}},
    ),
    (
        {
            **of(city={"$ref": "#/$defs/node"}, limit=_TEXT),
            "$defs": {"node": {"anyOf": [of(city={"$ref": "#"}), _TEXT]}},
        },
        {"city": {"city": {"city": None, "limit": None}}, "limit": None},
        {"city": {"city": {}}},
    ),
    (
        of(a={"anyOf": [of(enum={"$ref": "#"}), {"type": "null"}]}),
        {"a": {"enum": {"a": {"enum": None}}}},
        {"a": {"enum": {"a": {}}}},
    ),
    (
        of(**{"$ref": _TEXT, "properties": of(type=_TEXT)}),
        {"$ref": None, "properties": {"type": None}},
        {"properties": {}},
    ),
    (
        of(a={"type": "array", "items": {"anyOf": [of(x=_TEXT), {"type": "null"}]}}),
        {"a": [None, {"x": None}]},
        {"a": [None, {}]},
    ),
]
"""Schemas, what a model sends that must name every property, and what that represents."""
