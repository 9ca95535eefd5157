"""From a function and what its author says to a definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import unwrap
from types import FunctionType
from typing import Any

from sovl_tools.authoring.docstrings import Documentation, documentation_of
from sovl_tools.authoring.inference import Inference, infer
from sovl_tools.authoring.marks import Marks
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.dynamic import is_dynamic
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.suggestion import did_you_mean

_FIRST = {"self", "cls"}


def defined(function: Callable[..., Any], marks: Marks) -> ToolDefinition:
    """Return the definition of a function.

    Raises:
        InferenceError: its parameters can't be expressed, or a mark names none of them.
        UnresolvedReferenceError: an annotation names what is not there yet.
    """
    documentation = documentation_of(function)
    inference = infer(
        function,
        is_method=is_method(function),
        documentation=documentation,
        described={name for name, each in marks.params.items() if _is_whole(each)},
    )
    return ToolDefinition(
        **_head(function, marks, documentation),
        parameters=_parameters(function, marks, inference),
        function=function,
        types=inference.types,
        is_dynamic=is_dynamic(marks.params),
        remarks=_remarks(marks, documentation, inference),
    )


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
    properties = parameters["properties"]
    for mark in ("param_descriptions", "params", "required"):
        for name in getattr(marks, mark) or ():
            _check_known(function, mark, name, properties)
    for name, text in marks.param_descriptions.items():
        properties[name] = {**properties[name], "description": text}
    for name, fragment in marks.params.items():
        properties[name] = _laid_over(properties[name], fragment)
    parameters["required"] = _required(marks, parameters["required"])
    _check_supplied(function, marks, parameters["required"], inference)
    return parameters


def _required(marks: Marks, inferred: Sequence[str]) -> list[str]:
    """Return what has to be given, which is not a parameter with a default in its fragment."""
    if marks.required is not None:
        return list(marks.required)
    return [name for name in inferred if not _is_supplied(marks, name)]


def _is_supplied(marks: Marks, name: str) -> bool:
    fragment = marks.params.get(name)
    return isinstance(fragment, Mapping) and "default" in fragment


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


def bound(
    definition: ToolDefinition, method: Callable[..., Any], instance: object
) -> ToolDefinition:
    """Return the definition of a method for one instance."""
    return replace(definition, function=method, instance=instance)


class PendingDefinition(ToolDefinition):
    """A definition whose parameters are inferred when somebody asks for them."""

    @classmethod
    def of(cls, function: Callable[..., Any], marks: Marks) -> PendingDefinition:
        """Return the definition of a function whose annotations can't be resolved yet."""
        empty = ToolDefinition(
            **_head(function, marks, documentation_of(function)),
            parameters={},
            function=function,
            is_dynamic=is_dynamic(marks.params),
        )
        pending = object.__new__(cls)
        vars(pending).update(vars(empty), _marks=marks)
        for name in _INFERRED:
            del vars(pending)[name]
        return pending

    def __getattr__(self, name: str) -> Any:
        """Infer what is missing.

        Raises:
            UnresolvedReferenceError: an annotation names what is still not there.
        """
        if name not in _INFERRED:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        whole = vars(defined(self.function, vars(self)["_marks"]))
        vars(self).update({each: whole[each] for each in _INFERRED})
        return vars(self)[name]


_INFERRED = ("parameters", "types", "remarks")
