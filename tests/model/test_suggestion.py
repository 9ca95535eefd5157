from __future__ import annotations

from sovl_tools.model.suggestion import nearest
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


def test_a_very_long_word_is_near_to_nothing_at_once() -> None:
    assert nearest("a" * 1_000_000, ["timeout"] * 50) is None
