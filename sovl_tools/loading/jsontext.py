"""Places in JSON text, found by reading it once more when something is reported."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from json import decoder
from typing import NamedTuple

from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, Path

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)


class Member(NamedTuple):
    """A value in the text: its path, its key's and its own offset, its text up to its end.

    ``occurrence`` counts the members of equal path from 1; ``repeated`` tells whether the same
    object had the key before; ``token`` is an opening bracket for containers.
    """

    path: Path
    key_offset: int
    offset: int
    token: str
    occurrence: int
    repeated: bool


class _Frame:
    """An object or array that is open while the text is read."""

    __slots__ = ("key", "key_offset", "keys", "repeated")

    def __init__(self, *, key: str | int | None) -> None:
        self.key = key
        self.key_offset = -1
        self.keys: set[str] = set()
        self.repeated = False

    def enter(self, key: str, offset: int) -> None:
        """Begin the member of that key."""
        self.key, self.key_offset = key, offset
        self.repeated = key in self.keys
        self.keys.add(key)


_DOCUMENT = _Frame(key=None)


def members(text: str) -> Iterator[Member]:
    """Yield every value of the text in its order; broken text as far as it makes sense."""
    frames: list[_Frame] = []
    seen: Counter[Path] = Counter()
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "}]:,":
            if not frames or token == ":":
                continue
            # in an array the next item has the next index; in an object a key comes next
            if token in "}]":
                frames.pop()
            elif isinstance(frames[-1].key, int):
                frames[-1].key += 1
            else:
                frames[-1].key = None
        elif frames and frames[-1].key is None:
            frames[-1].enter(_string(token), match.start())
        else:
            path = tuple(frame.key for frame in frames if frame.key is not None)
            seen[path] += 1
            frame = frames[-1] if frames else _DOCUMENT
            start = match.start()
            yield Member(path, frame.key_offset, start, token, seen[path], frame.repeated)
            if token in "{[":
                frames.append(_Frame(key=0 if token == "[" else None))


def _string(token: str) -> str:
    if "\\" not in token and token.isprintable() and token[1:].endswith('"'):
        return token[1:-1]
    try:
        return str(json.loads(token))
    except ValueError:
        return token


class Places:
    """Where everything in a text is; only the containers that are asked for are read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._inner: dict[Path, dict[str | int, tuple[int, int]]] = {}

    def offset(self, place: ManifestPlace) -> int:
        """Return the offset of the place, or of its nearest parent that is there."""
        try:
            if not place.occurrence:
                key_offset, offset = self._found(place.path)
                return key_offset if place.of == "key" and key_offset >= 0 else offset
        except (LookupError, ValueError, StopIteration):
            pass  # it is not there, or the text is no JSON
        # the slow way: the whole text, however broken, with keys that stand in it twice
        found = self._every.get(place.path)
        if found:
            member = found[min(place.occurrence, len(found)) - 1]
            is_key = place.of == "key" and member.key_offset >= 0
            return member.key_offset if is_key else member.offset
        return self.offset(ManifestPlace(place.path[:-1])) if place.path else 0

    def _found(self, path: Path, below: Path = ()) -> tuple[int, int]:
        """Return the offsets of a value's key and of the value itself.

        ``below`` leads on from it, to what is looked for.
        """
        if not path:
            return -1, _space(self._text, 0)
        above = path[:-1]
        if above not in self._inner:
            below = path[-1:] + below
            offset = self._found(above, below)[1]
            if above not in self._inner:  # else it was read on the way
                self._read(above, offset, below)
        return self._inner[above][path[-1]]

    def _read(self, path: Path, offset: int, below: Path) -> int:
        """Note the members of a value, with the offsets of key and value, and return its end.

        Those of the containers on the way below it are noted too, so that nothing is read twice.

        Raises:
            ValueError, StopIteration: the text is no JSON.
        """
        text = self._text
        found: dict[str | int, tuple[int, int]] = {}
        bracket = text[offset : offset + 1]
        if bracket not in _ENTRY:
            self._inner[path] = found
            return offset
        entry_at, is_object = _ENTRY[bracket].match, bracket == "{"
        on_way = below[0] if len(below) > 1 else None
        at, entry = offset + 1, entry_at(text, offset)
        while entry is not None:
            at = entry.end()
            if is_object:
                key: str | int = entry[1]
                start = entry.start(1)
                if "\\" in entry[1]:
                    key = _STRING(text, start)[0]
                found[key] = start - 1, at
            else:
                key = len(found)
                found[key] = -1, at
            if key == on_way and text[at : at + 1] in _ENTRY:
                at = self._read((*path, key), at, below[1:])
            else:
                at = _SCAN(text, at)[1]
            entry = entry_at(text, at)
        end = _END[bracket].match(text, at)
        if end is None:
            raise ValueError("it does not end")
        self._inner[path] = found
        return end.end()

    @cached_property
    def _every(self) -> dict[Path, list[Member]]:
        found: dict[Path, list[Member]] = {}
        for member in members(self._text):
            found.setdefault(member.path, []).append(member)
        return found


def _space(text: str, offset: int) -> int:
    """Return the offset of what follows white space."""
    return _SPACE.match(text, offset).end()  # type: ignore[union-attr]


_SPACE = re.compile(r"[ \t\n\r]*")
_ENTRY = {
    "{": re.compile(
        r"""
        [ \t\n\r]* [{,]  # at first the bracket itself
        [ \t\n\r]* "([^"\\\x00-\x1f]* (?:\\.[^"\\\x00-\x1f]*)*)"
        [ \t\n\r]* : [ \t\n\r]*
        """,
        re.VERBOSE,
    ),
    "[": re.compile(r"[ \t\n\r]*[\[,][ \t\n\r]*(?!\])"),
}
_END = {"{": re.compile(r"[ \t\n\r]*\}"), "[": re.compile(r"[ \t\n\r]*\]")}
_STRING: Callable[[str, int], tuple[str, int]] = vars(decoder)["scanstring"]
_SCAN: Callable[[str, int], tuple[JSON, int]] = vars(json.JSONDecoder())["scan_once"]


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
