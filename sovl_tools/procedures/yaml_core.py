"""YAML by the core schema of version 1.2: plain values, and where each stands.

Nothing is resolved as in YAML 1.1: ``on``, ``no``, ``12:30`` and dates are strings, ``010`` is
ten and ``<<`` a key like any other (https://yaml.org/spec/1.2.2, section 10.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import yaml

from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, copied, depth
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.yaml_events import Events, NotYamlError, end, start
from sovl_tools.procedures.yaml_scalars import KINDS, NotCoreError, resolved

MAX_DEPTH = 100
"""How many lists and mappings may lie inside one another."""

MAX_VALUES = 50_000
"""How many values a document may have; a long text counts as several."""

MAX_EXPANSION = 10_000
"""How many values the aliases of a document may stand for in all."""

_CHARACTERS_PER_VALUE = 100
_SHOWN = 40
_TAG = "tag:yaml.org,2002:"


class Spot(NamedTuple):
    """Where a value stands: its offset, its key's, and the spots of what is in it.

    An alias stands where it is written; what is in it, where its anchor is.
    """

    offset: int
    key_offset: int
    inner: Mapping[str | int, Spot]

    def find(self, place: ManifestPlace) -> int:
        """Return the offset of a place below, or of the nearest value around it."""
        spot = self
        for part in place.path:
            if part not in spot.inner:
                return spot.offset
            spot = spot.inner[part]
        return spot.key_offset if place.of == "key" else spot.offset


class Loaded(NamedTuple):
    """The value of a document and its spot."""

    value: JSON
    spot: Spot


def load(text: str) -> Loaded:
    """Return the one document of a text without a byte order mark.

    Raises:
        NotYamlError: it is no YAML, has something that JSON has not, or is too large.
    """
    return _Composer(text).document()


class _Anchored(NamedTuple):
    """What an anchor names, and how many values that is."""

    loaded: Loaded
    weight: int


class _Composer:
    """Reads the events of one document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events = Events(text)
        # None stands for what is not complete yet
        self._anchors: dict[str, _Anchored | None] = {}
        self._weight = 0
        self._expanded = 0

    def document(self) -> Loaded:
        self._events.next()
        if isinstance(self._events.next(), yaml.StreamEndEvent):
            raise NotYamlError("the file is empty", 0)
        loaded = self._node(self._events.next(), 1)
        self._events.next()
        after = self._events.next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise NotYamlError("another document begins here", start(after), "keep one in a file")
        return loaded

    def _node(self, event: yaml.Event, level: int) -> Loaded:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor or "", start(event), level)
        anchor: str | None = getattr(event, "anchor", None)
        if anchor is None:
            return self._content(event, level)
        if anchor in self._anchors:
            raise NotYamlError(f"the anchor {anchor!r} stands here a second time", start(event))
        self._anchors[anchor] = None
        before = self._weight
        loaded = self._content(event, level)
        self._anchors[anchor] = _Anchored(loaded, self._weight - before)
        return loaded

    def _alias(self, name: str, offset: int, level: int) -> Loaded:
        if name not in self._anchors:
            advice = did_you_mean(name, self._anchors)
            raise NotYamlError(f"there is no anchor {name!r} before this", offset, advice)
        anchored = self._anchors[name]
        if anchored is None:
            raise NotYamlError(f"the alias {name!r} stands in what it stands for", offset)
        self._expand(anchored.weight, offset)
        value, spot = anchored.loaded
        if level + depth(value) > MAX_DEPTH + 1:
            raise _too_deep(offset)
        return Loaded(copied(value), Spot(offset, offset, spot.inner))

    def _expand(self, weight: int, offset: int) -> None:
        self._expanded += weight
        if self._expanded > MAX_EXPANSION:
            message = f"the aliases up to here stand for more than {MAX_EXPANSION:,} values"
            raise NotYamlError(message, offset, "write out what is needed")
        self._weigh(weight, offset)

    def _weigh(self, weight: int, offset: int) -> None:
        self._weight += weight
        if self._weight > MAX_VALUES:
            raise NotYamlError(f"the file has more than {MAX_VALUES:,} values", offset)

    def _content(self, event: yaml.Event, level: int) -> Loaded:
        offset = start(event)
        if isinstance(event, yaml.ScalarEvent):
            self._weigh(1 + len(event.value) // _CHARACTERS_PER_VALUE, offset)
            return Loaded(_scalar(event), Spot(offset, offset, _NOTHING))
        self._weigh(1, offset)
        if level > MAX_DEPTH:
            raise _too_deep(offset)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        _check_tag(event, "seq" if is_list else "map")
        return (self._sequence if is_list else self._mapping)(offset, level)

    def _sequence(self, offset: int, level: int) -> Loaded:
        values: list[JSON] = []
        spots: dict[str | int, Spot] = {}
        while not isinstance(event := self._events.next(), yaml.SequenceEndEvent):
            value, spots[len(values)] = self._node(event, level + 1)
            values.append(value)
        return Loaded(values, Spot(offset, offset, spots))

    def _mapping(self, offset: int, level: int) -> Loaded:
        values: dict[str, JSON] = {}
        spots: dict[str | int, Spot] = {}
        while not isinstance(event := self._events.next(), yaml.MappingEndEvent):
            key, at = self._key(event, offset)
            if key in values:
                raise NotYamlError(f"the key {key!r} stands here a second time", at)
            values[key], spot = self._node(self._events.next(), level + 1)
            spots[key] = spot._replace(key_offset=at)
        return Loaded(values, Spot(offset, offset, spots))

    def _key(self, event: yaml.Event, mapping_offset: int) -> tuple[str, int]:
        offset = start(event)
        if isinstance(event, yaml.CollectionStartEvent):
            raise self._no_key(event, mapping_offset)
        key = self._node(event, 1).value
        if isinstance(key, str):
            return key, offset
        written = self._text[offset : end(event)]
        if not written:
            raise NotYamlError("a key is missing here", offset)
        advice = f'put it in quotes: "{written[:_SHOWN]}"'
        raise NotYamlError(f"the key {written[:_SHOWN]} is no string", offset, advice)

    def _no_key(self, event: yaml.CollectionStartEvent, mapping_offset: int) -> NotYamlError:
        if self._text.startswith("{{", mapping_offset):
            advice = 'put it in quotes: "{{ … }}"'
            return NotYamlError("a template without quotes is a mapping", mapping_offset, advice)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        what = "a list" if is_list else "a mapping"
        return NotYamlError(f"{what} can't be a key", start(event), "write a string")


_NOTHING: Mapping[str | int, Spot] = MappingProxyType({})


def _too_deep(offset: int) -> NotYamlError:
    return NotYamlError(f"values are nested more than {MAX_DEPTH} levels deep", offset)


def _scalar(event: yaml.ScalarEvent) -> JSON:
    try:
        return resolved(event.value, _kind(event))
    except NotCoreError as error:
        raise NotYamlError(error.message, start(event), error.help) from error


def _kind(event: yaml.ScalarEvent) -> str | None:
    """Return what the scalar is said to be; None if its text has to tell."""
    if event.tag is None:
        return None if event.implicit[0] else "str"
    kind = "str" if event.tag == "!" else event.tag.removeprefix(_TAG)
    if kind not in KINDS:
        raise _strange(event.tag, start(event))
    return kind


def _check_tag(event: yaml.Event, expected: str) -> None:
    tag: str | None = getattr(event, "tag", None)
    if tag not in {None, "!", _TAG + expected}:
        raise _strange(str(tag), start(event))


def _strange(tag: str, offset: int) -> NotYamlError:
    short = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
    return NotYamlError(f"the tag {short!r} has no meaning here", offset, "remove it")
