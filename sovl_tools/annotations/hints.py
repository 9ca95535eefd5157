"""What annotations stand for, also those that are text."""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from types import CodeType, NoneType, SimpleNamespace, UnionType
from typing import Any, ForwardRef, NamedTuple

from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.model.functions import underlying


class Names(NamedTuple):
    """What the names in annotations stand for; ``local`` ones come before the others."""

    others: dict[str, Any]
    local: Mapping[str, Any] | None = None


def names_of(function: Any) -> Names:
    """Return the names that a function's code sees and, after them, those of its class."""
    inner = underlying(function)
    others = getattr(inner, "__globals__", None)
    if not isinstance(others, dict):
        return Names({})
    known = _enclosed(inner)
    owner = _owner(function, inner.__qualname__, others)
    if owner is not None:
        known = {**_type_parameters(owner), **known}
        return Names(_members(owner), ChainMap(known, others, vars(builtins)))
    return Names(others, known or None)


def names_in(kind: type) -> Names:
    """Return the names that a class's module has and, after them, its own."""
    known = _type_parameters(kind)
    return Names(_members(kind), ChainMap(known, _module(kind), vars(builtins)))


def is_alias(annotation: Any) -> bool:
    """Tell whether an annotation is an alias that the statement ``type`` makes."""
    return type(typing.get_origin(annotation) or annotation).__name__ == "TypeAliasType"


def value_of(annotation: Any) -> Any:
    """Return what an alias, a NewType or a type variable stands for.

    Text in it is of the module where it was made. A type variable without bound is Any.

    Raises:
        InexpressibleError: a name in it is not defined, or it is no expression.
    """
    alias = typing.get_origin(annotation) or annotation
    names = Names(_module(alias), _type_parameters(alias) or None)
    with _evaluating():
        stated = _stated(alias)
    value = resolved(stated, names)
    parameters = getattr(alias, "__type_params__", ())
    return substituted(value, dict(zip(parameters, typing.get_args(annotation), strict=False)))


def _stated(alias: Any) -> Any:
    if isinstance(alias, typing.NewType):
        return alias.__supertype__
    if not isinstance(alias, typing.TypeVar):
        return alias.__value__
    if alias.__constraints__:
        return typing.Union[alias.__constraints__]  # noqa: UP007 - there may be any number
    return Any if alias.__bound__ is None else alias.__bound__


def _module(thing: Any) -> dict[str, Any]:
    return vars(sys.modules.get(thing.__module__) or builtins)


def _type_parameters(thing: Any) -> dict[str, Any]:
    return {each.__name__: each for each in getattr(thing, "__type_params__", ())}


def _enclosed(function: Any) -> dict[str, Any]:
    """Return a function's type parameters and what it sees of the functions around it."""
    found = _type_parameters(function)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # it is not bound yet
    return found


def _owner(function: Any, qualified: str, others: Mapping[str, Any]) -> type | None:
    """Return the class that a method is bound to, or that its qualified name leads to."""
    bound = getattr(function, "__self__", None)
    if bound is not None and inspect.ismethod(function):
        return bound if isinstance(bound, type) else type(bound)
    place, *path = qualified.split(".")[:-1] or [""]
    found = others.get(place)
    for part in path:
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _members(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update(vars(base))
        found[base.__name__] = base
    return found


def evaluated(read: Callable[..., Any], owner: Any, option: str) -> Any:
    """Return what ``read`` finds of an owner's annotations, where names may be missing.

    Since Python 3.14 annotations are evaluated when they are read; ``option`` is the keyword that
    asks for a ForwardRef in the place of what can't be evaluated yet.

    Raises:
        InexpressibleError: a name is not defined, and this Python knows no such keyword.
    """
    try:
        return read(owner)
    except NameError as error:
        try:
            library = import_module("annotationlib")
        except ImportError:
            raise _undefined(error) from error
    return read(owner, **{option: library.Format.FORWARDREF})


def _undefined(error: Exception) -> InexpressibleError:
    name = getattr(error, "name", None)
    reason = f"the name {name!r} is not defined" if name else str(error)
    return InexpressibleError(reason, "import or define it", is_open=True)


def substituted(annotation: Any, bound: Mapping[Any, Any]) -> Any:
    """Return an annotation with the type variables of a generic class replaced."""
    if isinstance(annotation, typing.TypeVar):
        return bound.get(annotation, annotation)
    free = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or bound.keys().isdisjoint(free):
        return annotation
    return annotation[tuple(bound.get(each, each) for each in free)]


def resolved(annotation: Any, names: Names) -> Any:
    """Return an annotation with its text evaluated.

    Raises:
        InexpressibleError: a name in it is not defined, or it is no expression.
    """
    with _evaluating():
        if type(annotation) is str:
            annotation = eval(compiled(annotation), names.others, names.local)  # noqa: S307 - code of the function's author
        if not _has_text(annotation):
            return annotation
        holder = SimpleNamespace(__annotations__={"annotation": annotation})
        local = names.local or {}  # another object than the others, or old answers are repeated
        hints = typing.get_type_hints(holder, names.others, local, include_extras=True)
        return hints["annotation"]


@contextmanager
def _evaluating() -> Iterator[None]:
    """Tell what the code of an annotation raises, but for a RecursionError."""
    try:
        yield
    except RecursionError:
        raise
    except (NameError, AttributeError) as error:
        raise _undefined(error) from error
    except (Exception, SystemExit) as error:
        reason = f"it can't be evaluated, {type(error).__name__}: {error}"
        raise InexpressibleError(reason, "correct it") from error


@lru_cache(maxsize=4096)
def compiled(text: str) -> CodeType:
    """Return the code of an annotation that is text."""
    return compile(text.strip(), "<annotation>", "eval")


def _has_text(annotation: Any) -> bool:
    """Tell whether there is text in an annotation that stands for a type."""
    if type(annotation) in (str, ForwardRef):
        return True
    if type(annotation) is type:
        return False
    arguments = getattr(annotation, "__args__", ())
    is_literal = typing.get_origin(annotation) is typing.Literal
    return not is_literal and isinstance(arguments, tuple) and any(map(_has_text, arguments))


def without_none(annotation: Any) -> tuple[Any, bool]:
    """Return ``T`` for ``T | None``, and whether it was that; ``Annotated`` stays around it.

    What an alias, a NewType or a type variable stands for counts, if its names are defined.
    """
    inner = None if type(annotation) is type else _not_none(annotation)
    return (annotation, False) if inner is None else (inner, True)


def _not_none(annotation: Any) -> Any:
    """Return ``T`` for ``T | None``; None for anything else."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner = _not_none(annotation.__origin__)
        return None if inner is None else typing.Annotated[(inner, *annotation.__metadata__)]
    if is_alias(annotation) or isinstance(annotation, typing.NewType | typing.TypeVar):
        with suppress(InexpressibleError):
            return _not_none(value_of(annotation))
    members = [each for each in members_of(annotation) if each is not NoneType]
    if len(members) == len(members_of(annotation)) or not members:
        return None
    return typing.Union[tuple(members)]  # noqa: UP007 - there may be any number


def members_of(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union; the annotation alone if it is none."""
    is_union = typing.get_origin(annotation) in (typing.Union, UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)


def text_of(annotation: Any) -> str:
    """Return an annotation as its author wrote it, or nearly so."""
    text = str(annotation)
    if isinstance(annotation, type) and "[" not in text:
        text = annotation.__name__
    for prefix in ("typing.", "collections.abc."):
        text = text.replace(prefix, "")
    return text.replace("NoneType", "None")
