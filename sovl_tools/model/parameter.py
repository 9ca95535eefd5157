"""A tool's parameters one by one, as some programs want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON


class ToolParameterDefinition(NamedTuple):
    """One parameter of a tool.

    Attributes:
        name: the argument's name.
        description: what it means, "" if nobody has said.
        param_type: its annotation, or else the Python type of its JSON type, or ``Any``.
        type_str: its JSON type, several joined by ``" | "``, ``"any"`` if there is none.
        is_required: whether it has to be given.
        default_value: what it is if it is not given; None if ``has_default`` is false.
        has_default: whether the schema names a default.
    """

    name: str
    description: str
    param_type: Any
    type_str: str
    is_required: bool
    default_value: JSON = None
    has_default: bool = False


def schema_of(parameters: Sequence[ToolParameterDefinition]) -> dict[str, JSON]:
    """Return the JSON Schema of arguments that are described one by one.

    Raises:
        TypeError: one of them is no ToolParameterDefinition.
    """
    for each in parameters:
        if not isinstance(each, ToolParameterDefinition):
            raise TypeError(f"parameters must be ToolParameterDefinition, not {each!r:.80}")
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in parameters},
        "required": [each.name for each in parameters if each.is_required],
    }


def _property(parameter: ToolParameterDefinition) -> dict[str, JSON]:
    names = [name.strip() for name in parameter.type_str.split("|")]
    schema: dict[str, JSON] = {}
    if all(name in _PYTHON_TYPES for name in names):
        schema["type"] = names[0] if len(names) == 1 else names
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.has_default or parameter.default_value is not None:
        schema["default"] = parameter.default_value
    return schema


def parameter_definitions(
    parameters: Mapping[str, JSON], types: Mapping[str, Any]
) -> list[ToolParameterDefinition]:
    """Return the parameters of a schema of arguments, in its order; ``types`` are annotations."""
    required = parameters.get("required", ())
    defined = parameters.get("$defs", {})
    return [
        ToolParameterDefinition(
            name,
            schema.get("description", ""),
            _python_type(types.get(name), _types(schema, defined)),
            " | ".join(dict.fromkeys(_all_types(schema, defined))) or "any",
            name in required,
            schema.get("default"),
            "default" in schema,
        )
        for name, schema in _schemas(parameters)
    ]


def _schemas(parameters: Mapping[str, JSON]) -> list[tuple[str, dict[str, JSON]]]:
    properties = parameters.get("properties", {})
    return [(name, each if isinstance(each, dict) else {}) for name, each in properties.items()]


def _types(schema: JSON, defined: Mapping[str, JSON]) -> list[str]:
    """Return the types of a schema, or else those of the definition that it refers to."""
    if not isinstance(schema, dict):
        return []
    if "type" not in schema:
        target = defined.get(str(schema.get("$ref")).removeprefix("#/$defs/"))
        schema = target if isinstance(target, dict) else schema
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _all_types(schema: Mapping[str, JSON], defined: Mapping[str, JSON]) -> list[str]:
    branches = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [name for each in branches for name in _types(each, defined)]


def _python_type(annotation: Any, types: Sequence[str]) -> Any:
    if annotation is not None and not isinstance(annotation, str):
        return annotation
    return _PYTHON_TYPES[types[0]] if len(types) == 1 and types[0] in _PYTHON_TYPES else Any


_PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
