"""Statistics of tables. That no file outside the root is read is tested in test_confinement."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import check_each

Value = Callable[..., Any]


@pytest.fixture
def column(value: Value) -> Callable[..., Any]:
    """Return the statistics of a table of one column."""

    def of(*cells: str) -> Any:
        return value("csv_statistics", text="\n".join(["title", *cells]))["columns"][0]

    return of


def test_summarizes_numbers(column: Callable[..., Any]) -> None:
    numbers = [3, -1.5, 1e3, 0.5, 2]
    about = column(*map(str, numbers))
    assert about == {
        "name": "title",
        "kind": "number",
        "count": 5,
        "missing": 0,
        "min": -1.5,
        "max": 1000,
        "mean": pytest.approx(statistics.fmean(numbers)),
        "median": 2,
        "stdev": pytest.approx(statistics.stdev(numbers)),
    }


@check_each(
    ("text", "delimiter", "names"),
    [
        ("a,b\n1,2\n", ",", ["a", "b"]),
        ("a;b\n1,5;2,5\n", ";", ["a", "b"]),
        ("a\tb\tc\n1,5\t2\t3", "\t", ["a", "b", "c"]),
        ('"a;1",b\n"x;y",2\n', ",", ["a;1", "b"]),
        ("only\none\ncolumn", ",", ["only"]),
        ("\ufeffa,b\n", ",", ["a", "b"]),
        (" a , \n1,2", ",", ["a", "column 2"]),
    ],
)
def test_finds_the_delimiter(value: Value, text: str, delimiter: str, names: list[str]) -> None:
    answer = value("csv_statistics", text=text)
    assert answer["delimiter"] == delimiter
    assert [column["name"] for column in answer["columns"]] == names
