"""What is found by a text: activation phrases in it, and tools that have its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class PhraseMatch(NamedTuple):
    """A phrase of a tool that stands in the text at ``text[start:end]``.

    ``score`` is the share of the text's words that the phrase covers, above 0 and up to 1.
    """

    tool: str
    phrase: str
    start: int
    end: int
    score: float


class ToolMatch(NamedTuple):
    """A tool that has words of a query.

    Attributes:
        tool: its name.
        score: the share of the query that it has, above 0 and below 1. Rare words and words in
            the name count for more.
        words: the words of the query that it has, each with the fields in which it has them.
    """

    tool: str
    score: float
    words: Mapping[str, tuple[str, ...]]
