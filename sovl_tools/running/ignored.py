"""Keys of objects that are ignored while something is made of them.

They are counted only where that matters: where a union has to choose among its members.
"""

from __future__ import annotations

from threading import local
from typing import Any

from sovl_tools.running.unfit import Convert


class _Count(local):
    """How many keys were ignored so far; None where nobody counts them."""

    keys: int | None = None


_COUNT = _Count()


def are_counted() -> bool:
    """Tell whether it matters how many keys are ignored."""
    return _COUNT.keys is not None


def ignore(keys: int) -> None:
    """Note that so many keys are ignored."""
    if _COUNT.keys is not None:
        _COUNT.keys += keys


def counted(convert: Convert, value: Any) -> tuple[Any, int]:
    """Return what a value becomes, and how many keys in it are ignored on the way.

    Raises:
        UnfitError: no instance can be made.
    """
    before, _COUNT.keys = _COUNT.keys, 0
    try:
        return convert(value), _COUNT.keys
    finally:
        _COUNT.keys = before
