"""From the JSON of checked arguments to the types that a function's annotations name.

For annotations that are plainly JSON no kind of type is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, TypeAlias

from sovl_tools.annotations.kind import Convert, UnfitError, in_words
from sovl_tools.annotations.plain import is_plain
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
    names can't be found, or one of no kind that is known. The conversion changes nothing that it
    is given, neither the dictionary nor what lies in it; it raises a ConversionError with
    everything that is wrong. ``types`` are annotations that somebody has resolved already.
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
    if not odd:
        return None
    from sovl_tools.annotations.converters import keyword_converter  # noqa: PLC0415 - imports all kinds

    convert = keyword_converter(function, odd, named, rest)
    return None if convert is None else partial(_converted, convert)


def _converted(convert: Convert, keywords: dict[str, Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = convert(keywords)
    except UnfitError as error:
        problems = ((path, in_words(words)) for path, words in error.problems)
        raise ConversionError(problems) from error
    return found


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
