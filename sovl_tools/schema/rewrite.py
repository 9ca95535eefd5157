"""Copies of schemas, in one walk, with every reference to a definition in one place.

Whatever is referred to becomes a definition, wherever it is, by pointer, by anchor or by its own
``$id``; what nobody refers to is left out. A dynamic reference that can lead to one place only is
one like any other. A reference that only an engine could follow stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, NamedTuple

from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.schema.keywords import IDENTITY, IN_LIST, IN_OBJECT, SINGLE
from sovl_tools.schema.subschemas import Reference, free_name, is_static, lookup

_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


def in_definitions(name: str | None) -> str:
    """Return the reference to a definition, or to the whole schema: the usual address."""
    return "#" if name is None else f"#/$defs/{name}"


class Definitions:
    """What a schema refers to, by names that are given as references are met.

    Attributes:
        root: the schema, in which its references are looked up.
        targets: where each definition is, by name.
    """

    def __init__(
        self, root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
    ) -> None:
        self.root = root
        self.targets: dict[str, Reference] = {}
        self._address = address
        self._addresses: dict[int, str] = {}
        self._given: dict[str, JSON] = {}
        self._known: dict[str, str | None] = {}

    def address(self, reference: str) -> str | None:
        """Return the reference to the definition that another one leads to; None for nowhere."""
        if reference in self._known:
            return self._known[reference]
        found, address = lookup(self.root, reference), None
        if isinstance(found.target, dict | bool):
            # by identity: two ways to write a reference lead to one definition
            key = id(found.target)
            if key not in self._addresses:
                name = None if found.target is self.root else self._free_name(reference, found.path)
                self._addresses[key] = self._address(name)
                self._given[self._addresses[key]] = found.target
                if name is not None:
                    self.targets[name] = found
            address = self._addresses[key]
        self._known[reference] = address
        return address

    def target(self, address: str) -> JSON:
        """Return what a definition is, or the whole schema, by the reference to it here."""
        return self._given[address]

    def is_static(self, reference: JSON) -> bool:
        """Tell whether a dynamic reference leads to one definition, wherever it is come from."""
        if not isinstance(reference, str) or not is_static(self.root, reference):
            return False
        return isinstance(lookup(self.root, reference).target, dict | bool)

    @property
    def are_used(self) -> bool:
        """Whether there are references that lead to definitions, or to the whole schema."""
        return bool(self._addresses)

    def is_address(self, reference: JSON) -> bool:
        """Tell whether a reference leads to a definition by the name that it has here."""
        return isinstance(reference, str) and reference in self._given

    def _free_name(self, reference: str, path: Path) -> str:
        """Return a name for a definition that no other definition has."""
        document, _, fragment = reference.partition("#")
        name = fragment or re.split("[/:]", document)[-1]
        wanted = str(path[-1]) if fragment.startswith("/") else name
        if not wanted.isidentifier() or not wanted.isascii():
            wanted = _UNFIT.sub("_", wanted) or "definition"
        return free_name(wanted, self.targets, joint="_")


class Rewrite:
    """A copy of a schema, made in one walk; subclasses change what they are to change.

    Attributes:
        definitions: the names of what is referred to.
        base: the path of the schema itself, with which all paths begin.
        copies: the definitions, copied; None for one that is being copied.
    """

    dropped: ClassVar[frozenset[str]] = IDENTITY
    """Keywords that are left out of every schema."""

    def __init__(self, definitions: Definitions, base: Path = ()) -> None:
        self.definitions = definitions
        self.base = base
        self.copies: dict[str, JSON] = {}

    def changed(self, schema: dict[str, JSON], copy: dict[str, JSON], path: Path) -> JSON:
        """Return what becomes of a subschema.

        Args:
            schema: as it was.
            copy: its copy, in which every subschema is changed already.
            path: from the root.
        """
        del schema, path
        return copy

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Return what becomes of a subschema that is true or false."""
        del path
        return schema

    def finish(self) -> dict[str, JSON]:
        """Copy the definitions to which what is copied so far refers, and return them all."""
        targets = self.definitions.targets
        # To copy a definition may bring up others.
        while len(self.copies) < len(targets):
            for name in [each for each in targets if each not in self.copies]:
                self.definition(name)
        return {name: self.copies[name] for name in targets}

    def definition(self, name: str) -> JSON:
        """Return the copy of a definition; None while it is being made."""
        if name not in self.copies:
            # a definition that refers to itself asks for its own copy meanwhile
            self.copies[name] = None
            found = self.definitions.targets[name]
            self.copies[name] = self.schema(found.target, (*self.base, *found.path))
        return self.copies[name]

    def schema(self, schema: JSON, path: Path) -> JSON:
        """Return the copy of a subschema."""
        if not isinstance(schema, dict):
            return self.decided(schema, path) if isinstance(schema, bool) else copied(schema)
        if "$dynamicRef" in schema and self.definitions.is_static(schema["$dynamicRef"]):
            schema = dict(schema)
            refer(schema, schema.pop("$dynamicRef"))
        copy = {
            keyword: self._value(keyword, value, path)
            for keyword, value in schema.items()
            if keyword not in self.dropped
        }
        return self.changed(schema, copy, path)

    def _value(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Return the copy of what a keyword says; a wrong value stays for those who say so."""
        kind = type(value)
        if keyword in SINGLE:
            return self.single(keyword, value, path)
        if keyword in IN_OBJECT and kind is dict:
            return {name: self.schema(each, (*path, keyword, name)) for name, each in value.items()}
        if keyword in IN_LIST and kind is list:
            return [self.schema(each, (*path, keyword, at)) for at, each in enumerate(value)]
        if keyword == "$ref" and kind is str:
            return self.reference(value)
        return copied(value)

    def single(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Return the copy of a keyword's only subschema."""
        return self.schema(value, (*path, keyword))

    def reference(self, reference: str) -> str:
        """Return where a reference leads in the copy."""
        return self.definitions.address(reference) or reference


def refer(schema: dict[str, JSON], reference: str | None) -> None:
    """Add a reference to a schema, beside whatever it refers to already."""
    if "$ref" in schema:
        schema["allOf"] = [*schema.get("allOf", ()), {"$ref": reference}]
    else:
        schema["$ref"] = reference


class Hoisted(NamedTuple):
    """A schema without definitions of its own, and what it refers to.

    Attributes:
        schema: the schema.
        definitions: what it refers to, by name.
        targets: where each of the definitions is in the schema that was copied.
    """

    schema: dict[str, JSON]
    definitions: dict[str, JSON]
    targets: dict[str, Reference]


def hoisted(
    root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
) -> Hoisted:
    """Return a copy of a schema in which references lead to definitions at one place.

    Args:
        root: the schema, in which its references are looked up.
        address: from the name of a definition to the reference to it; None is the schema itself.
    """
    copy = Rewrite(Definitions(root, address))
    return Hoisted(copy.schema(root, ()), copy.finish(), copy.definitions.targets)
