"""Large values that schemas reject in many places: what is said of them, and with how much work."""

from __future__ import annotations

import json
import tracemalloc
from types import ModuleType
from typing import Any

from sovl_tools.schema import rust_engine
from sovl_tools.schema.engine import compile_with
from sovl_tools.schema.problem import explanations, place
from tests.tables import check_each

INTEGER = {"type": "integer"}
NULLABLE = {"anyOf": [INTEGER, {"type": "null"}]}
NUMBERS = {"anyOf": [{"type": "array", "items": NULLABLE}, {"type": "null"}]}
JSON_TYPES = {
    "$ref": "#/$defs/any",
    "$defs": {
        "any": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"$ref": "#/$defs/any"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
            ]
        }
    },
}
OVERLAPPING = {
    "anyOf": [
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "array", "items": {"$ref": "#"}, "maxItems": 500},
        INTEGER,
    ]
}
NAMES = {f"name{number}": INTEGER for number in range(300)}
CLOSED = {
    "type": "object",
    "properties": NAMES,
    "additionalProperties": False,
}
KINDS = {
    "anyOf": [
        {"properties": {"kind": {"const": f"k{number}"}, "x": INTEGER}, "required": ["kind", "x"]}
        for number in range(12)
    ]
}


def cases(length: int, *, depth: int) -> list[tuple[Any, str, str]]:
    """Return schemas, JSON strings of about a length that they reject, and what is said of them."""

    def many(item: str) -> str:
        return f"[{','.join([item] * (length // (len(item) + 1)))}]"

    def names(name: str, value: str) -> str:
        count = length // (len(name) + len(value) + 9)
        pairs = (f'"{name}{number}":{value}' for number in range(count))
        return f"{{{','.join(pairs)}}}"

    return [
        (NUMBERS, many('"x"'), '[0] must be an integer or null, not the string "x"'),
        (JSON_TYPES, f"{'[' * depth}{many('1')}{']' * depth}", "[0][0] "),
        (OVERLAPPING, f"{'[' * 8}null{']' * 8}", "must be an array or an integer, not null"),
        (
            {"items": CLOSED},
            many('{"nome1":0,"nome2":0}'),
            "is not a parameter; did you mean 'name1'?",
        ),
        (
            {"items": KINDS},
            many('{"kind":"k5","x":""}'),
            '[0].x must be an integer, not the string ""',
        ),
        ({"pattern": "^a+$"}, f'"{"a" * length}b"', "must match the pattern ^a+$"),
        ({"propertyNames": {"maxLength": 3}}, names("a", "1"), "has a key that is not allowed"),
    ]


def lines(engine: ModuleType, schema: Any, value: Any) -> list[str]:
    problems = compile_with(engine, schema).problems(value)
    found = explanations(problems, lambda _: NAMES)
    return [f"{place(path)} {words}" for path, words in found]


@check_each("schema, text, words", cases(30_000, depth=60))
def test_a_large_value_is_explained_in_little_memory(schema: Any, text: str, words: str) -> None:
    value = json.loads(text)
    tracemalloc.start()
    try:
        found = lines(rust_engine, schema, value)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert words in found[0]
    assert most < 8 * 2**20
