"""The schema of all arguments as a plain object, which is all that providers take at the root.

What a schema says of the arguments as a whole, in alternatives or under conditions, is told in
words. The properties that it speaks of become optional ones of the object, so that a model knows
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from sovl_tools.formats.hoisting import Hoisted
from sovl_tools.formats.notes import note, with_notes
from sovl_tools.formats.shape import Loss
from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.schema.merge import merged

ROOT: Path = ("parameters",)

_LISTS = ("allOf", "anyOf", "oneOf")
_CONSEQUENCES = ("then", "else")
_CONDITION = ("if", *_CONSEQUENCES)
_NEVER: tuple[JSON, ...] = (False, {"not": {}})
_CLOSING = "unevaluatedProperties"
_HELP = "say it in the descriptions of the properties, or make several tools of it"


class Rooted(NamedTuple):
    """A schema whose root is a plain object, and what it does not say."""

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]


def rooted(source: Hoisted, refused: frozenset[str]) -> Rooted:
    """Return a schema whose root has a type, properties and none of the refused keywords.

    What ``allOf`` and a reference say is merged into the root where that is possible. Definitions
    stand in ``$defs``; those to which nothing refers any more are left out. Every reference has to
    lead to a definition or to the root.
    """
    root = _Root(source)
    for keyword in [each for each in root.schema if each in refused and each in _LISTS]:
        root.tell_branches(keyword, root.schema.pop(keyword))
    if "if" in refused:
        root.tell_condition()
    for keyword in [each for each in root.schema if each in refused]:
        root.tell(keyword)
    return root.finished()


class _Root:
    """The root so far, which is nobody else's, and what was lost."""

    def __init__(self, source: Hoisted) -> None:
        self._definitions = source.definitions
        self._written = source.schema
        self._notes: list[str] = []
        self._losses: list[Loss] = []
        self.schema, *others = self._parts(source.schema, set())
        if others:
            self._merge(others, "allOf" if "allOf" in source.schema else "$ref")

    def _parts(self, schema: JSON, seen: set[str]) -> Iterator[JSON]:
        """Yield schemas that together say what one says, none of them all of others.

        Each definition is followed once, the first time.
        """
        if not isinstance(schema, dict):
            yield schema
            return
        yield {key: each for key, each in schema.items() if key not in ("allOf", "$ref")}
        for each in schema.get("allOf", ()):
            yield from self._parts(each, seen)
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        if name in self._definitions and name not in seen:
            seen.add(name)
            yield from self._parts(self._definitions[name], seen)

    def _merge(self, parts: Sequence[JSON], keyword: str) -> None:
        closing = self.schema.pop(_CLOSING, None)
        others = []
        for part in parts:
            found = merged([self.schema, part])
            if found is None:
                others.append(part)
            else:
                self.schema = found
        if closing is not None:
            self.schema[_CLOSING] = closing
        if others:
            self.tell_branches(keyword, others)

    def tell_branches(self, keyword: str, branches: Sequence[JSON]) -> None:
        """Say in words how several schemas bear on all arguments."""
        self._learn(branches)
        self._require(keyword, branches)
        words = keyword if keyword in _LISTS else "allOf"
        self._say(words, [self._brief(each) for each in branches])
        self._lose(keyword)

    def tell_condition(self) -> None:
        """Say in words what follows from what."""
        found = {key: self.schema.pop(key) for key in _CONDITION if key in self.schema}
        if "if" not in found:
            return
        self._learn([found[key] for key in _CONSEQUENCES if key in found])
        for key, each in found.items():
            self._say(key, self._brief(each))
        self._lose("if")

    def tell(self, keyword: str) -> None:
        """Say a keyword in words."""
        self._say(keyword, self.schema.pop(keyword))
        self._lose(keyword)

    def _say(self, keyword: str, value: JSON) -> None:
        self._notes.append(note(keyword, value))

    def _lose(self, keyword: str) -> None:
        message = f"{keyword} of all arguments stands in the description only"
        path = (*ROOT, keyword) if keyword in self._written else ROOT
        self._losses.append(Loss("moved", path, message, _HELP))

    def _learn(self, branches: Sequence[JSON]) -> None:
        """Add the properties of branches, if there may be others than those of the root.

        What is not evaluated can't be told without the branches, so that it is said in words.
        """
        if _CLOSING in self.schema:
            self.tell(_CLOSING)
        if self.schema.get("additionalProperties") is False:
            return
        found: dict[str, list[JSON]] = {}
        for branch in branches:
            for name, schema in self._properties(branch, set()):
                schemas = found.setdefault(name, [])
                if schema not in schemas:
                    schemas.append(copied(schema))
        known = self.schema.get("properties", {})
        added = {name: _any_of(each) for name, each in found.items() if name not in known}
        self.schema["properties"] = {**known, **added}

    def _require(self, keyword: str, branches: Sequence[JSON]) -> None:
        """Require what every one of some alternatives requires, or any of schemas that all hold."""
        sets = [{*self._required(branch)} for branch in branches]
        together = set[str].intersection if keyword in ("anyOf", "oneOf") else set[str].union
        required = self.schema.get("required", [])
        found = together(*sets) - {*required}
        added = [name for name in self.schema.get("properties", ()) if name in found]
        if added:
            self.schema["required"] = [*required, *added]

    def _required(self, branch: JSON) -> Iterator[str]:
        for part in self._parts(branch, set()):
            if isinstance(part, dict):
                yield from part.get("required", ())

    def _properties(self, schema: JSON, seen: set[str]) -> Iterator[tuple[str, JSON]]:
        """Yield the properties of which a schema and its alternatives speak."""
        for part in self._parts(schema, seen):
            if not isinstance(part, dict):
                continue
            described = part.get("properties", {}).items()
            yield from (each for each in described if each[1] not in _NEVER)
            branches = [each for keyword in _LISTS for each in part.get(keyword, ())]
            branches += [part[keyword] for keyword in _CONSEQUENCES if keyword in part]
            for branch in branches:
                yield from self._properties(branch, seen)

    def _brief(self, branch: JSON) -> JSON:
        """Return a branch without what the root says of its properties as well."""
        whole = merged([*self._parts(branch, set())]) or branch
        if not isinstance(whole, dict):
            return whole
        known = self.schema.get("properties", {})
        described = whole.get("properties", {}).items()
        own = {name: each for name, each in described if known.get(name) != each}
        brief = {**whole, "properties": own} if own else _without(whole, "properties")
        return _without(brief, "type") if brief.get("type") == "object" else brief

    def finished(self) -> Rooted:
        """Return the root, with the definitions that it needs."""
        known = {"type": "object", "properties": {}, **self.schema}
        schema = with_notes({**known, "type": "object"}, self._notes)
        definitions = _needed(schema, self._definitions)
        made = {**schema, "$defs": definitions} if definitions else schema
        return Rooted(made, tuple(self._losses))


def _without(schema: dict[str, JSON], *keywords: str) -> dict[str, JSON]:
    return {key: each for key, each in schema.items() if key not in keywords}


def _any_of(schemas: list[JSON]) -> JSON:
    """Return a schema that fits what one of several fits, with all their values in one list."""
    first, *others = [_without(each, "const", "enum") for each in schemas]
    values = [_values(each) for each in schemas]
    if len(schemas) > 1 and all(values) and all(each == first for each in others):
        return {**first, "enum": [*{repr(each): each for each in chain(*values)}.values()]}
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _values(schema: dict[str, JSON]) -> list[JSON]:
    values: list[JSON] = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values


def _needed(schema: dict[str, JSON], definitions: dict[str, JSON]) -> dict[str, JSON]:
    """Return the definitions that a schema refers to, be it in words, and those they refer to."""
    found: set[str] = set()
    pending = [schema]
    while pending and definitions:
        text = json.dumps(pending.pop())
        names = [each for each in definitions if f"#/$defs/{each}" in text and each not in found]
        found.update(names)
        pending += [definitions[name] for name in names]
    return {name: each for name, each in definitions.items() if name in found}
