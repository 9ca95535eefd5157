"""What is not the same in what a function takes and in the schema of its arguments.

Names are compared with the signature, which is quick and tells whether calls would fail. Values are
compared with the schema that the annotations imply, as deep as both go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.applicators import combinator_of, kinds, values_of
from sovl_tools.schema.subschemas import follow
from sovl_tools.signature.pairs import Matcher, Pair, exclude_each_other, is_wider, pairs
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Parameter, Signature

Kind: TypeAlias = Literal[
    "required_not_taken", "optional_not_taken", "not_sent", "positional_only", "star", "open",
    "context", "default", "types", "alternative", "value", "bounds", "superfluous", "missing",
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

    Of what a decorator hides nothing is said. ``parameters`` has properties.
    """
    if signature.shape in {"class", "value"}:
        return []
    properties = parameters["properties"]
    required = frozenset(parameters.get("required", ()))
    found: list[Difference] = []
    is_open = not signature.is_certain
    for parameter in signature.parameters:
        name, kind, default, annotation = parameter
        is_needed = default is REQUIRED and name not in required and signature.is_certain
        if annotation.is_context or kind not in BY_KEYWORD:
            found += _unfit(parameter, is_listed=name in properties, signature=signature)
            is_open = is_open or kind == "var_keyword"
        elif name not in properties:
            if is_needed and annotation.is_context is False:
                found.append(Difference("not_sent", name, parameter))
        elif is_needed and annotation.optional is False:
            found.append(Difference("not_sent", name, parameter))
    return found if is_open else found + _untaken(signature, parameters, required)


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
) -> list[Difference]:
    """Return what a call may give although the function has no parameter for it."""
    known = {each.name for each in signature.parameters if each.kind != "var_positional"}
    found = [
        Difference("required_not_taken" if name in required else "optional_not_taken", name)
        for name in parameters["properties"]
        if name not in known
    ]
    if parameters.get("additionalProperties", False) is not False and signature.shape == "function":
        found.append(Difference("open", ""))
    return found


def value_differences(parameters: dict[str, JSON], own: dict[str, JSON]) -> Iterator[Difference]:
    """Yield what differs in the values that a call may give and that a function takes.

    Args:
        parameters: the manifest's schema of the arguments.
        own: the schema that the function's annotations and defaults imply.
    """
    properties = parameters["properties"]
    others = {
        name: each
        for name, each in own["properties"].items()
        if name in properties and not _is_same(properties[name], each)
    }
    if not others:
        return
    own = {**own, "properties": others}
    for pair in pairs(parameters, own):
        if pair.is_property and not pair.is_part:
            yield from _defaults(pair)
        if "$ref" not in pair.schema:
            case = _Case(pair, Matcher(parameters, own))
            mistyped = [*_types(case)]
            yield from mistyped
            for part in () if mistyped else _PARTS:
                yield from part(case)


def _is_same(schema: JSON, own: dict[str, JSON]) -> bool:
    """Tell whether a function says no more of a value than its type, and that is the manifest's."""
    return (
        own.keys() <= {"type", "default"}
        and type(schema) is dict
        and own.get("type") in (None, schema.get("type"))
        and not ("default" in schema and "default" in own)
    )


class _Case(NamedTuple):
    """A pair, and the two whole schemas that it is of."""

    pair: Pair
    matcher: Matcher

    def found(self, kind: Kind, where: Path, said: Any, own: Any) -> Difference:
        """Return a difference at a place within the pair."""
        return Difference(kind, self.pair.name, None, (*self.pair.path, *where), said, own)


def _defaults(pair: Pair) -> Iterator[Difference]:
    if "default" in pair.schema and pair.own.get("default") is not None:
        said, own = pair.schema["default"], pair.own["default"]
        if own != said or isinstance(own, bool) != isinstance(said, bool):
            yield Difference("default", pair.name, None, (*pair.path, "default"), said, own)


def _types(case: _Case) -> Iterator[Difference]:
    """Yield where the manifest admits values of types that the function does not take."""
    (_, _, schema, own, _), (parameters, root) = case
    if schema.get("type") == own.get("type", ()):
        return
    own_types = types_of(own, root)
    strange = [*_strange(case)]
    for where in strange:
        yield case.found("alternative", where, None, own_types)
    if not strange and is_wider(kinds(schema, parameters), kinds(own, root)):
        where = ("type",) if "type" in schema else ()
        yield case.found("types", where, types_of(schema, parameters), own_types)


