"""YAML by the core schema of version 1.2: plain values, and where each is.

Scalars aren't resolved as in YAML 1.1: ``on``, ``no``, ``12:30`` and dates are strings, ``010`` is
ten and ``<<`` a key like any other (https://yaml.org/spec/1.2.2, section 10.3.2).
"""

from __future__ import annotations

import math
import re
from copy import copy
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, encodes
from sovl_tools.procedures.procedure import MAX_DEPTH, MAX_VALUES

MAX_EXPANSION = 10_000
"""The number of values that the aliases of a document may repeat in all."""

_SHOWN = 40


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
        return [(_string(key), (key, value)) for key, value in node.value]
    items = node.value if isinstance(node, SequenceNode) else []
    return [(index, (item, item)) for index, item in enumerate(items)]


def load(text: str, *, most_values: int = MAX_VALUES) -> Loaded:
    """Return the one document of a string without a byte order mark.

    Args:
        text: the content of a file.
        most_values: the maximum number of its values.

    Raises:
        NotYamlError: it isn't YAML, has something that JSON lacks, or is too large.
    """
    try:
        node = _Loader(text, most_values).get_single_node()
    except yaml.MarkedYAMLError as error:
        problem, context = error.problem or "", error.context or ""
        offset = len(text) if error.problem_mark is None else error.problem_mark.index
        for sign, message, advice in _MISTAKES:
            if sign in problem or sign in context:
                raise NotYamlError(message, offset, advice) from error
        raise NotYamlError(f"this is not YAML: {problem}", offset) from error
    except yaml.reader.ReaderError as error:
        raise NotYamlError("YAML does not allow a character here", error.position) from error
    except NotYamlError:  # which is a ValueError
        raise
    except (ValueError, OverflowError) as error:
        # An escape such as "\UFFFFFFFF" and a version of 5,000 digits get as far as Python.
        raise NotYamlError("an escape or a number is too large", 0) from error
    if node is None:
        raise NotYamlError("the file is empty", 0)
    return Loaded(_value(node, 1), node)


class _Loader(yaml.SafeLoader):
    """Composes nodes within bounds; an alias gets its own node, with its own place.

    The parser is Python's own, on every machine: libyaml is fifteen times as fast, but
    rejects other strings than it does, and says other things of them.
    """

    # Without YAML 1.1: plain scalars are read below.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - an instance variable, says the stub

    def __init__(self, text: str, most_values: int) -> None:
        super().__init__(text)
        self._most_values = most_values
        self._text = text
        self._level = 0
        self._weight = 0
        self._expanded = 0
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: Node | None, index: int | None) -> Node | None:
        """Compose the next node: an alias, a scalar, or a collection with its members."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        offset = event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), offset)
        if event.tag is not None:
            raise NotYamlError(f"the tag {event.tag!r} has no meaning here", offset, "remove it")
        before = self._weight + self._expanded
        self._weight += 1
        if self._weight > self._most_values:
            raise NotYamlError(f"the file has more than {self._most_values:,} values", offset)
        if isinstance(event, yaml.CollectionStartEvent):
            # A key is what PyYAML composes with None as its index.
            if isinstance(parent, MappingNode) and index is None:
                self._check_braces(start(parent))
            if self._level == MAX_DEPTH:
                raise _too_deep(offset)
        self._level += 1
        node = super().compose_node(parent, index)  # type: ignore[arg-type]  # the stub is wrong
        self._level -= 1
        if event.anchor is not None:
            self._sizes[event.anchor] = self._weight + self._expanded - before
        return node

    def _alias(self, name: str, offset: int) -> Node:
        event: Any = self.get_event()  # type: ignore[no-untyped-call]
        if name not in self._sizes:  # or the alias is part of what it repeats
            raise NotYamlError(f"no value with the anchor {name!r} ends before this", offset)
        # Counted as if it were written out, and here, before there are too many to check.
        self._expanded += self._sizes[name]
        if self._expanded > MAX_EXPANSION:
            message = f"the aliases up to here repeat more than {MAX_EXPANSION:,} values"
            raise NotYamlError(message, offset, "write the values themselves")
        # Shallow: its members are shared, and made again from the nodes for each alias.
        node = copy(self.anchors[name])
        node.start_mark, node.end_mark = event.start_mark, event.end_mark
        return node

    def _check_braces(self, offset: int) -> None:
        if self._text.startswith("{{", offset):
            advice = 'put it in quotes: "{{ … }}"'
            raise NotYamlError("a template without quotes is a mapping", offset, advice)


def _value(node: Node, level: int) -> JSON:
    """Return the plain value of a node; an alias is made again each time."""
    if isinstance(node, ScalarNode):
        return _scalar(node)
    if level > MAX_DEPTH:
        raise _too_deep(start(node))
    if isinstance(node, SequenceNode):
        return [_value(each, level + 1) for each in node.value]
    mapping: dict[str, JSON] = {}
    for key_node, item in node.value:
        if not isinstance(key_node, ScalarNode) or not (key_node.value or key_node.style):
            raise NotYamlError("a key must be a string", start(key_node))
        key = _string(key_node)
        if key in mapping:
            raise NotYamlError(f"the key {key!r} appears a second time", start(key_node))
        mapping[key] = _value(item, level + 1)
    return mapping


def start(part: Node) -> int:
    """Return the offset of a node."""
    return 0 if part.start_mark is None else part.start_mark.index


def _too_deep(offset: int) -> NotYamlError:
    return NotYamlError(f"values are nested more than {MAX_DEPTH} levels deep", offset)


_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def _scalar(node: ScalarNode) -> JSON:
    text = node.value
    if node.style is not None:  # quoted, or a block
        return _string(node)
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    number: float
    try:
        if _INTEGER.fullmatch(text):
            number = int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
            str(number)  # which fails if no one could print it
            return number
        if _FLOAT.fullmatch(text):
            number = float(text)  # which fails for .inf and .nan
            if math.isfinite(number):
                return number
            raise ValueError(text)  # noqa: TRY301 - one message for all
    except ValueError as error:
        message = f"{text[:_SHOWN]} is not a JSON number"
        raise NotYamlError(message, start(node), "quote it if it is text") from error
    return _string(node)


def _string(node: ScalarNode) -> str:
    """Return a text, with surrogate pairs that were written as two escapes made one character."""
    text: str = node.value
    if encodes(text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise NotYamlError("the string contains half of a surrogate pair", start(node)) from error


_QUOTES = "put text with special characters in quotes"
_MISTAKES: tuple[tuple[str, str, str], ...] = (
    ("found character '\\t'", "a tab is where only spaces can be", "indent with spaces"),
    ("that cannot start any token", "no value can begin with this character", _QUOTES),
    ("mapping values are not allowed", "a colon makes no sense here", "quote text that has ': '"),
    ("could not find expected ':'", "a colon is missing after the key", "check the indentation"),
    ("expected <block end>", "this does not belong to the lines above", "check the indentation"),
    ("found another document", "a second document begins here", "keep one in a file"),
)
"""PyYAML's words for a problem or its context, and our words for it."""
