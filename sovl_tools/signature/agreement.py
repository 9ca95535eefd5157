"""What is not the same in the signature of a function and the schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature

Kind: TypeAlias = Literal[
    "required_not_taken", "optional_not_taken", "not_sent", "positional_only", "star", "default",
    "types", "open", "context",
]  # fmt: skip


class Difference(NamedTuple):
    """One thing that is not the same; ``name`` is that of the property or the parameter."""

    kind: Kind
    name: str
    parameter: Parameter | None = None


def differences(signature: Signature, parameters: Mapping[str, JSON]) -> list[Difference]:
    """Return what differs between what a call may give and what a function takes.

    Of what a decorator hides nothing is said. ``parameters`` has properties.
    """
    if signature.shape in {"class", "value"}:
        return []
    properties = parameters["properties"]
    required = frozenset(parameters.get("required", ()))
    found: list[Difference] = []
    for parameter in signature.parameters:
        name, kind, default, annotation = parameter
        is_needed = default is REQUIRED and name not in required and signature.is_certain
        if annotation.is_context or kind not in BY_KEYWORD:
            found += _unfit(parameter, is_listed=name in properties, signature=signature)
        elif name not in properties:
            if is_needed and annotation.is_context is False:
                found.append(Difference("not_sent", name, parameter))
        else:
            if is_needed and annotation.optional is False:
                found.append(Difference("not_sent", name, parameter))
            found += _contradictions(parameter, properties[name])
    if signature.is_certain and not signature.takes_any_keyword:
        found += _untaken(signature, parameters, required)
    return found


def _unfit(parameter: Parameter, *, is_listed: bool, signature: Signature) -> list[Difference]:
    """Return why a parameter that no argument of the model is for can't be as it is."""
    name, kind, default, annotation = parameter
    found: Kind | None = None
    if annotation.is_context:
        found = "context" if is_listed or kind not in BY_KEYWORD else None
    elif kind == "var_positional":
        found = "star"
    elif kind == "positional_only" and signature.is_certain:
        found = "positional_only" if default is REQUIRED or is_listed else None
    return [] if found is None else [Difference(found, name, parameter)]


def _untaken(
    signature: Signature, parameters: Mapping[str, JSON], required: frozenset[str]
) -> Iterator[Difference]:
    """Yield what a call may give although the function has no parameter for it."""
    known = {each.name for each in signature.parameters if each.kind != "var_positional"}
    for name in parameters["properties"]:
        if name not in known:
            is_required = name in required
            yield Difference("required_not_taken" if is_required else "optional_not_taken", name)
    if parameters.get("additionalProperties", False) is not False and signature.shape == "function":
        yield Difference("open", "")


def _contradictions(parameter: Parameter, schema: JSON) -> list[Difference]:
    """Return whether the default or the type of a parameter is not that of its property."""
    found: list[Difference] = []
    if type(schema) is not dict:
        return found
    is_comparable = "default" in schema and type(parameter.default) in _COMPARABLE
    if is_comparable and are_different(parameter.default, schema["default"]):
        found.append(Difference("default", parameter.name, parameter))
    admitted, declared = parameter.annotation.types, schema.get("type")
    if admitted and declared and not _overlap(admitted, declared):
        found.append(Difference("types", parameter.name, parameter))
    return found


_COMPARABLE = frozenset({str, int, float, bool, list, tuple, dict})


def are_different(own: Any, manifest: JSON) -> bool:
    """Compare as JSON does: 1 is not true, a tuple is an array."""
    if isinstance(own, tuple):
        own = list(own)
    return not (own == manifest and isinstance(own, bool) == isinstance(manifest, bool))


def _overlap(admitted: frozenset[str], declared: str | list[str]) -> bool:
    if type(declared) is str:
        if declared in admitted:
            return True
        declared = [declared]
    numeric = {"integer", "number"}
    return not admitted.isdisjoint(declared) or not (
        numeric.isdisjoint(declared) or admitted.isdisjoint(numeric)
    )
