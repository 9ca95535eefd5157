from __future__ import annotations

from sovl_tools.model.suggestion import as_hint, did_you_mean, nearest, question
from tests.tables import check_each


@check_each(
    ("word", "near"),
    [
        ("timout", "timeout"),
        ("TIMEOUT", "timeout"),
        ("Colour", "color"),
        ("posttoolname", "PostToolName"),
        ("activation_phrase", "activation_phrases"),
        ("xyz", None),
        ("", None),
    ],
)
def test_the_nearest_word_is_found_if_one_is_near(word: str, near: str | None) -> None:
    assert nearest(word, ["timeout", "color", "activation_phrases", "PostToolName"]) == near


def test_among_no_words_none_is_near() -> None:
    assert nearest("timeout", []) is None
    assert did_you_mean("timeout", []) is None


def test_the_hint_is_a_question() -> None:
    assert did_you_mean("timout", iter(["timeout"])) == "did you mean 'timeout'?"


def test_a_very_long_word_is_near_to_nothing_at_once() -> None:
    assert nearest("a" * 1_000_000, ["timeout"] * 50) is None


def test_a_message_ends_with_the_question_only_if_there_is_one() -> None:
    assert as_hint("timeout") == f"; {question(repr('timeout'))}"
    assert as_hint(None) == ""
