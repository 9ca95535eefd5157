"""What a model that is held to a strict schema sends for arguments of the manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any, TypeAlias

from jsonschema_rs import Draft202012Validator

from tests.formats.walking import rebuilt, resolved
from tests.schema.validators import validator

Schema: TypeAlias = Any
_NAME = "urn:root"
_ANCHORS = ("$anchor", "$dynamicAnchor")
_MOST = 12
"""How many forms of one value are tried, as alternatives multiply."""


def strict_forms(root: Schema, value: Any) -> list[Any]:
    """Return forms of a value in which no property is omitted: null represents each.

    There is one for each way of choosing among alternatives that the value matches; none if objects
    have properties that are not listed.
    """
    return _forms([root], value, root)


def _forms(schemas: list[Schema], value: Any, root: Schema) -> list[Any]:
    ways = _ways(schemas, value, root)
    return list(islice((form for parts in ways for form in _filled(parts, value, root)), _MOST))


def _filled(parts: list[Schema], value: Any, root: Schema) -> Iterator[Any]:
    if isinstance(value, dict):
        listed = {
            name: 0
            for part in parts
            for name, schema in part.get("properties", {}).items()
            if schema is not False
        }
        if value.keys() <= listed.keys():
            choices = [_choices(name, parts, value, root) for name in listed]
            yield from (dict(zip(listed, each, strict=True)) for each in product(*choices))
    elif isinstance(value, list):
        schemas = [part["items"] for part in parts if "items" in part]
        yield from map(list, product(*(_forms(schemas, each, root) for each in value)))
    else:
        yield value


def _choices(name: str, parts: list[Schema], value: dict[str, Any], root: Schema) -> list[Any]:
    if name not in value:
        return [None]
    schemas = [part["properties"][name] for part in parts if name in part.get("properties", {})]
    return _forms(schemas, value[name], root)


def _ways(schemas: Iterable[Schema], value: Any, root: Schema) -> Iterator[list[Schema]]:
    """Yield what the schemas come to, for each way of choosing among alternatives."""
    each_way = [list(_expanded(schema, value, root)) for schema in schemas]
    for chosen in product(*each_way):
        yield [part for parts in chosen for part in parts]


def _expanded(schema: Schema, value: Any, root: Schema) -> Iterator[list[Schema]]:
    if not isinstance(schema, dict):
        yield []
        return
    further = [*schema.get("allOf", ())]
    references = [schema[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in schema]
    further += [resolved(root, each) for each in references]
    unions = [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]
    fitting = [[each for each in union if fits(each, value, root)] for union in unions]
    for chosen in product(*fitting):
        for parts in _ways([*further, *chosen], value, root):
            yield [schema, *parts]


def fits(schema: Schema, value: Any, root: Schema) -> bool:
    """Return whether a value matches a schema that is a part of another."""
    return validator_within(json.dumps(schema), json.dumps(root)).is_valid(value)


@lru_cache(maxsize=512)
def validator_within(text: str, root: str) -> Draft202012Validator:
    """Return the validator of a schema that is a part of another, both given as JSON."""
    whole: dict[str, Any] = {**json.loads(root), "$id": _NAME}
    schema = rebuilt(json.loads(text), _rebased)
    return validator({"allOf": [schema], "$defs": {"whole": whole}})


def _rebased(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a subschema whose references begin at the document of that name."""
    moved: dict[str, Any] = {
        key: _NAME + schema[key] for key in ("$ref", "$dynamicRef") if key in schema
    }
    return {key: value for key, value in {**schema, **moved}.items() if key not in _ANCHORS}


def comes_to(restored: Any, wanted: Any) -> bool:
    """Return whether a value is the one that is wanted, but for nulls where that has nothing."""
    if isinstance(restored, dict) and isinstance(wanted, dict):
        added = [restored[name] for name in restored.keys() - wanted.keys()]
        common = (comes_to(restored.get(name, ...), each) for name, each in wanted.items())
        return all(each is None for each in added) and all(common)
    if isinstance(restored, list) and isinstance(wanted, list):
        pairs = zip(restored, wanted, strict=False)
        return len(restored) == len(wanted) and all(comes_to(*pair) for pair in pairs)
    return isinstance(restored, bool) == isinstance(wanted, bool) and bool(restored == wanted)
