"""One tool over many inputs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dispatch.toolbox import TEXT, properties, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each

NUMBER = properties(number={"type": "integer"})


def double(number: int) -> int:
    return 2 * number


def test_each_input_has_one_result() -> None:
    calling = tooler(tool(double, NUMBER))
    given: list[Any] = [{"number": number} for number in range(200)]
    found = sorted(calling.map("double", given, limit=5))
    assert [each.place for each in found] == [*range(200)]
    assert [each.arguments for each in found] == given
    assert [each.result.value for each in found] == [*range(0, 400, 2)]


def test_results_come_as_they_are_there_or_in_order() -> None:
    first_may_end = threading.Event()

    def wait(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(PATIENCE)
        return number

    calling = tooler(tool(wait, NUMBER))
    given = [{"number": number} for number in range(6)]
    places = []
    for each in calling.map("wait", given, limit=2):
        places.append(each.place)
        if each.place == 5:
            first_may_end.set()
    assert places == [1, 2, 3, 4, 5, 0]
    assert [each.place for each in calling.map("wait", given, limit=2, ordered=True)] == [*range(6)]


def test_inputs_are_read_as_they_are_needed() -> None:
    read = 0

    def endless() -> Iterator[dict[str, int]]:
        nonlocal read
        while True:
            read += 1
            yield {"number": read}

    for ordered in (False, True):
        read = 0
        found = tooler(tool(double, NUMBER)).map("double", endless(), limit=3, ordered=ordered)
        assert [next(found).result.ok for _ in range(50)] == [True] * 50
        assert read <= 50 + 4 * 3 + 3
        found.close()  # type: ignore[attr-defined]  # it is a generator


def test_whoever_stops_early_cancels_what_is_under_way() -> None:
    seen, may_end = threading.Event(), threading.Event()

    def wait(text: str) -> str:
        if text == "long":
            seen.set()
            may_end.wait(PATIENCE)
        return text

    ended: list[Any] = []
    calling = tooler(tool(wait, TEXT), observers=[ended.append], mode="thread")
    found = calling.map("wait", [{"text": "long"}, {"text": "short"}], limit=2)
    assert next(found).result.value == "short"
    assert seen.wait(PATIENCE)
    found.close()  # type: ignore[attr-defined]  # it is a generator
    may_end.set()
    while len(ended) < 2:
        threading.Event().wait(0.002)
    assert sorted(str(each.kind) for each in ended) == ["None", "cancelled"]


@check_each(
    ("options", "error"),
    [({"limit": 0}, ValueError), ({"call_id": "x"}, TypeError), ({"tiemout": 1}, TypeError)],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_at_once(
    options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        tooler(double).map("double", [], **options)
