"""The annotation of a parameter: read from the object, its text or the syntax tree."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, Union

from sovl_tools.annotations.conversion import is_plain
from sovl_tools.annotations.hints import HIDDEN, text_of, value_of
from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.model.context import ToolContext

Lookup: TypeAlias = Callable[[str], Any]
"""From a name to its value; HIDDEN if that is unknown."""


class Annotation(NamedTuple):
    """The annotation of a parameter.

    Attributes:
        source: the annotation itself, or its text.
        optional: whether it is ``Optional[T]`` or ``T | None``; None if unknown.
        is_context: whether it is the ``ToolContext``; None if unknown.
        value: the evaluated text, if ``source`` is text.
        is_plain: whether it certainly admits values as JSON has them; so it is if there isn't one.
    """

    source: Any = ""
    optional: bool | None = False
    is_context: bool | None = False
    value: Any = None
    is_plain: bool = True

    @property
    def is_absent(self) -> bool:
        """Whether there's no annotation."""
        return isinstance(self.source, str) and not self.source

    @property
    def text(self) -> str:
        """The annotation as its author wrote it, or nearly so."""
        return text_of(self.source)


_UNKNOWN = Annotation(HIDDEN, None, None, HIDDEN, is_plain=False)
_CONTEXT = Annotation(ToolContext, is_context=True, is_plain=False)


def from_object(annotation: object, lookup: Lookup | None = None) -> Annotation:
    """Return an annotation's meaning; ``lookup`` resolves the names in the text within it."""
    if isinstance(annotation, str):
        return from_text(annotation, lookup or conventional)
    if annotation is ToolContext or annotation is HIDDEN:
        return _CONTEXT if annotation is ToolContext else _UNKNOWN
    return _from_type_form(annotation, lookup or conventional)


def from_text(text: str, lookup: Lookup) -> Annotation:
    """Return the meaning of an annotation's text, as far as its names can be resolved."""
    try:
        node = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _UNKNOWN._replace(source=text)
    return from_node(node, lookup)


def from_node(node: ast.expr, lookup: Lookup) -> Annotation:
    """Return the meaning of an annotation in the source, as far as its names can be resolved."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return from_text(node.value, lookup)
    value = evaluate(node, lookup)
    source = node.id if isinstance(node, ast.Name) else ast.unparse(node)
    return from_object(value, lookup)._replace(source=source, value=value)


def _from_type_form(annotation: object, lookup: Lookup) -> Annotation:
    origin = getattr(annotation, "__origin__", annotation)
    if isinstance(annotation, typing.ForwardRef):
        return from_text(annotation.__forward_arg__, lookup)
    found = Annotation()
    if type(annotation) is types.UnionType or origin is Union:
        members = typing.get_args(annotation)
        parts = [from_object(each, lookup) for each in members]
        words = [part.source for part in parts if type(part.source) is str]
        is_none = type(None) in members or "None" in words
        optional = is_none or _any_of(part.optional for part in parts)
        found = Annotation("", optional, _any_of(part.is_context for part in parts))
    elif hasattr(annotation, "__metadata__"):
        found = from_object(typing.get_args(annotation)[0], lookup)
    elif type(origin).__name__ in {"TypeAliasType", "NewType", "TypeVar"}:
        try:
            found = from_object(value_of(annotation))
        except (InexpressibleError, RecursionError):
            found = _UNKNOWN
    try:
        is_json = is_plain(annotation)
    except RecursionError:
        is_json = False  # making its schema or its conversion shows it
    _, optional, is_context, value, _ = found
    return Annotation(annotation, optional, is_context, value, is_json)


def _any_of(answers: typing.Iterable[bool | None]) -> bool | None:
    """Return whether any answer is yes; None if one of them is unknown."""
    known = [*answers]
    return True if True in known else None if None in known else False


_CONVENTIONAL: dict[str, Any] = {
    **{name: each for name, each in vars(builtins).items() if isinstance(each, type)},
    **{name: getattr(typing, name) for name in typing.__all__},
    "ToolContext": ToolContext,
    "collections": collections,
    "typing": typing,
}


def conventional(name: str) -> Any:
    """Return the usual meaning of a name: a built-in type, or one of ``typing``."""
    return _CONVENTIONAL.get(name, HIDDEN)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def evaluate(node: ast.expr, lookup: Lookup) -> Any:
    """Return the type that an expression makes, HIDDEN where a name in it is unknown."""
    try:
        return _value(node, lookup)
    except Exception:  # noqa: BLE001 - types reject arguments in many ways
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
            found = member(owner, name) if isinstance(owner, types.ModuleType) else HIDDEN
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            found = Union[_value(left, lookup), _value(right, lookup)]  # noqa: UP007 - the operands may not support |
        case ast.Subscript(value=inner, slice=within):
            found = _subscript(_value(inner, lookup), within, lookup)
        case ast.Call(func=function, args=[_, inner]):
            is_named = _value(function, lookup) is typing.NewType
            found = _value(inner, lookup) if is_named else HIDDEN
        case ast.List(elts=members):
            found = [_value(each, lookup) for each in members]
    return found


def member(module: types.ModuleType, name: str) -> Any:
    """Return a module's value of a name; HIDDEN for a module that it only imports.

    ``typing.sys`` would lead from a stranger's annotation to all that the process has.
    """
    found = getattr(module, name, HIDDEN)
    is_other = isinstance(found, types.ModuleType)
    return HIDDEN if is_other and not found.__name__.startswith(f"{module.__name__}.") else found


def _subscript(generic: Any, within: ast.expr, lookup: Lookup) -> Any:
    parts = within.elts if isinstance(within, ast.Tuple) else [within]
    # an unpacked argument represents any number
    if generic is HIDDEN or any(isinstance(each, ast.Starred) for each in parts):
        return HIDDEN
    if generic is typing.Literal:
        return typing.Literal[tuple(ast.literal_eval(each) for each in parts)]
    if generic is typing.Annotated:
        return _value(parts[0], lookup)
    members = tuple(_value(each, lookup) for each in parts)
    return generic[members if isinstance(within, ast.Tuple) else members[0]]
