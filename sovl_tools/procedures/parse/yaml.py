"""YAML by the core schema of version 1.2: plain values, and where each is.

Scalars aren't resolved as in YAML 1.1: ``on``, ``no``, ``12:30`` and dates are strings, ``010`` is
ten and ``<<`` a key like any other (https://yaml.org/spec/1.2.2, section 10.3.2).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sovl_tools.loading.rules.text import QUOTE_INSIDE, is_after_quote
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, encodes
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.procedure import MAX_DEPTH, MAX_VALUES

MAX_EXPANSION = 10_000
"""The number of values that the aliases of a document may repeat in all."""

_SHOWN = 40
_TAG = "tag:yaml.org,2002:"


class NotYamlError(ValueError):
    """A string that can't be read; ``offset`` counts characters, ``help`` is advice or None."""

    def __init__(self, message: str, offset: int, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.help = advice


class Loaded(NamedTuple):
    """The value of a document, and the node that it was made of."""

    value: JSON
    node: Node

    def find(self, place: ManifestPlace) -> int:
        """Return the offset of a place, or of the nearest value around it.

        An alias is where it is written; its contents are where its anchor is.
        """
        key = node = self.node
        for part in place.path:
            members = dict(_members(node))
            if part not in members:
                return start(node)
            key, node = members[part]
        return start(key if place.of == "key" else node)


def _members(node: Node) -> list[tuple[str | int, tuple[Node, Node]]]:
    """Return the values in a node by their keys, each with the node of its key."""
    if isinstance(node, MappingNode):
        return [(_string(key.value), (key, value)) for key, value in node.value]
    items = node.value if isinstance(node, SequenceNode) else []
    return [(index, (item, item)) for index, item in enumerate(items)]


def load(text: str, *, most_values: int = MAX_VALUES, has_any_keys: bool = False) -> Loaded:
    """Return the one document of a string without a byte order mark.

    Args:
        text: the content of a file.
        most_values: the maximum number of its values.
        has_any_keys: takes keys such as ``200`` as the strings that they are in JSON.

    Raises:
        NotYamlError: it isn't a YAML, has something that JSON has not, or is too large.
    """
    try:
        loader = _Loader(text, most_values)
    except yaml.reader.ReaderError as error:
        raise NotYamlError("YAML does not allow a character here", error.position) from error
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        problem, context = error.problem or "", error.context or ""
        offset = len(text) if error.problem_mark is None else error.problem_mark.index
        if is_after_quote(text, offset):
            raise NotYamlError(QUOTE_INSIDE[0], offset, QUOTE_INSIDE[1]) from error
        for sign, message, advice in _MISTAKES:
            if sign in problem or sign in context:
                raise NotYamlError(message, offset, advice) from error
        raise NotYamlError(f"this is not YAML: {problem}", offset) from error
    except NotYamlError:  # which is a ValueError
        raise
    except (ValueError, OverflowError) as error:
        # An escape such as "\UFFFFFFFF" and a version of 5,000 digits get as far as Python.
        raise NotYamlError("an escape or a number is too large here", loader.index) from error
    if node is None:
        raise NotYamlError("the file is empty", 0)
    construction = _Construction(text, loader.aliases, has_any_keys=has_any_keys)
    return Loaded(construction.value(node, 1), node)


class _Loader(yaml.SafeLoader):
    """Composes nodes within bounds; an alias gets its own node, with its own place.

    The parser is Python's own, on every machine: libyaml is fifteen times as fast, but
    rejects other strings than it does, and says other things of them.
    """

    # Its own table, filled below: PyYAML's has YAML 1.1.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - an instance variable, says the stub

    def __init__(self, text: str, most_values: int) -> None:
        super().__init__(text)
        self.aliases: set[int] = set()
        self._most_values = most_values
        self._text = text
        self._level = 0
        self._weight = 0
        self._expanded = 0
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """Compose the next node: an alias, a scalar, or a collection with its members."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        offset = event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), offset)
        before = self._weight + self._expanded
        self._weight += 1
        if isinstance(event, yaml.ScalarEvent) and event.tag == "!":
            event.tag = f"{_TAG}str"  # PyYAML forgets it before an empty value
        if self._weight > self._most_values:
            raise NotYamlError(f"the file has more than {self._most_values:,} values", offset)
        if isinstance(event, yaml.CollectionStartEvent):
            # A key is what PyYAML composes with None as its index.
            if isinstance(parent, MappingNode) and index is None:
                raise self._no_key(event, start(parent))
            if self._level == MAX_DEPTH:
                raise _too_deep(offset)
        self._level += 1
        node = super().compose_node(parent, index)
        self._level -= 1
        if event.anchor is not None:
            self._sizes[event.anchor] = self._weight + self._expanded - before
        return node

    def _alias(self, name: str, offset: int) -> Node:
        event: Any = self.get_event()  # type: ignore[no-untyped-call]
        if name not in self.anchors:
            advice = did_you_mean(name, self.anchors)
            raise NotYamlError(f"there's no anchor {name!r} before this", offset, advice)
        # A collection gets its end when all in it is composed.
        if self.anchors[name].end_mark is None:
            raise NotYamlError(f"the alias {name!r} is part of what it repeats", offset)
        # Counted as if it were written out, and here, before there are too many to check.
        self._expanded += self._sizes[name]
        if self._expanded > MAX_EXPANSION:
            message = f"the aliases up to here repeat more than {MAX_EXPANSION:,} values"
            raise NotYamlError(message, offset, "write the values themselves")
        # Shallow: its members are shared, and made again from the nodes for each alias.
        node = copy(self.anchors[name])
        node.start_mark, node.end_mark = event.start_mark, event.end_mark
        self.aliases.add(id(node))
        return node

    def _no_key(self, event: yaml.CollectionStartEvent, mapping_offset: int) -> NotYamlError:
        if self._text.startswith("{{", mapping_offset):
            advice = 'put it in quotes: "{{ … }}"'
            return NotYamlError("a template without quotes is a mapping", mapping_offset, advice)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        return NotYamlError(
            f"{'a list' if is_list else 'a mapping'} can't be a key", start(event), "write a string"
        )


class _Construction:
    """Makes plain values of nodes; an alias is made again each time."""

    def __init__(self, text: str, aliases: set[int], *, has_any_keys: bool) -> None:
        self._text = text
        self._has_any_keys = has_any_keys
        self._aliases = aliases

    def value(self, node: Node, level: int, alias: int | None = None) -> JSON:
        """Return the value of a node; ``alias`` is the offset of the alias that refers to it."""
        if alias is None and id(node) in self._aliases:
            alias = start(node)
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if level > MAX_DEPTH:
            raise _too_deep(start(node) if alias is None else alias)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(each, level + 1, alias) for each in node.value]
        if not isinstance(node, MappingNode) or node.tag != f"{_TAG}map":
            raise _unknown_tag(node)
        mapping: dict[str, JSON] = {}
        for key_node, item in node.value:
            key = self._key(key_node, alias)
            if key in mapping:
                message = f"the key {key!r} appears a second time"
                raise NotYamlError(message, start(key_node))
            mapping[key] = self.value(item, level + 1, alias)
        return mapping

    def _key(self, node: Node, alias: int | None) -> str:
        # An alias instead of a key may refer to a collection, which is rejected below.
        key = self.value(node, 1, alias)
        if isinstance(key, str):
            return key
        if self._has_any_keys and isinstance(node, ScalarNode) and node.value:
            return _string(node.value)
        end = start(node) if node.end_mark is None else node.end_mark.index
        written = self._text[start(node) : end][:_SHOWN]
        if not written:
            raise NotYamlError("a key is missing here", start(node))
        advice = f'put it in quotes: "{written}"'
        raise NotYamlError(f"the key {written} isn't a string", start(node), advice)


def start(part: Node | yaml.Event) -> int:
    """Return the offset of a node or an event."""
    return 0 if part.start_mark is None else part.start_mark.index


def _too_deep(offset: int) -> NotYamlError:
    return NotYamlError(f"values are nested more than {MAX_DEPTH} levels deep", offset)


def _unknown_tag(node: Node) -> NotYamlError:
    short = f"!!{node.tag.removeprefix(_TAG)}" if node.tag.startswith(_TAG) else node.tag
    return NotYamlError(f"the tag {short!r} has no meaning here", start(node), "remove it")


_NULLS = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = (
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def _scalar(node: ScalarNode) -> JSON:
    """Return the value of a scalar, whose tag is written or was found by its text."""
    if node.tag not in _KINDS:
        raise _unknown_tag(node)
    known, make = _KINDS[node.tag]
    if not re.fullmatch(known, node.value, re.DOTALL):
        message = f"{node.value[:_SHOWN]!r} is not what its tag says"
        raise NotYamlError(message, start(node), "remove the tag")
    try:
        return make(node.value)
    except UnicodeDecodeError as error:
        raise NotYamlError("the string contains half of a surrogate pair", start(node)) from error
    except ArithmeticError as error:
        is_word = not any(map(str.isdigit, node.value))
        advice = "quote it if it is text" if is_word else None
        message = f"{node.value[:_SHOWN]} is not a JSON number"
        raise NotYamlError(message, start(node), advice) from error
    except ValueError as error:
        message = "the number has more digits than can be read"
        raise NotYamlError(message, start(node)) from error


def _integer(text: str) -> int:
    number = int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    str(number)  # which fails if no one could print it
    return number


def _number(text: str) -> float:
    if not any(map(str.isdigit, text)):  # .inf and .nan, which JSON lacks
        raise OverflowError
    number = float(_integer(text) if text[:2] in {"0o", "0x"} else text)
    if not math.isfinite(number):
        raise OverflowError
    return number


def _string(text: str) -> str:
    """Return the text, with surrogate pairs that were written as two escapes made one character."""
    if encodes(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


_KINDS: Mapping[str, tuple[str, Callable[[str], JSON]]] = {
    f"{_TAG}null": ("|".join(_NULLS), _NULLS.__getitem__),
    f"{_TAG}bool": ("|".join(_BOOLEANS), _BOOLEANS.__getitem__),
    f"{_TAG}int": (_INTEGER, _integer),
    f"{_TAG}float": (f"{_FLOAT}|{_INTEGER}", _number),
    f"{_TAG}str": (".*", _string),
}
"""The scalars of a tag of the core schema, and their conversion."""

for _kind, _first in (
    ("null", ["", "~", "n", "N"]),
    ("bool", list("tTfF")),
    ("int", list("-+0123456789")),
    ("float", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(
        _TAG + _kind, re.compile(rf"(?:{_KINDS[_TAG + _kind][0]})\Z"), _first
    )


_QUOTES = "put text with special characters in quotes"
_MISTAKES: tuple[tuple[str, str, str | None], ...] = (
    ("found character '\\t'", "a tab is where only spaces can be", "indent with spaces"),
    ("that cannot start any token", "no value can begin with this character", _QUOTES),
    ("mapping values are not allowed", "a colon makes no sense here", "quote text that has ': '"),
    ("could not find expected ':'", "a colon is missing after the key", "check the indentation"),
    ("unexpected end of stream", "the quoted text does not end", "close it with a quote"),
    ("unknown escape character", "the backslash begins no escape that YAML has", "write it twice"),
    ("expected <block end>", "this does not belong to the lines above", "check the indentation"),
    ("expected ',' or ']'", "a comma or ']' is missing before this", None),
    ("expected ',' or '}'", "a comma or '}' is missing before this", None),
    ("expected the node content", "a value is missing here", None),
    ("'<document start>'", "something follows the end of the document", "remove it"),
    ("found another document", "a second document begins here", "keep one in a file"),
)
"""PyYAML's words for a problem or its context, and our words for it."""
