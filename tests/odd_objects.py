"""Objects that no one expects: of every type, and such as fail at whatever is asked of them."""

from __future__ import annotations

import re
from collections import UserDict, namedtuple
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from functools import partial
from threading import Lock
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NoReturn


def _fail(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("no one expects this")


class Unshowable:
    __repr__ = __str__ = _fail


class Incomparable:
    __eq__ = __ne__ = __lt__ = _fail
    __hash__ = None  # type: ignore[assignment]


class Unanswering:
    __bool__ = __len__ = __iter__ = __getattr__ = _fail


class _Failing(type):
    __call__ = __instancecheck__ = __subclasscheck__ = __repr__ = _fail


class Metaclassed(metaclass=_Failing):
    pass


class Text(str):
    __slots__ = ()
    __eq__ = __ne__ = isascii = lower = casefold = split = _fail
    __hash__ = str.__hash__


class UnhashableText(str):
    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


class Word(StrEnum):
    HELLO = "say hello"


class Kind(Enum):
    FIRST = "first"


class Unlistable(list[Any]):
    __iter__ = _fail


class Unmappable(dict[str, Any]):
    items = keys = values = __iter__ = __getitem__ = _fail


class Property:
    @property
    def __class__(self) -> Any:
        _fail()

    @__class__.setter
    def __class__(self, _: Any) -> None: ...


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def odd_objects() -> Iterator[tuple[str, Any]]:
    """Yield objects by name, new ones each time."""
    endless: dict[str, Any] = {}
    endless["a"] = endless
    looped: list[Any] = []
    looped.append(looped)
    named = namedtuple("named", "a")  # noqa: PYI024 - as untyped as others write them
    plain = (None, True, 0, -1, 10**400, 1.5, float("inf"), float("nan"), "", "x", "\ud800", "\0")
    yield from ((repr(each)[:20], each) for each in plain)
    yield from {
        "a long text": "x" * 100_000,
        "lines": "a\nb",
        "bytes": b"x",
        "a list": [],
        "a list in a list": [[]],
        "a list of nothing": [None],
        "a tuple": (1,),
        "a set": {1},
        "a dictionary": {},
        "a dictionary by numbers": {1: 2},
        "a dictionary in itself": endless,
        "a list in itself": looped,
        "300 levels": _nested(300),
        "3,000 levels": _nested(3000),
        "an object": object(),
        "what can't be shown": Unshowable(),
        "what can't be compared": Incomparable(),
        "what has no attributes": Unanswering(),
        "what has no class": Property(),
        "a class": int,
        "a class of an odd class": Metaclassed,
        "an odd text": Text("a"),
        "a string without a hash": UnhashableText("a"),
        "a member of strings": Word.HELLO,
        "an Enum": Kind,
        "a member": Kind.FIRST,
        "an odd list": Unlistable([1]),
        "an odd dictionary": Unmappable(a=1),
        "a module": ModuleType("nobody"),
        "a namespace": SimpleNamespace(),
        "a lambda": lambda x: x,
        "a function that fails": _fail,
        "a built-in function": len,
        "a partial": partial(len),
        "a generator": (each for each in [1]),
        "a UserDict": UserDict(a=1),
        "a mapping proxy": MappingProxyType({"a": 1}),
        "a named tuple": named(1),
        "a Decimal": Decimal(1),
        "a date": date(2026, 1, 1),
        "a lock": Lock(),
        "a pattern": re.compile("a"),
        "an ellipsis": ...,
        "an exception": ValueError("x"),
        "an alias": list[int],
        "a union": int | str,
        "a property": property(_fail),
        "a static method": staticmethod(len),
        "a class method": classmethod(_fail),
        "a complex number": 1j,
    }.items()
