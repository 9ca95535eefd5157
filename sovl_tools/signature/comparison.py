"""The parts of a manifest's schema beside what the function says in their place.

``compare`` pairs them, as deep as both go. Of alternatives a ``Matcher`` finds those that belong
together; where each of several may be meant, it is the one that surely takes all that is admitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from sovl_tools.annotations.scalars import is_in_format
from sovl_tools.model.document import JSON, Path, canonical, kind
from sovl_tools.schema.applicators import Kinds, alternatives_of, combinator_of, kinds, values_of
from sovl_tools.schema.comparison import refusals
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.schema.subschemas import follow, needed_definitions, nodes

BASE: Path = ("parameters",)
_SAME_TYPE = 1
_APART = _SAME_TYPE / 4
"""How alike objects are of which a member has other values."""
_MOST_TRIED = 4
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
            likely = [place for place, score in enumerate(scores) if score > _APART]
            if math.inf not in scores and len(likely) > 1:
                # the one that surely takes all of it, however alike the others are
                likely.sort(key=lambda place: (-scores[place], place != index))
                for place in likely[:_MOST_TRIED]:
                    if self._takes(theirs[place], each):
                        scores[place] = math.inf
                        break
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
        wide, narrow = _alone(schema, self.parameters), _alone(own, self.own)
        return not refusals(wide, narrow)

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
        common = names & known
        if any(_are_apart(schema["properties"][each], own["properties"][each]) for each in common):
            return _APART
        return _SAME_TYPE + 2 * len(common) - (names != known) if common else 0


def _are_apart(schema: JSON, own: JSON) -> bool:
    """Tell whether two schemas list values of which none is the same."""
    if not (isinstance(schema, dict) and isinstance(own, dict)):
        return False
    ours, theirs = values_of(schema), values_of(own)
    if ours is None or theirs is None:
        return False
    return {*map(canonical, ours)}.isdisjoint(map(canonical, theirs))


def _alone(schema: dict[str, JSON], root: dict[str, JSON]) -> dict[str, JSON]:
    """Return a part of a schema with the definitions that it needs."""
    definitions = root.get("$defs", {})
    needed = {name: definitions[name] for name in needed_definitions(schema, definitions)}
    return {**schema, "$defs": needed} if needed else schema


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
            others = [each for each in values if types is not None and kind(each) not in types]
            alike = [each for each in values if types is None or kind(each) in types]
            # true admits all, and so does what only an engine could follow
            is_known = isinstance(target, dict)
            values = others + (unknown_values(alike, target, root) if is_known else [])
        return values
    listed = values_of(own)
    if listed is not None:
        known = {*map(canonical, listed)}
        return [each for each in values if canonical(each) not in known]
    limits = {key: each for key, each in own.items() if key in NARROWING or key in LIMITING}
    if not values or not limits:
        return []
    schema_format, is_valid = str(limits.get("format")), compile_schema(limits).is_valid
    return [each for each in values if not (is_valid(each) and is_in_format(each, schema_format))]


LIMITING = frozenset(keyword for each in BOUNDS for keyword in each)
NARROWING = frozenset({"enum", "const", "pattern", "format", "multipleOf"})
"""Keywords by which a schema admits fewer values of a type, beside the limits."""
