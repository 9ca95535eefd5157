"""The parameters of a tool one by one, as some programs want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sovl_tools.model.definition import PYTHON_TYPES, ToolParameterDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import follow


def parameter_definitions(
    parameters: Mapping[str, JSON], types: Mapping[str, Any]
) -> list[ToolParameterDefinition]:
    """Return the parameters of a schema of arguments, in its order; ``types`` are annotations."""
    required = parameters.get("required", ())
    found = []
    for name, each in parameters.get("properties", {}).items():
        schema = each if isinstance(each, dict) else {}
        branches = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
        names = [type_ for branch in branches for type_ in _types(branch, parameters)]
        found.append(
            ToolParameterDefinition(
                name,
                schema.get("description", ""),
                _python_type(types.get(name), _types(schema, parameters)),
                " | ".join(dict.fromkeys(names)) or "any",
                name in required,
                schema.get("default"),
                "default" in schema,
            )
        )
    return found


def _types(schema: JSON, root: Mapping[str, JSON]) -> list[str]:
    """Return the types that a schema names, or else the one that it refers to."""
    found = schema if isinstance(schema, dict) and "type" in schema else follow(schema, root)
    types = found.get("type", []) if isinstance(found, dict) else []
    return [types] if isinstance(types, str) else list(types)


def _python_type(annotation: Any, types: Sequence[str]) -> Any:
    if annotation is not None and not isinstance(annotation, str):
        return annotation
    return PYTHON_TYPES.get(types[0], Any) if len(types) == 1 else Any
