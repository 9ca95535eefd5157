"""What a callable is below the layers that others have put around it."""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

_MOST_LAYERS = 64


def underlying(function: Any) -> Any:
    """Return the function in which bound methods, partials, wrappers and callables end."""
    return layers(function)[-1]


def layers(function: Any) -> list[Any]:
    """Return a callable and, one by one, what bound methods, partials and wrappers are made of."""
    found = [function]
    # wrappers may wrap one another in a circle
    while len(found) < _MOST_LAYERS and (inner := _inner(found[-1])) is not None:
        found.append(inner)
    return found


def _inner(function: Any) -> Any:
    if type(function) is FunctionType:
        return getattr(function, "__wrapped__", None)
    if isinstance(function, partial):
        return function.func
    for name in ("__wrapped__", "__func__"):
        inner = getattr(function, name, None)
        if inner is not None:
            return inner
    # An object with a method of that name; built-in types have none in Python.
    called = type(function).__call__
    return called if isinstance(called, FunctionType) else None
