"""Text as words, and as terms: parts of words without their endings, by which tools are found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category, normalize

_ASCII_WORD = re.compile(r"[a-z0-9_]+(?:'[a-z0-9_]+)*")
_APOSTROPHES = "'\u2019\u02bc\uff07"
_AS_APOSTROPHE = str.maketrans(dict.fromkeys(_APOSTROPHES, "'"))
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
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=\w)-(?=\w)")
_ASCII_PART = re.compile(r"[a-z0-9_]+")
_BORDER = re.compile(r"_+|(?<=\d)(?=[^\d_])|(?<=[^\d_])(?=\d)")
_ACCENTS = re.compile("[\u0300-\u036f]+")
# a word of two syllables is its own pair
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")

COMMON = frozenset(
    """
    a about again all also am an and any are as at be been being but by can could did do does
    doing done each every for from get give goes got had has have having he hello help her here
    hey hi him his how i if in into is it its just know let like many may me might more most much
    my need new no nor not now of off ok okay on one only or other our out over please shall she
    should show so some t tell than thank thanks that the their them then there these they this
    those to too up us use used using very want was we were what when where which who whom whose
    why will with would you your
    ll re ve b c d e f g h j k l m n o p q r s u v w x y z
    """.split()  # noqa: SIM905 - two hundred quotes would hide the words
)
"""English words, endings after an apostrophe, and letters: they carry little meaning."""

# endings that look like a plural: glass, bus, analysis
_SINGULARS = ("ss", "us", "is")
_SUFFIXES = ("ation", "ating", "ated", "ate", "ing", "ed", "ion")
_VOWELS = frozenset("aeiouy")
_SHORTEST_ROOT = 3


class Word(NamedTuple):
    """A word in its comparable form, and where it is: ``start`` and ``end`` as in slices."""

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
    found = []
    for start, end in _unicode_spans(text):
        word = text[start:end].translate(_AS_APOSTROPHE)
        # folded between, because what folding makes of a character can be composed again
        word = normalize("NFKC", normalize("NFKC", word).casefold())
        found.append(Word(word, start, end))
    return found


def _unicode_spans(text: str) -> Iterator[tuple[int, int]]:
    start = None
    for index, letter in enumerate(text):
        if _is_unspaced(letter):
            if start is not None:
                yield start, index
                start = None
            if not _is_mark(letter):
                end = index + 1
                while end < len(text) and _is_mark(text[end]):
                    end += 1
                yield index, end
        elif _is_letter(letter) or (start is not None and _joins(text, index)):
            # a mark alone begins no word
            start = index if start is None and not _is_mark(letter) else start
        elif start is not None:
            yield start, index
            start = None
    if start is not None:
        yield start, len(text)


def _is_unspaced(letter: str) -> bool:
    """Return whether a letter belongs to a script without spaces between words."""
    code = ord(letter)
    return any(first <= code <= last for first, last in _UNSPACED) and category(letter)[0] in "LMN"


def _is_mark(letter: str) -> bool:
    return category(letter)[0] == "M" or letter in _HALF_WIDTH_MARKS


def _is_letter(letter: str) -> bool:
    return letter == "_" or category(letter)[0] in "LMN"


def _joins(text: str, index: int) -> bool:
    """Return whether an apostrophe is within a word, as in ``don't``."""
    following = text[index + 1 : index + 2]
    if text[index] not in _APOSTROPHES or not following:
        return False
    return _is_letter(following) and not _is_unspaced(following)


def terms(text: str) -> list[str]:
    """Return the parts of the words of a string, without their endings."""
    return [term(part) for part in parts(text)]


def parts(text: str) -> list[str]:
    """Return the parts of the words of a string, in the form that is compared.

    ``read_file``, ``readFile`` and ``read-file`` have three: ``read``, ``file`` and ``readfile``.
    Accents do not count. Scripts that put no spaces between words are taken by characters and by
    pairs of neighbours, Korean words, which have particles at their ends, by pairs too.
    """
    return [part for chunk in text.split() for part in _parts_of(chunk)]


def _parts_of(chunk: str) -> Iterator[str]:
    """Yield the parts between white space."""
    seamed = _SEAM.sub("_", normalize("NFC", chunk))
    if seamed.isascii():
        for word in _ASCII_PART.findall(seamed.lower()):
            yield from _cut(word)
        return
    # from here on for strings with other letters than those of ASCII
    found = spans(seamed)
    for word in found:
        bare = normalize("NFC", _ACCENTS.sub("", normalize("NFD", word.form)))
        for each in bare.split("'"):
            yield from _cut(each)
        for run in _HANGUL.findall(bare):
            yield from map("".join, pairwise(run))
    for one, other in pairwise(found):
        if one.end == other.start and _is_unspaced(one.form[0]) and _is_unspaced(other.form[0]):
            yield one.form + other.form


def _cut(word: str) -> list[str]:
    """Return the parts between underscores and around digits, and the whole."""
    found = [part for part in _BORDER.split(word) if part]
    return [*found, "".join(found)] if len(found) > 1 else found


@lru_cache(maxsize=8192)
def term(part: str) -> str:
    """Return a part of a word without its English ending: ``transl`` of ``translations``.

    It need not be a word, but should be the same for all forms of one. What would become one of
    the common words stays unchanged: news are not new.
    """
    if part.isascii() and part.isalpha():
        for shorten in (_without_plural, _without_suffix, _without_last_vowel):
            shorter = shorten(part)
            part = part if shorter in COMMON or len(shorter) < _SHORTEST_ROOT else shorter
    return part


def _without_plural(word: str) -> str:
    return word if word.endswith(_SINGULARS) else word.removesuffix("s")


def _without_suffix(word: str) -> str:
    for suffix in _SUFFIXES:
        root = word.removesuffix(suffix)
        if root != word and len(root) >= _SHORTEST_ROOT and not _VOWELS.isdisjoint(root):
            # "running" has a doubled letter, "adding" is too short for one
            is_doubled = len(root) > _SHORTEST_ROOT and root[-1] == root[-2]
            return root[:-1] if is_doubled and root[-1] not in "lsz" else root
    return word


def _without_last_vowel(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
