"""A tool's parameters one by one, read from the schema of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sovl_tools.model.definition import PYTHON_TYPES, ToolParameterDefinition
from sovl_tools.model.document import JSON, value_at
from sovl_tools.schema.names import argument_names
from sovl_tools.schema.subschemas import follow


def parameter_definitions(
    parameters: Mapping[str, JSON], types: Mapping[str, Any]
) -> list[ToolParameterDefinition]:
    """Return the parameters of a schema of arguments, in its order; ``types`` are annotations."""
    names = argument_names(parameters)
    found = []
    for name, place in names.places.items():
        each = value_at(parameters, place)
        schema = each if isinstance(each, dict) else {}
        branches = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
        listed = [type_ for branch in branches for type_ in _types(branch, parameters)]
        annotation, own = types.get(name), _types(schema, parameters)
        # an annotation in quotes that couldn't be resolved is still a string
        if annotation is None or isinstance(annotation, str):
            annotation = PYTHON_TYPES.get(own[0], Any) if len(own) == 1 else Any
        found.append(
            ToolParameterDefinition(
                name,
                schema.get("description", ""),
                annotation,
                " | ".join(dict.fromkeys(listed)) or "any",
                name in names.required,
                schema.get("default"),
                "default" in schema,
            )
        )
    return found


def _types(schema: JSON, root: Mapping[str, JSON]) -> list[str]:
    """Return the types that a schema names, or else the target of its reference."""
    found = schema if isinstance(schema, dict) and "type" in schema else follow(schema, root)
    types = found.get("type", []) if isinstance(found, dict) else []
    return [types] if isinstance(types, str) else list(types)
