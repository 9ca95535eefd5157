"""From the JSON of checked arguments to the types that a function's annotations name.

Values that have the annotated type already stay unchanged, and so do values whose annotation
isn't a known kind of type. Where an instance is made, its parts must have their own annotated
types: ``tuple[int, int]`` rejects ``["a", 1]``. For plain annotations no kind of type is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import FunctionType, MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union

from sovl_tools.annotations.hints import (
    HIDDEN_CLASS,
    names_of,
    resolved_or_any,
    underlying,
    unpacked_keywords,
)
from sovl_tools.annotations.kind import (
    DICTS,
    EMPTY,
    LISTS,
    ConversionError,
    Convert,
    identity,
    optional,
)

Conversion: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""From a function's keywords to keywords of the annotated types, a new dictionary."""

_NO_TYPES: Mapping[str, Any] = MappingProxyType({})


def converter_of(
    function: Callable[..., Any], names: Iterable[str], types: Mapping[str, Any] = _NO_TYPES
) -> Conversion | None:
    """Return the converter of a function's keywords; None if none of those names needs it.

    A parameter stays unchanged if it has no annotation, a plain one, one whose names can't be
    found, or one of an unknown kind. The conversion never changes its input,
    neither the dictionary nor its values; it raises a ConversionError with everything that
    is wrong. ``types`` are annotations that someone has resolved already.
    """
    # Of a partial, a method or a decorated function the innermost has the annotations.
    if type(function) is not FunctionType or vars(function):
        function = underlying(function)
    known = {**_annotations(function), **types}
    if all(map(is_plain, known.values())):
        return None
    named, parameters = frozenset(names), _parameters(function)
    rest = next((each.name for each in parameters.values() if each.kind is each.VAR_KEYWORD), None)
    odd = {
        name: annotation
        for name, annotation in known.items()
        if (name in named or name == rest) and not is_plain(annotation)
    }
    converters = _converters(function, parameters, odd) if odd else {}
    others = converters.pop(rest, None) if rest is not None and rest not in named else None
    if not converters and others is None:
        return None

    def convert_keywords(keywords: dict[str, Any]) -> dict[str, Any]:
        made, problems = {**keywords}, []
        for name, value in keywords.items():
            convert = converters.get(name) or (None if name in named else others)
            if convert is not None:
                try:
                    made[name] = convert(value)
                except ConversionError as error:
                    problems += error.below(name)
                except RecursionError:  # a class that refers to itself can take any depth
                    problems.append(((name,), "is nested too deep"))
        if problems:
            raise ConversionError(problems)
        return made

    return convert_keywords


def _annotations(function: Any) -> dict[str, Any]:
    # Since Python 3.14 reading annotations evaluates them, so names can be missing.
    with suppress(AttributeError, NameError):
        found = {} if isinstance(function, type) else function.__annotations__
        return found if isinstance(found, dict) else {}
    return {}


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError, NameError):
        return {}


def _converters(
    function: Any, parameters: Mapping[str, inspect.Parameter], annotations: Mapping[str, Any]
) -> dict[str, Convert]:
    """Return the converters of parameters, without the trivial ones."""
    names = names_of(function)
    hints = {name: resolved_or_any(each, names) for name, each in annotations.items()}
    for each in [*hints.values()]:
        hints |= {name: hint for name, (hint, _) in unpacked_keywords(each).items()}
    odd = {name: hint for name, hint in hints.items() if not is_plain(hint)}
    if not odd:
        return {}
    from sovl_tools.annotations.kinds import Converters  # noqa: PLC0415 - all kinds of types

    build, found = Converters().build, {}
    for name, hint in odd.items():
        convert = build(hint)
        if convert is not identity:
            is_none = getattr(parameters.get(name), "default", EMPTY) is None
            found[name] = optional(convert) if is_none else convert
    return found


def is_plain(annotation: Any) -> bool:
    """Return whether an annotation certainly admits values as JSON has them, and no others."""
    kind = type(annotation)
    if id(annotation) in _PLAIN:
        return True
    if kind is UnionType:
        return _all_plain(annotation.__args__)
    if kind is _ANNOTATED:  # plain, if all that it adds are words
        is_described = {str}.issuperset(map(type, annotation.__metadata__))
        return is_described and is_plain(annotation.__origin__)
    are_plain = _GENERICS.get(id(getattr(annotation, "__origin__", None)))
    return are_plain is not None and are_plain(getattr(annotation, "__args__", ()))


def _all_plain(arguments: tuple[Any, ...]) -> bool:
    return all(map(is_plain, arguments))


def _plain_keys(arguments: tuple[Any, ...]) -> bool:
    """Return whether keys stay strings; keys of other types are made from strings."""
    return _all_plain(arguments) and (not arguments or arguments[0] in (str, Any))


_ANNOTATED = type(Annotated[str, ""])
_SCALARS = frozenset({str, int, bool, NoneType})
# By identity, because the classes that are searched for here can have any idea of being equal.
_GENERICS: dict[int, Callable[[tuple[Any, ...]], bool]] = {
    **{id(origin): _all_plain for origin in (*LISTS, Union)},
    **{id(origin): _plain_keys for origin in DICTS},
    id(Literal): lambda arguments: _SCALARS.issuperset(map(type, arguments)),
}
# if only a class's name is known, the values that a call rejects are unknown
_PLAIN = frozenset(map(id, (*_SCALARS, float, None, Any, object, HIDDEN_CLASS, *LISTS, *DICTS)))
