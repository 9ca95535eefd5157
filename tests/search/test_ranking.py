from __future__ import annotations

from typing import Any

import pytest

from sovl_tools import ToolDefinition, ToolRegistry
from sovl_tools.search.ranking import SearchIndex
from tests.search.everyday_tools import made


def found(query: str, *tools: ToolDefinition, **options: Any) -> list[str]:
    return [match.tool for match in SearchIndex(tools).search(query, **options)]


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
    assert all(0 < each.score < 1 for each in SearchIndex(tools).search("weather"))
    assert found("weather", *tools, limit=1) == ["tool_00"]
    assert found("weather", *tools, limit=0) == []
    assert len(found("weather", *tools, limit=None)) == 20
    with pytest.raises(ValueError, match="limit must be at least 0, not -1"):
        ToolRegistry().search("weather", limit=-1)
