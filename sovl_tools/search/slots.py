"""Slots of activation phrases: ``weather in {city}`` takes a parameter's value from the text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.subschemas import follow
from sovl_tools.search.words import COMMON, spans, words

SLOT = re.compile(r"\{\s*([^\W\d]\w*)\s*\}")
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}|\d{1,3}(?:,\d{3}){1,9})(\.\d{1,30})?")
_WITHIN_NUMBER = re.compile(r"[.,]\d")
_BOOLEANS = dict.fromkeys(("yes", "true", "on"), True) | dict.fromkeys(
    ("no", "false", "off"), False
)
_KINDS = {"string", "integer", "number", "boolean"}
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_POLITE = {"please", "thanks"}
_NEVER_FIRST = COMMON - {
    "new",
    *_BOOLEANS,
}  # in "what is the new york weather", the value is "new york"
_SYMBOLS = "/~.#@$€£+-%\\"  # before the first word of a value
_LONGEST = 30  # words of a value
_LONGEST_NUMBER = 12
_MOST_ALTERNATIVES = 20


class Slot(NamedTuple):
    """A place for a parameter's value.

    Attributes:
        name: the parameter.
        options: the values of an enum, with their words.
        kinds: the types of other values that its schema takes.
    """

    name: str
    options: Sequence[tuple[tuple[str, ...], JSON]]
    kinds: frozenset[str]

    def value(self, text: str) -> JSON:
        """Return a string as a value of the slot's types; None if it can't be one."""
        number = _NUMBER.fullmatch(text.strip("$€£%"))
        if number and number[1] is None and not self.kinds.isdisjoint({"integer", "number"}):
            return int(number[0].replace(",", ""))
        if number and "number" in self.kinds:
            return float(number[0].replace(",", ""))
        if "boolean" in self.kinds and text.casefold() in _BOOLEANS:
            return _BOOLEANS[text.casefold()]
        return text if "string" in self.kinds else None


Run: TypeAlias = tuple[str, ...]
"""Words that follow each other."""
Found: TypeAlias = tuple[int, int, dict[str, JSON]]
"""The first word of a phrase, the word after its last, and the values of its slots."""


class Pattern(NamedTuple):
    """A phrase of a tool, as slots and runs of words."""

    tool: str
    phrase: str
    parts: Sequence[Run | Slot]

    @property
    def runs(self) -> list[Run]:
        """The words outside of the slots."""
        return [part for part in self.parts if not isinstance(part, Slot)]


def pattern_of(phrase: str, tool: ToolDefinition) -> Pattern:
    """Return a phrase as its parts.

    Braces are a slot if they name a parameter that takes a string, a number, a boolean or a listed
    value, and punctuation otherwise.
    """
    schema = without_functions(tool.parameters) if tool.is_dynamic else tool.parameters
    parts: list[Run | Slot] = []
    said = ""
    # a split puts the names at the odd places
    for index, each in enumerate(SLOT.split(phrase)):
        slot = slot_of(each, schema) if index % 2 else None
        if slot is None:
            said += f" {each} "
            continue
        parts += [words(said), slot]
        said = ""
    return Pattern(tool.name, phrase, [part for part in (*parts, words(said)) if part])


def slot_of(name: str, schema: Mapping[str, JSON]) -> Slot | None:
    """Return the slot for a parameter; None if it's unknown, or takes no single value."""
    properties = schema.get("properties", {})
    if name not in properties:
        return None
    options: list[tuple[Run, JSON]] = []
    kinds: set[str] = set()
    pending = [properties[name]]
    for each in pending:  # which grows meanwhile
        node = {} if each is True else follow(each, schema)
        if not isinstance(node, dict) or len(pending) > _MOST_ALTERNATIVES:
            continue
        choices = node.get("enum", [node["const"]] if "const" in node else None)
        below = [one for key in ("anyOf", "oneOf", "allOf") for one in node.get(key, ())]
        if choices is not None:
            options += [(words(str(choice)), choice) for choice in choices]
        elif below:
            pending += below
        else:
            kind = node.get("type", "string")
            kinds |= {kind} if isinstance(kind, str) else {*kind}
    usable = frozenset(kinds & _KINDS)
    return Slot(name, options, usable) if options or usable else None


class Spoken:
    """A message, word by word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = spans(text)
        self.forms = tuple(word.form for word in self.spans)

    def find(self, pattern: Pattern, run: Run, at: int) -> Found | None:
        """Return the start of a phrase with a run of words here; None if the rest isn't around."""
        first = pattern.parts[0]
        if first == run:
            starts: Sequence[int] = (at,)
        elif isinstance(first, Slot):
            starts = range(self._begin(at, {} if first.options else _NEVER_FIRST), at)
        else:
            furthest = max(-1, at - _LONGEST * len(pattern.parts))
            starts = [s for s in range(at - 1, furthest, -1) if self.forms[s] == first[0]]
        for start in starts:
            for end, arguments in self._fill(pattern.parts, start):
                if end > at:
                    return start, end, arguments
        return None

    def _fill(self, parts: Sequence[Run | Slot], at: int) -> Iterator[tuple[int, dict[str, JSON]]]:
        """Yield the ends of parts that begin at a word, and the values of their slots."""
        if not parts:
            yield at, {}
            return
        first, *rest = parts
        if isinstance(first, Slot):
            for end, value in self._values(first, at, is_last=not rest):
                for last, others in self._fill(rest, end):
                    yield last, {first.name: value, **others}
        elif self.forms[at : at + len(first)] == first:
            yield from self._fill(rest, at + len(first))

    def _values(self, slot: Slot, at: int, *, is_last: bool) -> Iterator[tuple[int, JSON]]:
        """Yield the values of a slot that begin at a word, and where they end.

        The longest comes first at the end of a phrase, elsewhere the shortest.
        """
        if at == len(self.forms) or (at and self._ends_before(at)):
            return
        for form, option in slot.options:
            if form and self.forms[at : at + len(form)] == form:
                yield at + len(form), option
        stop = self._stop(at) if slot.kinds else at
        if "string" not in slot.kinds:
            stop = min(stop, at + _LONGEST_NUMBER)
        while is_last and stop - at > 1 and self.forms[stop - 1] in _POLITE:
            stop -= 1
        for end in range(stop, at, -1) if is_last else range(at + 1, stop + 1):
            value = slot.value(self._said(at, end))
            if value is not None and not _WITHIN_NUMBER.match(self.text, self.spans[end - 1].end):
                yield end, value

    def _said(self, at: int, end: int) -> str:
        """Return the text of words, with the symbols that belong to them: ``-5``, ``/tmp``."""
        start, stop = self.spans[at].start, self.spans[end - 1].end
        while start and self.text[start - 1] in _SYMBOLS:
            start -= 1
        return self.text[start:stop]

    def _stop(self, at: int) -> int:
        """Return the word after the sentence's last, or after the longest value."""
        limit = min(len(self.forms), at + _LONGEST)
        return next((end for end in range(at + 1, limit) if self._ends_before(end)), limit)

    def _begin(self, at: int, never: Container[str]) -> int:
        """Return the first word of the longest value that ends right before a word."""
        for start in range(at, max(0, at - _LONGEST), -1):
            if self.forms[start - 1] in never or self._ends_before(start):
                return start
        return max(0, at - _LONGEST)

    def _ends_before(self, word: int) -> bool:
        """Return whether a sentence ends right before a word that isn't the first."""
        gap = self.text[self.spans[word - 1].end : self.spans[word].start]
        return _SENTENCE_END.search(gap) is not None
