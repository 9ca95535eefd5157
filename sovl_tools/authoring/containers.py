"""Arrays and objects, and what they hold."""

from __future__ import annotations

import collections
import collections.abc
import json
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

from sovl_tools.authoring.form import Builder, Form, InexpressibleError, UnwritableError, Write
from sovl_tools.model.document import JSON
from sovl_tools.model.interface import Annotation


class _Array(NamedTuple):
    """What an array may be written from, and whether its items are all different."""

    given: tuple[type, ...]
    is_set: bool = False


_LIST = _Array((list, tuple))
_SET = _Array((set, frozenset), is_set=True)
ARRAYS: dict[Any, _Array] = {
    list: _LIST,
    collections.abc.Sequence: _LIST,
    collections.abc.MutableSequence: _LIST,
    collections.abc.Collection: _LIST,
    collections.abc.Iterable: _LIST,
    set: _SET,
    collections.abc.MutableSet: _SET,
    frozenset: _SET,
    collections.abc.Set: _SET,
    collections.deque: _Array((collections.deque,)),
    tuple: _Array((tuple,)),
}
OBJECTS = (
    dict, Mapping, collections.abc.MutableMapping, collections.OrderedDict, collections.defaultdict
)  # fmt: skip


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
        if type(value) not in array.given:
            raise UnwritableError
        items = [write_item(item) for item in value]
        return sorted(items, key=json.dumps) if array.is_set else items

    return write


def fixed_array(builder: Builder, annotation: Any) -> Form:
    """Return the form of a tuple, of any length or of a fixed one."""
    arguments = typing.get_args(annotation)
    if arguments[1:] == (...,) or annotation in (tuple, typing.Tuple):  # noqa: UP006 - as it is written
        return array(builder, annotation)
    if any(map(_is_unpacked, arguments)):
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


def _is_unpacked(annotation: Any) -> bool:
    unpacked = getattr(annotation, "__unpacked__", False)
    return unpacked is True or typing.get_origin(annotation) is typing.Unpack


def mapping(builder: Builder, annotation: Any) -> Form:
    """Return the form of a ``dict[K, V]`` and its like; keys that are no text are read from it."""
    arguments = typing.get_args(annotation)
    key, item = map(builder.build, arguments or (Any, Any))
    schema: dict[str, JSON] = {"type": "object"}
    if arguments:
        _check_hashable(arguments[0], "the keys of a dict")
        names = _names(key.schema)
        schema |= {"propertyNames": names} if names else {}
        schema["additionalProperties"] = item.schema

    def write(value: Any) -> JSON:
        if not isinstance(value, Mapping) or getattr(value, "default_factory", None) is not None:
            raise UnwritableError
        return {_key(key.write(name)): item.write(each) for name, each in value.items()}

    return Form(schema, write)


_HASHABLE = (tuple, frozenset, collections.abc.Set)
_MUTABLE = frozenset({*ARRAYS, *OBJECTS}.difference(_HASHABLE))


def _check_hashable(kind: Any, container: str) -> None:
    origin = typing.get_origin(kind) or kind
    if origin in _MUTABLE or (isinstance(origin, type) and origin.__hash__ is None):
        words = Annotation(kind).text
        raise InexpressibleError(f"{words} is not hashable, so that {container} can't hold it")


def _key(written: JSON) -> str:
    return written if isinstance(written, str) else json.dumps(written)


_KEYS: dict[str, dict[str, JSON]] = {
    "integer": {"pattern": "^-?(0|[1-9][0-9]*)$"},
    "number": {"pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"},
    "boolean": {"enum": ["true", "false"]},
    "null": {"enum": ["null"]},
}


def _names(key: dict[str, JSON]) -> dict[str, JSON]:
    """Return the schema of texts that stand for keys of another schema; empty if any may do."""
    if "enum" in key:
        return {"enum": [*dict.fromkeys(map(_key, key["enum"]))]}
    if "string" in key.get("type", ()):
        return {name: value for name, value in key.items() if name != "type"}
    return dict(_KEYS.get(str(key.get("type")), {}))
