"""From a function and what its author says to a definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import unwrap
from types import FunctionType
from typing import Any

from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.authoring.inference import Inference, infer
from sovl_tools.authoring.marks import Marks
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied, kind
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.dynamic import is_dynamic

_FIRST = {"self", "cls"}


def defined(
    function: Callable[..., Any], marks: Marks, *, is_bound: bool = False
) -> ToolDefinition:
    """Return the definition of a function; of one that will be bound, without its first parameter.

    Raises:
        InferenceError: its parameters can't be expressed, or a mark names none of them.
        UnresolvedReferenceError: an annotation names what is not there yet.
    """
    documentation = documentation_of(function)
    inference = infer(
        function,
        is_method=is_bound or is_method(function),
        documentation=documentation,
        described={name for name, each in marks.params.items() if _is_whole(each)},
    )
    parameters = _parameters(function, marks, inference)
    return ToolDefinition(
        **_head(function, marks, documentation),
        parameters=parameters,
        function=function,
        types=inference.types,
        is_dynamic=is_dynamic(marks.params),
        remarks=tuple(
            (name, words)
            for name, words in _remarks(marks, documentation, inference)
            if name is None or name in parameters["properties"]
        ),
    )


def headed(function: Callable[..., Any], marks: Marks) -> ToolDefinition:
    """Return the definition of a function without whatever is inferred from its annotations."""
    head = _head(function, marks, documentation_of(function))
    is_so = is_dynamic(marks.params)
    return ToolDefinition(**head, parameters={}, function=function, is_dynamic=is_so)


def _head(function: Any, marks: Marks, documentation: Documentation) -> dict[str, Any]:
    name = marks.name or getattr(function, "__name__", type(function).__name__)
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in marks.fields.items()
    }
    return {
        "name": name,
        "description": marks.description or documentation.description or f"Tool: {name}",
        "source": source_of(function),
        "returns": documentation.returns,
        **fields,
        "output_schema": _described(fields.get("output_schema"), documentation.returns),
    }


def _described(schema: dict[str, JSON] | None, returns: str | None) -> dict[str, JSON] | None:
    """Return an output schema with a description, from the docstring if it has none."""
    if schema is None or returns is None or "description" in schema:
        return schema
    return {**schema, "description": returns}


def source_of(function: Any) -> str:
    """Return the module and the qualified name of a function."""
    module = getattr(function, "__module__", None) or "?"
    return f"{module}.{_qualified(function)}"


def _qualified(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def is_method(function: Any) -> bool:
    """Tell whether a function, or what it wraps, is written in a class and takes the instance."""
    inner = unwrap(function) if isinstance(function, FunctionType) else None
    if not isinstance(inner, FunctionType) or not inner.__code__.co_argcount:
        return False
    outside, first = inner.__qualname__.rpartition(".")[0], inner.__code__.co_varnames[0]
    return first in _FIRST and bool(outside) and not outside.endswith("<locals>")


def _parameters(function: Any, marks: Marks, inference: Inference) -> dict[str, JSON]:
    parameters: dict[str, JSON] = copied(inference.parameters)
    if _is_own_form(marks, inference):
        parameters = _stated_form(marks, parameters)
    properties = parameters["properties"]
    for mark in ("param_descriptions", "params", "required"):
        for name in getattr(marks, mark) or ():
            _check_known(function, mark, name, properties)
    for name, text in marks.param_descriptions.items():
        properties[name] = {**properties[name], "description": text}
    for name, fragment in marks.params.items():
        properties[name] = _laid_over(properties[name], fragment)
    for name in filter(partial(_is_supplied, marks), parameters["required"]):
        _check_default(function, name, properties[name])
    parameters["required"] = _required(marks, parameters["required"])
    _check_supplied(function, marks, parameters["required"], inference)
    return parameters


def _is_own_form(marks: Marks, inference: Inference) -> bool:
    """Tell whether ``params`` names what the function need not have, as something else takes it."""
    unknown = marks.params.keys() - inference.parameters["properties"].keys()
    is_open = "additionalProperties" in inference.parameters
    return bool(unknown) and (is_open or marks.fields.get("preprocess") is not None)


def _stated_form(marks: Marks, parameters: dict[str, JSON]) -> dict[str, JSON]:
    """Return the schema of the arguments that a model sends, of which ``params`` has the names.

    With ``**kwargs`` the function has the others as well; otherwise what it has beside them is
    made of them in ``preprocess``. A name is required if ``required`` says so.
    """
    known = parameters["properties"]
    inferred = known if "additionalProperties" in parameters else {}
    properties = {**inferred, **{name: known.get(name, {}) for name in marks.params}}
    required = [name for name in parameters["required"] if name in properties]
    return {**parameters, "properties": properties, "required": required}


def _required(marks: Marks, inferred: Sequence[str]) -> list[str]:
    """Return what has to be given, which is not a parameter with a default in its fragment."""
    if marks.required is not None:
        return list(marks.required)
    return [name for name in inferred if not _is_supplied(marks, name)]


def _is_supplied(marks: Marks, name: str) -> bool:
    fragment = marks.params.get(name)
    return isinstance(fragment, Mapping) and "default" in fragment


def _check_default(function: Any, name: str, schema: Mapping[str, JSON]) -> None:
    """Refuse a default that plainly breaks its own schema, so that nothing would be supplied."""
    default, types, values = (schema.get(key) for key in ("default", "type", "enum"))
    admitted = [types] if isinstance(types, str) else types
    if callable(default):
        return
    if isinstance(admitted, list) and not _is_of(default, admitted):
        broken = f"type {types!r}"
    elif isinstance(values, list) and not is_dynamic(values) and default not in values:
        broken = f"enum {values!r:.60}"
    else:
        return
    message = f"its default {default!r:.60} does not fit its {broken}"
    raise InferenceError(_qualified(function), name, message, "give it another default")


def _is_of(value: JSON, types: Sequence[JSON]) -> bool:
    is_whole = type(value) is int or (type(value) is float and value.is_integer())
    return any(each in types for each in ("integer", "number") if is_whole) or kind(value) in types


def _laid_over(schema: dict[str, JSON], fragment: Any) -> Any:
    """Return a schema with another one's keys; a function stands for the whole of it."""
    if not isinstance(fragment, Mapping):
        return fragment
    others = _REPLACED if _is_whole(fragment) else frozenset()
    kept = {key: value for key, value in schema.items() if key not in others}
    return {**kept, **copied(dict(fragment))}


