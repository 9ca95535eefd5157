"""``@tool``, and the definitions in whatever ``register`` takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from sovl_tools.authoring.aitool import AITool, definition_of_instance
from sovl_tools.authoring.defining import (
    NO_OPTIONS,
    Options,
    PendingDefinition,
    bind_definition,
    infer_definition,
    is_method,
)
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import UnresolvedReferenceError
from sovl_tools.model.folder import FIELDS, SECTIONS
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.dynamic import stated

_F = TypeVar("_F", bound=Callable[..., Any])

ATTRIBUTE = "_tool_definition"


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    param_descriptions: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    required: Iterable[str] | None = None,
    tags: Sequence[str] = (),
    category: str | None = None,
    instructions: str | None = None,
    activation_phrases: Sequence[str] = (),
    annotations: Mapping[str, bool] | None = None,
    output_schema: dict[str, JSON] | None = None,
    preprocess: Callable[[dict[str, Any]], Any] | None = None,
    postprocess: Callable[[Any], Any] | None = None,
    execution: Mapping[str, JSON] | None = None,
    **fields: Any,
) -> Callable[[_F], _F]: ...
def tool(function: Any = None, /, **marks: Any) -> Any:
    """Make a function or a method a tool, bare or with arguments: ``tool(f) is f``.

    The tool's definition is attached; ``definition_of`` returns it. Nothing is registered:
    ``registry.register(f)`` does that. Schema and descriptions are inferred from annotations and
    docstring, and what is said here wins.

    Args:
        function: a function, sync or async, or a method, in the body of its class.
        marks: ``name``, ``description``, ``tags``, ``category``, ``instructions``,
            ``activation_phrases``, ``annotations``, ``execution``, ``output_schema``,
            ``preprocess`` and ``postprocess``, as in ToolDefinition, and further fields of it;
            ``required``: names of parameters; ``param_descriptions``: texts by parameter;
            ``params``: JSON Schema fragments by parameter, laid over the inferred ones. In a
            fragment, values may be functions, which are called whenever the schema is needed;
            those of methods are given the instance, or the class. An Enum under ``enum`` stays
            for its values.

    Raises:
        TypeError: it is no function, there is no such argument, or one is of a wrong type.
        InferenceError: its parameters can't be expressed, or an option names none of them.
    """
    options = options_of(marks)
    if function is None:
        return lambda decorated: _attach(decorated, options)
    return _attach(function, options)


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the arguments of ``tool`` as a value.

    Raises:
        TypeError: there is no such argument, or it is of another type than it has to be.
    """
    fields = {key: value for key, value in given.items() if value is not None}
    # All but the last, which takes what is left.
    own = {key: fields.pop(key) for key in Options._fields[:-1] if key in fields}
    for key in sorted(fields.keys() - SETTABLE):
        raise _unknown_argument(
            key, SETTABLE | {*Options._fields[:-1]}, "tool() takes no argument {}"
        )
    for section, keys in SECTIONS.items():
        found = fields.get(section)
        for key in sorted({*found} - keys if isinstance(found, Mapping) else ()):
            raise _unknown_argument(key, keys, f"{{}} is not a key of {section!r}")
    for key in sorted({"preprocess", "postprocess"} & fields.keys()):
        if not callable(fields[key]):
            raise TypeError(f"{key} has to be a function, not {fields[key]!r:.80}")
    for key in own.keys() & {"params", "param_descriptions"}:
        if not isinstance(own[key], Mapping):
            raise TypeError(f"{key} has to be a dictionary, by parameter, not {own[key]!r:.80}")
        own[key] = dict(own[key])  # the author may change theirs later
    own["params"] = {name: stated(each, (name,)) for name, each in own.get("params", {}).items()}
    if "required" in own:
        names = own["required"]
        # A text is iterable, too, and would be a name for each of its letters.
        is_list = isinstance(names, Iterable) and not isinstance(names, str | bytes | Mapping)
        names = [*names] if is_list else names  # once, for it may be a generator
        if not (is_list and all(isinstance(each, str) for each in names)):
            raise TypeError(f"required has to be a list of names of parameters, not {names!r:.80}")
        own["required"] = names
    return Options(**own, fields=fields)


def _unknown_argument(key: str, known: Iterable[str], words: str) -> TypeError:
    hint = did_you_mean(key, known)
    message = words.format(repr(key))
    return TypeError(f"{message}; {hint}" if hint else message)


