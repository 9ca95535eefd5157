"""Schemas that a provider enforces, and the reason why a schema has no such form.

A keyword that only constrains values, and that the provider doesn't enforce, moves into the
description. Where the form would admit other values than the schema does, the tool isn't strict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sovl_tools.formats.base import ROOT, Loss
from sovl_tools.formats.meaning import accepts_null, is_silent
from sovl_tools.formats.providers import Dialect
from sovl_tools.formats.recursion import recursions
from sovl_tools.formats.transformer import Transformer
from sovl_tools.model.document import JSON, Path, kind
from sovl_tools.schema.keywords import ANNOTATIONS

_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_OF_OTHERS = frozenset({"patternProperties", "unevaluatedProperties"})
_REFUSED = {
    "allOf": "allOf isn't merged into one schema",
    **dict.fromkeys(
        ("if", "then", "else", "dependentRequired", "dependentSchemas"),
        "a condition can't be enforced",
    ),
}
_ALONE = frozenset({"$ref", "anyOf", "oneOf"})
_NULL: dict[str, JSON] = {"type": "null"}
_OUTSIDE = ("title", "description")


class StrictError(Exception):
    """A schema without a strict form.

    Attributes:
        path: the place in the manifest.
        message: the reason.
        help: advice for the author.
    """

    def __init__(self, path: Path, message: str, help: str | None = None) -> None:  # noqa: A002 - as everywhere
        super().__init__(path, message, help)
        self.path = path
        self.message = message
        self.help = help


class StrictSubset(NamedTuple):
    """A schema in a dialect, with its definitions in ``$defs``.

    Attributes:
        schema: the schema.
        losses: the differences from the original.
        names: the names of all properties.
        has_optional: whether some properties weren't required.
    """

    schema: dict[str, JSON]
    losses: tuple[Loss, ...]
    names: set[str]
    has_optional: bool


def strict_subset(
    parameters: dict[str, JSON], dialect: Dialect, *, require_all: bool = False
) -> StrictSubset:
    """Return the schema of a tool's arguments in a dialect.

    Args:
        parameters: the schema of the manifest.
        dialect: the provider's table.
        require_all: whether optional properties become required and nullable.

    Raises:
        StrictError: the schema has no form in the dialect.
    """
    walk = _Strict(parameters, dialect)
    found = walk.whole()
    for path in () if dialect.is_recursive else recursions(found, through_optional=True):
        raise StrictError(path, "it contains itself", "give it a bounded depth")
    if require_all:
        definitions = found.schema.get("$defs", {})
        # at the end, because whether a reference admits null depends on its definition
        for schema, optional in walk.optional:
            members = schema["properties"]
            members |= {name: _nullable(members[name], definitions) for name in optional}
            schema["required"] = [*members]
    return StrictSubset(found.schema, found.losses, walk.names, bool(walk.optional))


class _Strict(Transformer):
    """The walk that lists every property, gives every value a type, and raises where it can't.

    Attributes:
        optional: the objects with optional properties so far, and the names of those.
    """

    def __init__(self, parameters: dict[str, JSON], dialect: Dialect) -> None:
        super().__init__(parameters, dialect)
        self.optional: list[tuple[dict[str, JSON], list[str]]] = []

    def root(self) -> tuple[dict[str, JSON], Path]:
        """Return the schema of all arguments, an object that lists all of them."""
        schema, path = super().root()
        found = next((each for each in schema if each in _ALONE), None)
        if found is not None:
            raise StrictError((*path, found), "the arguments as a whole aren't one plain object")
        return {"properties": {}, "additionalProperties": False, **schema}, path

    def decided(self, schema: bool, path: Path) -> JSON:  # noqa: FBT001 - a schema, no switch
        """Reject true and false."""
        raise StrictError(path, "any value is admitted" if schema else "no value is admitted")

    def prepared(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], Path]:
        """Return a schema that says its type, and all properties if it is an object."""
        if not _REFUSED.keys().isdisjoint(schema):
            refused = next(each for each in schema if each in _REFUSED)
            raise StrictError((*path, refused), _REFUSED[refused])
        if _ALONE.isdisjoint(schema):
            return self._typed(schema, path), path
        alone = next(each for each in schema if each in _ALONE)
        others = [each for each in schema.keys() - ANNOTATIONS if not is_silent(each)]
        if others != [alone]:
            raise StrictError((*path, alone), f"{alone} is next to other keywords")
        if alone == "$ref":
            return self._followed(schema, path)
        return schema, path

    def _followed(self, schema: dict[str, JSON], path: Path) -> tuple[dict[str, JSON], Path]:
        """Return a reference, or its target if the provider rejects keywords next to references."""
        found = self.definitions.lookup(schema["$ref"])
        if not isinstance(found.target, dict | bool):
            raise StrictError(path, f"the reference {schema['$ref']!r} can't be followed")
        if "$ref" in self._target(found.target):
            raise StrictError(path, "it refers only to itself")
        if self.dialect.is_recursive:
            return schema, path
        beside = {key: each for key, each in schema.items() if key in ANNOTATIONS}
        if beside and isinstance(found.target, dict):
            target = {**found.target, **beside}
            return self.prepared(*self.direct(target, (*ROOT, *found.path)))
        return schema, path

    def _target(self, schema: JSON) -> dict[str, JSON]:
        """Return the schema at the end of references; one of them if they lead in a circle."""
        seen = []
        while isinstance(schema, dict) and "$ref" in schema and schema not in seen:
            seen.append(schema)
            schema = self.definitions.lookup(schema["$ref"]).target
        return schema if isinstance(schema, dict) else {}

    def _typed(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        if "type" not in schema:
            schema = {"type": self._type(schema, path), **schema}
        types = schema["type"]
        for keyword in ("enum", "const"):
            if keyword in schema:
                self._check_values(schema, keyword, path)
        if "array" in types and "prefixItems" in schema:
            raise StrictError((*path, "prefixItems"), "a tuple has items of different schemas")
        if "array" in types and "items" not in schema:
            raise StrictError(path, "an array doesn't describe its items", "add 'items'")
        return self._closed(schema, path) if "object" in types else schema

    def _type(self, schema: dict[str, JSON], path: Path) -> JSON:
        """Return the type of a schema's values, or the type that its keywords are about."""
        values = [schema["const"]] if "const" in schema else schema.get("enum", ())
        if values:
            types = list(dict.fromkeys(map(kind, values)))
            return types[0] if len(types) == 1 else types
        for name, keywords in (("object", _OBJECT), ("array", {"items"})):
            if not schema.keys().isdisjoint(keywords):
                self.record("rewritten", path, f"only a value of type {name} is admitted")
                return name
        raise StrictError(path, "any type is admitted", "say its type")

    def _check_values(self, schema: dict[str, JSON], keyword: str, path: Path) -> None:
        values = schema[keyword] if keyword == "enum" else [schema[keyword]]
        if not values:
            raise StrictError((*path, keyword), "it has no choices")
        if any(isinstance(each, dict | list) for each in values):
            raise StrictError((*path, keyword), f"{keyword} has values that aren't scalars")

    def _closed(self, schema: dict[str, JSON], path: Path) -> dict[str, JSON]:
        """Return an object that has no other properties than those listed."""
        others = schema.get("additionalProperties")
        if schema.get("patternProperties") or others not in (None, False):
            keyword = "patternProperties" if others in (None, False) else "additionalProperties"
            raise StrictError((*path, keyword), "an object can have properties of any name")
        if others is None and not schema.get("properties"):
            raise StrictError(path, "an object does not list its properties")
        if others is None:
            message = "an object can't have other properties than those listed"
            self.record("rewritten", path, message)
        required = schema.get("required", ())
        # an optional property that admits no value is skipped
        members = {
            name: each
            for name, each in schema.get("properties", {}).items()
            if each is not False or name in required
        }
        absent = next((each for each in required if each not in members), None)
        if absent is not None:
            raise StrictError((*path, "required"), f"{absent!r} is required but not described")
        rest = {key: each for key, each in schema.items() if key not in _OF_OTHERS}
        names = [name for name in members if name in required]
        return {**rest, "properties": members, "required": names, "additionalProperties": False}

    def changed(self, schema: dict[str, JSON], copy: dict[str, JSON], path: Path) -> JSON:
        """Note which properties are optional."""
        del schema, path
        if "properties" in copy:
            optional = [each for each in copy["properties"] if each not in copy["required"]]
            if optional:
                self.optional.append((copy, optional))
        return copy


def _nullable(schema: dict[str, JSON], definitions: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a schema that admits null too."""
    if accepts_null(schema, definitions):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], _NULL]}
    if "$ref" in schema or "const" in schema:
        outside = {key: schema[key] for key in _OUTSIDE if key in schema}
        inside = {key: each for key, each in schema.items() if key not in outside}
        return {"anyOf": [inside, _NULL], **outside}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    made = {**schema, "type": types if "null" in types else [*types, "null"]}
    if "enum" in schema:
        made["enum"] = [*schema["enum"], None]
    return made
