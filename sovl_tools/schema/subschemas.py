"""Subschemas with their places, and the targets of references."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from itertools import chain, count, pairwise
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, pointer
from sovl_tools.schema.keywords import NESTING

_META_SCHEMA = "https://json-schema.org/draft/2020-12/"
_MOST_REFERENCES = 20
_PARTIAL = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains"}


class SchemaNode(NamedTuple):
    """A subschema.

    Attributes:
        path: from the manifest's root.
        schema: the subschema itself.
        root: the whole schema, where its references are looked up.
        base: the root's path.
        owner: the schema that has it as a property; None if it isn't a property.
        is_partial: whether it describes only some values, or only a part of them, as in ``anyOf``.
    """

    path: Path
    schema: dict[str, JSON]
    root: dict[str, JSON]
    base: Path
    owner: dict[str, JSON] | None = None
    is_partial: bool = False

    @property
    def is_property(self) -> bool:
        """Whether it describes a named property."""
        return self.owner is not None

    @property
    def is_required(self) -> bool:
        """Whether that property is required."""
        return self.owner is not None and self.path[-1] in self.owner.get("required", ())

    def is_below(self, keywords: Container[str]) -> bool:
        """Return whether a keyword leads to it, not only a property of that name."""
        path = self.path[len(self.base) :]
        return any(
            key in keywords and NESTING.get(str(before)) != "schemas by name"
            for before, key in pairwise(("", *path))
        )

    def children(self) -> Iterator[SchemaNode]:
        """Yield the subschemas right below that are objects."""
        path, schema, root, base, _, is_partial = self
        for below, child in children(schema):
            if isinstance(child, dict):
                owner = schema if below[0] == "properties" else None
                is_part = is_partial or below[0] in _PARTIAL
                yield SchemaNode((*path, *below), child, root, base, owner, is_part)

    def target(self) -> SchemaNode | None:
        """Return the subschema that its ``$ref`` leads to; None if that isn't an object."""
        reference = self.schema.get("$ref")
        found = lookup(self.root, reference) if isinstance(reference, str) else Reference()
        if not isinstance(found.target, dict):
            return None
        return self._replace(schema=found.target, path=(*self.base, *found.path))


def nodes(root: dict[str, JSON], base: Path) -> Iterator[SchemaNode]:
    """Yield the root and every subschema that is an object, parents first."""
    pending = [SchemaNode(base, root, root, base)]
    for node in pending:  # which grows meanwhile
        yield node
        pending += node.children()


def children(schema: Mapping[str, Any]) -> Iterator[tuple[Path, JSON]]:
    """Yield the subschemas right below a schema with their paths from there."""
    for keyword, value in schema.items():
        holds = NESTING.get(keyword)
        if holds == "schema":
            yield (keyword,), value
        elif holds == "schemas by name" and isinstance(value, Mapping):
            yield from (((keyword, name), each) for name, each in value.items())
        elif holds == "schemas" and isinstance(value, list | tuple):
            yield from (((keyword, index), each) for index, each in enumerate(value))


def with_subschemas(schema: Mapping[str, Any], change: Callable[[Any], JSON]) -> dict[str, Any]:
    """Return a copy of a schema with each subschema right below it changed."""
    copy = dict(schema)
    for keyword, value in schema.items():
        holds = NESTING.get(keyword)
        if holds == "schema":
            copy[keyword] = change(value)
        elif holds == "schemas by name" and isinstance(value, Mapping):
            copy[keyword] = {name: change(each) for name, each in value.items()}
        elif holds == "schemas" and isinstance(value, list | tuple):
            copy[keyword] = [change(each) for each in value]
    return copy


def places_of(
    schema: Mapping[str, JSON], key: str | int, matches: Callable[[str, str], bool]
) -> list[Path]:
    """Return the places of the subschemas for a member of that name, or for that item."""
    if isinstance(key, int):
        found: list[Path] = [("prefixItems", key), ("items",)]
        is_listed = key < len(schema.get("prefixItems", ()))
        return found[:1] if is_listed else found[1:] if "items" in schema else []
    patterns = schema.get("patternProperties", ())
    found = [("patternProperties", each) for each in patterns if matches(each, key)]
    if key in schema.get("properties", ()):
        return [*found, ("properties", key)]
    # it applies to members without any other subschema
    is_open = not found and "additionalProperties" in schema
    return [("additionalProperties",)] if is_open else found


class Reference(NamedTuple):
    """The target of a reference, or the reason why it leads nowhere.

    Attributes:
        target: the subschema; None if it wasn't found, or only an engine can find it.
        failure: why the reference leads nowhere.
        path: from the root to the target.
    """

    target: JSON = None
    failure: str | None = None
    path: Path = ()


def lookup(root: JSON, reference: str) -> Reference:
    """Follow a reference from the root of its schema, without fetching anything."""
    document, _, fragment = reference.partition("#")
    is_here = not document or document == root.get("$id")
    if is_here and (not fragment or fragment.startswith("/")):
        return _at_pointer(root, fragment)
    found = [*nodes(root, ())]
    # the parts of a schema with its own address have their own names
    if document.startswith(_META_SCHEMA) or any("$id" in each.schema for each in found[1:]):
        return Reference()
    if not is_here:
        return Reference(failure="leads out of the schema, and the network is never used")
    anchors = ("$anchor", "$dynamicAnchor")
    named = [each for each in found if fragment in map(each.schema.get, anchors)]
    if len(named) == 1:
        return Reference(named[0].schema, None, named[0].path)
    return Reference() if named else Reference(failure="names an anchor that is not there")


