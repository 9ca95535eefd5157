"""What it costs to convert arguments to annotated types, beside code written for the case.

The floor makes the same objects of the same JSON by hand, without looking whether it fits. Both
alternate in one process, CPU time is counted, and the least of all rounds. "made" is the making
of the converter, which happens once a tool, as a ratio to ``typing.get_type_hints`` of it.

    python scripts/bench/conversion.py [ROUNDS]
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from time import process_time
from typing import Any, Literal, NamedTuple, TypedDict
from uuid import UUID

from sovl_tools.annotations.conversion import converter_of

CALLS = 200


class Units(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclass
class Place:
    latitude: float
    longitude: float
    name: str | None = None


@dataclass
class Person:
    name: str
    born: date
    home: Place | None = None
    friends: list[Person] = field(default_factory=list)


class Row(NamedTuple):
    key: str
    value: int


class Movie(TypedDict):
    title: str
    released: date


def scalars(day: date, at: datetime, number: UUID, price: Decimal, span: timedelta) -> None: ...


def choices(units: Units, mode: Literal["a", "b"] | Units, unit: Units | None = None) -> None: ...


def containers(
    days: list[date], sizes: dict[int, float], tags: set[str], pair: tuple[int, str]
) -> None: ...


def classes(person: Person, rows: list[Row], movie: Movie) -> None: ...


def unions(when: date | int, who: Person | Place | str, what: list[Person | Place]) -> None: ...


def many(places: list[Place]) -> None: ...


HOME = {"latitude": 1.5, "longitude": 2.5, "name": "home"}
ANN = {"name": "Ann", "born": "2000-01-31", "home": HOME}


def place(given: dict[str, Any]) -> Place:
    return Place(**given)


def person(given: dict[str, Any]) -> Person:
    friends = [person(each) for each in given.get("friends", ())]
    return Person(given["name"], date.fromisoformat(given["born"]), place(given["home"]), friends)


Shape: typing.TypeAlias = tuple[
    Callable[..., None], dict[str, Any], Callable[[dict[str, Any]], object]
]
SHAPES: list[Shape] = [
    (
        scalars,
        {
            "day": "2026-01-31",
            "at": "2026-01-31T12:00:00",
            "number": "12345678-1234-5678-1234-567812345678",
            "price": "12.50",
            "span": 90,
        },
        lambda it: (
            date.fromisoformat(it["day"]),
            datetime.fromisoformat(it["at"]),
            UUID(it["number"]),
            Decimal(it["price"]),
            timedelta(seconds=it["span"]),
        ),
    ),
    (
        choices,
        {"units": "metric", "mode": "a", "unit": "imperial"},
        lambda it: (Units(it["units"]), it["mode"], Units(it["unit"])),
    ),
    (
        containers,
        {
            "days": ["2026-01-31"] * 5,
            "sizes": {"1": 1.5, "2": 2.5},
            "tags": ["a", "b", "c"],
            "pair": [1, "a"],
        },
        lambda it: (
            [date.fromisoformat(each) for each in it["days"]],
            {int(key): each for key, each in it["sizes"].items()},
            set(it["tags"]),
            tuple(it["pair"]),
        ),
    ),
    (
        classes,
        {
            "person": {**ANN, "friends": [ANN, ANN]},
            "rows": [{"key": "a", "value": 1}, ["b", 2]],
            "movie": {"title": "M", "released": "1931-05-11"},
        },
        lambda it: (
            person(it["person"]),
            (Row(**it["rows"][0]), Row(*it["rows"][1])),
            {**it["movie"], "released": date.fromisoformat(it["movie"]["released"])},
        ),
    ),
    (
        unions,
        {"when": "2026-01-31", "who": HOME, "what": [ANN, HOME]},
        lambda it: (
            date.fromisoformat(it["when"]),
            place(it["who"]),
            (person(it["what"][0]), place(it["what"][1])),
        ),
    ),
    (many, {"places": [HOME] * 100}, lambda it: [place(each) for each in it["places"]]),
]


def took(work: Callable[[Any], object], given: object) -> float:
    """Return the microseconds of CPU of one call, on average."""
    started = process_time()
    for _ in range(CALLS):
        work(given)
    return (process_time() - started) / CALLS * 1e6


def hints_of(function: Any) -> object:
    return typing.get_type_hints(function)


def main() -> None:
    """Measure all shapes."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"arguments to annotated types, least of {rounds} rounds of {CALLS} calls, CPU time")
    for function, given, by_hand in SHAPES:
        convert = converter_of(function, given)
        assert convert is not None
        pairs = [(took(convert, given), took(by_hand, given)) for _ in range(rounds)]
        own, floor = (min(times) for times in zip(*pairs, strict=True))
        made = [
            (took(partial(converter_of, function), given), took(hints_of, function))
            for _ in range(max(1, rounds // 10))
        ]
        making, hints = (min(times) for times in zip(*made, strict=True))
        print(
            f"{function.__name__:12} {own:8.1f} µs   by hand {floor:7.1f} µs   "
            f"{own / floor:4.1f} times as long   made {making:6.1f} µs, "
            f"{making / hints:4.1f} times its type hints"
        )


if __name__ == "__main__":
    main()
