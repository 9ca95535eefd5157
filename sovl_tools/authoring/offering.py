"""From whatever an author hands over to the definitions in it."""

from __future__ import annotations

import inspect
from typing import Any

from sovl_tools.authoring.aitool import AITool, definition_of_instance
from sovl_tools.authoring.decorator import ATTRIBUTE, define, definition_of
from sovl_tools.authoring.defining import bound, is_method
from sovl_tools.model.definition import ToolDefinition

_EXPECTED = "a function, a method, an object with @tool methods, an AITool or a ToolDefinition"


def offered(value: Any) -> ToolDefinition | list[ToolDefinition]:
    """Return the definition of a function, a method, an ``AITool`` or a definition itself.

    Of another object it is a list: the definitions of its ``@tool`` methods, bound to it, those of
    base classes included. A method that overrides one keeps its definition; None removes it.

    Raises:
        TypeError: it is nothing of the kind; the message says what to pass instead.
        InferenceError: the parameters of the function can't be expressed.
    """
    if isinstance(value, ToolDefinition):
        return value
    if isinstance(value, type):
        return _of_class(value)
    if isinstance(value, AITool):
        return definition_of_instance(value)
    if hasattr(value, ATTRIBUTE):
        definition = definition_of(value)
        _check_bound(value)
        return definition
    if inspect.isroutine(value):
        return _of_function(value)
    found = methods_of(value)
    if not found:
        raise TypeError(f"register takes {_EXPECTED}, not {value!r:.80}")
    return found


def methods_of(instance: object) -> list[ToolDefinition]:
    """Return the definitions of an object's ``@tool`` methods, bound to it, in their order."""
    kind, found = type(instance), []
    names = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base))
    for name in names:
        written = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
        marked = next((each for each in written if hasattr(_function(each), ATTRIBUTE)), None)
        function = None if marked is None or written[0] is None else getattr(instance, name)
        if function is not None:
            # What the functions in a member's schema are given is what the member itself is given.
            given = kind if isinstance(marked, classmethod) else instance
            given = None if isinstance(marked, staticmethod) else given
            found.append(bound(definition_of(_function(marked)), function, given))
    return found


def _function(member: Any) -> Any:
    return getattr(member, "__func__", member)  # of a class method or a static one


def _of_class(kind: type) -> ToolDefinition:
    name = kind.__name__
    if not issubclass(kind, AITool):
        raise TypeError(f"register takes {_EXPECTED}, not the class {name}; pass an instance")
    missing = sorted(kind.__abstractmethods__)
    if missing:
        raise TypeError(f"{name} lacks {', '.join(missing)}, so there can't be an instance of it")
    return definition_of_instance(kind())


def _of_function(function: Any) -> ToolDefinition:
    if getattr(function, "__name__", "") == "<lambda>":
        raise TypeError("a lambda has no name to call it by; use def, or tool(name=…)")
    _check_bound(function)
    definition = define(getattr(function, "__func__", function))
    if inspect.ismethod(function):
        return bound(definition, function, function.__self__)
    return definition


def _check_bound(function: Any) -> None:
    if is_method(function):
        owner = function.__qualname__.rpartition(".")[0]
        words = f"pass an instance of {owner}, or the method of one"
        raise TypeError(f"{function.__qualname__} is a method without its object; {words}")
