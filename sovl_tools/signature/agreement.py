"""Differences between a function and the manifest's schema of its arguments.

Names are compared with the signature: they decide whether calls fail. Values are compared with the
schema that the annotations imply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.jsonvalues import is_plain as is_json
from sovl_tools.annotations.scalars import is_in_format
from sovl_tools.model.document import JSON, Path, canonical, value_at
from sovl_tools.schema.alignment import Roots, aligned
from sovl_tools.schema.applicators import Kinds, kinds, numeric, values_of
from sovl_tools.schema.bounds import contrary_bound
from sovl_tools.schema.comparison import Difference as SchemaDifference
from sovl_tools.schema.comparison import narrowings
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.schema.names import ArgumentNames, argument_names
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature

PARAMETERS: Path = ("parameters",)

Kind: TypeAlias = Literal[
    "required_not_taken", "optional_not_taken", "not_sent", "positional_only", "star", "open",
    "context", "default", "types", "alternative", "value", "bounds", "superfluous", "missing",
    "omitted", "null",
]  # fmt: skip


class Difference(NamedTuple):
    """A difference between a manifest and a function.

    Attributes:
        kind: the kind of difference.
        name: the property, the parameter, or the place for people: ``places[].city``.
        parameter: the parameter, if the difference isn't in values.
        path: the place in the manifest, from its root; empty if the manifest doesn't have it.
        said: the manifest's side: a value, or the names of types.
        own: the function's side.
    """

    kind: Kind
    name: str
    parameter: Parameter | None = None
    path: Path = ()
    said: Any = None
    own: Any = None


def differences(signature: Signature, parameters: Mapping[str, JSON]) -> list[Difference]:
    """Return the differences between the names in a manifest and the parameters of a function.

    Parameters that a decorator may hide are ignored.
    """
    if not signature.is_function:
        return []
    names = argument_names(parameters)
    places, required = names.places, names.required
    found: list[Difference] = []
    taken = set()
    is_open = not signature.is_certain
    for parameter in signature.parameters:
        name, kind, default, annotation = parameter
        if kind != "var_positional":
            taken.add(name)
        if kind not in BY_KEYWORD or annotation.is_context:
            found += _parameter_difference(parameter, is_listed=name in places, signature=signature)
            is_open = is_open or kind == "var_keyword"
        elif default is REQUIRED and name not in required and signature.is_certain:
            # a type can be unknown, a name never is
            is_optional = annotation.optional is not False
            if not (name in places and (is_optional or _is_supplied(places[name], parameters))):
                found.append(Difference("not_sent", name, parameter))
    if not is_open:
        found += _not_taken(names, taken)
        keyword = "patternProperties" if names.is_open else "additionalProperties"
        is_inviting = names.is_open or parameters.get(keyword, False) is not False
        if signature.shape == "function" and is_inviting:
            place = (keyword,) if keyword in parameters else ()
            found.append(Difference("open", "", path=(*PARAMETERS, *place)))
    return found


def _not_taken(names: ArgumentNames, taken: set[str]) -> list[Difference]:
    """Return the names that the function doesn't take."""
    return [
        Difference(
            "required_not_taken" if name in names.required else "optional_not_taken",
            name,
            path=(*PARAMETERS, *place),
        )
        for name, place in names.places.items()
        if name not in taken
    ]


def _is_supplied(place: Path, parameters: Mapping[str, Any]) -> bool:
    """Return whether the schema has, or can have, a default that a call fills in."""
    schema = value_at(parameters, place)
    if not isinstance(schema, Mapping) or "default" not in schema:
        return callable(schema)
    root = without_functions(parameters)
    written = value_at(root, place)
    # the function that makes the default has not run, so the default is unknown
    if "default" not in written:
        return True
    return not problems_at(SchemaNode(place, written, root, ()), written["default"])


