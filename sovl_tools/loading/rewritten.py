"""Functions that were defined again: by a cell of a notebook that ran again, or by a reload."""

from __future__ import annotations

from inspect import unwrap
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple


class Text(NamedTuple):
    """Where the text of a function stands.

    Attributes:
        module: the name of its module.
        name: its qualified name there.
    """

    module: str
    name: str


def text_of(function: Any) -> Text | None:
    """Return where a function is written; None if several may come of the same text.

    Those of a factory and lambdas are such. A wrapper stands for what it wraps.
    """
    inner = _innermost(function)
    if inner is None or "<" in inner.__qualname__:
        return None
    return Text(str(inner.__module__), inner.__qualname__)


def is_rewritten(old: Any, new: Any) -> bool:
    """Tell whether one function is another version of the text of the other one."""
    text = text_of(new)
    return text is not None and text == text_of(old) and _code(old) is not _code(new)


def _innermost(function: Any) -> FunctionType | None:
    while isinstance(function, MethodType):
        function = function.__func__
    try:
        inner = unwrap(function) if isinstance(function, FunctionType) else None
    except ValueError:  # they wrap one another in a circle
        return None
    return inner if isinstance(inner, FunctionType) else None


def _code(function: Any) -> CodeType | None:
    inner = _innermost(function)
    return None if inner is None else inner.__code__
