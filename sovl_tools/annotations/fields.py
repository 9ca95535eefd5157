"""The annotations of a class, as they are written in its body and inherited."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from sovl_tools.annotations.hints import Names, evaluated, names_in, resolved, substituted
from sovl_tools.annotations.kind import InexpressibleError

_Bound: TypeAlias = Mapping[Any, Any]
"""What the type variables of a generic class are."""

_SAID: dict[Any, bool] = {typing.Required: True, typing.NotRequired: False}
QUALIFIERS = (*_SAID, typing.Final)
"""What may stand around the type of a field."""


def meaning_of(annotation: Any, names: Names, bound: _Bound) -> Any:
    """Return an annotation with its text evaluated and its type variables replaced.

    Raises:
        InexpressibleError: a name in it is not defined, or it is no expression.
    """
    return substituted(resolved(annotation, names), bound)


def tolerant_meaning(annotation: Any, names: Names, bound: _Bound) -> Any:
    """Return what ``meaning_of`` does, or Any where there is none."""
    try:
        return meaning_of(annotation, names, bound)
    except Exception:  # noqa: BLE001 - evaluating it runs whatever its author wrote
        return Any


Meaning: TypeAlias = Callable[[Any, Names, _Bound], Any]
"""What an annotation stands for, with those names and type variables."""


def hints_of(annotation: Any, meaning: Meaning) -> dict[str, Any]:
    """Return the annotations of a class and of those that it inherits from.

    Raises:
        InexpressibleError: ``meaning`` raised it of one of them.
    """
    found: dict[str, Any] = {}
    for kind, bound in _lineage(annotation):
        own = _own(kind)
        names = names_in(kind) if own else Names({})
        for name, each in own.items():
            try:
                found[name] = meaning(each, names, bound)
            except InexpressibleError as error:
                raise error.within(f"the field {name!r} of {kind.__name__}") from error
    return found


def _lineage(annotation: Any) -> Iterator[tuple[type, _Bound]]:
    """Yield a class after those that it inherits from, each with what its type variables are."""
    kind, bound = typing.get_origin(annotation) or annotation, _bases_of(annotation)
    hidden = [base for base in reversed(bound) if base not in kind.__mro__]
    for base in (*hidden, *reversed(kind.__mro__)):
        yield base, bound.get(base, {})


def _bases_of(annotation: Any) -> dict[type, _Bound]:
    """Return a class and its bases, also those of a TypedDict, which is made of dict alone."""
    found: dict[type, _Bound] = {}
    pending = [annotation]
    while pending:
        base = pending.pop()
        kind = typing.get_origin(base) or base
        parameters = getattr(kind, "__parameters__", ())
        bound = dict(zip(parameters, typing.get_args(base), strict=False))
        if isinstance(kind, type) and (kind not in found or (bound and not found[kind])):
            found[kind] = bound
            pending += [_base(each, bound) for each in reversed(_bases(kind))]
    return found


def _base(annotation: Any, bound: _Bound) -> Any:
    with suppress(TypeError):  # Generic takes nothing but type variables
        return substituted(annotation, bound)
    return annotation


def _bases(kind: type) -> tuple[Any, ...]:
    """Return the bases of a class as they are written."""
    bases: tuple[Any, ...] = vars(kind).get("__orig_bases__", kind.__bases__)
    return bases


def _own(kind: type) -> dict[str, Any]:
    """Return the annotations in a class's body; a TypedDict has those of its bases as well."""
    found = _annotations(kind)
    if not hasattr(kind, "__required_keys__"):
        return found
    bases = [typing.get_origin(base) or base for base in _bases(kind)]
    inherited = [_annotations(base) for base in bases if isinstance(base, type)]
    return {
        name: each
        for name, each in found.items()
        if all(name not in base or base[name] != each for base in inherited)
    }


def _annotations(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = evaluated(inspect.get_annotations, kind, "format")
    return found


def is_required(kind: Any, name: str, hint: Any) -> bool:
    """Tell whether a TypedDict must have a key; what the annotation says of it comes first."""
    while typing.get_origin(hint) is typing.Annotated:
        hint = hint.__origin__
    return _SAID.get(typing.get_origin(hint), name in kind.__required_keys__)
