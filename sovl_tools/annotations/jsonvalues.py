"""Convert a function's return value into JSON, or report the place that can't be.

The tables ``_BY_TYPE`` and ``_BY_NAME`` have the conversions, and ``docs/reference/results.md``
lists them for users. Other values are rejected, and so are values nested more than 64 levels deep
or in themselves.
"""

from __future__ import annotations

from collections import UserString, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from enum import Enum
from json import JSONEncoder
from operator import attrgetter, methodcaller
from sys import getsizeof
from types import NoneType, SimpleNamespace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from sovl_tools.annotations.scalars import named_scalar
from sovl_tools.model.content import CONTENT, base64, encodable, readable
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, encodes, json_path
from sovl_tools.model.errors import (
    RunCancelledError,
    SovlToolsError,
    TimeLimitError,
    ToolError,
)


class InvalidResult(SovlToolsError):  # noqa: N818 - named like the kind of failure
    """A tool's return value isn't JSON; ``path`` is the place and ``message`` the reason."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(path, message)
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"result{json_path(self.path)[1:]} {self.message}"


_PASSING = (InvalidResult, ToolError, RunCancelledError, TimeLimitError)
"""Types that need no conversion."""

_NESTING = frozenset({dict, list})
_LEAST, _MOST = -(1 << 2048), 1 << 2048
"""Integers between them have at most 617 digits; Python's limit for writing is at least 640."""

text_of: Callable[[JSON], str] = JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False
).encode
"""Returns the compact JSON text of a value."""


def is_plain(value: Any, room: int = MAX_DEPTH) -> bool:  # noqa: C901, PLR0912 - see below
    """Return whether a value is JSON for certain, all of it of builtin types.

    It is never wrong about values it accepts; a value it does not accept can be JSON all the same.
    ``room`` is the number of levels of objects and arrays that are left. Every call of a tool
    passes through here, so this is one loop without calls for the common types.
    """
    kind = type(value)
    try:
        if kind is dict:
            for key in value:
                if type(key) is not str or not (key.isascii() or encodes(key)):
                    return False
            items = value.values()
        else:
            items = value if kind is list else (value,)
        for item in items:
            kind = type(item)
            if kind is str:
                if item.isascii() or encodes(item):
                    continue
            elif kind is int:
                if _LEAST < item < _MOST:
                    continue
            elif kind is float:
                if item - item == 0:  # neither NaN nor infinite
                    continue
            elif kind in _NESTING:
                if room > 1 and is_plain(item, room - 1):
                    continue
            elif item is None or kind is bool:
                continue
            return False
    except RuntimeError:
        return False  # another thread changes it
    return True


def to_json(value: Any, path: Path = ()) -> JSON:
    """Return a result, or the part of it at a path, as JSON: the same object if it is plain.

    Raises:
        InvalidResult: it contains a value that can't be JSON.
    """
    return value if is_plain(value) else _convert(value, path)


_Converter: TypeAlias = Callable[[Any, Path], JSON]


def _convert(value: Any, path: Path) -> JSON:
    """Return the value at a path of the result as JSON."""
    kind = type(value)
    try:
        return (_BY_TYPE.get(kind) or _FOUND.get(kind) or _converter(kind))(value, path)
    except _PASSING:
        raise
    except RecursionError:
        raise InvalidResult((), "is nested too deep") from None
    except Exception as error:
        words = f"can't be read: {_name(type(error))} was raised"
        raise InvalidResult(path, words) from error


def _converter(kind: type) -> _Converter:
    """Return the converter of a class that isn't in the table itself."""
    found = next(_converters(kind), _refused)
    _FOUND[kind] = found
    return found


_FOUND: WeakKeyDictionary[type, _Converter] = WeakKeyDictionary()
"""Converters of classes that were searched for before."""


def _converters(kind: type) -> Iterator[_Converter]:
    """Yield possible converters of a class, the best first."""
    if issubclass(kind, Enum):
        yield _by(attrgetter("value"))  # an IntEnum is an int, too
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        found = _BY_TYPE.get(base) or _BY_NAME.get(f"{package}.{base.__qualname__}")
        scalar = named_scalar(base)
        if found is not None:
            yield found
        elif scalar is not None:
            yield _by(scalar.write)
    yield from (found for mark, found in _BY_MARK.items() if hasattr(kind, mark))
    yield from (found for base, found in _BY_ABSTRACT.items() if issubclass(kind, base))


