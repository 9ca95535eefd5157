"""What an annotation says about JSON, from the object or from the source."""

from __future__ import annotations

import ast
import collections.abc
import re
import types
import typing
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import JSON_TYPES, kind
from sovl_tools.model.interface import Annotation

_STRING = frozenset({"string"})
_INTEGER = frozenset({"integer"})
_NUMBER = frozenset({"number", "integer"})
_BOOLEAN = frozenset({"boolean"})
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})
_NULL = frozenset({"null"})

_BY_NAME: dict[str, frozenset[str]] = {
    "str": _STRING,
    "int": _INTEGER,
    "float": _NUMBER,
    "bool": _BOOLEAN,
    "list": _ARRAY,
    "dict": _OBJECT,
    "None": _NULL,
    "List": _ARRAY,
    "Dict": _OBJECT,
    "Sequence": _ARRAY,
    "Mapping": _OBJECT,
}
_BY_OBJECT: dict[object, Annotation] = {
    each: Annotation(each, _BY_NAME[each.__name__]) for each in (str, int, float, bool, list, dict)
}
_BY_OBJECT[None] = Annotation("None", _NULL)
_BY_OBJECT[type(None)] = Annotation("None", _NULL)
_BY_OBJECT[ToolContext] = Annotation(ToolContext, None, is_context=True)
_ORIGINS: dict[object, frozenset[str]] = {
    list: _ARRAY,
    dict: _OBJECT,
    collections.abc.Sequence: _ARRAY,
    collections.abc.Mapping: _OBJECT,
}


def from_object(annotation: object) -> Annotation:
    """Return what an annotation of a live function says; strings are parsed."""
    if isinstance(annotation, str):
        return from_source(annotation)
    if type(annotation) is types.GenericAlias and isinstance(annotation.__origin__, type):
        return Annotation(annotation, _origin_types(annotation.__origin__))
    try:
        known = _BY_OBJECT.get(annotation)
    except TypeError:
        known = None
    if known is None:
        return _described(annotation)
    return known if known.source is annotation else known._replace(source=annotation)


def aliased(found: Annotation, is_context: Callable[[str], bool]) -> Annotation:
    """Return what an annotation in the source says where ToolContext may have other names.

    ``is_context`` tells it of a name.
    """
    if found.types is not None or found.is_context:
        return found
    return found._replace(is_context=any(map(is_context, _WORDS.findall(found.text))))


_WORDS = re.compile(r"\w+")


def types_of(annotation: object) -> frozenset[str] | None:
    """Return the JSON types that an annotation admits; None where that can't be told."""
    if type(annotation) is type:
        known = _BY_OBJECT.get(annotation)
        return None if known is None else known.types
    return from_object(annotation).types


@lru_cache(maxsize=1024)
def from_source(text: str) -> Annotation:
    """Return what the text of an annotation says."""
    try:
        return from_node(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Annotation(text)


def _described(annotation: object) -> Annotation:
    if isinstance(annotation, typing.ForwardRef):
        return from_source(annotation.__forward_arg__)
    arguments = getattr(annotation, "__args__", ())
    if hasattr(annotation, "__metadata__"):
        return from_object(typing.get_args(annotation)[0])._replace(source=annotation)
    origin = getattr(annotation, "__origin__", annotation)
    if origin is typing.Union or type(annotation) is types.UnionType:
        return _union(annotation, arguments)
    if origin is typing.Literal:
        return Annotation(annotation, _value_types(arguments))
    if type(origin).__name__ in _STANDING:
        return Annotation(annotation, optional=_is_optional(annotation))
    return Annotation(annotation, _origin_types(origin))


_STANDING = frozenset({"TypeAliasType", "NewType", "TypeVar"})
"""Classes of what stands for another annotation."""


def _is_optional(annotation: object) -> bool:
    """Tell whether an annotation stands for ``T | None``."""
    from sovl_tools.annotations.hints import without_none  # noqa: PLC0415 - seldom needed

    try:
        return without_none(annotation)[1]
    except RecursionError:
        return False


def _union(annotation: object, members: tuple[object, ...]) -> Annotation:
    parts = [from_object(each) for each in members]
    is_context = any(part.is_context for part in parts)
    found = Annotation(annotation, _united(parts), type(None) in members, is_context)
    if all(type(each) is type and each in _BY_OBJECT for each in members):
        _BY_OBJECT[annotation] = found  # unions of built-in types: a few, used everywhere
    return found


def _origin_types(origin: object) -> frozenset[str] | None:
    try:
        return _ORIGINS.get(origin)
    except TypeError:
        return None


def _united(parts: list[Annotation]) -> frozenset[str] | None:
    known = [part.types for part in parts if part.types is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def from_node(node: ast.expr) -> Annotation:
    """Return what an annotation in the source says."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return from_source(node.value)
    text = ast.unparse(node)
    if isinstance(node, ast.Subscript) and _name(node.value) == "Annotated":
        inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        return from_node(inner)._replace(source=text)
    members = _members(node)
    if members is None:
        return Annotation(text, _node_types(node), is_context=_name(node) == "ToolContext")
    parts = [from_node(member) for member in members]
    optional = any(part.types == _NULL or part.optional for part in parts)
    return Annotation(text, _united(parts), optional, any(part.is_context for part in parts))


def _members(node: ast.expr) -> list[ast.expr] | None:
    """Return the members of a union, however it is written; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [node.left, node.right]
    if isinstance(node, ast.Subscript) and _name(node.value) == "Optional":
        return [node.slice, ast.Constant(None)]
    if isinstance(node, ast.Subscript) and _name(node.value) == "Union":
        return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return None


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _node_types(node: ast.expr) -> frozenset[str] | None:
    if isinstance(node, ast.Constant):
        return _NULL if node.value is None else None
    if isinstance(node, ast.Subscript):
        name = _name(node.value)
        return _literal(node.slice) if name == "Literal" else _BY_NAME.get(name)
    return _BY_NAME.get(_name(node))


def _literal(node: ast.expr) -> frozenset[str] | None:
    values: list[Any] = []
    for each in node.elts if isinstance(node, ast.Tuple) else [node]:
        try:
            values.append(ast.literal_eval(each))
        except ValueError:
            return None
    return _value_types(values)


def _value_types(values: Sequence[object]) -> frozenset[str] | None:
    """Return the JSON types of literal values; None if one of them is no JSON, as an Enum's."""
    known = [kind(value) for value in values if type(value) in JSON_TYPES]
    return frozenset(known) if len(known) == len(values) else None
