"""Functions as people write them for other systems of tools; nothing here imports those."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

from pydantic import BaseModel, Field

from sovl_tools import ToolContext

if TYPE_CHECKING:
    from uuid import UUID


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


def remind(at: datetime, text: str, repeat: timedelta | None = None) -> str:
    """Remind somebody."""
    return f"{at.year} {text} {repeat}"


def read_file(path: Path, lines: Optional[int] = None) -> str:  # noqa: UP045 - as many write it
    """Read a file."""
    return f"{path.name} {lines}"


def untyped(query, limit=5, strict=True):  # type: ignore[no-untyped-def]
    """Search without types.

    Args:
        query (str): What to look for.
        limit (int): How many.
        strict (bool): Whether to be strict.
    """
    return [query, limit, strict]


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
