# ruff: noqa: RUF001 - letters that look alike are what is tested
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import PhraseMatch, ToolDefinition
from sovl_tools.search.phrases import PhraseIndex
from tests.schema.strategies import moderate
from tests.tables import check_each

WORDS = ("add", "numbers", "don't", "straße", "Éclair", "x2", "日", "ﬁle", "snake_case")
SEPARATORS = (" ", ", ", "\n", "! ", " … ", " - ", "🚀")

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
around = st.lists(st.sampled_from(WORDS), max_size=4)


def tool(name: str, *activation_phrases: str) -> ToolDefinition:
    function: Callable[..., Any] = print
    return ToolDefinition(name, "", {}, function, activation_phrases=activation_phrases)


def found(text: str, *activation_phrases: str) -> list[str]:
    """Return the parts of the text that are phrases."""
    hits = PhraseIndex([tool("echo", *activation_phrases)]).match(text)
    return [text[hit.start : hit.end] for hit in hits]


@check_each(
    ("text", "phrase", "part"),
    [
        ("Please ADD the Numbers", "add the numbers", "ADD the Numbers"),
        ("add... the, numbers?", "add the numbers", "add... the, numbers"),
        ("I don\u2019t know", "don't know", "don\u2019t know"),
        ("zur Hauptstrasse", "HAUPTSTRAßE", "Hauptstrasse"),
        ("ΠΟΥ ΕΙΝΑΙ Ο ΔΡΟΜΟΣ", "ο δρομος", "Ο ΔΡΟΜΟΣ"),
        ("in İzmir today", "i\u0307ZMIR", "İzmir"),
        ("ａｄｄ　ｎｕｍｂｅｒｓ", "add numbers", "ａｄｄ　ｎｕｍｂｅｒｓ"),
        ("open the ﬁle", "file", "ﬁle"),
        ("un cafe\u0301 noir", "café", "cafe\u0301"),
        ("今日の天気は?", "天気", "天気"),
        ("请用'echo'工具", "echo", "echo"),
        ("请用\u2018echo\u2019工具", "echo", "echo"),
        ("อากาศวันนี้", "วันนี้", "วันนี้"),
        ("🚀add🚀numbers🚀", "add numbers", "add🚀numbers"),
    ],
)
def test_a_phrase_is_found_however_it_is_written(text: str, phrase: str, part: str) -> None:
    assert found(text, phrase) == [part]


@check_each(
    ("text", "phrase"),
    [
        ("category", "cat"),
        ("concat", "cat"),
        ("don't", "don"),
        ("snake_case", "snake"),
        ("add2", "add"),
        ("cafés", "café"),
        ("cafe\u0301", "cafe"),
        ("add the numbers", "add numbers"),
        ("numbers add", "add numbers"),
        ("text", "!?"),
        ("text", ""),
        ("", "text"),
    ],
)
def test_a_phrase_is_not_found_where_other_words_stand(text: str, phrase: str) -> None:
    assert found(text, phrase) == []


def test_the_longest_phrase_comes_first_then_the_place_then_the_tool() -> None:
    index = PhraseIndex([tool("b", "numbers", "add numbers"), tool("a", "numbers")])
    assert index.match("numbers: add numbers") == [
        PhraseMatch("b", "add numbers", 9, 20, 2 / 3),
        PhraseMatch("a", "numbers", 0, 7, 1 / 3),
        PhraseMatch("b", "numbers", 0, 7, 1 / 3),
        PhraseMatch("a", "numbers", 13, 20, 1 / 3),
        PhraseMatch("b", "numbers", 13, 20, 1 / 3),
    ]


@st.composite
def texts_with(draw: st.DrawFn, phrase: str) -> tuple[str, int]:
    """Return a string that contains the words of a phrase, and where they begin."""
    separators = st.sampled_from(SEPARATORS)
    before = "".join(word + draw(separators) for word in draw(around))
    inside = "".join(word + draw(separators) for word in phrase.split(" "))
    after = "".join(word + draw(separators) for word in draw(around))
    return before + inside + after, len(before)


@moderate
@given(st.data(), st.lists(phrases, min_size=1, max_size=4, unique=True))
def test_a_phrase_between_word_boundaries_is_always_found(
    data: st.DataObject, known: list[str]
) -> None:
    text, start = data.draw(texts_with(known[0]))
    hits = PhraseIndex([tool("echo", *known)]).match(text)
    assert [hit for hit in hits if (hit.phrase, hit.start) == (known[0], start)]
