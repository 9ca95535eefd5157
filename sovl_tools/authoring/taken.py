"""What a function takes and returns, read from its code where that is plain."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

from sovl_tools.annotations.annotated import EMPTY
from sovl_tools.annotations.hints import evaluated
from sovl_tools.annotations.kind import InexpressibleError

_ODD = frozenset({"__wrapped__", "__signature__"})
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Taken(NamedTuple):
    """One parameter of a function; its annotation is as it is written, or EMPTY."""

    name: str
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    annotation: Any = EMPTY
    default: Any = EMPTY


class Outline(NamedTuple):
    """The parameters of a function, and the annotation of what it returns, or EMPTY."""

    taken: tuple[Taken, ...]
    returns: Any


def outline_of(function: Any, *, is_method: bool) -> Outline:
    """Return what a function takes and returns; of a method, without its instance.

    Raises:
        InexpressibleError: that can't be told, or the method takes no instance.
    """
    is_plain = type(function) is FunctionType and _ODD.isdisjoint(vars(function))
    outline = _of_code(function) if is_plain else _of_signature(function)
    if not is_method:
        return outline
    if not outline.taken or outline.taken[0].kind not in _POSITIONAL:
        raise InexpressibleError("it takes no instance", "let its first parameter be 'self'")
    return outline._replace(taken=outline.taken[1:])


def _of_code(function: FunctionType) -> Outline:
    """Return what the code object says, which is many times faster than ``inspect.signature``."""
    annotations = evaluated(inspect.get_annotations, function, "format")
    defaults = _defaults(function)
    taken = tuple(
        Taken(name, kind, annotations.get(name, EMPTY), defaults.get(name, EMPTY))
        for name, kind in _kinds(function)
    )
    return Outline(taken, annotations.get("return", EMPTY))


def _kinds(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code, kind = function.__code__, inspect.Parameter
    positional, names = code.co_argcount, code.co_varnames
    last = positional + code.co_kwonlyargcount
    for index, name in enumerate(names[:positional]):
        yield name, _POSITIONAL[index >= code.co_posonlyargcount]
    if code.co_flags & inspect.CO_VARARGS:
        yield names[last], kind.VAR_POSITIONAL
        last += 1
    for name in names[positional : positional + code.co_kwonlyargcount]:
        yield name, kind.KEYWORD_ONLY
    if code.co_flags & inspect.CO_VARKEYWORDS:
        yield names[last], kind.VAR_KEYWORD


def _defaults(function: FunctionType) -> dict[str, Any]:
    values, code = function.__defaults__ or (), function.__code__
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(names, values, strict=True)), **(function.__kwdefaults__ or {})}


def _of_signature(function: Any) -> Outline:
    try:
        signature = evaluated(inspect.signature, function, "annotation_format")
    except (ValueError, TypeError) as error:
        raise InexpressibleError(
            "it can't be told what it takes", "wrap it in a function"
        ) from error
    taken = tuple(
        Taken(each.name, each.kind, each.annotation, each.default)
        for each in signature.parameters.values()
    )
    return Outline(taken, signature.return_annotation)
