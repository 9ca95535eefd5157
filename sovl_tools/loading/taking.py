"""Whether a function takes the arguments that the schema of its tool promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sovl_tools.loading.checks import agreement
from sovl_tools.loading.checks.agreement import AgreementCase
from sovl_tools.loading.interface import Interface
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Verdict, ask
from sovl_tools.schema import fit
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.agreement import differences
from sovl_tools.signature.from_function import from_function
from sovl_tools.signature.signature import Signature, from_object

_COMBINED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"})


def signature_for(definition: ToolDefinition) -> Signature:
    """Return the function's signature, its annotations resolved as far as somebody has done so."""
    signature = from_function(definition.function)
    if not definition.types:
        return signature
    parameters = [
        each._replace(annotation=from_object(definition.types[each.name]))
        if each.name in definition.types
        else each
        for each in signature.parameters
    ]
    return signature._replace(parameters=tuple(parameters))


def disagreements(definition: ToolDefinition) -> list[Verdict]:
    """Return why calls of a tool would fail, by the rules that hold for folders.

    Its parameters are a schema. What ``preprocess`` returns, what functions say of the properties,
    and what combined schemas come to can't be told; of those it is only asked for a function.
    """
    signature = signature_for(definition)
    parameters: dict[str, Any] = {"properties": {}, **definition.parameters}
    case = AgreementCase(definition.name, parameters, Interface(signature))
    if signature.shape in {"class", "value"}:
        return ask((agreement.not_a_function,), case)
    if not _is_certain(definition):
        return []
    found = [
        each
        for each in differences(signature, parameters)
        if each.kind != "not_sent" or not _is_supplied(each.name, parameters)
    ]
    return agreement.errors(case._replace(differences=tuple(found))) if found else []


def _is_certain(definition: ToolDefinition) -> bool:
    parameters = definition.parameters
    told = map(callable, (parameters.get("properties"), parameters.get("required")))
    return definition.preprocess is None and not any(told) and _COMBINED.isdisjoint(parameters)


def _is_supplied(name: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether the schema has a default for a parameter, as far as that can be told."""
    schema = parameters["properties"].get(name)
    if not isinstance(schema, Mapping) or "default" not in schema:
        return callable(schema)
    root = without_functions(parameters)
    written = root["properties"][name]
    if "default" not in written:
        return True
    node = SchemaNode(("properties", name), written, root, ())
    return not fit.problems(node, written["default"])