def _is_whole(fragment: Any) -> bool:
    """Tell whether a fragment says what a value is, whatever the annotation says."""
    return not isinstance(fragment, Mapping) or not _REPLACED.isdisjoint(fragment)


_REPLACED = frozenset({"type", "anyOf", "allOf", "oneOf", "$ref", "const"})
"""Keys that say what a value is: a fragment with one of them says it instead of the annotation."""


def _check_known(function: Any, mark: str, name: str, properties: Mapping[str, JSON]) -> None:
    if name not in properties:
        advice = did_you_mean(name, properties)
        raise InferenceError(_qualified(function), name, f"{mark} names no parameter", advice)


def _check_supplied(
    function: Any, marks: Marks, required: Sequence[str], inference: Inference
) -> None:
    """Refuse a parameter that a call may leave out although nothing supplies it."""
    if marks.fields.get("preprocess") is not None:
        return
    for name in inference.parameters["required"]:
        if name not in required and not _is_supplied(marks, name):
            message = "has no default and is not required, so nothing would supply it"
            advice = "give it a default, require it, or supply it in a preprocess"
            raise InferenceError(_qualified(function), name, message, advice)


def _remarks(
    marks: Marks, documentation: Documentation, inference: Inference
) -> tuple[tuple[str | None, str], ...]:
    """Return what is weak about a tool, each with the name of a parameter, if it is about one."""
    found = [(name, words) for name, words in inference.warnings if name not in marks.params]
    if not (marks.description or documentation.description):
        return (None, "has neither a docstring nor a description"), *found
    return tuple(found)
