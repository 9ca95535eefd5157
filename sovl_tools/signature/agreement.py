"""How what a function takes differs from the schema of its arguments.

Names are compared with the signature, which is quick and tells whether calls would fail. Values are
compared with the schema that the annotations imply, as deep as both go: ``compare`` pairs the parts
of both schemas, and ``value_differences`` tells what differs in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.scalars import is_in_format
from sovl_tools.model.document import JSON, Path, canonical
from sovl_tools.model.document import kind as kind_of
from sovl_tools.schema.applicators import Kinds, alternatives_of, combinator_of, kinds, values_of
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.inclusion import narrowings
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.schema.subschemas import follow, nodes
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


BASE: Path = ("parameters",)
_SAME_TYPE = 1
_TOP = len((*BASE, "properties", "name"))


class Pair(NamedTuple):
    """A subschema of a manifest, and what the function says in its place.

    Attributes:
        name: what people call the place: ``place.city``, ``places[].city``.
        path: of the subschema, from the manifest's root.
        schema: the subschema.
        own: the function's, with what it refers to in the place of a reference.
        is_part: whether this is what the place refers to, or an alternative in it.
        argument: the property of the whole schema in which it was met.
    """

    name: str
    path: Path
    schema: dict[str, JSON]
    own: dict[str, JSON]
    is_part: bool = False
    argument: str = ""

    def part(self, name: str, below: Path, schema: JSON, own: JSON) -> Pair:
        """Return the pair of what lies at a place below."""
        return Pair(name, (*self.path, *below), schema, own, argument=self.argument)

    @property
    def is_property(self) -> bool:
        """Whether it is what an object says of a member."""
        return len(self.path) > 1 and self.path[-2] == "properties"

    @property
    def is_inner(self) -> bool:
        """Whether it lies below the properties of the whole schema."""
        return len(self.path) > _TOP


class Comparison(NamedTuple):
    """A manifest's schema of the arguments beside the one that its function implies.

    Attributes:
        parameters: the manifest's.
        own: the function's.
        pairs: the subschemas of both, from the properties of the same name on, parents first;
            without the properties of which the manifest says word for word what the function does.
    """

    parameters: dict[str, JSON]
    own: dict[str, JSON]
    pairs: list[Pair]

    @property
    def matcher(self) -> Matcher:
        """Finds alternatives that belong together."""
        return Matcher(self.parameters, self.own)


def compare(parameters: dict[str, JSON], own: dict[str, JSON]) -> Comparison:
    """Walk through two schemas at once.

    References are followed on both sides. What is used in several places is met once for each
    thing that the function says there.
    """
    found: list[Pair] = []
    pending = [*_members(Pair("", BASE, parameters, own))]
    if not pending:
        return Comparison(parameters, own, found)
    walk = _Walk(parameters, own)
    # Schemas may refer to themselves, so each combination is visited once.
    seen: set[tuple[int, int]] = set()
    for step in pending:  # which grows meanwhile
        schema: JSON = step.schema
        said: JSON = step.own
        key = (id(schema), id(said))
        if isinstance(schema, dict) and isinstance(said, dict) and key not in seen:
            seen.add(key)
            target = follow(said, own)
            if target is not said and isinstance(target, dict):
                # keywords beside a reference add to what it refers to
                said = {**target, **{name: each for name, each in said.items() if name != "$ref"}}
            found.append(step._replace(own=said))
            pending.extend(walk.below(step))
    return Comparison(parameters, own, found)


class _Walk:
    """A way through two schemas at once."""

    def __init__(self, parameters: dict[str, JSON], own: dict[str, JSON]) -> None:
        self._matcher = Matcher(parameters, own)

    @cached_property
    def _places(self) -> dict[int, Path]:
        return {id(each.schema): each.path for each in nodes(self._matcher.parameters, BASE)}

    def below(self, step: Pair) -> Iterator[Pair]:
        """Yield what lies below a step, or what it refers to."""
        parameters, root = self._matcher
        schema = step.schema
        target, own = follow(schema, parameters), follow(step.own, root)
        if target is not schema:
            place = self._places.get(id(target))
            if place is not None:
                yield step._replace(path=place, schema=target, own=own, is_part=True)
        elif isinstance(own, dict):
            step = step._replace(own=own)
            if "properties" in schema:
                yield from _members(step)
            if "additionalProperties" in schema and "additionalProperties" in own:
                values = schema["additionalProperties"], own["additionalProperties"]
                yield step.part(f"{step.name}[]", ("additionalProperties",), *values)
            yield from _items(step)
            yield from self._alternatives(step, own)

    def _alternatives(self, step: Pair, own: dict[str, JSON]) -> Iterator[Pair]:
        key = combinator_of(step.schema)
        if key is None and combinator_of(own) is None:
            return
        for index, each in enumerate(self._matcher.matches(step.schema, own)):
            other = self._matcher.taker(each, own)
            if other is not None and not (other is own and each.schema is step.schema):
                path = (*step.path, key, index) if key else step.path
                yield step._replace(path=path, schema=each.schema, own=other, is_part=True)


def _members(step: Pair) -> Iterator[Pair]:
    name, others = step.name, step.own.get("properties", {})
    for key, each in step.schema.get("properties", {}).items():
        if key in others and not _says_nothing_more(each, others[key]):
            whole = f"{name}.{key}" if name else key
            found = step.part(whole, ("properties", key), each, others[key])
            yield found if step.argument else found._replace(argument=key)


def _says_nothing_more(schema: JSON, own: JSON) -> bool:
    """Tell whether a manifest says all that a function does, word for word."""
    if type(schema) is not dict or type(own) is not dict:
        return False
    # values that it lists may contradict the rest
    if not (_LISTING.isdisjoint(schema) or own.keys() & _LISTING):
        return False
    for key, value in own.items():
        if key not in schema or key in _STRUCTURED:
            return False
        said = schema[key]
        if type(value) is dict:
            if key not in _PARTS or not _says_nothing_more(said, value):
                return False
        # in Python 1 == True, also in lists
        elif key != "description" and (
            said != value or not (type(value) is str or repr(said) == repr(value))
        ):
            return False
    return True


_LISTING = frozenset({"enum", "const"})
_PARTS = frozenset({"items", "additionalProperties"})
_STRUCTURED = frozenset({"$ref", "$defs", "properties", "prefixItems", "anyOf", "oneOf", "allOf"})


def _items(step: Pair) -> Iterator[Pair]:
    """Yield the items of two arrays, each of which may list them one by one."""
    name, schema, own = step.name, step.schema, step.own
    ours, theirs = schema.get("prefixItems", ()), own.get("prefixItems", ())
    rest, others = schema.get("items"), own.get("items")
    for index in range(max(len(ours), len(theirs))):
        is_listed = index < len(ours)
        place: Path = ("prefixItems", index) if is_listed else ("items",)
        item = ours[index] if is_listed else rest
        other = theirs[index] if index < len(theirs) else others
        yield step.part(f"{name}[{index}]", place, item, other)
    if rest is not None and others is not None:
        yield step.part(f"{name}[]", ("items",), rest, others)


ANNOTATIONS = frozenset({"title", "description", "default", "examples"})


def agreed(found: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of those subschemas in whose place the function says one thing only.

    A definition that other places share can't be mended for one of them alone.
    """
    every = list(found)
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in every:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    shared = {key for key, others in said.items() if len(others) > 1}
    return [pair for pair in every if id(pair.schema) not in shared]


