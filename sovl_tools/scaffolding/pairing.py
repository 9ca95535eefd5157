"""The parts of a manifest's schema, each with what the function says in its place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.model.schemanodes import SchemaNode, nodes
from sovl_tools.scaffolding.alternatives import Matcher, target_of

BASE = ("parameters",)


class Pair(NamedTuple):
    """A subschema of a manifest, and what the function says in its place.

    Attributes:
        name: what people call the place: ``place.city``, ``places[].city``.
        node: the subschema.
        own: the function's, with what it refers to in the place of a reference.
        is_part: whether that is said of what the place refers to, or of an alternative in it.
    """

    name: str
    node: SchemaNode
    own: dict[str, JSON]
    is_part: bool

    @property
    def is_inner(self) -> bool:
        """Whether it lies below the properties of the whole schema."""
        return len(self.node.path) > _TOP


_TOP = len((*BASE, "properties", "name"))


class _Step(NamedTuple):
    name: str
    schema: JSON
    own: JSON
    is_part: bool = False


def pairs(parameters: dict[str, JSON], own: dict[str, JSON]) -> list[Pair]:
    """Return the subschemas of both, from the properties of the same name on, parents first.

    References are followed on both sides. What is used in several places is met once for each
    thing that the function says there.
    """
    return list(_Walk(parameters, own).pairs())


class _Walk:
    """A way through two schemas at once."""

    def __init__(self, parameters: dict[str, JSON], own: dict[str, JSON]) -> None:
        self._matcher = Matcher(parameters, own)
        self._places = {id(each.schema): each for each in nodes(parameters, BASE)}
        self._seen: set[tuple[int, int]] = set()

    def pairs(self) -> Iterator[Pair]:
        root, own = self._matcher
        steps = _common(root.get("properties", {}), own["properties"])
        pending = deque(_Step(*each) for each in steps)
        while pending:
            step = pending.popleft()
            node, key = self._places.get(id(step.schema)), (id(step.schema), id(step.own))
            if node is not None and isinstance(step.own, dict) and key not in self._seen:
                self._seen.add(key)
                yield Pair(step.name, node, self._whole(step.own), step.is_part)
                pending.extend(self._inner(step))

    def _whole(self, own: dict[str, JSON]) -> dict[str, JSON]:
        target = target_of(own, self._matcher.own)
        if target is own or not isinstance(target, dict):
            return own
        return {**target, **{key: each for key, each in own.items() if key != "$ref"}}

    def _inner(self, step: _Step) -> Iterator[_Step]:
        """Yield what lies below a step, or what it refers to."""
        parameters, root = self._matcher
        name, schema = step.name, step.schema
        target = target_of(schema, parameters)
        own = target_of(step.own, root)
        if target is not schema:
            yield _Step(name, target, own, is_part=True)
        elif isinstance(own, dict):
            yield from _members(name, schema, own)
            for each in self._matcher.matches(schema, own):
                if each.own is not None and not (each.own is own and each.schema is schema):
                    yield _Step(name, each.schema, each.own, is_part=True)


def _members(name: str, schema: dict[str, JSON], own: dict[str, JSON]) -> Iterator[_Step]:
    for key, each, other in _common(schema.get("properties", {}), own.get("properties", {})):
        yield _Step(f"{name}.{key}", each, other)
    if "additionalProperties" in schema and "additionalProperties" in own:
        yield _Step(f"{name}[]", schema["additionalProperties"], own["additionalProperties"])
    yield from _items(name, schema, own)


def _items(name: str, schema: dict[str, JSON], own: dict[str, JSON]) -> Iterator[_Step]:
    """Yield the items of two arrays, each of which may list them one by one."""
    ours, theirs = schema.get("prefixItems", ()), own.get("prefixItems", ())
    rest, others = schema.get("items"), own.get("items")
    for index in range(max(len(ours), len(theirs))):
        item = ours[index] if index < len(ours) else rest
        other = theirs[index] if index < len(theirs) else others
        yield _Step(f"{name}[{index}]", item, other)
    yield _Step(f"{name}[]", rest, others)


def _common(one: dict[str, JSON], other: dict[str, JSON]) -> list[tuple[str, JSON, JSON]]:
    return [(key, each, other[key]) for key, each in one.items() if key in other]


_ANNOTATIONS = frozenset({"title", "description", "default", "examples"})


def agreed(found: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of those subschemas in whose place the function says one thing only.

    A definition that other places share can't be mended for one of them alone.
    """
    every = list(found)
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in every:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.node.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in _ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    shared = {key for key, others in said.items() if len(others) > 1}
    return [pair for pair in every if id(pair.node.schema) not in shared]
