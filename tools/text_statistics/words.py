"""Words and sentences, as Unicode writes them."""

import re
import unicodedata
from collections.abc import Iterable

# Scripts that put no spaces between words: each of their characters counts as a word.
_UNSPACED = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_LETTER = rf"(?![{_UNSPACED}])[^\W_]"
_JOINER = r"(?:['’\u200c\u200d-]|(?<=\d)[.,](?=\d))"  # noqa: RUF001

# The look-behind and the possessive quantifiers keep a long run of dots from taking quadratic time.
_SENTENCE_END = re.compile(
    r"""(?<![.!?…؟۔।]) [.!?…؟۔।]++ ["'”’»)\]]*+ (?=\s|$) | [。！？]++ | \n[^\S\n]*+\n""",  # noqa: RUF001
    re.VERBOSE,
)


def words(text: str) -> list[str]:
    """Return the words of a text, apostrophes, hyphens and decimal points within them included."""
    marks = "".join(sorted(filter(is_mark, set(text))))
    part = rf"(?:{_LETTER}|[{marks}])" if marks else f"(?:{_LETTER})"
    word = rf"{_LETTER}{part}*(?:{_JOINER}{_LETTER}{part}*)*"
    return re.findall(rf"(?=\w)[{_UNSPACED}]|{word}", text)


def count_sentences(text: str) -> int:
    """Return how many stretches of words end in a full stop, a blank line or with the text."""
    return sum(_has_words(part) for part in _SENTENCE_END.split(text))


def is_mark(character: str) -> bool:
    """Tell whether the character only changes the one before it, as an accent does."""
    return unicodedata.category(character).startswith("M")


def _has_words(characters: Iterable[str]) -> bool:
    return any(map(str.isalnum, characters))
