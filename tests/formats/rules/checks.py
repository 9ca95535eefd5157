"""Questions that several providers ask of a definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from tests.formats.rules.walking import Node, target, walk
from tests.schema.validators import validator

UNIONS = ("oneOf", "anyOf", "allOf", "not")

_ESCAPE = re.compile(r"\\.")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_LAZY = re.compile(r"[*+?}]\?")
_BACKREFERENCE = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9]|\\k<|\(\?P=)")

Kinds = type | tuple[type, ...]


def keys(
    value: Any, needed: Mapping[str, Kinds], other: Mapping[str, Kinds], of: str = "the definition"
) -> Iterator[str]:
    """Yield what is wrong with the keys of an object and with the types of their values."""
    if not isinstance(value, dict):
        yield f"{of} isn't an object"
        return
    known = {**needed, **other}
    yield from (f"{of} has no {key!r}" for key in needed.keys() - value.keys())
    yield from (f"{of} has a key {key!r}" for key in value.keys() - known.keys())
    yield from (
        f"{key!r} of {of} is a {type(value[key]).__name__}"
        for key in known.keys() & value.keys()
        if not isinstance(value[key], known[key])
    )


def name(given: Any, pattern: str) -> Iterator[str]:
    """Yield that the tool's name is rejected."""
    if not isinstance(given, str) or not re.fullmatch(pattern, given):
        yield f"the name {given!r} does not match {pattern}"


def sound(schema: Any) -> Iterator[str]:
    """Yield why something isn't a schema of draft 2020-12."""
    for error in _of_schemas().iter_errors(schema):
        yield f"isn't a schema: {error.message}"


@cache
def _of_schemas() -> Draft202012Validator:
    return validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def leading_nowhere(schema: Any) -> Iterator[str]:
    """Yield the references that lead nowhere within the schema, or not by JSON Pointer."""
    for node in walk(schema):
        for keyword in ("$ref", "$dynamicRef") if isinstance(node.schema, dict) else ():
            reference = node.schema.get(keyword)
            if reference is not None and not isinstance(target(schema, reference), dict | bool):
                yield f"{node.place}: {reference!r} leads nowhere"


def anywhere(schema: Any, refused: Iterable[str]) -> Iterator[str]:
    """Yield where one of the keywords stands."""
    unwanted = set(refused)
    for node in walk(schema):
        for keyword in unwanted & keywords(node):
            yield f"{node.place}: {keyword!r} is not permitted"


def keywords(node: Node) -> set[str]:
    """Return the keywords of a subschema."""
    return set(node.schema) if isinstance(node.schema, dict) else set()


def has_lookaround(pattern: str) -> bool:
    """Return whether a regular expression looks ahead or behind."""
    return _LOOKAROUND.search(_plain(pattern)) is not None


def is_elaborate(pattern: str) -> bool:
    """Return whether a regular expression refers back, is lazy or looks around."""
    lazy = _LAZY.search(_plain(pattern)) is not None
    return lazy or has_lookaround(pattern) or _BACKREFERENCE.search(pattern) is not None


def _plain(pattern: str) -> str:
    """Return a regular expression without its escapes and classes."""
    return _CLASS.sub("_", _ESCAPE.sub("_", pattern))
