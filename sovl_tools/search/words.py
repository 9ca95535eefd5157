"""Text as words, in the form in which they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

_ASCII_WORD = re.compile(r"[a-z0-9_]+(?:'[a-z0-9_]+)*")
_APOSTROPHES = "'\u2019\u02bc\uff07"
_HALF_WIDTH_MARKS = "\uff9e\uff9f"
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x20000, 0x3FFFF),
)


class Word(NamedTuple):
    """A word in its comparable form, and where it stands: ``start`` and ``end`` as in slices."""

    form: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the comparable forms of the words of the text."""
    if text.isascii():
        return tuple(_ASCII_WORD.findall(text.lower()))
    return tuple(word.form for word in spans(text))


def spans(text: str) -> list[Word]:
    """Return the words of the text with their places.

    Case is folded, compatible characters are made one (NFKC), punctuation separates. In scripts
    that put no spaces between words each character counts as a word.
    """
    if text.isascii():
        return [
            Word(found.group(), found.start(), found.end())
            for found in _ASCII_WORD.finditer(text.lower())
        ]
    return [Word(_comparable(text[start:end]), start, end) for start, end in _unicode_spans(text)]


def _comparable(word: str) -> str:
    for apostrophe in _APOSTROPHES[1:]:
        word = word.replace(apostrophe, "'")
    return normalize("NFKC", normalize("NFKC", word).casefold())


def _unicode_spans(text: str) -> Iterator[tuple[int, int]]:
    start = None
    for index, letter in enumerate(text):
        if is_unspaced(letter):
            if start is not None:
                yield start, index
                start = None
            if not _is_mark(letter):
                yield index, _end_of_marks(text, index + 1)
        elif _is_letter(letter) or (start is not None and _joins(text, index)):
            start = index if start is None and not _is_mark(letter) else start
        elif start is not None:
            yield start, index
            start = None
    if start is not None:
        yield start, len(text)


def _end_of_marks(text: str, index: int) -> int:
    while index < len(text) and _is_mark(text[index]):
        index += 1
    return index


def is_unspaced(letter: str) -> bool:
    """Tell whether a letter is of a script that puts no spaces between words."""
    code = ord(letter)
    return any(first <= code <= last for first, last in _UNSPACED) and category(letter)[0] in "LMN"


def _is_mark(letter: str) -> bool:
    return category(letter)[0] == "M" or letter in _HALF_WIDTH_MARKS


def _is_letter(letter: str) -> bool:
    return letter == "_" or category(letter)[0] in "LMN"


def _joins(text: str, index: int) -> bool:
    """Tell whether an apostrophe stands within a word, as in ``don't``."""
    following = text[index + 1 : index + 2]
    if text[index] not in _APOSTROPHES or not following:
        return False
    return _is_letter(following) and not is_unspaced(following)