def exclude_each_other(one: Kinds, other: Kinds) -> bool:
    """Tell whether no value can be of both types; null beside others does not count."""
    return not (one is None or other is None) and (one - {"null"} or one).isdisjoint(other)


def is_wider(one: Kinds, other: Kinds) -> bool:
    """Tell whether the first admits types that the second does not; null does not count."""
    return not (one is None or other is None or (one - {"null"} or one) <= other)


class Match(NamedTuple):
    """An alternative of a manifest, and the function's that corresponds to it, if any."""

    schema: JSON
    own: JSON | None


class Matcher(NamedTuple):
    """Finds alternatives that belong together, in the schemas of a manifest and a function."""

    parameters: dict[str, JSON]
    own: dict[str, JSON]

    def matches(self, schema: dict[str, JSON], own: dict[str, JSON]) -> list[Match]:
        """Return each alternative of a manifest's schema with the function's."""
        ours, theirs = alternatives_of(schema), alternatives_of(own)
        if len(ours) == len(theirs) == 1:
            return [Match(ours[0], theirs[0])]
        found = []
        for index, each in enumerate(ours):
            scores = [self._score(each, other) for other in theirs]
            if math.inf not in scores and sum(map(bool, scores)) > 1:
                # the one that surely takes all of it, however alike the others are
                scores = [
                    math.inf if score and self._takes(other, each) else score
                    for score, other in zip(scores, theirs, strict=True)
                ]
            best = max(scores)
            places = [place for place, score in enumerate(scores) if score == best]
            # Of equally good partners the one at the same index, if it is among them.
            is_doubtful = best > _SAME_TYPE and len(places) > 1 and index not in places
            partner = theirs[index if index in places else places[0]]
            found.append(Match(each, None if best == 0 or is_doubtful else partner))
        return found

    def _takes(self, own: JSON, schema: JSON) -> bool:
        """Tell whether an alternative of the function surely admits all of a manifest's."""
        if not (isinstance(own, dict) and isinstance(schema, dict)):
            return False
        wide = {**schema, "$defs": self.parameters.get("$defs", {})}
        return not narrowings(wide, {**own, "$defs": self.own.get("$defs", {})})

    def taker(self, match: Match, own: dict[str, JSON]) -> JSON | None:
        """Return what takes an alternative's values: the function's that corresponds to it.

        Of values that are listed each may be another alternative's, and so may what alternatives
        within it admit; then it is all of them.
        """
        schema = follow(match.schema, self.parameters)
        if not isinstance(schema, dict) or combinator_of(own) is None:
            return match.own
        if combinator_of(schema) is not None:
            return own
        values = values_of(schema)
        if values is None:
            return match.own
        known = follow(match.own, self.own)
        is_one = isinstance(known, dict) and len(unknown_values(values, own, self.own)) == len(
            unknown_values(values, known, self.own)
        )
        return match.own if is_one else own

    def _score(self, schema: JSON, own: JSON) -> float:
        """Return how alike two alternatives are; 0 if they can't be one."""
        if schema == own:
            return math.inf
        schema, own = follow(schema, self.parameters), follow(own, self.own)
        one, other = kinds(schema, self.parameters), kinds(own, self.own)
        if one is None or other is None or is_wider(one, other):
            return 0
        names, known = {*schema.get("properties", ())}, {*own.get("properties", ())}
        if not names or not known:
            return _SAME_TYPE if one == other else _SAME_TYPE / 2
        # objects are matched by their members; those of another set of names are second best
        common = len(names & known)
        return common and _SAME_TYPE + 2 * common - (names != known)


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
        if keyword in _NARROWING and keyword not in schema:
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


