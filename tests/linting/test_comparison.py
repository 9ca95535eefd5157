from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.linting.examples import MATCHES, differences
from tests.schema.strategies import moderate
from tests.tables import check_each

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
comparisons = st.sampled_from([each for each in MATCHES if each != "schema"])

DIFFERENT: list[tuple[str, Any, Any, list[str]]] = [
    ("subset", {"a": 1}, {"a": 2}, ["$.a is 2, expected 1"]),
    ("subset", {"a": {"b": 1}}, {"a": {}}, ["$.a.b is missing, expected 1"]),
    ("subset", [{"a": 1}], [{"a": 1, "b": 2}], ["$[0].b is 2, which is not expected"]),
    ("subset", [1], [1, 2], ["$[1] is 2, which is not expected"]),
    ("subset", [1, 2], [1], ["$[1] is missing, expected 2"]),
    ("subset", 1, True, ["$ is true, expected 1"]),
    ("subset", 1, 1.0000001, ["$ is 1.0000001, expected 1"]),
    ("subset", None, 0, ["$ is 0, expected null"]),
    ("subset", {}, [], ["$ is [], expected {}"]),
    ("exact", {"a": 1}, {"a": 1, "b": 2}, ["$.b is 2, which is not expected"]),
    ("approx", 1, 1.00001, ["$ is 1.00001, expected 1"]),
    ("approx", 1, True, ["$ is true, expected 1"]),
]
SAME: list[tuple[str, Any, Any]] = [
    ("subset", {"a": {}}, {"a": {"b": 1}, "c": 2}),
    ("subset", 8, 8.0),
    ("exact", {"a": [1]}, {"a": [1.0]}),
    ("approx", [0.1], [0.1000000001]),
    ("approx", [0], [1e-15]),
    ("approx", {"a": 1}, {"a": 1, "b": 2}),
]


@check_each(("match", "expected", "actual", "words"), DIFFERENT)
def test_each_difference_has_its_place(
    match: str, expected: Any, actual: Any, words: list[str]
) -> None:
    assert differences(expected, actual, match) == words


@check_each(("match", "expected", "actual"), SAME)
def test_what_a_match_admits(match: str, expected: Any, actual: Any) -> None:
    assert differences(expected, actual, match) == []


@settings(moderate)
@given(values, values, comparisons)
def test_whatever_differs_is_told_in_few_lines(expected: Any, actual: Any, match: str) -> None:
    found = differences(expected, actual, match)
    assert len(found) <= 21
    if match == "exact":
        assert bool(found) == bool(differences(actual, expected, match))


def test_texts_of_several_lines_are_compared_by_lines() -> None:
    assert differences("a\nb", "a\nc") == [
        "$ is another text (- expected, + returned):",
        *("  @@ -1,2 +1,2 @@", "   a", "  -b", "  +c"),
    ]


def test_long_texts_are_shown_from_where_they_differ() -> None:
    [line] = differences("x" * 70 + "a", "x" * 70 + "b")
    assert line == '$ is from character 61 on "xxxxxxxxxxb", expected "xxxxxxxxxxa"'
