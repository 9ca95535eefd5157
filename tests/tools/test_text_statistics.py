"""Counts of texts."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.patience import bounded_work
from tests.tables import check_each

from .conftest import Call

Value = Callable[..., Any]


@pytest.fixture
def count(value: Value) -> Callable[..., Any]:
    def of(text: str, **options: int) -> Any:
        return value("text_statistics", text=text, **options)

    return of


def frequent(answer: Any) -> dict[str, int]:
    return {entry["word"]: entry["count"] for entry in answer["frequent_words"]}


def test_counts_a_text(count: Callable[..., Any]) -> None:
    assert count("One two. Two!\n\nThree?\n", top_words=2, words_per_minute=100) == {
        "characters": 22,
        "characters_without_spaces": 17,
        "words": 4,
        "sentences": 3,
        "paragraphs": 2,
        "reading_minutes": 0.04,
        "frequent_words": [{"word": "two", "count": 2}, {"word": "one", "count": 1}],
    }


def test_an_empty_text_has_nothing(count: Callable[..., Any]) -> None:
    answer = count("")
    assert {key: found for key, found in answer.items() if found} == {}


@check_each(
    ("text", "expected"),
    [
        ("don't can’t", ["can’t", "don't"]),  # noqa: RUF001
        ("well-known -dash- --", ["dash", "well-known"]),
        ("3.14 and 1,000, or 2.", ["1,000", "2", "3.14", "and", "or"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("हिन्दी भाषा", ["भाषा", "हिन्दी"]),
        ("مرحبا بالعالم", ["بالعالم", "مرحبا"]),
        ("日本ok", ["ok", "日", "本"]),
        ("カメラ・", ["カ", "メ", "ラ"]),
        ("snake_case", ["case", "snake"]),
        ("\u2764\ufe0f \U0001f642 ... _ - '", []),
        ("Straße STRASSE", ["strasse", "straße"]),
    ],
)
def test_finds_words_in_many_scripts(
    count: Callable[..., Any], text: str, expected: list[str]
) -> None:
    answer = count(text, top_words=100)
    assert sorted(frequent(answer)) == expected
    assert answer["words"] == len(expected)


def test_the_most_frequent_words_come_first_then_by_alphabet(count: Callable[..., Any]) -> None:
    answer = count("b a C c b d", top_words=3)
    assert list(frequent(answer).items()) == [("b", 2), ("c", 2), ("a", 1)]
    assert count("a b", top_words=0)["frequent_words"] == []


@check_each(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", 4),
        ("Wait... what?! (Yes.) “No.”", 4),
        ("Pi is 3.14. Or so.", 2),
        ("www.example.com", 1),
        ("世界。元気？はい", 3),  # noqa: RUF001
        ("हाँ। नहीं।", 2),
        ("نعم؟ لا", 2),
        ("A heading\n\nA text.", 2),
        ("... ?! .", 0),
    ],
)
def test_counts_sentences(count: Callable[..., Any], text: str, sentences: int) -> None:
    assert count(text)["sentences"] == sentences


def test_an_accent_is_no_character_of_its_own(count: Callable[..., Any]) -> None:
    assert count("e\u0301")["characters"] == count("\u00e9")["characters"] == 1


@pytest.mark.parametrize(
    ("text", "paragraphs"), [("a\nb", 1), ("a\n\nb", 2), ("\n\n a \n \t\n\nb\n\n", 2), ("\n\n", 0)]
)
def test_counts_paragraphs(count: Callable[..., Any], text: str, paragraphs: int) -> None:
    assert count(text)["paragraphs"] == paragraphs


@pytest.mark.parametrize(
    "piece",
    [".", "'", "a'", "a", "a-", "\n", "\n ", '."', "1,", "x!?", "e\u0301\u0316", "\u200d", "世"],
)
def test_giant_monotonous_texts_take_linear_time(count: Callable[..., Any], piece: str) -> None:
    # what takes the square of this takes longer than the bound
    with bounded_work():
        answer = count(piece * (200_000 // len(piece)) + "x")
    assert all(len(word) <= 100 for word in frequent(answer))


def test_a_text_over_the_limit_is_refused(call: Call) -> None:
    answer = call("text_statistics", text="x" * 1_000_001)
    assert answer.error is not None
    assert answer.error.kind == "invalid_arguments"
