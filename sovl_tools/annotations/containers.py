"""Arrays and objects, and what they hold."""

from __future__ import annotations

import collections
import collections.abc
import json
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

from sovl_tools.annotations.form import (
    Builder,
    Form,
    InexpressibleError,
    UnwritableError,
    Write,
    types_of,
)
from sovl_tools.model.document import JSON
from sovl_tools.model.interface import Annotation


class _Array(NamedTuple):
    """What an array becomes, and whether its items are all different."""

    made: type[Any]
    is_set: bool = False


_LIST = _Array(list)
_SET = _Array(set, is_set=True)
_FROZEN = _Array(frozenset, is_set=True)
ARRAYS: dict[Any, _Array] = {
    list: _LIST,
    collections.abc.Sequence: _LIST,
    collections.abc.MutableSequence: _LIST,
    collections.abc.Collection: _LIST,
    collections.abc.Iterable: _LIST,
    set: _SET,
    collections.abc.MutableSet: _SET,
    frozenset: _FROZEN,
    collections.abc.Set: _FROZEN,
    collections.deque: _Array(collections.deque),
    tuple: _Array(tuple),
}
OBJECTS: dict[Any, type[Any]] = {
    dict: dict,
    Mapping: dict,
    collections.abc.MutableMapping: dict,
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: collections.defaultdict,
}


def array(builder: Builder, annotation: Any) -> Form:
    """Return the form of a ``list[T]`` and its like."""
    found = ARRAYS[typing.get_origin(annotation) or annotation]
    arguments = typing.get_args(annotation)
    item = builder.build(arguments[0] if arguments else Any)
    schema: dict[str, JSON] = {"type": "array"}
    if arguments:
        schema["items"] = item.schema
    if found.is_set:
        _check_hashable(arguments[0] if arguments else Any, "a set")
        schema["uniqueItems"] = True
    return Form(schema, _array_writer(found, item.write))


def _array_writer(array: _Array, write_item: Write) -> Write:
    def write(value: Any) -> JSON:
        if type(value) is not array.made or getattr(value, "maxlen", None) is not None:
            raise UnwritableError
        items = [write_item(item) for item in value]
        return sorted(items, key=json.dumps) if array.is_set else items

    return write


def fixed_array(builder: Builder, annotation: Any) -> Form:
    """Return the form of a tuple, of any length or of a fixed one."""
    arguments = typing.get_args(annotation)
    if arguments[1:] == (...,) or annotation in (tuple, typing.Tuple):  # noqa: UP006 - as it is written
        return array(builder, annotation)
    if any(map(is_unpacked, arguments)):
        reason = f"{Annotation(annotation).text} has parts of any length"
        raise InexpressibleError(reason, "write tuple[X, ...], or one type for each item")
    items = [builder.build(each) for each in arguments]
    schema: dict[str, JSON] = {"type": "array", "maxItems": len(items)}
    if items:
        places: dict[str, JSON] = {"prefixItems": [item.schema for item in items]}
        schema = {"type": "array", **places, "minItems": len(items), "maxItems": len(items)}

    def write(value: Any) -> JSON:
        if type(value) is not tuple or len(value) != len(items):
            raise UnwritableError
        return [item.write(part) for item, part in zip(items, value, strict=True)]

    return Form(schema, write)


def is_unpacked(annotation: Any) -> bool:
    """Tell whether a part of a tuple stands for any number of parts."""
    unpacked = getattr(annotation, "__unpacked__", False)
    return unpacked is True or typing.get_origin(annotation) is typing.Unpack


def mapping(builder: Builder, annotation: Any) -> Form:
    """Return the form of a ``dict[K, V]`` and its like; keys that are no text are read from it."""
    made = OBJECTS[typing.get_origin(annotation) or annotation]
    arguments = typing.get_args(annotation)
    key, item = map(builder.build, arguments or (Any, Any))
    schema: dict[str, JSON] = {"type": "object"}
    if arguments:
        _check_hashable(arguments[0], "the keys of a dict")
        names = _names(key.schema)
        schema |= {"propertyNames": names} if names else {}
        schema["additionalProperties"] = item.schema

    def write(value: Any) -> JSON:
        if type(value) is not made or getattr(value, "default_factory", None) is not None:
            raise UnwritableError
        return {_key(key, name): item.write(each) for name, each in value.items()}

    return Form(schema, write)


def _key(form: Form, name: Any) -> str:
    """Write a key; the text of another JSON value must not be one that stays a text."""
    written = form.write(name)
    if isinstance(written, str):
        return written
    if "string" in types_of(form.schema):
        raise UnwritableError
    return json.dumps(written)


_HASHABLE = (tuple, frozenset, collections.abc.Set)
_MUTABLE = frozenset({*ARRAYS, *OBJECTS}.difference(_HASHABLE))


def _check_hashable(kind: Any, container: str) -> None:
    origin = typing.get_origin(kind) or kind
    if origin in _MUTABLE or (isinstance(origin, type) and origin.__hash__ is None):
        words = Annotation(kind).text
        raise InexpressibleError(f"{words} is not hashable, so that {container} can't hold it")


_KEYS: dict[str, dict[str, JSON]] = {
    "integer": {"pattern": "^-?(0|[1-9][0-9]*)$"},
    "number": {"pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"},
    "boolean": {"enum": ["true", "false"]},
    "null": {"enum": ["null"]},
}


def _names(key: dict[str, JSON]) -> dict[str, JSON]:
    """Return the schema of texts that stand for keys of another schema; empty if any may do."""
    if "enum" in key:
        texts = (each if isinstance(each, str) else json.dumps(each) for each in key["enum"])
        return {"enum": [*dict.fromkeys(texts)]}
    if "string" in key.get("type", ()):
        return {name: value for name, value in key.items() if name != "type"}
    return dict(_KEYS.get(str(key.get("type")), {}))
