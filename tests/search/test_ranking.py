from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition, ToolRegistry
from sovl_tools.search.ranking import SearchIndex
from tests.schema.strategies import moderate
from tests.search.everyday_tools import made

WORDS = ("map", "maps", "route", "city", "draw", "the", "of", "天気", "read_file")
QUERY = "draw the map of a city, maps of routes, read_file 天気"

Tools = dict[str, ToolDefinition]

sentences = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
said = st.fixed_dictionaries(
    {"description": sentences},
    optional={
        "title": sentences,
        "tags": st.lists(sentences, max_size=2).map(tuple),
        "activation_phrases": st.lists(sentences, max_size=2).map(tuple),
    },
)
names = st.sampled_from(["map", "city_map", "draw", "b"])
catalogs = st.dictionaries(names, said, max_size=4)
edits = st.dictionaries(names, st.none() | said, max_size=3)
"""What some tools say from now on; None removes the tool."""


def found(query: str, *tools: ToolDefinition, **options: Any) -> list[str]:
    return [match.tool for match in SearchIndex(tools).search(query, **options)]


def of(catalog: Mapping[str, Mapping[str, Any]]) -> Tools:
    return {name: made(name, **fields) for name, fields in catalog.items()}


def test_numbers_tell_little() -> None:
    many = [made(f"weather_{n}", "Weather of a place.") for n in range(3)]
    dice = made("roll_dice", "Roll 7 dice.")
    assert found("weather for 7 days", *many, dice) == [*(tool.name for tool in many), "roll_dice"]


def test_common_words_count_only_if_there_are_no_others() -> None:
    tools = made("a", "Tell what it is."), made("b", "Weather.")
    assert found("tell me what the weather is", *tools) == ["b"]
    assert found("what is it?", *tools) == ["a"]
    assert found("what is it with kangaroos?", *tools) == []


def test_no_more_than_the_limit_are_returned() -> None:
    tools = [made(f"tool_{n:02}", "Weather.") for n in range(20)]
    assert found("weather", *tools) == [tool.name for tool in tools[:10]]
    assert found("weather", *tools, limit=1) == ["tool_00"]
    assert found("weather", *tools, limit=0) == []
    assert len(found("weather", *tools, limit=None)) == 20
    with pytest.raises(ValueError, match="limit must be at least 0, not -1"):
        ToolRegistry().search("weather", limit=-1)


@moderate
@given(catalogs, edits)
def test_an_index_that_takes_over_entries_is_as_one_built_anew(
    catalog: dict[str, Any], edit: dict[str, Any]
) -> None:
    tools = of(catalog)
    left = {name: known for name, known in tools.items() if name not in edit}
    changed = left | of({name: each for name, each in edit.items() if each is not None})
    index = SearchIndex(changed.values(), SearchIndex(tools.values()).entries)
    anew = SearchIndex(changed.values())
    for query in (QUERY, *WORDS):
        assert index.search(query) == anew.search(query)