def _strange(case: _Case) -> Iterator[Path]:
    """Yield where alternatives stand that are none of the function's."""
    (_, _, schema, own, _), matcher = case
    key = combinator_of(schema)
    if key is None and ("anyOf" not in own or _excludes(schema, case)):
        return
    for index, match in enumerate(matcher.matches(schema, own)):
        if match.own is None and _is_strange(match.schema, case):
            yield (key, index) if key else ()


def _is_strange(schema: JSON, case: _Case) -> bool:
    """Tell whether an alternative is surely none of the function's."""
    parameters, root = case.matcher
    ours, theirs = kinds(schema, parameters), kinds(case.pair.own, root)
    if ours is None or theirs is None or ours == {"null"}:
        return False
    target = follow(schema, parameters)
    return exclude_each_other(ours, theirs) or "properties" in target


def _excludes(schema: JSON, case: _Case) -> bool:
    parameters, root = case.matcher
    return exclude_each_other(kinds(schema, parameters), kinds(case.pair.own, root))


def types_of(schema: JSON, root: dict[str, JSON]) -> list[str]:
    """Return the names of the JSON types that a schema admits, in order."""
    target = follow(schema, root)
    said = target.get("type", ()) if isinstance(target, dict) else ()
    return sorted([said] if isinstance(said, str) else said or kinds(target, root) or ())


def _superfluous(case: _Case) -> Iterator[Difference]:
    for name in unknown_properties(case.pair.schema, case.pair.own):
        yield case.found("superfluous", ("properties", name), name, None)


def unknown_properties(schema: Mapping[str, JSON], own: Mapping[str, JSON]) -> list[str]:
    """Return the properties that a function does not take where it takes no further ones."""
    if "properties" not in own or own.get("additionalProperties") is not False:
        return []
    return [name for name in schema.get("properties", ()) if name not in own["properties"]]


def _missing(case: _Case) -> Iterator[Difference]:
    schema = case.pair.schema
    known = {*schema.get("properties", ())} & {*schema.get("required", ())}
    for name in case.pair.own.get("required", ()) if "properties" in schema else ():
        if name not in known:
            yield case.found("missing", (), None, name)


def _values(case: _Case) -> Iterator[Difference]:
    schema, own = case.pair.schema, case.pair.own
    values = values_of(schema)
    if values is None or values_of(own) is None:
        return
    unknown = {canonical(each) for each in unknown_values(values, own)}
    for index, value in enumerate(values):
        if canonical(value) in unknown:
            where: Path = ("const",) if "const" in schema else ("enum", index)
            yield case.found("value", where, value, values_of(own))


def unknown_values(values: list[JSON], own: Mapping[str, JSON]) -> list[JSON]:
    """Return those of a manifest's values that are not among the function's, null apart."""
    listed = values_of(own)
    known = None if listed is None else {canonical(each) for each in [*listed, None]}
    return [] if known is None else [each for each in values if canonical(each) not in known]


def canonical(value: JSON) -> str:
    """Return a text that is the same for equal values only: 1 is not true."""
    return json.dumps(value, sort_keys=True)


_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)


_LIMITING = frozenset(keyword for each in _BOUNDS for keyword in each)


def _bounds(case: _Case) -> Iterator[Difference]:
    schema, own = case.pair.schema, case.pair.own
    for keyword, other in contrary_bounds(schema, own):
        bound = (other, own[other])
        yield case.found("bounds", (keyword,), schema[keyword], bound)


def contrary_bounds(
    schema: Mapping[str, JSON], own: Mapping[str, JSON]
) -> Iterator[tuple[str, str]]:
    """Yield keywords of a schema and of another one that no value can satisfy together."""
    if _LIMITING.isdisjoint(own) or _LIMITING.isdisjoint(schema):
        return
    for lower, upper in _BOUNDS:
        if _exceeds(schema.get(lower), own.get(upper)):
            yield lower, upper
        if _exceeds(own.get(lower), schema.get(upper)):
            yield upper, lower


def _exceeds(lower: JSON, upper: JSON) -> bool:
    return lower is not None and upper is not None and bool(lower > upper)


_PARTS: tuple[Callable[[_Case], Iterator[Difference]], ...] = (
    _superfluous,
    _missing,
    _values,
    _bounds,
)
