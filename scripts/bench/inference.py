"""What the schema of a function costs, beside what pydantic takes for the same functions.

Pydantic's nearest equivalent is ``TypeAdapter(function).json_schema()``, which makes a validator
of the function as well and leaves the docstring alone. The two alternate, and the least of all
rounds counts; "first" is the first call in a fresh process, with the imports that it needs.

    python scripts/bench/inference.py [ROUNDS]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from time import perf_counter
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from processes import said
from pydantic import BaseModel, Field, TypeAdapter

from sovl_tools.signature.inference import infer

TARGET = 100.0
CALLS = 50


class Units(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclass
class Place:
    latitude: float
    longitude: float
    name: str | None = None


class Options(NamedTuple):
    verbose: bool = False
    limit: int = 10


class Order(BaseModel):
    """An order."""

    number: int
    items: list[str]
    placed: datetime


def scalars(city: str, days: int = 3, ratio: float = 0.5, *, silent: bool = False) -> str:
    """Say something."""
    raise NotImplementedError


def containers(
    names: list[str], sizes: dict[str, int], note: str | None = None, level: int | str = 1
) -> dict[str, Any]:
    """Say something.

    It is said in more than one line, and yet there are no sections in it.
    """
    raise NotImplementedError


def sections(city: str, days: int = 3) -> str:
    """Say something.

    Args:
        city: Where it is said.
        days: For how long.

    Returns:
        What was said.
    """
    raise NotImplementedError


def types(
    day: date, number: UUID, price: Decimal, units: Units = Units.METRIC, mode: Literal["a"] = "a"
) -> None:
    """Say something."""


def classes(places: list[Place], options: Options, count: Annotated[int, "how many"] = 1) -> None:
    """Say something."""


def models(order: Order, count: Annotated[int, Field(ge=1, le=5)] = 1) -> None:
    """Say something."""


PLAIN = (scalars, containers)
RICH = (sections, types, classes, models)
FIRST = """
import time
started = time.perf_counter()
{imports}
def plain(city: str, days: int = 3) -> str:
    raise NotImplementedError
{call}
print((time.perf_counter() - started) * 1e6)
"""
OURS = FIRST.format(
    imports="from sovl_tools.signature.inference import infer", call="infer(plain).parameters"
)
PYDANTIC = FIRST.format(
    imports="from pydantic import TypeAdapter", call="TypeAdapter(plain).json_schema()"
)


def ours(function: Callable[..., Any]) -> object:
    return infer(function).parameters


def pydantic(function: Any) -> object:
    return TypeAdapter(function).json_schema()


def took(work: Callable[[Any], object], function: Callable[..., Any]) -> float:
    """Return the microseconds of one call, on average."""
    started = perf_counter()
    for _ in range(CALLS):
        work(function)
    return (perf_counter() - started) / CALLS * 1e6


def line(name: str, own: float, other: float, note: str = "") -> None:
    times = f"{own:9.1f} µs   pydantic {other:9.1f} µs   {other / own:5.1f} times as long"
    print(f"{name:12} {times}{note}")


def main() -> None:
    """Measure all functions."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"the schema of a function, least of {rounds} rounds of {CALLS} calls")
    for function in (*PLAIN, *RICH):
        pairs = [(took(ours, function), took(pydantic, function)) for _ in range(rounds)]
        own, other = (min(times) for times in zip(*pairs, strict=True))
        line(function.__name__, own, other, f"   (target {TARGET:.0f})" * (function in PLAIN))
    starts = [(said(OURS), said(PYDANTIC)) for _ in range(5)]
    line("first", *(min(times) for times in zip(*starts, strict=True)))


if __name__ == "__main__":
    main()
