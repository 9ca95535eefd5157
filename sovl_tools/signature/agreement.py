"""How what a function takes differs from the schema of its arguments.

Names are compared with the signature, which is quick and tells whether calls would fail. Values are
compared with the schema that the annotations imply: ``value_differences`` tells what differs in the
parts of both that ``comparison`` pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, canonical
from sovl_tools.schema.applicators import combinator_of, kinds, values_of
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.schema.subschemas import follow
from sovl_tools.signature.comparison import (
    LIMITING,
    NARROWING,
    Comparison,
    Matcher,
    Pair,
    exclude_each_other,
    is_wider,
    unknown_values,
)
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature

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


def value_differences(comparison: Comparison) -> Iterator[Difference]:
    """Yield what differs in the values that a call may give and that a function takes."""
    if not comparison.pairs:
        return
    matcher = comparison.matcher
    properties, others = comparison.parameters["properties"], comparison.own["properties"]
    same: dict[str, bool] = {}
    for pair in comparison.pairs:
        found: list[_Finding] = []
        name = pair.argument
        if name not in same:
            same[name] = _is_same(properties[name], others[name])
        if same[name]:
            continue
        if pair.is_property and not pair.is_part and "default" in pair.schema:
            said, other = pair.schema["default"], pair.own.get("default")
            # in Python True == 1
            is_same = other == said and isinstance(other, bool) == isinstance(said, bool)
            if other is not None and not is_same:
                found.append(("default", ("default",), said, other))
        if "$ref" not in pair.schema:
            # Where the types differ, so does everything about values of those types.
            found += [*_types(pair, matcher)] or [
                *_open_alternatives(pair, matcher),
                *_inner(pair, matcher),
            ]
        if not pair.is_part and {"types", "alternative"}.isdisjoint(kind for kind, *_ in found):
            found += _null(pair, matcher)
        for kind, where, said, other in found:
            yield Difference(kind, pair.name, None, (*pair.path, *where), said, other)


_Finding: TypeAlias = tuple[Kind, Path, Any, Any]
"""The kind of a difference, its place within a pair, and what the manifest and the function say."""


def _is_same(schema: JSON, own: dict[str, JSON]) -> bool:
    """Tell whether a function says no more of a value than its type, and that is the manifest's."""
    return (
        own.keys() <= {"type", "default"}
        and type(schema) is dict
        and own.get("type") in (None, schema.get("type"))
        and not ("default" in schema and "default" in own)
    )


def _types(pair: Pair, matcher: Matcher) -> Iterator[_Finding]:
    """Yield where the manifest admits values of types that the function does not take."""
    (_, _, schema, own, *_), (parameters, root) = pair, matcher
    if schema.get("type") == own.get("type", ()):
        return  # the common case, before anything is followed
    own_types = types_of(own, root)
    strange = [*_foreign_alternatives(pair, matcher)]
    for where in strange:
        yield "alternative", where, None, own_types
    if not strange and is_wider(kinds(schema, parameters), kinds(own, root)):
        where = ("type",) if "type" in schema else ()
        yield "types", where, types_of(schema, parameters), own_types


def _null(pair: Pair, matcher: Matcher) -> Iterator[_Finding]:
    """Yield that the manifest admits null beside other types, if the function does not."""
    (_, _, schema, own, *_), (parameters, root) = pair, matcher
    if schema.get("type") != own.get("type", ()):
        ours, theirs = kinds(schema, parameters), kinds(own, root)
        if ours is not None and theirs is not None and "null" in ours - theirs:
            where = ("type",) if "type" in schema else ()
            yield "null", where, None, types_of(own, root)


def _foreign_alternatives(pair: Pair, matcher: Matcher) -> Iterator[Path]:
    """Yield the places of alternatives that are surely none of the function's."""
    (_, _, schema, own, *_), (parameters, root) = pair, matcher
    key, theirs = combinator_of(schema), kinds(own, root)
    is_other = exclude_each_other(kinds(schema, parameters), theirs)
    if key is None and ("anyOf" not in own or is_other):
        return
    for index, match in enumerate(matcher.matches(schema, own)):
        ours = kinds(match.schema, parameters)
        # Null alone may be there for models that send it instead of leaving the argument out.
        if match.own is None and ours is not None and theirs is not None and ours != {"null"}:
            target = follow(match.schema, parameters)
            if exclude_each_other(ours, theirs) or "properties" in target:
                yield (key, index) if key else ()


def _open_alternatives(pair: Pair, matcher: Matcher) -> Iterator[_Finding]:
    """Yield the alternatives that admit values of any type where the function does not."""
    (_, _, schema, own, *_), (parameters, root) = pair, matcher
    key = combinator_of(schema)
    if key is None:
        return
    for index, match in enumerate(matcher.matches(schema, own)):
        each = match.schema
        is_open = type(each) is dict and _REFERRING.isdisjoint(each) and not kinds(each, parameters)
        if is_open and match.own is None and kinds(own, root) is not None:
            yield "omitted", (key, index), None, ("type", types_of(own, root))


