"""Arrays and objects, and their items.

Keys of objects are text. Keys of another type are made from the text itself, a date of
``2026-01-31``, or else of the JSON that it is, an integer of ``12``.
"""

from __future__ import annotations

import collections
import collections.abc
import json
import typing
from contextlib import suppress
from itertools import chain, count
from typing import Any

from sovl_tools.annotations.hints import HIDDEN, HIDDEN_CLASS, form_of, origin_of, text_of
from sovl_tools.annotations.kind import (
    DICTS,
    LISTS,
    MAPPINGS,
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    call_type,
    convert_all,
    identity,
    mismatch,
)
from sovl_tools.model.document import parse_json

_ARRAYS: dict[Any, type[Any]] = {
    **dict.fromkeys(LISTS, list),
    set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
    collections.deque: collections.deque,
    tuple: tuple,
}
_OBJECTS: dict[Any, type[Any]] = {
    **dict.fromkeys(DICTS, dict),
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: collections.defaultdict,
}
_SETS = (set, frozenset)
_HIDDEN = frozenset({id(HIDDEN), id(HIDDEN_CLASS)})


def _parts(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the container that an annotation names, and the types of its items."""
    return origin_of(annotation), typing.get_args(annotation)


_ARRAY_LIKE = (list, tuple, set, frozenset, collections.deque)


class _Array(Kind):
    def describe(self, builder: Builder, annotation: Any) -> Schema:
        origin, arguments = _parts(annotation)
        made = _ARRAYS[origin]
        item = builder.build(arguments[0] if arguments else Any)
        schema: Schema = {"type": "array"}
        if arguments:
            schema["items"] = item
        if made in _SETS:
            kind = arguments[0] if arguments else Any
            _check_hashable(kind, "a set")
            # The items of a set must be hashable: scalars, unless their classes are unknown here.
            if not item and not _HIDDEN.intersection(map(id, (kind, *typing.get_args(kind)))):
                schema["items"] = {"type": [*_SCALARS]}
            schema["uniqueItems"] = True
        return schema

    def convert(self, build: Build, annotation: Any) -> Convert:
        origin, arguments = _parts(annotation)
        made, item = _ARRAYS[origin], build(arguments[0] if arguments else Any)

        def convert(values: Any) -> Any:
            if not isinstance(values, _ARRAY_LIKE):
                raise mismatch(values, "an array")
            items = convert_all((index, item, value) for index, value in enumerate(values))
            return items if made is list else call_type(made, items)

        return convert


def _has_any_length(annotation: Any) -> bool:
    return typing.get_args(annotation)[1:] == (...,) or annotation in (tuple, typing.Tuple)  # noqa: UP006 - as users write it


class _Tuple(_Array):
    def describe(self, builder: Builder, annotation: Any) -> Schema:
        if _has_any_length(annotation):
            return super().describe(builder, annotation)
        arguments = typing.get_args(annotation)
        if any(map(_is_unpacked, arguments)):
            reason = f"{text_of(annotation)} has parts of any length"
            raise InexpressibleError(reason, "write tuple[X, ...], or one type for each item")
        items = [builder.build(each) for each in arguments]
        if not items:
            return {"type": "array", "maxItems": 0}
        length = len(items)
        return {"type": "array", "prefixItems": items, "minItems": length, "maxItems": length}

    def convert(self, build: Build, annotation: Any) -> Convert:
        arguments = typing.get_args(annotation)
        if _has_any_length(annotation):
            return super().convert(build, annotation)
        if any(map(_is_unpacked, arguments)):
            return super().convert(build, tuple)
        items = [build(each) for each in arguments]

        def convert(values: Any) -> tuple[Any, ...]:
            if not isinstance(values, list | tuple):
                raise mismatch(values, "an array")
            if len(values) != len(items):
                raise ConversionError(
                    [((), f"must have exactly {len(items)} items, not {len(values)}")]
                )
            return tuple(convert_all(zip(count(), items, values, strict=False)))

        return convert


def _is_unpacked(annotation: Any) -> bool:
    """Return whether a part of a tuple repeats any number of times."""
    unpacked = getattr(annotation, "__unpacked__", False)
    return unpacked is True or form_of(annotation) == "Unpack"


class _Object(Kind):
    def describe(self, builder: Builder, annotation: Any) -> Schema:
        arguments = typing.get_args(annotation)
        key, item = map(builder.build, arguments or (Any, Any))
        schema: Schema = {"type": "object"}
        if arguments:
            _check_hashable(arguments[0], "the keys of a dict")
            names = _names(key)
            schema |= {"propertyNames": names} if names else {}
            schema["additionalProperties"] = item
        return schema

    def convert(self, build: Build, annotation: Any) -> Convert:
        origin, arguments = _parts(annotation)
        made = _OBJECTS[origin]
        kind, content = arguments or (Any, Any)
        key, item = _key_reader(build(kind)), build(content)

        def convert(value: Any) -> Any:
            if not isinstance(value, MAPPINGS):
                raise mismatch(value, "an object")
            keys = ((name, key, name) for name in value)
            items = ((name, item, each) for name, each in value.items())
            every = convert_all(chain(keys, items))
            half = len(value)
            found = call_type(dict, zip(every[:half], every[half:], strict=True))
            if len(found) < half:
                raise ConversionError([((), "has keys that represent the same")])
            if made is dict:
                return found
            return made(None, found) if made is collections.defaultdict else made(found)

        return convert


def _key_reader(convert: Convert) -> Convert:
    """Return a converter of text into keys: from the text, or the JSON in it, such as ``12``."""

    def read(text: Any) -> Any:
        try:
            return convert(text)
        except ConversionError as error:
            refusal = error
        with suppress(ConversionError, ValueError):
            return convert(parse_json(text) if isinstance(text, str) else text)
        raise ConversionError([((), lambda: f"the key {refusal.problems[0][1]}")]) from refusal

    return read if convert is not identity else identity


_SCALARS = ("string", "number", "boolean", "null")
_HASHABLE = (tuple, frozenset, collections.abc.Set)
_MUTABLE = frozenset({*_ARRAYS, *_OBJECTS}.difference(_HASHABLE))


def _check_hashable(kind: Any, container: str) -> None:
    origin, arguments = _parts(kind)
    if origin in _MUTABLE or (isinstance(origin, type) and origin.__hash__ is None):
        words = text_of(kind)
        raise InexpressibleError(f"{words} is not hashable, so that {container} can't hold it")
    if origin is tuple:
        for each in arguments:
            _check_hashable(each, container)


# Python rejects to read integers of more than 4,300 digits; a hundred are enough for a key.
_WHOLE = "[1-9][0-9]{0,99}"
_KEYS: dict[str, Schema] = {
    "integer": {"pattern": f"^(0|-?{_WHOLE})$"},
    "number": {"pattern": rf"^-?(0|{_WHOLE})(\.[0-9]+)?([eE][+-]?[0-9]{{1,2}})?$"},
    "boolean": {"enum": ["true", "false"]},
    "null": {"enum": ["null"]},
}
_OF_TEXT = frozenset({"format", "pattern", "minLength", "maxLength", "anyOf", "allOf"})


def _names(key: Schema) -> Schema:
    """Return the schema of the strings that become keys of a type, given that type's schema.

    It is empty if it admits any string; the conversion rejects the wrong ones.
    """
    if "enum" in key:
        texts = (each if isinstance(each, str) else json.dumps(each) for each in key["enum"])
        return {"enum": [*dict.fromkeys(texts)]}
    if "string" in key.get("type", ()):
        return {name: value for name, value in key.items() if name in _OF_TEXT}
    return dict(_KEYS.get(str(key.get("type")), {}))


CONTAINERS: dict[Any, Kind] = {
    **dict.fromkeys(_ARRAYS, _Array()),
    **dict.fromkeys(_OBJECTS, _Object()),
    tuple: _Tuple(),
}
