"""Definitions of a schema in one place, with every reference to them written alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.model.schemanodes import IN_LIST, IN_OBJECT, SINGLE, nodes
from sovl_tools.schema.references import is_static, lookup, path_of

_IDENTITY = frozenset({"$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"})
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


class Hoisted(NamedTuple):
    """A schema without definitions of its own, and what it refers to.

    Attributes:
        schema: the schema.
        definitions: what it refers to, by name.
        paths: where each of the definitions stood, from the schema's root.
    """

    schema: dict[str, JSON]
    definitions: dict[str, JSON]
    paths: dict[str, Path]


def in_definitions(name: str | None) -> str:
    """Return the reference to a definition, or to the whole schema: the usual address."""
    return "#" if name is None else f"#/$defs/{name}"


def hoisted(
    root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
) -> Hoisted:
    """Return a copy of a schema in which references lead to definitions at one place.

    Whatever is referred to becomes a definition, wherever it stands, by pointer, by anchor or by
    its own ``$id``; what nobody refers to is left out. A dynamic reference that can lead to one
    place only is one like any other. A reference that only an engine could follow stays as it is.

    Args:
        root: the schema, in which its references are looked up.
        address: from the name of a definition to the reference to it; None is the schema itself.
    """
    hoist = _Hoist(root, address)
    schema = hoist.copy(root)
    while hoist.due:
        name, target = hoist.due.pop()
        hoist.definitions[name] = hoist.copy(target)
    definitions = {name: hoist.definitions[name] for name in hoist.names.values()}
    return Hoisted(schema, definitions, _places(root, hoist.names))


def _places(root: dict[str, JSON], names: dict[int, str]) -> dict[str, Path]:
    if not names:
        return {}
    places = {id(node.schema): node.path for node in nodes(root, ())}
    return {name: places.get(identity, ()) for identity, name in names.items()}


class _Hoist:
    """The definitions found so far; those in ``due`` have yet to be copied."""

    def __init__(self, root: dict[str, JSON], address: Callable[[str | None], str]) -> None:
        self._root = root
        self._address = address
        self.names: dict[int, str] = {}
        self.definitions: dict[str, JSON] = {}
        self.due: list[tuple[str, JSON]] = []

    def copy(self, schema: JSON) -> JSON:
        if not isinstance(schema, dict):
            return schema
        made: dict[str, JSON] = {}
        dynamic: str | None = None
        for keyword, value in schema.items():
            if keyword == "$ref" and isinstance(value, str):
                made[keyword] = self._reference(value)
            elif keyword == "$dynamicRef" and self._is_known(value):
                dynamic = self._reference(value)
            elif keyword not in _IDENTITY:
                made[keyword] = self._below(keyword, value)
        return made if dynamic is None else _referring(made, dynamic)

    def _is_known(self, reference: JSON) -> bool:
        """Tell whether a dynamic reference leads to one definition, wherever it is come from."""
        if not isinstance(reference, str) or not is_static(self._root, reference):
            return False
        return isinstance(lookup(self._root, reference).target, dict | bool)

    def _below(self, keyword: str, value: JSON) -> JSON:
        if keyword in IN_OBJECT and isinstance(value, dict):
            return {key: self.copy(each) for key, each in value.items()}
        if keyword in IN_LIST and isinstance(value, list):
            return [self.copy(each) for each in value]
        return self.copy(value) if keyword in SINGLE else copied(value)

    def _reference(self, reference: str) -> str:
        target = lookup(self._root, reference).target
        if target is self._root:
            return self._address(None)
        if not isinstance(target, dict | bool):
            return reference
        if id(target) not in self.names:
            self.names[id(target)] = self._free(reference)
            self.due.append((self.names[id(target)], target))
        return self._address(self.names[id(target)])

    def _free(self, reference: str) -> str:
        """Return a name for what is referred to that nothing else has."""
        document, _, fragment = reference.partition("#")
        name = fragment or re.split("[/:]", document)[-1]
        last = path_of(fragment)[-1] if fragment.startswith("/") else name
        wanted = _UNFIT.sub("_", str(last)) or "definition"
        taken, number, name = set(self.names.values()), 1, wanted
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        return name


def _referring(schema: dict[str, JSON], reference: str) -> dict[str, JSON]:
    """Return a schema with a reference beside whatever it refers to already."""
    if "$ref" not in schema:
        return {**schema, "$ref": reference}
    return {**schema, "allOf": [*schema.get("allOf", ()), {"$ref": reference}]}
