"""What both providers ask of the schema of a tool's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.engine import meta_schema
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT, SINGLE
from sovl_tools.schema.subschemas import lookup

FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip
UNIONS = ("oneOf", "anyOf", "allOf")
DEFINITIONS = ("$defs", "definitions")

# in this order: an escaped bracket opens no class, and in a class a parenthesis is a letter
_ESCAPE = re.compile(r"\\.")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_ELABORATE = re.compile(r"[*+?}]\?|\(\?<?[=!]|\(\?P=")
_BACKREFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)")


class Node(NamedTuple):
    """A subschema, which may be true or false, and the path to it from the root."""

    path: Path
    schema: JSON

    @property
    def keywords(self) -> dict[str, JSON]:
        """What stands in it; nothing in true and false."""
        return self.schema if isinstance(self.schema, dict) else {}

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it names."""
        named = self.keywords.get("type", ())
        return (named,) if isinstance(named, str) else tuple(named)


def walk(schema: JSON, path: Path = ()) -> Iterator[Node]:
    """Yield a schema and all that is in it, those above before those below."""
    node = Node(path, schema)
    yield node
    for keyword, value in node.keywords.items():
        for key, child in _members(keyword, value):
            yield from walk(child, (*path, keyword, *key))


def _members(keyword: str, value: JSON) -> list[tuple[Path, JSON]]:
    if keyword in IN_OBJECT:
        return [((name,), child) for name, child in value.items()]
    if keyword in IN_LIST:
        return [((index,), child) for index, child in enumerate(value)]
    return [((), value)] if keyword in SINGLE else []


def unsound(schema: JSON) -> Iterator[str]:
    """Yield why something is no schema of draft 2020-12."""
    # in the words of the APIs, which don't say much
    for problem in meta_schema().problems(schema):
        yield f"{problem.value!r} is not valid under any of the given schemas"


def leading_nowhere(schema: JSON) -> Iterator[Node]:
    """Yield the subschemas whose reference leads nowhere within the schema."""
    for node in walk(schema):
        reference = node.keywords.get("$ref")
        if isinstance(reference, str) and not isinstance(
            lookup(schema, reference).target, dict | bool
        ):
            yield node


def has_lookaround(pattern: str) -> bool:
    """Tell whether a regular expression looks ahead or behind."""
    return _LOOKAROUND.search(_plain(pattern)) is not None


def is_elaborate(pattern: str) -> bool:
    """Tell whether a regular expression refers back, is lazy or looks around."""
    found = _ELABORATE.search(_plain(pattern)) or _BACKREFERENCE.search(pattern)
    return found is not None


def _plain(pattern: str) -> str:
    """Return a regular expression without its escapes and classes."""
    return _CLASS.sub("_", _ESCAPE.sub("_", pattern))
