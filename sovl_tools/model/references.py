"""References within a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path

_META_SCHEMA = "https://json-schema.org/draft/2020-12/"


class Reference(NamedTuple):
    """Where a reference leads: a subschema, or the reason why it leads nowhere."""

    target: JSON = None
    failure: str | None = None


def lookup(root: JSON, reference: str) -> Reference:
    """Follow a reference from the root of the schema it stands in, without fetching anything."""
    document, _, fragment = reference.partition("#")
    if document.startswith(_META_SCHEMA):
        return Reference()
    if document and document != root.get("$id"):
        return _elsewhere(root, document)
    if not fragment:
        return Reference(root)
    if not fragment.startswith("/"):
        return _anchored(root, fragment)
    return _pointed(root, path_of(fragment))


def _unquoted(fragment: str) -> str:
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote  # noqa: PLC0415 - 4 ms, and hardly ever needed

    return unquote(fragment)


def _elsewhere(root: JSON, document: str) -> Reference:
    identifiers = (value.get("$id") for value in _objects(root))
    if any(isinstance(each, str) and document in each for each in identifiers):
        return Reference()
    return Reference(failure="leads out of the schema, and nothing is fetched")


def path_of(fragment: str) -> Path:
    """Return the keys that a JSON Pointer in a reference leads along, numbers as text."""
    parts = _unquoted(fragment)[1:].split("/")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _pointed(root: JSON, path: Path) -> Reference:
    target = root
    for key in path:
        try:
            target = (
                target[int(key)] if isinstance(target, list) and str(key).isdigit() else target[key]
            )
        except (KeyError, IndexError, TypeError):
            return Reference(failure="leads nowhere")
    return Reference(target)


def _anchored(root: JSON, name: str) -> Reference:
    for value in _objects(root):
        if name in (value.get("$anchor"), value.get("$dynamicAnchor")):
            return Reference(value)
    return Reference(failure="names an anchor that is not there")


def _objects(document: JSON) -> Iterator[dict[str, JSON]]:
    """Yield the objects anywhere in a document, those above before those in them."""
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))


MAX_EXPANSION = 10_000


def expands_too_far(root: dict[str, JSON]) -> bool:
    """Tell whether following every reference leads to more subschemas than anyone can check.

    Forty definitions that each refer twice to the one before make a million million. What refers
    back to itself is counted once.
    """
    try:
        return _Expansion(root).size(root) > MAX_EXPANSION
    except RecursionError:
        return True


class _Expansion:
    """Counts subschemas with each reference replaced by what it leads to."""

    def __init__(self, root: dict[str, JSON]) -> None:
        self._root = root
        self._known: dict[int, int] = {}

    def size(self, value: JSON) -> int:
        if not isinstance(value, dict | list):
            return 0
        if id(value) not in self._known:
            self._known[id(value)] = 1
            self._known[id(value)] = self._counted(value)
        return self._known[id(value)]

    def _counted(self, value: dict[str, JSON] | list[JSON]) -> int:
        if isinstance(value, list):
            return sum(map(self.size, value))
        parts = [self.size(part) for key, part in value.items() if key not in _DEFINITIONS]
        if isinstance(value.get("$ref"), str):
            parts.append(self.size(lookup(self._root, value["$ref"]).target))
        return min(1 + sum(parts), MAX_EXPANSION + 1)


_DEFINITIONS = {"$defs", "definitions"}
