"""The inputs of a run, checked."""

from __future__ import annotations

from typing import Any

from sovl_tools.model.document import JSON, copied
from sovl_tools.procedures.errors import InputError
from sovl_tools.procedures.model import Procedure
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.messages import explanations, place


def checked_inputs(procedure: Procedure, given: dict[str, JSON]) -> dict[str, JSON]:
    """Return inputs with the defaults of the procedure's schema, a copy.

    Raises:
        InputError: they do not fit.
    """
    inputs: dict[str, JSON] = copied(given)
    properties: Any = procedure.inputs.get("properties", {})
    for name, schema in properties.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = copied(schema["default"])
    problems = compile_schema(dict(procedure.inputs)).problems(inputs)
    if problems:
        found = explanations(problems, lambda path: () if path else properties)
        words = "; ".join(f"{place(path)}: {said}".removeprefix(": ") for path, said in found)
        raise InputError(f"the inputs of {procedure.name} do not fit: {words}")
    return inputs
