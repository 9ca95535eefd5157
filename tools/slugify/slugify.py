"""Names that are safe in addresses and file names, made from any text."""

import unicodedata
from typing import TypedDict


class Options(TypedDict, total=False):
    """How to treat the words; what is left out has its usual value."""

    lowercase: bool
    keep_unicode: bool
    drop_words: list[str]


# Letters that Unicode does not decompose into an ASCII letter and an accent.
_TRANSLITERATION = str.maketrans(
    {
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "ø": "o",
        "Ø": "O",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "Ð": "D",
        "þ": "th",
        "Þ": "Th",
        "ł": "l",
        "Ł": "L",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)
_APOSTROPHES = dict.fromkeys(map(ord, "'’"))  # noqa: RUF001


def slugify(
    text: str, *, separator: str = "-", max_length: int | None, options: Options | None = None
) -> dict[str, str]:
    """Return the text as a slug; raise ValueError if nothing of it remains."""
    chosen = options or Options()
    dropped = {word.casefold() for word in chosen.get("drop_words", [])}
    words = [word for word in _words(text, chosen) if word.casefold() not in dropped]
    if not words:
        raise ValueError(
            "nothing of the text remains: it has no letters or digits that a slug may contain"
        )
    return {"slug": _joined(words, separator, max_length)}


def _words(text: str, options: Options) -> list[str]:
    keep_unicode = options.get("keep_unicode", False)
    plain = _normalized(text, keep_unicode=keep_unicode)
    if options.get("lowercase", True):
        plain = plain.lower()
    parted = "".join(sign if _belongs_to_word(sign) else " " for sign in plain).split()
    words = parted if keep_unicode else map(_in_ascii, parted)
    return [word for word in words if any(map(str.isalnum, word))]


def _normalized(text: str, *, keep_unicode: bool) -> str:
    """Return the text without apostrophes ("don't" is one word), its letters in a uniform form."""
    joined = text.translate(_APOSTROPHES)
    if keep_unicode:
        return unicodedata.normalize("NFKC", joined)
    return unicodedata.normalize("NFKD", joined.translate(_TRANSLITERATION))


def _in_ascii(word: str) -> str:
    return word.encode("ascii", "ignore").decode("ascii")


def _belongs_to_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _joined(words: list[str], separator: str, max_length: int | None) -> str:
    slug = separator.join(words)
    if max_length is None or len(slug) <= max_length:
        return slug
    cut = slug[: max_length + 1].rpartition(separator)[0]
    return cut or slug[:max_length]
