"""A sequence that is worked out when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

_T_co = TypeVar("_T_co", covariant=True)


class Deferred(Sequence[_T_co]):
    """What a function returns, asked once; what the function holds is let go then."""

    __slots__ = ("_items", "_make")

    def __init__(self, make: Callable[[], tuple[_T_co, ...]]) -> None:
        self._make: Callable[[], tuple[_T_co, ...]] | None = make
        self._items: tuple[_T_co, ...] = ()

    def _all(self) -> tuple[_T_co, ...]:
        make = self._make
        if make is not None:
            self._items = make()
            self._make = None  # last, for others may be asking meanwhile
        return self._items

    @overload
    def __getitem__(self, index: int) -> _T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> _T_co | tuple[_T_co, ...]:
        """Return an item, or some as a tuple."""
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[_T_co]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        """Tell whether another sequence of this kind, or a tuple, has the same items."""
        if isinstance(other, Deferred):
            return self is other or self._all() == other._all()
        return self._all() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
