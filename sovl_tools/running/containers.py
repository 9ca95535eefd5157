"""Arrays and objects whose parts are converted."""

from __future__ import annotations

import collections
import collections.abc
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, count, repeat
from typing import Any

from sovl_tools.annotations.containers import is_unpacked
from sovl_tools.running.given import Unparsed, parsed
from sovl_tools.running.unfit import Build, Convert, UnfitError, called, collected, mismatch, same

ARRAYS: dict[Any, Callable[[list[Any]], Any]] = {
    list: same,
    collections.abc.Sequence: same,
    collections.abc.MutableSequence: same,
    collections.abc.Collection: same,
    collections.abc.Iterable: same,
    set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
    collections.deque: collections.deque,
    tuple: tuple,
}
_ARRAY_LIKE = (list, tuple, set, frozenset, collections.deque)


def array_of(build: Build, annotation: Any) -> Convert:
    """Return the converter of a ``list[T]`` and its like."""
    make = ARRAYS[typing.get_origin(annotation) or annotation]
    item = build(*(typing.get_args(annotation)[:1] or (Any,)))

    def convert(values: Any) -> Any:
        if not isinstance(values, _ARRAY_LIKE):
            raise mismatch(values, "an array")
        items = collected(zip(count(), repeat(item), values, strict=False))
        return called(partial(make, items))

    return convert


def tuple_of(build: Build, annotation: Any) -> Convert:
    """Return the converter of a tuple, of any length or of a fixed one."""
    arguments = typing.get_args(annotation)
    if arguments[1:] == (...,) or annotation in (tuple, typing.Tuple):  # noqa: UP006 - as it is written
        return array_of(build, annotation)
    if any(map(is_unpacked, arguments)):
        return array_of(build, tuple)
    items = [build(each) for each in arguments]

    def convert(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple):
            raise mismatch(values, "an array")
        if len(values) != len(items):
            raise UnfitError([((), f"must have exactly {len(items)} items, not {len(values)}")])
        return tuple(collected(zip(count(), items, values, strict=False)))

    return convert


OBJECTS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: same,
    Mapping: same,
    collections.abc.MutableMapping: same,
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: partial(collections.defaultdict, None),
}


def object_of(build: Build, annotation: Any) -> Convert:
    """Return the converter of a ``dict[K, V]`` and its like."""
    make = OBJECTS[typing.get_origin(annotation) or annotation]
    kind, content = typing.get_args(annotation) or (Any, Any)
    key, item = _key(build(kind)), build(content)

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise mismatch(value, "an object")
        keys = zip(value, repeat(key), value, strict=False)
        every = collected(chain(keys, zip(value, repeat(item), value.values(), strict=False)))
        half = len(value)
        found = called(partial(dict, zip(every[:half], every[half:], strict=True)))
        if len(found) < half:
            raise UnfitError([((), "has keys that stand for the same")])
        return make(found)

    return convert


def _key(convert: Convert) -> Convert:
    """Return what makes a key of a text: as it stands, or as JSON text such as ``12``."""

    def read(text: Any) -> Any:
        try:
            return convert(text)
        except UnfitError as error:
            value = parsed(text) if isinstance(text, str) else text
            with suppress(UnfitError):
                if not isinstance(value, Unparsed):
                    return convert(value)
            raise UnfitError([((), f"the key {error.problems[0][1]}")]) from error

    return read if convert is not same else same
