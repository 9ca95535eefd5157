"""From the JSON of checked arguments to the types that a function's annotations name.

Annotations that are plainly JSON are recognised here, cheaply; all others, and the libraries that
they need, are the business of ``converters``, which is entered only for them.
"""

from __future__ import annotations

import collections.abc
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import CodeType, FunctionType, MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union

from sovl_tools.model.document import Path, dotted
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.functions import underlying

Conversion: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""From a function's keywords to keywords of the annotated types, a new dictionary."""

_NO_TYPES: Mapping[str, Any] = MappingProxyType({})


class ConversionError(SovlToolsError, ValueError):
    """Arguments that are not of the annotated types; ``problems`` tells all places and reasons."""

    def __init__(self, problems: Iterable[tuple[Path, str]]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(f"{dotted(path)}: {message}" for path, message in self.problems)


def converter_of(
    function: Callable[..., Any], names: Iterable[str], types: Mapping[str, Any] = _NO_TYPES
) -> Conversion | None:
    """Return what converts a function's keywords; None if none of those names needs it.

    A parameter stays as it is if it has no annotation, one that is plainly JSON, one whose
    names can't be found, or one of a class that ``converters`` does not know. The conversion
    changes nothing that it is given, neither the dictionary nor what lies in it; it raises a
    ConversionError with everything that is wrong. ``types`` are annotations that somebody has
    resolved already.
    """
    if type(function) is not FunctionType or vars(function):
        function = underlying(function)
    annotations = {**_annotations(function), **types} if types else _annotations(function)
    named = frozenset(names)
    rest = _rest(function)
    odd = {
        name: annotation
        for name, annotation in annotations.items()
        if (name in named or name == rest) and not is_plain(annotation)
    }
    return _made(function, odd, named, rest) if odd else None


def _rest(function: Any) -> str | None:
    """Return the name of the parameter that takes any keyword, if there is one."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or not code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[count + bool(code.co_flags & inspect.CO_VARARGS)]


def _annotations(function: Any) -> Mapping[str, Any]:
    if isinstance(function, type):
        return {}
    try:
        found = function.__annotations__
    except (AttributeError, NameError):
        return {}
    return found if isinstance(found, dict) else {}


def _made(
    function: Any, annotations: Mapping[str, Any], named: frozenset[str], rest: str | None
) -> Conversion | None:
    from sovl_tools.annotations.hints import names_of  # noqa: PLC0415 - needed only here
    from sovl_tools.running.converters import Builder, converted  # noqa: PLC0415 - imports decimal
    from sovl_tools.running.hints import resolved  # noqa: PLC0415 - likewise

    builder, names = Builder(), names_of(function)
    hints = {name: resolved(each, names) for name, each in annotations.items()}
    found = {
        name: builder.parameter(hint, _default(function, name))
        for name, hint in hints.items()
        if not is_plain(hint)
    }
    others = found.pop(rest, None) if rest is not None and rest not in named else None
    converters = tuple((name, each) for name, each in found.items() if each is not None)

    def conversion(keywords: dict[str, Any]) -> dict[str, Any]:
        every = converters
        if others is not None:
            every += tuple((name, others) for name in keywords if name not in named)
        found, problems = converted(keywords, every)
        if problems:
            raise ConversionError(problems)
        return found

    return conversion if converters or others else None


def _default(function: Any, name: str) -> Any:
    try:
        return inspect.signature(function).parameters[name].default
    except (ValueError, TypeError, KeyError):
        return inspect.Parameter.empty


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
