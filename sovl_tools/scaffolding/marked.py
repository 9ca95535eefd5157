"""What ``@tool`` says of a function, as far as a manifest can say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.errors import InferenceError
from sovl_tools.scaffolding.writable import plain, unwritable
from sovl_tools.schema.dynamic import is_dynamic, without_functions
from sovl_tools.schema.engine import published
from sovl_tools.schema.messages import describe

FIELDS = (
    "title", "examples", "tags", "activation_phrases", "category", "version", "instructions",
    "output_schema", "annotations", "execution", "requires", "metadata",
)  # fmt: skip
"""Keys of a manifest that ``@tool`` may say, in the order in which they are written."""

_STEPS = ("preprocess", "postprocess")


class Marked(NamedTuple):
    """A decorated function's definition in terms of a manifest.

    Attributes:
        description: what the tool does; "" if nobody says it.
        parameters: the JSON Schema of the arguments, without those in ``errors``.
        fields: further keys of the manifest.
        errors: by parameter, why no schema can be written of it.
        losses: what else a manifest can't say.
    """

    description: str
    parameters: dict[str, JSON]
    fields: Mapping[str, JSON]
    errors: Mapping[str, InferenceError]
    losses: tuple[InferenceError, ...]


def attached_to(function: Any) -> ToolDefinition | None:
    """Return the definition that ``@tool`` attached to a function; None if there is none."""
    is_decorated = isinstance(getattr(function, ATTRIBUTE, None), ToolDefinition)
    return definition_of(function) if is_decorated else None


def marked(definition: ToolDefinition) -> Marked:
    """Return what a definition says.

    Raises:
        InferenceError: its parameters can't be expressed.
    """
    name, parameters = definition.source, definition.parameters
    said = {key: plain(getattr(definition, key)) for key in FIELDS if getattr(definition, key)}
    flaws = {key: reason for key, value in said.items() if (reason := _flaw(key, value))}
    is_said = definition.description != f"Tool: {definition.name}"
    schema = {**_EMPTY, **plain(without_functions(parameters))}
    errors = {
        **dict(_invalid(name, schema["properties"])),
        **dict(_dynamic(name, parameters.get("properties", {}))),
    }
    return Marked(
        definition.description if is_said else "",
        schema,
        {key: each for key, each in said.items() if key not in flaws},
        errors,
        tuple(_losses(definition, flaws)),
    )


_EMPTY: dict[str, JSON] = {"type": "object", "properties": {}, "required": []}


def _losses(definition: ToolDefinition, flaws: Mapping[str, str]) -> Iterator[InferenceError]:
    for key in _STEPS:
        if getattr(definition, key) is not None:
            yield InferenceError(definition.source, None, _STEP.format(key), _IN_CODE)
    for key, flaw in flaws.items():
        yield InferenceError(definition.source, None, f"{key!r} can't be written: {flaw}")


_STEP = "its {} is not called, because the function of a folder is called as it is"
_IN_CODE = "register it in code, or do it in the function"


def _dynamic(name: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, InferenceError]]:
    for key, schema in properties.items():
        if is_dynamic(schema):
            reason = "there is a function in its schema, and a manifest holds values alone"
            yield key, InferenceError(name, key, reason, _VALUES)


def _invalid(name: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, InferenceError]]:
    for key, schema in properties.items():
        document = {"parameters": {"type": "object", "properties": {key: schema}}}
        found = [] if unwritable(schema) else published("tool").problems(document)
        for problem in found:
            if len(problem.path) > _NAMED:
                place = dotted(problem.path[_NAMED:])
                yield key, InferenceError(name, key, f"its {place!r} {describe(problem)}")


_NAMED = len(("parameters", "properties", "name"))
_VALUES = "register it in code, or write values instead"


def _flaw(key: str, value: Any) -> str | None:
    """Return why a manifest can't have this value under a key."""
    reason = unwritable(value)
    if reason is not None:
        return reason
    problems = published("tool").problems({key: value})
    return next((describe(each) for each in problems if each.path[:1] == (key,)), None)