SETTABLE = frozenset({*FIELDS, "preprocess", "postprocess"})
"""Fields of ToolDefinition that an author may set."""


def _attach(function: Any, options: Options) -> Any:
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(f"tool() takes a function; write @tool below @{type(function).__name__}")
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"tool() takes a function, not {function!r:.80}")
    definition = define(function, options)
    try:
        setattr(function, ATTRIBUTE, definition)
    except AttributeError as error:  # of built-in functions, and of objects with __slots__
        words = f"nothing can be attached to {function!r:.80}"
        raise TypeError(f"{words}; wrap it in a function of your own") from error
    return function


def define(function: Callable[..., Any], options: Options = NO_OPTIONS) -> ToolDefinition:
    """Return the definition of a function, inferred as far as the options do not say otherwise.

    An annotation that names what is not there yet is looked at when it is needed.

    Raises:
        InferenceError: its parameters can't be expressed, or an option names none of them.
    """
    try:
        return infer_definition(function, options)
    except UnresolvedReferenceError:
        return PendingDefinition.of(function, options)


def definition_of(function: Any) -> ToolDefinition:
    """Return the definition that ``tool`` attached to a function or a method.

    Of a bound method it is the definition for that instance, of a function that wraps a decorated
    one the definition with the wrapper in its place.

    Raises:
        TypeError: it is no decorated function, or something else is attached to it.
    """
    definition = getattr(function, ATTRIBUTE, None)
    if definition is None:
        raise TypeError(f"{function!r:.80} is not decorated with @tool")
    if not isinstance(definition, ToolDefinition):
        kind = type(definition).__name__
        words = f"the {ATTRIBUTE} of {function!r:.80} is a {kind}, not a ToolDefinition"
        raise TypeError(f"{words}; pass what is decorated with sovl_tools.tool")
    # functools.wraps copies the attribute to the wrapper, which is another function.
    instance = getattr(function, "__self__", None)
    if instance is None and definition.function is function:
        return definition
    return bind_definition(definition, function, instance)


_EXPECTED = "a function, a method, an object with @tool methods, an AITool or a ToolDefinition"


def definitions_in(value: Any) -> ToolDefinition | list[ToolDefinition]:
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
        name = value.__name__
        if not issubclass(value, AITool):
            raise TypeError(f"register takes {_EXPECTED}, not the class {name}; pass an instance")
        missing = sorted(value.__abstractmethods__)
        if missing:
            what = f"{name} lacks {', '.join(missing)}"
            raise TypeError(f"{what}, so there can't be an instance of it")
        return definition_of_instance(value())
    if isinstance(value, AITool):
        return definition_of_instance(value)
    if hasattr(value, ATTRIBUTE):
        definition = definition_of(value)
        _check_bound(value)
        return definition
    if inspect.isroutine(value):
        if getattr(value, "__name__", "") == "<lambda>":
            raise TypeError("a lambda has no name to call it by; use def, or tool(name=…)")
        _check_bound(value)
        # What is bound is the method; its function is what has a signature.
        definition = define(getattr(value, "__func__", value))
        return (
            bind_definition(definition, value, value.__self__)
            if inspect.ismethod(value)
            else definition
        )
    found = tool_methods(value)
    if not found:
        raise TypeError(f"register takes {_EXPECTED}, not {value!r:.80}")
    return found


def tool_methods(instance: object) -> list[ToolDefinition]:
    """Return the definitions of an object's ``@tool`` methods, bound to it, in their order."""
    kind, found = type(instance), []
    names = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base))
    for name in names:
        # In the class dictionaries, because getattr would run properties.
        written = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
        marked = next(
            (each for each in written if hasattr(_underlying_function(each), ATTRIBUTE)), None
        )
        function = None if marked is None or written[0] is None else getattr(instance, name)
        if function is not None:
            # What the functions in a member's schema are given is what the member itself is given.
            given = kind if isinstance(marked, classmethod) else instance
            given = None if isinstance(marked, staticmethod) else given
            found.append(
                bind_definition(definition_of(_underlying_function(marked)), function, given)
            )
    return found


def _underlying_function(member: Any) -> Any:
    return getattr(member, "__func__", member)  # of a class method or a static one


def _check_bound(function: Any) -> None:
    if is_method(function):
        owner = function.__qualname__.rpartition(".")[0]
        words = f"pass an instance of {owner}, or the method of one"
        raise TypeError(f"{function.__qualname__} is a method without its object; {words}")