def follow(schema: JSON, root: JSON) -> JSON:
    """Return the schema at the end of a chain of references; the schema itself without ``$ref``.

    It is None if a reference has no target, or if only an engine can follow it.
    """
    for _ in range(_MOST_REFERENCES):
        if not (isinstance(schema, dict) and isinstance(schema.get("$ref"), str)):
            break
        schema = lookup(root, schema["$ref"]).target
    return schema


def _at_pointer(root: JSON, pointer: str) -> Reference:
    """Return the target of a JSON Pointer, written as in the fragment of a reference."""
    if "%" in pointer:
        from urllib.parse import unquote  # noqa: PLC0415 - 4 ms, and hardly ever needed

        pointer = unquote(pointer)
    target, path = root, []
    try:
        for part in pointer.split("/")[1:]:
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list):
                key = int(key) if part.isdecimal() else len(target)
            target = target[key]
            path.append(key)
    except (LookupError, TypeError, ValueError):  # the last of an index of thousands of digits
        return Reference(failure="leads nowhere")
    return Reference(target, None, tuple(path))


REFERENCES = frozenset({"$ref", "$dynamicRef"})
"""Keywords that refer to other schemas."""


def detached(node: SchemaNode) -> JSON:
    """Return a subschema to compile on its own, with the definitions it refers to."""
    schema: JSON = node.schema
    root = node.root
    if not isinstance(schema, dict) or all(
        REFERENCES.isdisjoint(each.schema) for each in nodes(schema, ())
    ):
        return schema
    from urllib.parse import quote  # noqa: PLC0415 - 4 ms, and seldom needed

    name = root.get("$id", "urn:root")
    place = quote(pointer(node.path[len(node.base) :]))
    return {"$ref": f"{name}#{place}", "$defs": {"root": {**root, "$id": name}}}


def free_name(name: str, taken: Container[str], *, joint: str = "") -> str:
    """Return a definition's name, or the first of ``name2``, ``name3``, … that is not taken."""
    names = chain([name], (f"{name}{joint}{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def needed_definitions(schema: JSON, definitions: Mapping[str, JSON]) -> list[str]:
    """Return the names of the definitions that a schema needs, directly or through others."""
    found: list[str] = []
    pending = [schema] if definitions else []
    while pending:
        each = pending.pop()
        for node in nodes(each, ()) if isinstance(each, dict) else ():
            name = defined_name(node.schema.get("$ref"))
            if name in definitions and name not in found:
                found.append(name)
                pending.append(definitions[name])
    return found


def defined_name(reference: JSON) -> str:
    """Return the name of a reference's definition; "" if its target isn't a definition."""
    start = "#/$defs/"
    is_plain = isinstance(reference, str) and reference.startswith(start)
    return reference.removeprefix(start) if is_plain else ""


MAX_EXPANSION = 10_000
MAX_STEPS = 200


def excess(root: dict[str, JSON]) -> str | None:
    """Return in words why the references lead too far for an engine; None if they don't.

    Forty definitions that each refer twice to the one before represent a million million schemas.
    A schema that refers back to itself is counted once. Engines recurse at each reference, so the
    length of a chain is bounded, too.
    """
    size, steps = _expansion(root, root, {})
    if size > MAX_EXPANSION:
        return f"multiply to more than {MAX_EXPANSION:,} subschemas"
    return f"follow each other more than {MAX_STEPS} times" if steps > MAX_STEPS else None


_Known: TypeAlias = dict[int, tuple[int, int]]


def _expansion(schema: JSON, root: JSON, known: _Known, depth: int = 0) -> tuple[int, int]:
    """Return the number of subschemas that a schema represents, and its longest reference chain.

    ``known`` has both for schemas by identity; it grows.
    """
    if not isinstance(schema, dict) or id(schema) in known:
        return known.get(id(schema), (0, 0))
    if depth > MAX_STEPS:
        return 0, MAX_STEPS + 1
    known[id(schema)] = 1, 0  # what leads back here ends here
    size = steps = 0
    pending: list[JSON] = [schema]
    for each in pending:  # which grows meanwhile
        size += 1
        # a definition counts at each reference to it
        pending += [
            child
            for path, child in children(each)
            if isinstance(child, dict) and path[0] not in _DEFINITIONS
        ]
        for keyword in REFERENCES & each.keys():
            if isinstance(each[keyword], str):
                target = lookup(root, each[keyword]).target
                more, further = _expansion(target, root, known, depth + 1)
                size, steps = size + more, max(steps, further + 1)
    # the exact number could have as many digits as there are definitions
    known[id(schema)] = min(size, MAX_EXPANSION + 1), steps
    return known[id(schema)]


_DEFINITIONS = frozenset({"$defs", "definitions"})
