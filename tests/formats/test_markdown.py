"""A catalogue for people."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition
from tests.formats.schemas import moderate
from tests.formats.tools import shaped
from tests.tables import check_each


def lines_about(name: str) -> list[str]:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    schema = {"type": "object", "properties": {name: inner}}
    text: str = shaped("markdown", ToolDefinition("pick", "Pick.", schema, print)).definition
    return text.splitlines()


@check_each(
    ("name", "shown"),
    [
        ("größe", "`größe`"),
        ("a-b c", "`a-b c`"),
        ("a|b", r'`"a\|b"`'),
        ("a`b", '`` "a`b" ``'),
        ("a\nb", r'`"a\nb"`'),
        (" a", '`" a"`'),
        ("", '`""`'),
    ],
)
def test_a_name_is_code_that_ends_neither_its_cell_nor_its_row(name: str, shown: str) -> None:
    lines = lines_about(name)
    assert f"| {shown} | object | optional |  |" in lines
    assert f"In {shown}:".replace(r"\|", "|") in lines


@moderate
@given(st.text())
def test_whatever_a_name_is_it_has_one_row_of_four_cells(name: str) -> None:
    rows = [each for each in lines_about(name) if each.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", each)) for each in rows] == [5, 5, 5]