def _refused(value: Any, path: Path) -> JSON:
    raise InvalidResult(path, f"is {_kind(value)}, which isn't JSON")


def _kind(value: object) -> str:
    if isinstance(value, type):
        return f"the class {_name(value)}"
    name = _name(type(value))
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


# A metaclass can have its own __name__, which raises.
_name: Callable[[type], str] = vars(type)["__name__"].__get__


def _same(value: Any, _: Path) -> JSON:
    return value


def _integer(value: int, path: Path) -> JSON:
    number = int.__int__(value)
    if not _LEAST < number < _MOST:
        try:
            str(number)
        except ValueError:
            raise InvalidResult(path, "is an integer of too many digits") from None
    return number


def _float(value: float, path: Path) -> JSON:
    number = float.__float__(value)
    if number - number != 0:
        raise InvalidResult(path, f"is {number}, which isn't a JSON number")
    return number


def _text(value: Any, _: Path) -> JSON:
    return encodable(value if isinstance(value, str) else str(value))


def _bytes(value: Any, _: Path) -> JSON:
    data = bytes(value)
    text = readable(data)
    return base64(data) if text is None else text


def _room(path: Path) -> int:
    """Return the number of levels that are left below a place, at least 1."""
    if len(path) >= MAX_DEPTH:
        raise InvalidResult((), f"is nested more than {MAX_DEPTH} levels deep, or contains itself")
    return MAX_DEPTH - len(path)


MAX_ITEMS = 1_000_000
MAX_BYTES = 100_000_000
"""The number of items taken from iterators, generators and a tool's own sequences."""


def take_limited(items: Iterable[Any], path: Path = ()) -> Iterator[Any]:
    """Yield items that are made one by one.

    Raises:
        InvalidResult: there are too many, or they are too long.
    """
    limit = ItemLimit(path)
    for item in items:
        limit.count(item)
        yield item


class ItemLimit:
    """Counts items that are made one by one."""

    def __init__(self, path: Path = ()) -> None:
        self._path = path
        self._items = self._bytes = 0

    def count(self, item: Any) -> None:
        """Count an item.

        Raises:
            InvalidResult: there are too many, or they are too long.
        """
        self._items += 1
        # about as long as the item is, without its own items
        self._bytes += getsizeof(item) if type(item) in _SIZED else 0
        if self._items > MAX_ITEMS:
            raise InvalidResult(self._path, f"has more than {MAX_ITEMS:,} items")
        if self._bytes > MAX_BYTES:
            raise InvalidResult(self._path, f"has more than {MAX_BYTES:,} bytes")


_SIZED = frozenset({str, bytes, bytearray, list, tuple, dict, set, frozenset})
_WHOLE = frozenset({list, tuple, set, frozenset, deque, range})


def is_lazy(value: Any, room: int = 3) -> bool:
    """Return whether a conversion runs code of the tool's own, or waits, for each of many items."""
    kind = type(value)
    if kind in (list, tuple) and room:
        return any(is_lazy(item, room - 1) for item in value)
    if kind is dict and room:
        return any(is_lazy(item, room - 1) for item in value.values())
    return kind not in _BY_TYPE and isinstance(value, tuple(_BY_ABSTRACT))


def _list(items: Iterable[Any], path: Path) -> JSON:
    room = _room(path)
    found = list(items if type(items) in _WHOLE else take_limited(items, path))
    if is_plain(found, room):
        return found
    return [_convert(item, (*path, index)) for index, item in enumerate(found)]


def _tuple(value: Any, path: Path) -> JSON:
    is_named = hasattr(value, "_fields") and hasattr(value, "_asdict")
    return _dict(value._asdict(), path) if is_named else _list(value, path)


def _set(items: Iterable[Any], path: Path) -> JSON:
    found = _list(items, path)
    # The order of a set differs from process to process, so results would not be comparable.
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=text_of)


def _iterator(items: Iterator[Any], path: Path) -> JSON:
    """Convert an iterator of Python's own; others, such as open files, may never end."""
    if type(items).__module__ not in {"builtins", "itertools"}:
        return _refused(items, path)
    return _list(items, path)


