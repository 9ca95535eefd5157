from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.document import Path, depth, json_path, parse_json_path, pointer
from tests.schema.strategies import moderate
from tests.tables import check_each


@check_each(
    ("path", "text"),
    [
        ((), ""),
        (("a", 0, "b"), "/a/0/b"),
        (("a/b", "c~d", ""), "/a~1b/c~0d/"),
        (("~1",), "/~01"),
    ],
)
def test_a_pointer_is_written_as_its_rfc_says(path: Path, text: str) -> None:
    assert pointer(path) == text


@check_each(
    ("path", "text"),
    [
        ((), "$"),
        (("filters", 0, "color"), "$.filters[0].color"),
        (("odd key", "größe"), "$['odd key'].größe"),
        (("1st", ""), "$['1st']['']"),
        (("back\\slash",), r"$['back\\slash']"),
        (("bell\x07",), r"$['bell\u0007']"),
    ],
)
def test_a_json_path_is_written_as_its_rfc_says(path: Path, text: str) -> None:
    assert json_path(path) == text
    assert parse_json_path(text) == path


@moderate
@given(st.lists(st.text() | st.integers(min_value=0)))
def test_a_json_path_leads_back_to_its_path(path: list[str | int]) -> None:
    assert parse_json_path(json_path(tuple(path))) == tuple(path)


@check_each(
    ("document", "levels"),
    [(1, 0), ("[[", 0), ([], 1), ({}, 1), ([[], {"a": [1]}], 3), ({"a": {"b": {}}}, 3)],
)
def test_depth_counts_what_lies_inside_one_another(document: Any, levels: int) -> None:
    assert depth(document) == levels