def _parameter_difference(
    parameter: Parameter, *, is_listed: bool, signature: Signature
) -> list[Difference]:
    """Return the problem of a parameter that the model can't give an argument for."""
    name, kind, default, annotation = parameter
    found: Kind | None = None
    if annotation.is_context:
        found = "context" if is_listed or kind not in BY_KEYWORD else None
    elif kind == "var_positional":
        found = "star"
    elif kind == "positional_only" and signature.is_certain:
        found = "positional_only" if default is REQUIRED or is_listed else None
    return [] if found is None else [Difference(found, name, parameter)]


def value_differences(parameters: dict[str, JSON], own: dict[str, JSON]) -> list[Difference]:
    """Return the differences between the values of a manifest and a function's.

    ``own`` is the schema that the function's annotations imply.
    """
    # @tool can give a schema that isn't JSON
    if not is_json(own):
        properties = {name: each for name, each in own["properties"].items() if is_json(each)}
        own = {key: each for key, each in own.items() if is_json(each)} | {"properties": properties}
    properties = own["properties"]
    doubtful = {
        name: properties[name]
        for name, each in parameters["properties"].items()
        if name in properties and not _repeats_types(each, properties[name])
    }
    # differences at the top are differences in names
    narrow = {**own, "properties": doubtful}
    found = narrowings(parameters, narrow, is_in_format) if doubtful else []
    refused = [each for each in found if len(each.path or ()) > _TOP]
    places = Counter(each.path for each in refused)
    every = [
        difference
        for each in refused
        for difference in _in_values(each, parameters, is_only=places[each.path] == 1)
    ]
    # another type explains the other differences at its place
    apart = {_place(each.path) for each in every if each.kind in {"types", "alternative"}}
    every = [
        each
        for each in every
        if each.kind not in {"null", "omitted", "value"} or _place(each.path) not in apart
    ]
    return [*_defaults(parameters, own), *every]


def _repeats_types(schema: JSON, own: JSON) -> bool:
    """Return whether a function names only types, and the manifest the same ones."""
    if own is True or (isinstance(own, dict) and own.keys() <= {"default"}):
        return True
    if not (isinstance(schema, dict) and isinstance(own, dict) and own.keys() <= _OF_TYPES):
        return False
    return (
        schema.get("type") == own.get("type")
        and own.get("additionalProperties", True) in ({}, True)
        and "prefixItems" not in schema
        and _repeats_types(schema.get("items"), own.get("items", True))
    )


_OF_TYPES = frozenset({"type", "default", "items", "additionalProperties"})


def _place(path: Path) -> Path:
    """Return the place of a subschema; of an alternative, the place of its ``anyOf``."""
    while len(path) > 1 and (path[-1] == "type" or path[-2] in _ALTERNATIVES):
        path = path[:-1] if path[-1] == "type" else path[:-2]
    return path


def _defaults(parameters: dict[str, JSON], own: dict[str, JSON]) -> Iterator[Difference]:
    has_defaults = '"default"' in canonical(parameters)
    for pair in aligned(Roots(parameters, own)) if has_defaults else ():
        if pair.is_member and "default" in pair.schema:
            said, other = pair.schema["default"], pair.own.get("default")
            # in Python True == 1
            is_same = isinstance(other, bool) == isinstance(said, bool)
            is_same = is_same and _without_nulls(other) == _without_nulls(said)
            if other is not None and not is_same:
                path = (*PARAMETERS, *pair.path, "default")
                yield Difference("default", pair.name, None, path, said, other)


