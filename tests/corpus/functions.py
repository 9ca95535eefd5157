"""Functions as people write them for other systems of tools; nothing here imports those."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

from pydantic import BaseModel, Field

from sovl_tools import ToolContext

if TYPE_CHECKING:
    from uuid import UUID


# an agent framework's plain function with a Google docstring
def get_weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Get the current weather in a city.

    Args:
        city: The city, e.g. Paris.
        unit: The unit of the temperature.
    """
    return f"12 {unit} in {city}"


# Annotated with plain text
def convert(
    amount: Annotated[float, "How much to convert"],
    currency: Annotated[str, "The code of the currency"] = "EUR",
) -> float:
    """Convert an amount."""
    return amount * 2 if currency == "EUR" else amount


# pydantic's Field within Annotated
def search_docs(
    query: Annotated[str, Field(description="What to look for", min_length=2)],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> list[str]:
    """Search the documentation."""
    return [query] * limit


# pydantic's Field as the default
def search_web(
    query: str = Field(description="What to look for"), pages: int = Field(default=2, ge=1)
) -> list[str]:
    """Search the web."""
    return [query] * pages


class Address(BaseModel):
    street: str
    number: int = Field(ge=1)
    tags: list[str] = Field(default_factory=list)


# one model for everything
def ship(address: Address, express: bool = False) -> str:
    """Ship a parcel."""
    return f"{address.street} {address.number} {express}"


@dataclass
class Point:
    """A point on the map.

    Attributes:
        x: The distance to the east.
        y: The distance to the north.
    """

    x: float
    y: float = 0.0


def move(points: list[Point]) -> float:
    """Move along points."""
    return sum(each.x + each.y for each in points)


class Range(TypedDict, total=False):
    low: int
    high: int


def count_between(numbers: list[int], limits: Range) -> int:
    """Count the numbers within limits."""
    return sum(limits.get("low", 0) <= each <= limits.get("high", 9) for each in numbers)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def paint(wall: str, color: Color = Color.RED) -> str:
    """Paint a wall.

    :param wall: Which wall.
    :param color: In which color.
    """
    return f"{wall} {color.value}"


class Size(NamedTuple):
    width: int
    height: int


def area(size: Size) -> int:
    """Return an area."""
    return size.width * size.height


# NumPy's docstring
def scale(values: list[float], factor: float = 2.0) -> list[float]:
    """Scale values.

    Parameters
    ----------
    values : list of float
        What to scale.
    factor : float, optional
        By how much.
    """
    return [each * factor for each in values]


def remind(at: datetime, text: str, repeat: timedelta | None = None) -> str:
    """Remind somebody."""
    return f"{at.year} {text} {repeat}"


def pay(amount: Decimal, day: date = date(2026, 1, 1)) -> str:
    """Pay an amount."""
    return f"{amount} on {day}"


def read_file(path: Path, lines: Optional[int] = None) -> str:  # noqa: UP045 - as many write it
    """Read a file."""
    return f"{path.name} {lines}"


def either(value: Union[int, str]) -> str:  # noqa: UP007 - as many write it
    """Take either."""
    return type(value).__name__


def untyped(query, limit=5, strict=True):  # type: ignore[no-untyped-def]
    """Search without types.

    Args:
        query (str): What to look for.
        limit (int): How many.
        strict (bool): Whether to be strict.
    """
    return [query, limit, strict]


def anything(name: str, **options: Any) -> dict[str, Any]:
    """Set options."""
    return {"name": name, **options}


def notify(text: str, callback: Callable[[str], None] | None = None) -> str:
    """Notify somebody."""
    if callback is not None:
        callback(text)
    return text


def search_with_key(query: str, key: str = os.environ.get("CORPUS_KEY", "")) -> str:
    """Search with a key."""
    return f"{query} {bool(key)}"


def logged(context: ToolContext, text: str) -> str:
    """Say something, and log it."""
    context.log("info", text)
    return text


async def fetch(url: str, timeout: float = 10.0) -> str:
    """Fetch a page."""
    await asyncio.sleep(0)
    return f"{url} {timeout}"


def numbers(up_to: int) -> Iterator[int]:
    """Yield numbers."""
    yield from range(up_to)


def labels(tags: set[str], weights: dict[str, float]) -> list[str]:
    """Return labels."""
    return sorted(tags | weights.keys())


def pair(both: tuple[int, str]) -> str:
    """Take a pair."""
    return f"{both[0]} {both[1]}"


def only_by_keyword(*, name: str, count: int = 1) -> str:
    """Take arguments by keyword."""
    return name * count


def _times(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    return wrapper


@_times
def decorated(text: str, loud: bool = False) -> str:
    """Say something, decorated."""
    return text.upper() if loud else text


def _add(first: int, second: int) -> int:
    """Add numbers."""
    return first + second


add_two = functools.partial(_add, second=2)


@functools.lru_cache
def cached(number: int) -> int:
    """Square a number."""
    return number * number


@dataclass
class Options:
    depth: int = 1
    names: list[str] = field(default_factory=list)


def crawl(url: str, options: Options = Options(depth=2)) -> str:  # noqa: B008 - as many write it
    """Crawl a site."""
    return f"{url} {options.depth} {options.names}"


def mapped(limit: Annotated[int, {"minimum": 0, "maximum": 5}] = 1) -> int:
    """Take a mapping of keywords."""
    return limit


def nested(filters: dict[str, list[Literal["a", "b"]]] | None = None) -> int:
    """Take nested containers."""
    return len(filters or {})


# what can't be a tool


def looks_up(key: UUID) -> str:
    """Look up a key."""
    return str(key)


def positional(text: str, /) -> str:
    """Take text by position."""
    return text


def called_back(callback: Callable[[str], None]) -> None:
    """Call back."""
    callback("done")
