"""Whether a function takes the arguments that the schema of its tool promises."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType

from sovl_tools.loading.annotations import from_object
from sovl_tools.loading.checks import agreement
from sovl_tools.loading.checks.agreement import AgreementCase
from sovl_tools.loading.inspecting import signature_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Verdict, ask
from sovl_tools.model.document import JSON
from sovl_tools.model.dynamic import without_functions
from sovl_tools.model.interface import Interface, Signature
from sovl_tools.model.manifest import Manifest
from sovl_tools.model.schemanodes import SchemaNode
from sovl_tools.schema import fit

_STARS = CO_VARARGS | CO_VARKEYWORDS
_ODD = frozenset({"__wrapped__", "__signature__"})
_RULES = (
    agreement.required_not_taken,
    agreement.optional_not_taken,
    agreement.positional_only,
    agreement.unfit_context,
)
_COMBINED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"})


def signature_for(definition: ToolDefinition) -> Signature:
    """Return the function's signature, its annotations resolved as far as somebody has done so."""
    signature = signature_of(definition.function)
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
    if _is_inferred(definition):
        return []
    case = _case(definition)
    found = ask((agreement.not_a_function,), case)
    if found or not _is_certain(definition):
        return found
    supplied = case._replace(required=case.required | _supplied(definition))
    return ask((agreement.parameter_not_sent,), supplied) + ask(_RULES, case)


def _is_inferred(definition: ToolDefinition) -> bool:
    """Tell whether the parameters surely are those of the function, in a few microseconds."""
    function = definition.function
    skipped = isinstance(function, MethodType)
    inner = function.__func__ if isinstance(function, MethodType) else function
    if type(inner) is not FunctionType or not _ODD.isdisjoint(vars(inner)):
        return False
    code, properties = inner.__code__, definition.parameters.get("properties")
    if not isinstance(properties, dict) or code.co_posonlyargcount or code.co_flags & _STARS:
        return False
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    plain = len(inner.__defaults__ or ())
    optional = {*names[code.co_argcount - plain : code.co_argcount], *(inner.__kwdefaults__ or ())}
    given = {*names[skipped:]}
    return properties.keys() == given == definition.types.keys() and given.difference(
        optional
    ).issubset(definition.parameters.get("required", ()))


def _is_certain(definition: ToolDefinition) -> bool:
    parameters = definition.parameters
    told = map(callable, (parameters.get("properties"), parameters.get("required")))
    return definition.preprocess is None and not any(told) and _COMBINED.isdisjoint(parameters)


def _case(definition: ToolDefinition) -> AgreementCase:
    manifest = Manifest({"name": definition.name, "parameters": _written(definition)}, "")
    return AgreementCase.of(manifest, Interface(signature_for(definition)))


def _written(definition: ToolDefinition) -> dict[str, JSON]:
    return {"properties": {}, **without_functions(definition.parameters)}


def _supplied(definition: ToolDefinition) -> set[str]:
    """Return the parameters with a default in the schema, as far as that can be told."""
    written = _written(definition)
    return {
        name
        for name, schema in definition.parameters.get("properties", {}).items()
        if callable(schema) or (isinstance(schema, Mapping) and "default" in schema)
        if "default" not in written["properties"][name] or _fits(name, written)
    }


def _fits(name: str, root: dict[str, JSON]) -> bool:
    schema = root["properties"][name]
    node = SchemaNode(("properties", name), schema, root, ())
    return not fit.problems(node, schema["default"])
