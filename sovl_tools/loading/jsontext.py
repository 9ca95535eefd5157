"""Places in JSON text, found by reading it once more when something is reported."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import Path

# colons and white space add no information to the other tokens
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],]|[^\s"{}\[\]:,]+', re.DOTALL)


class Member(NamedTuple):
    """A value in the text: its path, its key's and its own offset, its text up to its end.

    ``occurrence`` counts the members of equal path from 1; ``repeated`` says whether the same
    object had the key before; ``token`` is an opening bracket for containers.
    """

    path: Path
    key_offset: int
    offset: int
    token: str
    occurrence: int
    repeated: bool


class _Open:
    """An object or array that is open while the text is read.

    Attributes:
        path: of the container.
        key: of the member that comes next, or is being read; None in an object before its key.
        key_offset: of that key; -1 in an array.
        keys: the object's keys so far.
        repeated: whether the object had the key before.
    """

    def __init__(self, path: Path, key: int | None) -> None:
        self.path = path
        self.key: str | int | None = key
        self.key_offset = -1
        self.keys: set[str] = set()
        self.repeated = False

    def enter(self, key: str, offset: int) -> None:
        """Begin the member of that key."""
        self.key, self.key_offset = key, offset
        self.repeated = key in self.keys
        self.keys.add(key)

    def leave(self) -> None:
        """End a member: the next item has the next index, and in an object a key comes next."""
        self.key = self.key + 1 if isinstance(self.key, int) else None


def members(text: str) -> Iterator[Member]:
    """Yield every value of the text in its order; broken text as far as it makes sense."""
    opened: list[_Open] = []
    seen: Counter[Path] = Counter()
    for match in _TOKEN.finditer(text):
        token, offset = match[0], match.start()
        inner = opened[-1] if opened else None
        if token in "}]":
            opened = opened[:-1]
        elif token == ",":
            if inner:
                inner.leave()
        elif inner and inner.key is None:
            inner.enter(_string(token), offset)
        else:
            path: Path = ()
            key_offset, repeated = -1, False
            if inner and inner.key is not None:
                path = (*inner.path, inner.key)
                key_offset, repeated = inner.key_offset, inner.repeated
            seen[path] += 1
            yield Member(path, key_offset, offset, token, seen[path], repeated)
            if token in "{[":
                opened.append(_Open(path, 0 if token == "[" else None))


def _string(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


class Places:
    """Where the values of a string are."""

    def __init__(self, text: str) -> None:
        self._members: dict[Path, list[Member]] = {}
        for each in members(text):
            self._members.setdefault(each.path, []).append(each)

    def offset(self, place: ManifestPlace) -> int:
        """Return the offset of the place, or of its nearest parent that is there."""
        found = self._members.get(place.path)
        if found is None:
            return self.offset(ManifestPlace(place.path[:-1])) if place.path else 0
        member = found[min(place.occurrence, len(found)) - 1]
        is_key = place.of == "key" and member.key_offset >= 0
        return member.key_offset if is_key else member.offset


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of the offset, in characters, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def too_deep_at(text: str, limit: int) -> int | None:
    """Return the offset of the first bracket nested deeper than the limit, if there is one."""
    level = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match.group() in "{[":
            level += 1
            if level > limit:
                return match.start()
        elif match.group() in "}]":
            level -= 1
    return None


_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
