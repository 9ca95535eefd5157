"""How what a function takes differs from the schema of its arguments.

Names are compared with the signature, which is quick and tells whether calls would fail. Values are
compared with the schema that the annotations imply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.scalars import is_in_format
from sovl_tools.model.document import JSON, Path, canonical, value_at
from sovl_tools.schema.alignment import Roots, aligned
from sovl_tools.schema.applicators import Kinds, kinds, numeric, values_of
from sovl_tools.schema.comparison import Difference as SchemaDifference
from sovl_tools.schema.comparison import contrary_bound, refusals
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature

PARAMETERS: Path = ("parameters",)

Kind: TypeAlias = Literal[
    "required_not_taken", "optional_not_taken", "not_sent", "positional_only", "star", "open",
    "context", "default", "types", "alternative", "value", "bounds", "superfluous", "missing",
    "omitted", "null",
]  # fmt: skip


class Difference(NamedTuple):
    """One thing that is not the same.

    Attributes:
        kind: what it is about.
        name: the property or the parameter, or what people call the place: ``places[].city``.
        parameter: the parameter, if it is about one and not about values.
        path: where the manifest says it, from its root; empty if it doesn't.
        said: what the manifest says: a value, or the names of types.
        own: what the function says instead.
    """

    kind: Kind
    name: str
    parameter: Parameter | None = None
    path: Path = ()
    said: Any = None
    own: Any = None


def differences(signature: Signature, parameters: Mapping[str, JSON]) -> list[Difference]:
    """Return what differs between what a call may give and what a function takes.

    Nothing is reported of parameters that a decorator may hide. ``parameters`` has properties.
    """
    if signature.shape in {"class", "value"}:
        return []
    properties = parameters["properties"]
    required = frozenset(parameters.get("required", ()))
    found: list[Difference] = []
    taken = set()
    is_open = not signature.is_certain
    for parameter in signature.parameters:
        name, kind, default, annotation = parameter
        if kind != "var_positional":
            taken.add(name)
        if kind not in BY_KEYWORD or annotation.is_context:
            found += _parameter_difference(
                parameter, is_listed=name in properties, signature=signature
            )
            is_open = is_open or kind == "var_keyword"
        elif default is REQUIRED and name not in required and signature.is_certain:
            # None of an annotation that can't be read
            is_absent = annotation.optional if name in properties else annotation.is_context
            if is_absent is False:
                found.append(Difference("not_sent", name, parameter))
    if not is_open:
        found += [
            Difference("required_not_taken" if name in required else "optional_not_taken", name)
            for name in properties
            if name not in taken
        ]
        is_function = signature.shape == "function"
        if is_function and parameters.get("additionalProperties", False) is not False:
            found.append(Difference("open", ""))
    return found


def _parameter_difference(
    parameter: Parameter, *, is_listed: bool, signature: Signature
) -> list[Difference]:
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


def value_differences(parameters: dict[str, JSON], own: dict[str, JSON]) -> list[Difference]:
    """Return what differs in the values that a call may give and that a function takes.

    ``own`` is what the function says of its arguments.
    """
    found: dict[tuple[Path, str], list[SchemaDifference]] = {}
    for each in refusals(parameters, own, is_in_format):
        if each.path:  # the manifest says something there; names were compared before
            name = _owner(each.name, each.narrow) if each.keyword == "required" else each.name
            found.setdefault((each.path, name), []).append(each)
    every = [
        difference
        for (path, _), refused in found.items()
        for difference in _at_a_place(refused, value_at(parameters, path), parameters)
    ]
    # where the types differ, so does everything about values of those types
    apart = {_place(each.path) for each in every if each.kind in {"types", "alternative"}}
    every = [
        each
        for each in every
        if each.kind not in {"null", "omitted", "value"} or _place(each.path) not in apart
    ]
    return [*_defaults(parameters, own), *every]


def _place(path: Path) -> Path:
    """Return the place of a subschema, or of the alternative in whose place it is one."""
    while len(path) > 1 and (path[-1] == "type" or path[-2] in {"anyOf", "oneOf"}):
        path = path[:-1] if path[-1] == "type" else path[:-2]
    return path


def _defaults(parameters: dict[str, JSON], own: dict[str, JSON]) -> Iterator[Difference]:
    for pair in aligned(Roots(parameters, own)):
        if pair.is_member and "default" in pair.schema:
            said, other = pair.schema["default"], pair.own.get("default")
            # in Python True == 1
            is_same = other == said and isinstance(other, bool) == isinstance(said, bool)
            if other is not None and not is_same:
                path = (*PARAMETERS, *pair.path, "default")
                yield Difference("default", pair.name, None, path, said, other)


def _at_a_place(
    refused: list[SchemaDifference], schema: dict[str, JSON], parameters: dict[str, JSON]
) -> Iterator[Difference]:
    """Yield what is said of one subschema of a manifest."""
    path = (*PARAMETERS, *(refused[0].path or ()))
    known = kinds(schema, parameters)
    for each in refused:
        if each.keyword in {"type", "alternatives"}:
            yield from _types(each, path, schema, known)
        elif each.keyword == "properties" and each.narrow is False:
            member = str(path[-1])
            yield Difference("superfluous", _owner(each.name, member), None, path, member)
        elif each.values:
            yield from _listed(each, path, schema)
        elif (opposite := contrary_bound(schema, each.keyword, each.narrow)) is not None:
            place, own = (*path, opposite), (each.keyword, each.narrow)
            yield Difference("bounds", each.name, None, place, schema[opposite], own)
        elif _is_left_out(each, schema):
            own = (each.keyword, each.narrow)
            yield Difference("omitted", each.name, None, path, each.wide, own)
    yield from _members(refused, path, schema)
    is_property = path[-2] == "properties"
    if known is None and not is_property and refused[0].keyword in {"type", "alternatives"}:
        own = ("type", refused[0].narrow)
        if len(refused) == 1:
            yield Difference("omitted", refused[0].name, None, path, None, own)


def _owner(name: str, member: str) -> str:
    """Return the name of the object that has a member, from that of the member."""
    return name[: -len(member)].removesuffix(".")


def _types(
    each: SchemaDifference, path: Path, schema: dict[str, JSON], known: Kinds
) -> Iterator[Difference]:
    """Yield that a manifest admits types which the function doesn't take."""
    if known is None:
        return
    own = [each.narrow] if isinstance(each.narrow, str) else each.narrow
    where = ("type",) if "type" in schema else ()
    beyond = known - numeric(own)
    is_alternative = path[-2] in {"anyOf", "oneOf"}
    if beyond == {"null"}:
        place = _place(path) if is_alternative else (*path, *where)
        yield Difference("null", each.name, None, place, None, own)
    elif is_alternative and (each.is_contradictory or "properties" in schema):
        yield Difference("alternative", each.name, None, path, None, own)
    elif each.keyword == "alternatives" and not beyond:
        if "properties" in schema:
            yield Difference("alternative", each.name, None, path, None, own)
    else:
        said = sorted([schema["type"]] if isinstance(schema.get("type"), str) else known)
        yield Difference("types", each.name, None, (*path, *where), said, own)