_REFERRING = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"})
"""Keywords by which other schemas apply to the same value, and may say its type."""


def _inner(pair: Pair, matcher: Matcher) -> Iterator[_Finding]:
    """Yield differences in members, listed values and bounds."""
    schema, own = pair.schema, pair.own
    for name in unknown_properties(schema, own):
        yield "superfluous", ("properties", name), name, None
    known = {*schema.get("properties", ())} & {*schema.get("required", ())}
    is_listed = "properties" in schema or schema.get("additionalProperties") is False
    for name in own.get("required", ()) if is_listed else ():
        if name not in known:
            yield "missing", (), None, name
    yield from _listed(schema, own, matcher)
    contrary = [*contrary_bounds(schema, own)]
    for keyword, other in contrary:
        yield "bounds", (keyword,), schema[keyword], (other, own[other])
    is_plain_schema = combinator_of(schema) is None and values_of(schema) is None
    if is_plain_schema and combinator_of(own) is None and not contrary:
        omitted = [*_omitted(schema, own)]
        if not omitted and not pair.is_property and "type" in own and "type" not in schema:
            omitted = ["type"]  # of a property another rule says it
        for keyword in omitted:
            yield "omitted", (), schema.get(keyword), (keyword, own[keyword])


def _listed(schema: dict[str, JSON], own: dict[str, JSON], matcher: Matcher) -> Iterator[_Finding]:
    """Yield the values that a manifest lists and the function refuses."""
    values = values_of(schema)
    if not values:
        return
    # those that one of the function's alternatives takes are compared with that one
    is_whole = combinator_of(schema) is not None
    if not is_whole and matcher.taker(matcher.matches(schema, own)[0], own) is not own:
        return
    unknown = {canonical(each) for each in unknown_values(values, own, matcher.own)}
    for index, value in enumerate(values):
        if canonical(value) in unknown:
            where: Path = ("const",) if "const" in schema else ("enum", index)
            yield "value", where, value, values_of(own)


def _omitted(schema: Mapping[str, JSON], own: Mapping[str, JSON]) -> Iterator[str]:
    """Yield the keywords by which a function admits less than a schema, which could say so."""
    for keyword in own:
        if keyword in NARROWING and keyword not in schema:
            yield keyword
    others = own.get("additionalProperties")
    # who says nothing of members beside those that are listed means to invite none
    is_meant = schema.get("additionalProperties", others is not False)
    if (type(others) is dict and is_meant is True) or (others is False and is_meant is not False):
        yield "additionalProperties"
    if own.get("required") and schema.keys().isdisjoint({"properties", "additionalProperties"}):
        yield "required"
    for lower, upper in BOUNDS:
        if lower in own and (lower not in schema or schema[lower] < own[lower]):
            yield lower
        if upper in own and (upper not in schema or schema[upper] > own[upper]):
            yield upper


def types_of(schema: JSON, root: dict[str, JSON]) -> list[str]:
    """Return the names of the JSON types that a schema admits, in order."""
    target = follow(schema, root)
    said = target.get("type", ()) if isinstance(target, dict) else ()
    return sorted([said] if isinstance(said, str) else said or kinds(target, root) or ())


def unknown_properties(schema: Mapping[str, JSON], own: Mapping[str, JSON]) -> list[str]:
    """Return the properties that a function does not take where it takes no further ones."""
    if "properties" not in own or own.get("additionalProperties") is not False:
        return []
    return [name for name in schema.get("properties", ()) if name not in own["properties"]]


def contrary_bounds(
    schema: Mapping[str, JSON], own: Mapping[str, JSON]
) -> Iterator[tuple[str, str]]:
    """Yield keywords of a schema and of another one that no value can satisfy together."""
    if LIMITING.isdisjoint(own) or LIMITING.isdisjoint(schema):
        return
    for lower, upper in BOUNDS:
        if _exceeds(schema.get(lower), own.get(upper)):
            yield lower, upper
        if _exceeds(own.get(lower), schema.get(upper)):
            yield upper, lower


def _exceeds(lower: JSON, upper: JSON) -> bool:
    return lower is not None and upper is not None and bool(lower > upper)


def converted(signature: Signature) -> frozenset[str]:
    """Return the parameters of whose arguments a call makes something, or refuses them."""
    return frozenset(
        [
            name
            for name, kind, _, annotation in signature.parameters
            if not annotation.is_plain and kind in BY_KEYWORD and not annotation.is_context
        ]
    )
