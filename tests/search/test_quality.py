from __future__ import annotations

from sovl_tools import ToolRegistry
from sovl_tools.search.ranking import SearchIndex
from tests.conftest import REPOSITORY
from tests.search.everyday_tools import QUERIES, TOOLS
from tests.tables import check_each

INDEX = SearchIndex(TOOLS)

SHIPPED = {
    "convert miles to kilometres": "convert_units",
    "make a bar chart": "draw_chart",
    "what's the average of this csv column": "csv_statistics",
    "what is the time in Oslo right now": "current_time",
    "download https://example.com for me, please": "fetch_url",
    "find files that contain a word": "search_files",
    "select rows from a database": "query_sqlite",
    "is 5 greater than 3": "compare_values",
}


@check_each(("query", "name"), QUERIES.items(), ids=[*QUERIES.values()])
def test_the_tool_that_is_asked_for_comes_first(query: str, name: str) -> None:
    assert INDEX.search(query)[0].tool == name


@check_each(("query", "name"), SHIPPED.items(), ids=[*SHIPPED.values()])
def test_a_shipped_tool_is_found_in_everyday_words(query: str, name: str) -> None:
    registry = ToolRegistry.from_directory(REPOSITORY / "tools")
    assert registry.search(query)[0].tool == name
