"""Every subschema changed by one function, those below before those above.

What any provider needs is done here: references lead to definitions, no subschema is true or
false, what only identifies a schema is gone, and what goes into a description is reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sovl_tools.formats.hoisting import Hoisted, hoisted
from sovl_tools.formats.notes import note, with_notes
from sovl_tools.formats.rooting import ROOT
from sovl_tools.formats.shape import Loss
from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.model.schemanodes import IN_LIST, IN_OBJECT, SINGLE

_IDENTITY = frozenset({"$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$vocabulary"})
_SWITCHES = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
_CONSEQUENCES = frozenset({"then", "else"})
_DEFINITIONS = "#/$defs/"


class Node(NamedTuple):
    """A subschema on its way.

    Attributes:
        path: the place in the manifest.
        written: the subschema as it was.
        schema: the same with every subschema in it changed already.
        follow: gives what a reference leads to, changed; None where that is not done yet.
    """

    path: Path
    written: dict[str, JSON]
    schema: dict[str, JSON]
    follow: Callable[[str], JSON]


class Changed(NamedTuple):
    """What has become of a subschema.

    Attributes:
        schema: the subschema.
        moved: keywords of the one that was written that are told in the description instead.
        notes: what else is told there.
        losses: what is lost beside what is moved.
    """

    schema: dict[str, JSON]
    moved: Sequence[str] = ()
    notes: Sequence[str] = ()
    losses: Sequence[Loss] = ()


Change = Callable[[Node], Changed]


class Reworked(NamedTuple):
    """A schema and its definitions, changed, and what they do not say."""

    source: Hoisted
    losses: tuple[Loss, ...]


def reworked(parameters: dict[str, JSON], change: Change) -> Reworked:
    """Return a copy of a schema of arguments with every subschema changed."""
    work = _Work(hoisted(parameters), change)
    source = work.source
    schema = work.node(source.schema, ROOT)
    definitions = {name: work.definition(name) for name in source.definitions}
    changed = Hoisted(schema, definitions, source.paths)
    return Reworked(changed, tuple(dict.fromkeys(work.losses)))


class _Work:
    """The definitions changed so far, and what was lost."""

    def __init__(self, source: Hoisted, change: Change) -> None:
        self.source = source
        self.losses: list[Loss] = []
        self._change = change
        self._definitions: dict[str, JSON] = {}

    def definition(self, name: str) -> JSON:
        """Return a definition, changed; None while that is being done."""
        if name not in self._definitions:
            self._definitions[name] = None
            path = (*ROOT, *self.source.paths[name])
            self._definitions[name] = self.node(self.source.definitions[name], path)
        return self._definitions[name]

    def _follow(self, reference: str) -> JSON:
        name = reference.removeprefix(_DEFINITIONS)
        return self.definition(name) if name in self.source.definitions else None

    def node(self, schema: JSON, path: Path) -> dict[str, JSON]:
        """Return a subschema, changed with all that is in it."""
        if not isinstance(schema, dict):
            return self._switch(schema, path)
        before = len(self.losses)
        lost = [*self._lost(schema)]
        made = {
            keyword: self._below(keyword, value, (*path, keyword))
            for keyword, value in schema.items()
            if keyword not in _IDENTITY and keyword not in lost
        }
        changed = self._change(Node(path, schema, made, self._follow))
        moved = [*lost, *changed.moved]
        self.losses[before:] = [*self._remaining(before, path, moved), *changed.losses]
        self.losses += _told(moved, path)
        made = {key: each for key, each in changed.schema.items() if key not in moved}
        return with_notes(made, [*_notes(moved, schema), *changed.notes])

    def _switch(self, schema: JSON, path: Path) -> dict[str, JSON]:
        """Return true or false as a subschema that is an object."""
        before = len(self.losses)
        made = self.node({} if schema else {"not": {}}, path)
        message = "false stands in the description only"
        self.losses[before:] = [Loss("moved", path, message) for _ in self.losses[before:]]
        return made

    def _below(self, keyword: str, value: JSON, path: Path) -> JSON:
        if keyword in IN_OBJECT and isinstance(value, dict):
            return {key: self.node(each, (*path, key)) for key, each in value.items()}
        if keyword in IN_LIST and isinstance(value, list):
            return [self.node(each, (*path, index)) for index, each in enumerate(value)]
        if keyword in SINGLE and not (keyword in _SWITCHES and isinstance(value, bool)):
            return self.node(value, path)
        return copied(value)

    def _lost(self, schema: dict[str, JSON]) -> Iterator[str]:
        """Yield keywords that refer to what is not in the schema any more, or never was."""
        if "$dynamicRef" in schema:
            yield "$dynamicRef"
        reference = schema.get("$ref", "#")
        name = reference.removeprefix(_DEFINITIONS)
        if reference != "#" and name not in self.source.definitions:
            yield "$ref"

    def _remaining(self, before: int, path: Path, moved: Sequence[str]) -> list[Loss]:
        """Return what was lost in the subschemas that are still there."""
        gone = {(*path, keyword) for keyword in moved}
        end = len(path) + 1
        return [each for each in self.losses[before:] if each.path[:end] not in gone]


def _told(moved: Sequence[str], path: Path) -> Iterator[Loss]:
    """Yield that keywords stand in the description; what follows from a condition goes with it."""
    for keyword in moved:
        if keyword not in _CONSEQUENCES:
            yield Loss("moved", (*path, keyword), f"{keyword} stands in the description only")


def _notes(moved: Sequence[str], schema: dict[str, JSON]) -> Iterator[str]:
    for keyword in moved:
        if keyword not in _CONSEQUENCES or "if" in schema:
            yield note(keyword, schema[keyword])