def _listed(each: SchemaDifference, path: Path, schema: dict[str, JSON]) -> Iterator[Difference]:
    """Yield the values that a manifest lists and the function refuses."""
    listed = [*map(canonical, values_of(schema) or ())]
    own = [each.narrow] if each.keyword == "const" else each.narrow
    for value in each.values:
        where: Path = ("const",) if "const" in schema else ("enum", listed.index(canonical(value)))
        yield Difference("value", each.name, None, (*path, *where), value, own)


def _is_left_out(each: SchemaDifference, schema: dict[str, JSON]) -> bool:
    """Tell whether a function admits less than a schema, which could say so."""
    if each.keyword == "additionalProperties":
        # a manifest that says nothing of members beside those that it lists invites none
        is_closed = each.narrow is False and "additionalProperties" not in schema
        return not is_closed
    return each.keyword in _LIMITS or (each.keyword in _NARROWING and each.keyword not in schema)


def _members(
    refused: list[SchemaDifference], path: Path, schema: dict[str, JSON]
) -> Iterator[Difference]:
    """Yield the members that a function needs, and that a manifest may leave out."""
    is_listed = "properties" in schema or schema.get("additionalProperties") is False
    needed = [each for each in refused if each.keyword == "required"]
    if needed and not is_listed:
        own = ("required", [each.narrow for each in needed])
        name = _owner(needed[0].name, needed[0].narrow)
        yield Difference("omitted", name, None, path, None, own)
    for each in needed if is_listed else ():
        yield Difference("missing", _owner(each.name, each.narrow), None, path, None, each.narrow)


_LIMITS = frozenset(keyword for each in BOUNDS for keyword in each)
_NARROWING = frozenset({"enum", "const", "pattern", "format", "multipleOf"})
"""Keywords by which a schema admits fewer values of a type, beside the limits."""


def converted(signature: Signature) -> frozenset[str]:
    """Return the parameters of whose arguments a call makes something, or refuses them."""
    return frozenset(
        [
            name
            for name, kind, _, annotation in signature.parameters
            if not annotation.is_plain and kind in BY_KEYWORD and not annotation.is_context
        ]
    )
