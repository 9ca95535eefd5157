"""``@tool``: says of a function that it is a tool, and changes nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from sovl_tools.authoring.defining import (
    NO_OPTIONS,
    Options,
    PendingDefinition,
    bound,
    defined,
)
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import UnresolvedReferenceError
from sovl_tools.model.folder import SECTIONS
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
            those of methods are given the instance, or the class. An Enum under ``enum`` stands
            for its values.

    Raises:
        TypeError: it is no function, there is no such argument, or one is of a wrong type.
        InferenceError: its parameters can't be expressed, or an option names none of them.
    """
    options = options_of(marks)
    if function is None:
        return lambda decorated: _attached(decorated, options)
    return _attached(function, options)


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the arguments of ``tool`` as a value.

    Raises:
        TypeError: there is no such argument, or it is of another type than it has to be.
    """
    fields = {key: value for key, value in given.items() if value is not None}
    own = {key: fields.pop(key) for key in Options._fields[:-1] if key in fields}
    for key in sorted(fields.keys() - FIELDS):
        raise _unknown(key, FIELDS | {*Options._fields[:-1]}, "tool() takes no argument {}")
    for section, keys in SECTIONS.items():
        found = fields.get(section)
        for key in sorted({*found} - keys if isinstance(found, Mapping) else ()):
            raise _unknown(key, keys, f"{{}} is not a key of {section!r}")
    for key in sorted({"preprocess", "postprocess"} & fields.keys()):
        if not callable(fields[key]):
            raise TypeError(f"{key} has to be a function, not {fields[key]!r:.80}")
    for key in own.keys() & {"params", "param_descriptions"}:
        if not isinstance(own[key], Mapping):
            raise TypeError(f"{key} has to be a dictionary, by parameter, not {own[key]!r:.80}")
        own[key] = dict(own[key])
    if "params" in own:
        own["params"] = {name: stated(each, (name,)) for name, each in own["params"].items()}
    if "required" in own:
        own["required"] = _names(own["required"])
    return Options(**own, fields=fields)


def _unknown(key: str, known: Iterable[str], words: str) -> TypeError:
    hint = did_you_mean(key, known)
    message = words.format(repr(key))
    return TypeError(f"{message}; {hint}" if hint else message)


def _names(given: Any) -> list[str]:
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    names = [*given] if is_list else given
    if not (is_list and all(isinstance(each, str) for each in names)):
        raise TypeError(f"required has to be a list of names of parameters, not {names!r:.80}")
    return list(names)


FIELDS = frozenset(
    {
        "title", "tags", "category", "version", "instructions", "activation_phrases", "examples",
        "output_schema", "annotations", "execution", "requires", "metadata", "preprocess",
        "postprocess",
    }
)  # fmt: skip
"""Fields of ToolDefinition that an author may set."""


def _attached(function: Any, options: Options) -> Any:
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(f"tool() takes a function; write @tool below @{type(function).__name__}")
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"tool() takes a function, not {function!r:.80}")
    definition = define(function, options)
    try:
        setattr(function, ATTRIBUTE, definition)
    except AttributeError as error:
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
        return defined(function, options)
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
    instance = getattr(function, "__self__", None)
    if instance is None and definition.function is function:
        return definition
    return bound(definition, function, instance)