_NARROWING = frozenset({"enum", "const", "pattern", "format", "multipleOf"})


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


def unknown_values(
    values: list[JSON], own: Mapping[str, JSON], root: dict[str, JSON]
) -> list[JSON]:
    """Return those of a manifest's values that the function surely refuses, null apart.

    ``root`` is the whole schema that the function implies.
    """
    values = [each for each in values if each is not None]
    keyword = combinator_of(own)
    if keyword is not None:  # what all alternatives refuse
        for each in own[keyword]:
            target, types = follow(each, root), kinds(each, root)
            others = [each for each in values if types is not None and kind_of(each) not in types]
            alike = [each for each in values if types is None or kind_of(each) in types]
            # true admits all, and so does what only an engine could follow
            is_known = isinstance(target, dict)
            values = others + (unknown_values(alike, target, root) if is_known else [])
        return values
    listed = values_of(own)
    if listed is not None:
        known = {*map(canonical, listed)}
        return [each for each in values if canonical(each) not in known]
    limits = {key: each for key, each in own.items() if key in _NARROWING or key in _LIMITING}
    if not values or not limits:
        return []
    schema_format, is_valid = str(limits.get("format")), compile_schema(limits).is_valid
    return [each for each in values if not (is_valid(each) and is_in_format(each, schema_format))]


_LIMITING = frozenset(keyword for each in BOUNDS for keyword in each)


def contrary_bounds(
    schema: Mapping[str, JSON], own: Mapping[str, JSON]
) -> Iterator[tuple[str, str]]:
    """Yield keywords of a schema and of another one that no value can satisfy together."""
    if _LIMITING.isdisjoint(own) or _LIMITING.isdisjoint(schema):
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
