from __future__ import annotations

from sovl_tools.formats.base import estimate
from tests.tables import check_each


@check_each(
    ("definition", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("größe", 2), ("天気予報", 3), ("\ud800", 1),
     ({"name": "a", "b": [1, "天"]}, 7)],
)  # fmt: skip
def test_four_bytes_of_compact_json_are_a_token(definition: object, tokens: int) -> None:
    assert estimate(definition) == tokens
