"""What an annotation says about JSON, from the object or from its text."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import types
import typing
from abc import ABCMeta
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, Union

from sovl_tools.annotations.hints import value_of
from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON_TYPES, kind
from sovl_tools.model.interface import Annotation

Lookup: TypeAlias = Callable[[str], Any]
"""Returns what a name stands for, HIDDEN if that can't be told."""

HIDDEN = typing.NewType("HIDDEN", object)
"""Stands, alone or within another type, for a type that can't be told."""

_UNKNOWN = Annotation(HIDDEN, None, None, None, HIDDEN)
_ARRAY, _OBJECT = frozenset({"array"}), frozenset({"object"})
_SCALARS: dict[object, frozenset[str]] = {
    str: frozenset({"string"}),
    int: frozenset({"integer"}),
    float: frozenset({"number", "integer"}),
    bool: frozenset({"boolean"}),
    None: frozenset({"null"}),
    type(None): frozenset({"null"}),
}
_CONTAINERS: dict[object, frozenset[str]] = {
    list: _ARRAY,
    dict: _OBJECT,
    collections.abc.Sequence: _ARRAY,
    collections.abc.Mapping: _OBJECT,
}
_BY_OBJECT: dict[object, Annotation] = {
    each: Annotation(each, admitted)
    for each, admitted in {**_SCALARS, list: _ARRAY, dict: _OBJECT}.items()
}
_BY_OBJECT[ToolContext] = Annotation(ToolContext, is_context=True)
_BY_OBJECT[HIDDEN] = _UNKNOWN


def from_object(annotation: object, lookup: Lookup | None = None) -> Annotation:
    """Return what an annotation says; ``lookup`` knows the names in the text within it."""
    if isinstance(annotation, str):
        return from_text(annotation, lookup or conventional)
    if type(annotation) is types.GenericAlias and type(annotation.__origin__) is type:
        return Annotation(annotation, _CONTAINERS.get(annotation.__origin__))
    try:
        known = _BY_OBJECT.get(annotation)
    except TypeError:
        known = None
    if known is None:
        return _described(annotation, lookup or conventional)
    if known.source is annotation:
        return known
    return Annotation(annotation, known.types, known.optional, known.is_context)


def from_text(text: str, lookup: Lookup) -> Annotation:
    """Return what the text of an annotation says, as far as its names are known."""
    try:
        node = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _UNKNOWN._replace(source=text)
    return from_node(node, lookup)


def from_node(node: ast.expr, lookup: Lookup) -> Annotation:
    """Return what an annotation in the source says, as far as its names are known."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return from_text(node.value, lookup)
    value = evaluated(node, lookup)
    return from_object(value, lookup)._replace(source=ast.unparse(node), value=value)


def _described(annotation: object, lookup: Lookup) -> Annotation:
    if isinstance(annotation, typing.ForwardRef):
        return from_text(annotation.__forward_arg__, lookup)
    origin = getattr(annotation, "__origin__", annotation)
    if origin is Union or type(annotation) is types.UnionType:
        return _union(annotation, lookup)
    if origin is typing.Literal:
        return Annotation(annotation, _types_of_values(typing.get_args(annotation)))
    if hasattr(annotation, "__metadata__"):
        return from_object(typing.get_args(annotation)[0], lookup)._replace(source=annotation)
    if type(origin).__name__ in _STANDING:
        return _of_alias(annotation)._replace(source=annotation)
    is_plain = type(origin) in (type, ABCMeta)  # other metaclasses may refuse to be hashed
    return Annotation(annotation, _CONTAINERS.get(origin) if is_plain else None)


_STANDING = frozenset({"TypeAliasType", "NewType", "TypeVar"})
"""Classes of what stands for another annotation."""


def _of_alias(annotation: object) -> Annotation:
    try:
        return from_object(value_of(annotation))
    except (InexpressibleError, RecursionError):
        return _UNKNOWN


def _union(annotation: object, lookup: Lookup) -> Annotation:
    members = typing.get_args(annotation)
    parts = [from_object(each, lookup) for each in members]
    admitted = [part.types for part in parts if part.types is not None]
    found = Annotation(
        annotation,
        frozenset().union(*admitted) if len(admitted) == len(parts) else None,
        type(None) in members or _any_of(part.optional for part in parts),
        _any_of(part.is_context for part in parts),
    )
    if all(map(is_built_in, members)):
        _BY_OBJECT[annotation] = found  # a few of them are used everywhere
    return found


def is_built_in(annotation: Any) -> bool:
    """Tell whether an annotation is made of built-in types alone, so that it may be kept."""
    kind = type(annotation)
    if kind is type:
        return annotation in _BY_OBJECT
    if kind is types.GenericAlias:
        return all(map(is_built_in, (annotation.__origin__, *annotation.__args__)))
    origin = typing.get_origin(annotation)
    if origin is Union or origin is types.UnionType:
        return all(map(is_built_in, typing.get_args(annotation)))
    return origin is typing.Literal and _types_of_values(typing.get_args(annotation)) is not None


def _any_of(answers: typing.Iterable[bool | None]) -> bool | None:
    """Return whether any answer is yes; None if one of them can't be told."""
    known = [*answers]
    return True if True in known else None if None in known else False


