from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.validation import Problem
from sovl_tools.validation.wording import describe, named, one_of, shown


@pytest.mark.parametrize(
    ("words", "text"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_alternatives_are_listed_as_in_a_sentence(words: list[str], text: str) -> None:
    assert one_of(words) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("five", 'the string "five"'),
        (True, "the boolean true"),
        (None, "null"),
        ([1], "an array"),
        ({}, "an object"),
        (2.5, "the number 2.5"),
    ],
)
def test_a_value_is_named_with_its_type(value: Any, text: str) -> None:
    assert named(value) == text


def test_a_long_value_is_cut() -> None:
    assert shown("ä" * 100) == '"' + "ä" * 58 + "…"


def test_a_long_enumeration_is_cut() -> None:
    words = describe(Problem("enum", (), 99, list(range(30))))
    assert words.endswith("18, 19, …, not 99")


def test_a_keyword_without_words_of_its_own_is_named() -> None:
    assert describe(Problem("unheardOf", (), 1, [2])) == "breaks 'unheardOf': [2]"