def _dict(mapping: Mapping[Any, Any], path: Path) -> JSON:
    room = _room(path)
    if is_plain(mapping, room):
        return mapping
    found: dict[str, JSON] = {}
    for key, value in mapping.items():
        name = key if type(key) is str and key.isascii() else _key(key, path)
        if name in found:
            raise InvalidResult(path, f"has two keys that become {name!r}")
        found[name] = _convert(value, (*path, name))
    return found


def _key(key: Any, path: Path) -> str:
    try:
        found = _convert(key, path)
    except InvalidResult as error:
        raise InvalidResult(path, f"has a key that {error.message}") from error
    if isinstance(found, dict | list):
        raise InvalidResult(path, f"has a key that is {_kind(key)}, which can't be text")
    return found if isinstance(found, str) else text_of(found)


def _attributes(known: Iterable[Any], value: object, path: Path) -> JSON:
    return _dict({field.name: getattr(value, field.name) for field in known}, path)


def _exception(value: BaseException, _: Path) -> JSON:
    name, words = _name(type(value)), encodable(str(value))
    return f"{name}: {words}" if words else name


def _timedelta(value: Any, _: Path) -> JSON:
    seconds: float = value.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _decimal(value: Any, path: Path) -> JSON:
    if not value.is_finite():
        raise InvalidResult(path, f"is {value}, which isn't a JSON number")
    # Decimal("1e999999999") is whole, too, and would fill the memory.
    if value.adjusted() < _LONGEST_WHOLE and value == value.to_integral_value():
        return int(value)
    # A float only if it has the same digits; otherwise text keeps them.
    number = float(value)
    return number if value == type(value)(repr(number)) else str(value)


_LONGEST_WHOLE = 300


def _numpy(value: Any, path: Path) -> JSON:
    """Convert a scalar or an array of numpy; its times like the standard library's."""
    kind = value.dtype.kind
    if kind in "mM":
        value = value.astype(f"{kind}8[us]")
    found = value.tolist()
    if type(found) is type(value):
        return _float(float(value), path) if kind == "f" else _refused(value, path)
    return _convert(found, path)


def _by(write: Callable[[Any], Any]) -> _Converter:
    """Return a converter that converts the result of a function of the value."""
    return lambda value, path: _convert(write(value), path)


_BY_TYPE: dict[type, _Converter] = {
    NoneType: _same,
    bool: _same,
    int: _integer,
    float: _float,
    str: _text,
    UserString: _text,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    list: _list,
    tuple: _tuple,
    deque: _list,
    range: _list,
    set: _set,
    frozenset: _set,
    dict: _dict,
    SimpleNamespace: lambda value, path: _dict(dict(vars(value)), path),
    BaseException: _exception,
    **dict.fromkeys(CONTENT, lambda value, _: value.to_json()),
}

_BY_NAME: dict[str, _Converter] = {
    "datetime.timedelta": _timedelta,
    "decimal.Decimal": _decimal,
    "fractions.Fraction": lambda value, _: float(value),
    "numpy.generic": _numpy,
    "numpy.ndarray": _numpy,
    "pandas.DataFrame": _by(methodcaller("to_dict", orient="records")),
    "pandas.Index": _by(methodcaller("tolist")),
    "pandas.NAType": lambda _, __: None,
    "pandas.NaTType": lambda _, __: None,
    "pandas.Series": _by(methodcaller("tolist")),
    "pydantic.BaseModel": _by(methodcaller("model_dump", mode="json")),
    "pydantic._BaseMultiHostUrl": _text,
    "pydantic._BaseUrl": _text,
}
"""By package and class, so that no library is imported that the tool has not imported itself.

Other classes are written as the table of scalars says.
"""

_BY_MARK: dict[str, _Converter] = {
    "__dataclass_fields__": lambda value, path: _attributes(fields(value), value, path),
    "__attrs_attrs__": lambda value, path: _attributes(value.__attrs_attrs__, value, path),
}
"""By an attribute of the class."""

_BY_ABSTRACT: dict[type, _Converter] = {
    Mapping: _dict,
    MappingView: _list,
    AbstractSet: _set,
    Sequence: _list,
    Iterator: _iterator,
}