def _types_of_values(values: Sequence[object]) -> frozenset[str] | None:
    """Return the JSON types of literal values; None if one of them is no JSON, as an Enum's."""
    known = [kind(value) for value in values if type(value) in JSON_TYPES]
    return frozenset(known) if len(known) == len(values) else None


_CONVENTIONAL: dict[str, Any] = {
    **{name: each for name, each in vars(builtins).items() if isinstance(each, type)},
    **{name: getattr(typing, name) for name in typing.__all__},
    "ToolContext": ToolContext,
    "collections": collections,
    "typing": typing,
}


def conventional(name: str) -> Any:
    """Return what a name is usually called for: a built-in type, or one of ``typing``."""
    return _CONVENTIONAL.get(name, HIDDEN)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def evaluated(node: ast.expr, lookup: Lookup) -> Any:
    """Return the type that an expression makes, HIDDEN where a name in it can't be told."""
    try:
        return _value(node, lookup)
    except Exception:  # noqa: BLE001 - types refuse what they are given in many ways
        return HIDDEN


def _value(node: ast.expr, lookup: Lookup) -> Any:
    found: Any = HIDDEN
    match node:
        case ast.Constant(value=str(text)):
            found = _value(_parsed(text), lookup)
        case ast.Constant(value=found):
            pass
        case ast.Name(id=name):
            found = lookup(name)
        case ast.Attribute(attr="ToolContext"):
            found = ToolContext
        case ast.Attribute(value=inner, attr=name):
            owner = _value(inner, lookup)
            found = getattr(owner, name) if isinstance(owner, types.ModuleType) else HIDDEN
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            found = Union[_value(left, lookup), _value(right, lookup)]  # noqa: UP007 - what is joined may know no |
        case ast.Subscript(value=inner, slice=within):
            found = _subscripted(_value(inner, lookup), within, lookup)
        case ast.Call(func=function, args=[_, inner]):
            is_named = _value(function, lookup) is typing.NewType
            found = _value(inner, lookup) if is_named else HIDDEN
        case ast.List(elts=members):
            found = [_value(each, lookup) for each in members]
    return found


def _subscripted(generic: Any, within: ast.expr, lookup: Lookup) -> Any:
    parts = within.elts if isinstance(within, ast.Tuple) else [within]
    if generic is HIDDEN:
        return HIDDEN
    if generic is typing.Literal:
        return typing.Literal[tuple(ast.literal_eval(each) for each in parts)]
    if generic is typing.Annotated:
        return _value(parts[0], lookup)
    members = tuple(_value(each, lookup) for each in parts)
    return generic[members if isinstance(within, ast.Tuple) else members[0]]
