"""Types that are described once and referred to: the ``$defs`` of a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from itertools import chain, count
from typing import Any

from sovl_tools.annotations.kind import Schema
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import nodes


class _Definition:
    """A type, the references to it, and its schema when that is known."""

    __slots__ = ("name", "references", "schema")

    def __init__(self, name: str) -> None:
        self.name = re.sub(r"\W+", "_", name).strip("_")
        self.references: list[dict[str, JSON]] = []
        self.schema: Schema = {}

    def referred(self) -> Schema:
        """Return the schema of one more place where the type is used."""
        reference = {"$ref": f"#/$defs/{self.name}/{id(self)}"}
        self.references.append(reference)
        return reference


class Definitions:
    """The definitions of one schema; types of one name get names of their own."""

    def __init__(self) -> None:
        self._made: dict[Any, _Definition] = {}
        self._foreign: dict[str, JSON] = {}

    def define(self, annotation: Any, name: str, make: Callable[[], Schema]) -> Schema:
        """Return the schema of a type that may refer to itself; ``make`` is called once."""
        key = _key(annotation)
        if key not in self._made:
            definition = self._made[key] = _Definition(name)
            definition.schema = make()
        return self._made[key].referred()

    def hoist(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema of another maker without its definitions, which are kept."""
        own: dict[str, JSON] = schema.pop("$defs", {})
        renamed = dict(self._renamed(own))
        self._foreign |= {renamed.get(name, name): each for name, each in own.items()}
        references = {f"#/$defs/{old}": f"#/$defs/{new}" for old, new in renamed.items()}
        for root in (schema, *own.values()) if references else ():
            for node in nodes(root, ()):
                mapping = node.schema.get("discriminator", {}).get("mapping", {})
                for holder, key in ((node.schema, "$ref"), *((mapping, name) for name in mapping)):
                    if holder.get(key) in references:
                        holder[key] = references[holder[key]]
        return schema

    def _renamed(self, own: dict[str, JSON]) -> Iterator[tuple[str, str]]:
        """Yield old and new names if a definition is not the same as the known one of its name."""
        known = [name for name in own if name in self._foreign]
        if any(self._foreign[name] != own[name] for name in known):
            taken = {*self._foreign, *own}
            for name in known:
                free = _free(name, taken)
                taken.add(free)
                yield name, free

    def finished(self) -> dict[str, JSON]:
        """Return the definitions and let all references lead to them.

        A type that is used in one place is described there.
        """
        found = dict(self._foreign)
        for each in self._made.values():
            if len(each.references) > 1:
                name = _free(each.name, found)
                found[name] = each.schema
                for reference in each.references:
                    reference["$ref"] = f"#/$defs/{name}"
        for each in reversed(self._made.values()):
            if len(each.references) == 1:
                _describe(each.references[0], each.schema)
        return found


def _key(annotation: Any) -> Any:
    try:
        hash(annotation)
    except TypeError:
        return repr(annotation)
    return annotation


def _free(name: str, taken: Container[str]) -> str:
    """Return the name, or the first of ``Name2``, ``Name3``, … that is not taken."""
    names = chain([name], (f"{name}{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def _describe(reference: dict[str, JSON], schema: dict[str, JSON]) -> None:
    """Put a schema in the place of the reference to it; what was added there stays."""
    added = {key: value for key, value in reference.items() if key != "$ref"}
    reference.clear()
    reference.update(schema, **added)
