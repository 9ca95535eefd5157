"""Copies of schemas, in one walk, with every reference to a definition in one place.

Every target of a reference becomes a definition, also targets with an anchor or an ``$id``. Unused
definitions are omitted. A dynamic reference becomes a plain one. A reference that only an engine
can follow is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, NamedTuple

from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.schema.keywords import IDENTITY, NESTING
from sovl_tools.schema.subschemas import Reference, free_name, lookup

_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


def in_definitions(name: str | None) -> str:
    """Return the reference to a definition in ``$defs``, or to the whole schema."""
    return "#" if name is None else f"#/$defs/{name}"


class Definitions:
    """The targets of a schema's references, named in the order of the references.

    Attributes:
        root: the schema, where its references are looked up.
        targets: the target of each definition, by name.
    """

    def __init__(
        self, root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
    ) -> None:
        self.root = root
        self.targets: dict[str, Reference] = {}
        self._address = address
        self._addresses: dict[int, str] = {}

    def lookup(self, reference: str) -> Reference:
        """Return the target of a reference, which isn't a definition for that."""
        return lookup(self.root, reference)

    def address(self, reference: str) -> str | None:
        """Return the reference to the definition of a target; None if it leads nowhere."""
        found = self.lookup(reference)
        if not isinstance(found.target, dict | bool):
            return None
        # by identity, because a reference can be written in several ways
        key = id(found.target)
        if key not in self._addresses:
            name = None if found.target is self.root else self._free_name(reference, found.path)
            self._addresses[key] = self._address(name)
            if name is not None:
                self.targets[name] = found
        return self._addresses[key]

    @property
    def are_used(self) -> bool:
        """Whether any reference leads to a definition, or to the whole schema."""
        return bool(self._addresses)

    def _free_name(self, reference: str, path: Path) -> str:
        """Return a name for a definition that isn't taken."""
        document, _, fragment = reference.partition("#")
        name = fragment or re.split("[/:]", document)[-1]
        wanted = str(path[-1]) if fragment.startswith("/") else name
        if not wanted.isidentifier() or not wanted.isascii():
            wanted = _UNFIT.sub("_", wanted) or "definition"
        return free_name(wanted, self.targets, joint="_")


class Rewrite:
    """A copy of a schema, made in one walk; subclasses change subschemas.

    Attributes:
        definitions: the names of the targets.
        base: the path of the schema itself; all paths begin with it.
        copies: the copied definitions; None during the copy.
    """

    dropped: ClassVar[frozenset[str]] = IDENTITY
    """Keywords that are omitted of every schema."""

    def __init__(self, definitions: Definitions, base: Path = ()) -> None:
        self.definitions = definitions
        self.base = base
        self.copies: dict[str, JSON] = {}

    def changed(self, schema: dict[str, JSON], copy: dict[str, JSON], path: Path) -> JSON:
        """Return the replacement of a subschema.

        Args:
            schema: the original.
            copy: its copy, with its own subschemas already changed.
            path: from the root.
        """
        del schema, path
        return copy

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Return the replacement of a subschema that is true or false."""
        del path
        return schema

    def finish(self) -> dict[str, JSON]:
        """Copy all definitions that the copies refer to, and return them."""
        targets = self.definitions.targets
        # copying a definition can lead to others
        while len(self.copies) < len(targets):
            for name in [each for each in targets if each not in self.copies]:
                self.definition(name)
        return {name: self.copies[name] for name in targets}

    def definition(self, name: str) -> JSON:
        """Return the copy of a definition; None while it is being copied."""
        if name not in self.copies:
            # a definition that refers to itself needs its own copy meanwhile
            self.copies[name] = None
            found = self.definitions.targets[name]
            self.copies[name] = self.schema(found.target, (*self.base, *found.path))
        return self.copies[name]

    def schema(self, schema: JSON, path: Path) -> JSON:
        """Return the copy of a subschema."""
        if not isinstance(schema, dict):
            return self.decided(schema, path) if isinstance(schema, bool) else copied(schema)
        schema = self.with_plain_reference(schema)
        copy = {
            keyword: self.value(keyword, value, path)
            for keyword, value in schema.items()
            if keyword not in self.dropped
        }
        return self.changed(schema, copy, path)

    def with_plain_reference(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema in which a dynamic reference with a known target is a plain one."""
        reference = schema.get("$dynamicRef")
        if not isinstance(reference, str) or self.definitions.lookup(reference).target is None:
            return schema
        schema = {key: each for key, each in schema.items() if key != "$dynamicRef"}
        refer(schema, reference)
        return schema

    def value(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Return the copy of a keyword's value, also of an invalid value."""
        kind, holds = type(value), NESTING.get(keyword)
        if holds == "schema":
            return self.single(keyword, value, path)
        if holds == "schemas by name" and kind is dict:
            return {name: self.schema(each, (*path, keyword, name)) for name, each in value.items()}
        if holds == "schemas" and kind is list:
            return [self.schema(each, (*path, keyword, at)) for at, each in enumerate(value)]
        if keyword == "$ref" and kind is str:
            return self.reference(value)
        return copied(value)

    def single(self, keyword: str, value: JSON, path: Path) -> JSON:
        """Return the copy of a keyword's only subschema."""
        return self.schema(value, (*path, keyword))

    def reference(self, reference: str) -> str:
        """Return the reference in the copy."""
        return self.definitions.address(reference) or reference


def refer(schema: dict[str, JSON], reference: str | None) -> None:
    """Add a reference to a schema, which can have one already."""
    if "$ref" in schema:
        schema["allOf"] = [*schema.get("allOf", ()), {"$ref": reference}]
    else:
        schema["$ref"] = reference


class Hoisted(NamedTuple):
    """A schema without definitions, and the definitions that it refers to.

    Attributes:
        schema: the schema.
        definitions: by name.
    """

    schema: dict[str, JSON]
    definitions: dict[str, JSON]


def hoisted(
    root: dict[str, JSON], address: Callable[[str | None], str] = in_definitions
) -> Hoisted:
    """Return a copy of a schema whose references lead to definitions at one place.

    Args:
        root: the schema, where its references are looked up.
        address: returns the reference to a definition by its name; None is the schema itself.
    """
    copy = Rewrite(Definitions(root, address))
    return Hoisted(copy.schema(root, ()), copy.finish())
