from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.formats.base import estimate
from tests.schema.strategies import moderate, values
from tests.tables import check_each


@check_each(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("погода", 3),
        ("größe", 2),
        ("天気予報", 4),
        ("a天", 2),
        ("\U0001f600", 1),
        ("\ud800", 1),
    ],
)
def test_four_characters_of_ascii_are_a_token_and_an_ideograph_is_one(
    text: str, tokens: int
) -> None:
    assert estimate(text) == tokens


def test_a_definition_counts_as_compact_json_in_the_characters_that_it_has() -> None:
    definition = {"name": "a", "parameters": {"type": "object", "properties": {}}}
    assert estimate(definition) == -(-len(json.dumps(definition, separators=(",", ":"))) // 4)
    assert estimate({"a": "天"}) == estimate('{"a":"天"}') == 3


@moderate
@given(values.filter(lambda value: not isinstance(value, str)))
def test_json_costs_what_its_text_costs(value: object) -> None:
    assert estimate(value) == estimate(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@moderate
@given(st.text(), st.text())
def test_more_text_never_costs_less_and_two_texts_at_most_a_token_more_than_one(
    first: str, second: str
) -> None:
    both = estimate(first + second)
    assert max(estimate(first), estimate(second)) <= both
    assert both <= estimate(first) + estimate(second) <= both + 1
