"""The time, here and elsewhere."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

import sovl_tools
from tests.tables import check_each

from .conftest import Refuse

Value = Callable[..., Any]


def test_tells_the_present_moment(value: Value) -> None:
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    shown = dt.datetime.fromisoformat(value("current_time")["iso"])
    assert before <= shown <= dt.datetime.now(dt.UTC)


def test_shows_a_given_moment_in_summer_and_in_winter(value: Value) -> None:
    summer = value("current_time", time_zone="Europe/Berlin", at="2026-07-01T12:00:00Z")
    winter = value("current_time", time_zone="Europe/Berlin", at="2026-01-01T12:00:00Z")
    assert (summer["time"], summer["utc_offset"], summer["abbreviation"]) == (
        "14:00:00",
        "+02:00",
        "CEST",
    )
    assert (winter["time"], winter["utc_offset"], winter["abbreviation"]) == (
        "13:00:00",
        "+01:00",
        "CET",
    )


def test_a_moment_without_an_offset_is_in_utc(value: Value) -> None:
    answer = value("current_time", at="2026-07-01 12:00:30.999")
    assert answer == {
        "time_zone": "UTC",
        "iso": "2026-07-01T12:00:30+00:00",
        "date": "2026-07-01",
        "time": "12:00:30",
        "weekday": "Wednesday",
        "utc_offset": "+00:00",
        "abbreviation": "UTC",
        "unix_seconds": 1782907230,
    }


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Europe/Belrin", "Europe/Berlin"),
    ],
)
def test_an_unknown_zone_gets_suggestions(refuse: Refuse, name: str, suggestion: str) -> None:
    message = refuse("current_time", time_zone=name)
    assert f"{name!r} isn't a known time zone: did you mean " in message
    assert suggestion in message


@check_each(
    "name", ["../../etc/passwd", "/etc/passwd", "\0", "America", "x" * 80, "tzdata.zi", "."]
)
def test_a_name_that_is_no_zone_is_refused(refuse: Refuse, name: str) -> None:
    assert "isn't a known time zone" in refuse("current_time", time_zone=name)


@pytest.mark.parametrize("at", ["tomorrow", "", "2026-13-01", "12:00"])
def test_a_moment_that_is_none_is_refused(refuse: Refuse, at: str) -> None:
    assert "isn't an ISO 8601 moment" in refuse("current_time", at=at)


@pytest.mark.parametrize(
    ("zone", "at"), [("Asia/Tokyo", "9999-12-31T23:59:59Z"), ("America/New_York", "0001-01-01")]
)
def test_a_moment_beyond_the_calendar_is_refused(refuse: Refuse, zone: str, at: str) -> None:
    assert "outside the years 1 to 9999" in refuse("current_time", time_zone=zone, at=at)


def test_its_phrases_stand_in_the_module(registry: sovl_tools.ToolRegistry) -> None:
    assert "what time is it" in registry["current_time"].activation_phrases
    assert [match.tool for match in registry.match("so, what time is it in Oslo?")] == [
        "current_time"
    ]
