from __future__ import annotations

from sovl_tools.search.ranking import SearchIndex
from tests.search.everyday_tools import QUERIES, TOOLS
from tests.tables import check_each

INDEX = SearchIndex(TOOLS)


@check_each(("query", "name"), QUERIES.items(), ids=[*QUERIES.values()])
def test_the_tool_that_is_asked_for_comes_first(query: str, name: str) -> None:
    assert INDEX.search(query)[0].tool == name
