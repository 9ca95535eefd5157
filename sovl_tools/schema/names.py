"""Which arguments the schema of an object lists, and which it always requires."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.subschemas import SchemaNode

_ALTERNATIVES = ("anyOf", "oneOf")
_CONDITIONAL = ("then", "else")


class ArgumentNames(NamedTuple):
    """The names that a schema lists, at the top and behind ``allOf``, ``anyOf``, ``$ref`` etc.

    Attributes:
        places: the path of each one's first schema, from the root. A schema that is ``false``
            doesn't list a name.
        required: names that every valid object has.
        is_open: whether ``patternProperties`` accepts more names.
    """

    places: dict[str, Path]
    required: frozenset[str]
    is_open: bool = False


def deprecated_arguments(schema: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the deprecated properties of a schema, each with the one to use instead, if known.

    They have ``deprecated`` or ``x-replaced-by``.
    """
    listed = schema.get("properties")
    properties = listed if isinstance(listed, Mapping) else {}
    found: dict[str, str | None] = {}
    for name, each in properties.items():
        other = each.get(REPLACED_BY) if isinstance(each, Mapping) else None
        if other is not None or (isinstance(each, Mapping) and each.get("deprecated") is True):
            found[name] = other if isinstance(other, str) and other in properties else None
    return found


REPLACED_BY = "x-replaced-by"
"""The keyword of a deprecated parameter that names the one to use instead."""

_NONE = ArgumentNames({}, frozenset())


def argument_names(schema: Mapping[str, Any]) -> ArgumentNames:
    """Return the names that the schema of an object lists, and the ones it requires."""
    root = dict(schema)
    return names_at(SchemaNode((), root, root, ()))


def names_at(node: SchemaNode, above: Collection[int] = ()) -> ArgumentNames:
    """Return the names that a subschema lists and requires; ``above`` has the open schemas."""
    schema = node.schema
    if id(schema) in above:  # a reference to an open schema
        return _NONE
    above = [*above, id(schema)]
    properties = schema.get("properties")
    listed = properties if isinstance(properties, Mapping) else {}
    places = {
        name: (*node.path, "properties", name) for name, each in listed.items() if each is not False
    }
    names = schema.get("required", ())
    required = frozenset(names if isinstance(names, list | tuple) else ())
    found = [ArgumentNames(places, required, "patternProperties" in schema)]
    below: dict[JSON, list[ArgumentNames]] = {}
    for child in node.children():
        keyword = child.path[len(node.path)]
        if keyword in _APPLIED:
            below.setdefault(keyword, []).append(names_at(child, above))
    target = node.target()
    found += below.get("allOf", []) + ([] if target is None else [names_at(target, above)])
    for keyword in _ALTERNATIVES:
        branches = below.get(keyword, [])
        is_whole = len(branches) == sum(each is not False for each in schema.get(keyword, ()))
        found += _either(branches, is_certain=is_whole)
    # without "if" the others have no effect
    conditional = [each for key in _CONDITIONAL for each in below.get(key, ()) if "if" in schema]
    found += _either(conditional, is_certain=len(conditional) == len(_CONDITIONAL))
    found += _either([*below.get("if", ()), *below.get("dependentSchemas", ())], is_certain=False)
    return _joined(found, frozenset().union(*(each.required for each in found)))


_APPLIED = frozenset({"allOf", *_ALTERNATIVES, "if", *_CONDITIONAL, "dependentSchemas"})


def _either(branches: list[ArgumentNames], *, is_certain: bool) -> list[ArgumentNames]:
    """Return the names of alternatives as one; what each of them requires is required."""
    if not branches:
        return []
    common = frozenset.intersection(*(each.required for each in branches))
    return [_joined(branches, common if is_certain else frozenset())]


def _joined(found: list[ArgumentNames], required: frozenset[str]) -> ArgumentNames:
    places: dict[str, Path] = {}
    for each in found:
        for name, path in each.places.items():
            places.setdefault(name, path)
    return ArgumentNames(places, required, any(each.is_open for each in found))
