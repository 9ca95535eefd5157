"""References by name, written as JSON Pointers of the document that they are in.

``$id``, ``$anchor``, ``$dynamicRef`` and ``$recursiveRef`` become a plain ``$ref``. A document that
isn't a schema itself, such as OpenAPI's, can have them in any of its schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from sovl_tools.model.document import JSON, Path, pointer
from sovl_tools.schema.keywords import NESTING
from sovl_tools.schema.subschemas import lookup

_ANCHORS = ("$anchor", "$dynamicAnchor")
_NAMES = frozenset({"$id", *_ANCHORS, "$recursiveRef"})
_DATA = frozenset({"example", "examples", "default", "enum", "const"})


class _Place(NamedTuple):
    """An object of a document.

    Attributes:
        value: the object.
        path: from the document's root.
        base: the address of the schema around it that has an ``$id``; "" outside of one.
        recursive: the path of the schema around it that ``$recursiveRef`` means.
    """

    value: dict[str, JSON]
    path: Path
    base: str
    recursive: Path


def with_plain_references(document: dict[str, JSON]) -> dict[str, JSON]:
    """Return a document whose references are pointers; unchanged if they are already.

    A ``$dynamicRef`` that could mean several places, as its value depends on the reader's way to
    it, means anything. A reference that leads nowhere is unchanged.
    """
    places = [*_objects(document)]
    if all(_NAMES.isdisjoint(each.value) for each in places):
        return document
    named, dynamic = _named(places)
    pointers: dict[Path, str | None] = {}
    for each in places:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = each.value.get(keyword)
            if not isinstance(reference, str):
                continue
            if keyword == "$recursiveRef":
                pointers[*each.path, keyword] = _reference(each.recursive)
            elif keyword == "$dynamicRef" and dynamic.get(reference.partition("#")[2], 0) > 1:
                pointers[*each.path, keyword] = None
            elif found := _pointer(reference, each.base, named, document):
                pointers[*each.path, keyword] = found
    changed: dict[str, JSON] = _copy(document, (), pointers)
    return changed


def _objects(document: dict[str, JSON]) -> Iterator[_Place]:
    """Yield the objects of a document that can be schemas, or have schemas in them."""
    pending: list[tuple[JSON, _Place]] = [(document, _Place(document, (), "", ()))]
    for value, place in pending:  # which grows meanwhile
        path, base, recursive = place.path, place.base, place.recursive
        if isinstance(value, dict):
            identifier = value.get("$id")
            if isinstance(identifier, str):
                base, recursive = _joined(base, identifier), path
            if value.get("$recursiveAnchor") is True or path[:-1] == ("components", "schemas"):
                recursive = path
            yield _Place(value, path, base, recursive)
        members: Iterator[tuple[str | int, JSON]] = iter(())
        if isinstance(value, dict):
            is_by_name = bool(path) and NESTING.get(str(path[-1])) == "schemas by name"
            members = ((k, v) for k, v in value.items() if is_by_name or k not in _DATA)
        elif isinstance(value, list):
            members = iter(enumerate(value))
        pending += [
            (each, _Place({}, (*path, key), base, recursive))
            for key, each in members
            if isinstance(each, dict | list)
        ]


def _named(places: list[_Place]) -> tuple[dict[str, Path], dict[str, int]]:
    """Return the places by their addresses, and the number of places of each dynamic name."""
    named: dict[str, Path] = {}
    dynamic: dict[str, int] = {}
    for each in places:
        if isinstance(each.value.get("$id"), str):
            named.setdefault(each.base.partition("#")[0], each.path)
        for keyword in _ANCHORS:
            name = each.value.get(keyword)
            if isinstance(name, str):
                named.setdefault(f"{each.base.partition('#')[0]}#{name}", each.path)
                named.setdefault(f"#{name}", each.path)
        name = each.value.get("$dynamicAnchor")
        if isinstance(name, str):
            dynamic[name] = dynamic.get(name, 0) + 1
    return named, dynamic


def _pointer(
    reference: str, base: str, named: dict[str, Path], document: dict[str, JSON]
) -> str | None:
    """Return a reference as a pointer; None if it stays unchanged."""
    address = _joined(base, reference)
    url, _, fragment = address.partition("#")
    if fragment.startswith("/") or not fragment:
        if url not in named or (not fragment and not url):
            return None
        inner = _reference(named[url]) + fragment
        # within a schema that has its own address, most people count from the document's root
        return inner if lookup(document, inner).failure is None else None
    found = named.get(address, named.get(f"#{fragment}"))
    return None if found is None else _reference(found)


def _reference(path: Path) -> str:
    return "#" + pointer(path).replace("%", "%25")


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _copy(value: JSON, path: Path, pointers: dict[Path, str | None]) -> JSON:
    if isinstance(value, list):
        return [_copy(each, (*path, index), pointers) for index, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, each in value.items():
        place = (*path, key)
        if place not in pointers:
            made[key] = _copy(each, place, pointers)
        elif (reference := pointers[place]) is not None:
            made["$ref"] = reference
    return made
