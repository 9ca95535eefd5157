"""The time, here and elsewhere."""

from collections.abc import Callable
from typing import Any

Value = Callable[..., Any]


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
