from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.cli.test import matcher_of
from tests.schema.strategies import moderate
from tests.tables import check_each

TEXT = "tools/Echo/echo.json::example[0] Says it."


@check_each(
    ("expression", "fits"),
    [
        ("echo", True),
        ("ECHO", True),
        ("example[0]", True),
        ("example[1]", False),
        ("not echo", False),
        ("not not echo", True),
        ("echo and add", False),
        ("add or echo", True),
        ("add or echo and add", False),
        ("(add or echo) and not add", True),
        ("not(add)", True),
    ],
)
def test_words_choose(expression: str, fits: bool) -> None:  # noqa: FBT001 - a column
    assert matcher_of(expression)(TEXT) is fits


@check_each(
    ("expression", "words"),
    [
        ("", "a word is missing at the end"),
        ("echo and", "a word is missing at the end"),
        ("or echo", "a word is missing before 'or'"),
        ("(echo", "a ')' is missing"),
        ("echo)", "')' is one too many"),
        ("echo add", "'add' is one too many"),
        ("(" * 100_000, "more than 200 words"),
    ],
)
def test_what_is_no_expression_is_told(expression: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        matcher_of(expression)
    assert str(caught.value) == words


@settings(moderate)
@given(st.lists(st.sampled_from(["and", "or", "not", "(", ")", "a", "[0]"])).map(" ".join))
def test_any_words_are_an_expression_or_told(expression: str) -> None:
    try:
        matcher_of(expression)(TEXT)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - both are fine
