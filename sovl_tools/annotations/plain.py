"""Annotations of which nothing has to be made, because JSON's values are theirs."""

from __future__ import annotations

import collections.abc
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union


def is_plain(annotation: Any) -> bool:
    """Tell whether an annotation certainly admits values as JSON has them, and no others."""
    kind = type(annotation)
    if kind is str:
        return _is_plain_text(annotation)
    if id(annotation) in _PLAIN:
        return True
    if kind is UnionType:
        return _all_plain(annotation.__args__)
    if kind is _ANNOTATED:
        return _described(annotation)
    are_plain = _GENERICS.get(id(getattr(annotation, "__origin__", None)))
    return are_plain is not None and are_plain(getattr(annotation, "__args__", ()))


def _described(annotation: Any) -> bool:
    """Tell whether an ``Annotated`` is plain: all that it adds to a plain type are words."""
    return {str}.issuperset(map(type, annotation.__metadata__)) and is_plain(annotation.__origin__)


def _all_plain(arguments: tuple[Any, ...]) -> bool:
    return all(map(is_plain, arguments))


def _plain_keys(arguments: tuple[Any, ...]) -> bool:
    """Tell whether keys stay texts; those of other types are made from texts."""
    return _all_plain(arguments) and (not arguments or arguments[0] in _TEXT_KEYS)


def _json_values(arguments: tuple[Any, ...]) -> bool:
    return _JSON_SCALARS.issuperset(map(type, arguments))


_ANNOTATED = type(Annotated[str, ""])
_JSON_SCALARS = frozenset({str, int, bool, NoneType})
_TEXT_KEYS = (str, Any, "str")
_ARRAYS = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_OBJECTS = (dict, Mapping, collections.abc.MutableMapping)
_GENERICS: dict[int, Callable[[tuple[Any, ...]], bool]] = {
    **{id(origin): _all_plain for origin in (*_ARRAYS, Union)},
    **{id(origin): _plain_keys for origin in _OBJECTS},
    id(Literal): _json_values,
}
# By identity, because the classes that are looked for here may have any idea of being equal.
_PLAIN = frozenset(map(id, (*_JSON_SCALARS, float, None, Any, object, *_ARRAYS, *_OBJECTS)))


@lru_cache(maxsize=1024)
def _is_plain_text(text: str) -> bool:
    return _PLAIN_TEXT.fullmatch(text) is not None


# Only words that nobody gives to a class of their own; what a name stands for is not looked up.
_PLAIN_TEXT = re.compile(
    r"""(?: (?:typing\.)?+ (?:
            (?: str | int | float | bool | None | object | Any | Optional | Union | [Ll]ist )\b
          | [Dd]ict (?: \[ \s*+ str \s*+ , | \b(?!\[) )
          | Literal \[ (?: "[^"\\]*+" | '[^'\\]*+' | -?\d++ | True | False | None | [,\s] )++ \]
        )
      | [][|,\s] )++""",
    re.VERBOSE,
)