def _without_nulls(value: JSON) -> JSON:
    """Return a value without members that are null, which mostly means that they are omitted."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [*map(_without_nulls, value)] if isinstance(value, list) else value


def _in_values(
    each: SchemaDifference, parameters: dict[str, JSON], *, is_only: bool
) -> Iterator[Difference]:
    """Yield the differences of a function that follow from a difference of the schemas."""
    place, name, keyword = each.path or (), each.name, each.keyword
    path, own = (*PARAMETERS, *place), (keyword, each.narrow)
    if keyword == "properties":
        yield from _in_members(each, value_at(parameters, place[:-2]))
        return
    schema = value_at(parameters, place)
    match keyword:
        case "type" | "alternatives":
            yield from _in_types(each, schema, kinds(schema, parameters), is_only=is_only)
        case "required" if "properties" in schema or schema.get("additionalProperties") is False:
            for member in each.narrow:
                yield Difference("missing", name, None, path, None, member)
        case "enum" | "const" if each.values:
            yield from _in_listed_values(each, schema)
        case _ if opposite := contrary_bound(schema, keyword, each.narrow):
            yield Difference("bounds", name, None, (*path, opposite), schema[opposite], own)
        case _ if keyword in _COMPARED or (keyword in _SAID_ONCE and keyword not in schema):
            yield Difference("omitted", name, None, path, each.wide, own)
        # a manifest without additionalProperties invites no members that it doesn't list
        case "additionalProperties" if each.narrow is not False or keyword in schema:
            yield Difference("omitted", name, None, path, each.wide, own)


def _in_members(each: SchemaDifference, owner: dict[str, JSON]) -> Iterator[Difference]:
    """Yield a member that the function doesn't take, or a required one that isn't listed."""
    path: Path = (*PARAMETERS, *(each.path or ()))
    name, member = each.name, str(path[-1])
    name = name.removesuffix(member).removesuffix(".")
    if name and each.narrow is False:
        yield Difference("superfluous", name, None, path, member)
    elif name and member in owner.get("required", ()):
        yield Difference("missing", name, None, path[:-2], None, member)


def _in_types(
    each: SchemaDifference, schema: dict[str, JSON], known: Kinds, *, is_only: bool
) -> Iterator[Difference]:
    """Yield the types that the manifest accepts and the function doesn't take."""
    path = (*PARAMETERS, *(each.path or ()))
    own = [each.narrow] if isinstance(each.narrow, str) else each.narrow
    if known is None:
        # another rule reports a property without type
        if is_only and path[-2] != "properties":
            yield Difference("omitted", each.name, None, path, None, ("type", each.narrow))
        return
    where = (*path, "type") if "type" in schema else path
    beyond, is_alternative = known - numeric(own), path[-2] in _ALTERNATIVES
    if beyond == {"null"}:
        place = _place(path) if is_alternative else where
        yield Difference("null", each.name, None, place, None, own)
    elif (is_alternative and each.is_contradictory) or (
        "properties" in schema and (is_alternative or not beyond)
    ):
        yield Difference("alternative", each.name, None, path, None, own)
    elif beyond:
        said = schema.get("type", [*known])
        said = [said] if isinstance(said, str) else sorted(said)
        yield Difference("types", each.name, None, where, said, own)


def _in_listed_values(each: SchemaDifference, schema: dict[str, JSON]) -> Iterator[Difference]:
    """Yield the values that the manifest lists and the function rejects."""
    listed = [*map(canonical, values_of(schema) or ())]
    own = [each.narrow] if each.keyword == "const" else each.narrow
    for value in each.values:
        index = listed.index(canonical(value))
        where: Path = ("const",) if "const" in schema else ("enum", index)
        path = (*PARAMETERS, *(each.path or ()), *where)
        yield Difference("value", each.name, None, path, value, own)


_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
_TOP = len(("properties", "name")) - 1
_COMPARED = frozenset(["required", *(keyword for each in BOUNDS for keyword in each)])
_SAID_ONCE = frozenset({"enum", "const", "pattern", "format", "multipleOf"})
"""Keywords whose values aren't compared: only whether the manifest has them."""


def converted(signature: Signature) -> frozenset[str]:
    """Return the parameters whose arguments a call converts, or rejects."""
    return frozenset(
        [
            name
            for name, kind, _, annotation in signature.parameters
            if not annotation.is_plain and kind in BY_KEYWORD and not annotation.is_context
        ]
    )
