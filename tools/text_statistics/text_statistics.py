"""Counts of what a text is made of, and the time it takes to read."""

from collections import Counter
from itertools import groupby

from .words import count_sentences, is_mark, words

_SHOWN_CHARACTERS = 100


def text_statistics(
    text: str, *, top_words: int = 5, words_per_minute: int = 200
) -> dict[str, object]:
    """Return how much of what a text has, and its most frequent words."""
    found = words(text)
    characters = Counter(character for character in text if not is_mark(character))
    spaces = sum(count for character, count in characters.items() if character.isspace())
    return {
        "characters": characters.total(),
        "characters_without_spaces": characters.total() - spaces,
        "words": len(found),
        "sentences": count_sentences(text),
        "paragraphs": _count_paragraphs(text),
        "reading_minutes": round(len(found) / words_per_minute, 2),
        "frequent_words": _frequent(found, top_words),
    }


def _count_paragraphs(text: str) -> int:
    blocks = groupby(text.splitlines(), key=lambda line: bool(line.strip()))
    return sum(has_text for has_text, _ in blocks)


def _frequent(found: list[str], limit: int) -> list[dict[str, object]]:
    counts = Counter(map(str.lower, found))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"word": word[:_SHOWN_CHARACTERS], "count": count} for word, count in ordered[:limit]]
