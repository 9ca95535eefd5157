"""How JSON values become instances of the types that annotations name.

=================================  ============================================================
annotation                         made of
=================================  ============================================================
datetime, date, time               ISO 8601 text; a date alone is its midnight
timedelta                          a number of seconds, or text such as ``PT1H30M``
Decimal, Fraction                  a number, as it is written: 0.1 is a tenth; or text of one
UUID, Path, ipaddress, ZoneInfo    text
re.Pattern                         text of a regular expression
bytes, bytearray                   text, encoded as UTF-8
Enum                               the value of a member, or its name if the value is no scalar
dataclass                          an object of the parameters that the class takes
NamedTuple                         such an object, or an array
TypedDict                          an object; keys that it does not list stay as they are
list, set, tuple, deque, …         an array
dict, Mapping, …                   an object; other keys than texts are read from the text
Union                              a scalar whose type is a member stays as it is; else the
                                   first member that fits, those that take any text last
pydantic                           what pydantic makes of it
=================================  ============================================================

Annotated, NewType, TypeVar and aliases are what they stand for. What is of an annotated type
already stays as it is, and so does what is annotated as anything else. Where something is made,
its parts must be of their own annotated types: ``tuple[int, int]`` refuses ``["a", 1]``.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import inspect
import ipaddress
import json
import os
import pathlib
import re
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import InitVar, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import chain, count, repeat
from threading import local
from types import MappingProxyType, NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, ForwardRef, Literal, NamedTuple, TypeAlias, Union
from uuid import UUID
from zoneinfo import ZoneInfo

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import ToolError
from sovl_tools.model.suggestion import nearest
from sovl_tools.running.given import Unparsed, parsed
from sovl_tools.validation import Problem
from sovl_tools.validation.wording import describe, named, one_of, shown

Convert: TypeAlias = Callable[[Any], Any]
"""From a value to an instance; raises an UnfitError if none can be made."""

Build: TypeAlias = Callable[[Any], Convert]
"""From an annotation to its converter."""

Form: TypeAlias = Callable[[Build, Any], Convert]
"""Makes the converter of one sort of annotation, with those of the annotations in it."""

Problems: TypeAlias = list[tuple[Path, str]]


class UnfitError(Exception):
    """A value of which no instance can be made.

    Attributes:
        problems: places in the value, and what is wrong there.
        expected: what would fit instead, in words, if the value as a whole does not.
    """

    def __init__(self, problems: Problems, expected: tuple[str, ...] = ()) -> None:
        super().__init__(problems)
        self.problems = problems
        self.expected = expected

    def below(self, part: str | int) -> Problems:
        """Return the problems as they are called from one level up."""
        return [((part, *path), message) for path, message in self.problems]

    @property
    def distance(self) -> tuple[int, int]:
        """How far the value is from fitting: problems at its top, then all of them."""
        return sum(len(path) < 2 for path, _ in self.problems), len(self.problems)  # noqa: PLR2004 - a part and the value itself


def _mismatch(value: Any, *expected: str, words: str = "") -> UnfitError:
    """Return what is said of a value that is of another type; ``words`` name the value."""
    message = f"must be {one_of(dict.fromkeys(expected))}, not {words or named(value)}"
    return UnfitError([((), message)], expected)


def _same(value: Any) -> Any:
    """Leave a value as it is: the converter for annotations that ask for nothing."""
    return value


def _called(make: Callable[[], Any]) -> Any:
    """Return what the code of a type makes; whatever it raises speaks against the value."""
    try:
        return make()
    except UnfitError:
        raise
    except Exception as error:
        raise UnfitError([((), _words(error))]) from error


def _words(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the code of a tool
        text = ""
    if text and isinstance(error, ValueError | TypeError | AssertionError | ToolError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _integer(value: float) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _decimal(value: float | str) -> Decimal:
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError
    return number


def _fraction(value: float | str) -> Fraction:
    if isinstance(value, str) and "e" in value.lower():
        raise ValueError  # "1e999999999" would take for ever
    return Fraction(str(value))


_DURATION = re.compile(
    r"([+-]?)P(?!$)(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)


def _duration(value: float | str) -> timedelta:
    if not isinstance(value, str):
        return timedelta(seconds=value)
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError
    sign, *parts = found.groups(default="0")
    weeks, days, hours, minutes, seconds = map(Fraction, parts)
    whole = 60 * (60 * (24 * (7 * weeks + days) + hours) + minutes) + seconds
    return timedelta(microseconds=round(whole * 1_000_000)) * (-1 if sign == "-" else 1)


class _Scalar(NamedTuple):
    """A type that is made of one JSON value, which is of one of the types ``given``."""

    given: tuple[type, ...]
    make: Convert
    expected: str


_TEXT = (str,)
_NUMBER = (int, float)
_JSON_SCALARS = (str, int, float, bool, NoneType)
_PATHS = (
    pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath,
    pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
)  # fmt: skip
_ADDRESSES = {
    ipaddress.IPv4Address: "an IPv4 address", ipaddress.IPv6Address: "an IPv6 address",
    ipaddress.IPv4Network: "an IPv4 network", ipaddress.IPv6Network: "an IPv6 network",
    ipaddress.IPv4Interface: "an IPv4 interface", ipaddress.IPv6Interface: "an IPv6 interface",
}  # fmt: skip
_SCALARS: dict[Any, _Scalar] = {
    str: _Scalar(_TEXT, _same, "a string"),
    int: _Scalar(_NUMBER, _integer, "an integer"),
    float: _Scalar(_NUMBER, _same, "a number"),
    bool: _Scalar((bool,), _same, "a boolean"),
    NoneType: _Scalar((NoneType,), _same, "null"),
    datetime: _Scalar(_TEXT, datetime.fromisoformat, "a date and time such as 2026-01-31T12:00:00"),
    date: _Scalar(_TEXT, date.fromisoformat, "a date such as 2026-01-31"),
    time: _Scalar(_TEXT, time.fromisoformat, "a time such as 12:30:00"),
    timedelta: _Scalar(
        (*_NUMBER, str), _duration, "a number of seconds or a duration such as PT1H30M"
    ),
    Decimal: _Scalar((*_NUMBER, str), _decimal, "a number"),
    Fraction: _Scalar((*_NUMBER, str), _fraction, "a number or a fraction such as 1/3"),
    UUID: _Scalar(_TEXT, UUID, "a UUID"),
    ZoneInfo: _Scalar(_TEXT, ZoneInfo, "a time zone such as Europe/Berlin"),
    re.Pattern: _Scalar(_TEXT, re.compile, "a regular expression"),
    bytes: _Scalar(_TEXT, str.encode, "a string"),
    bytearray: _Scalar(_TEXT, lambda text: bytearray(text.encode()), "a string"),
    os.PathLike: _Scalar(_TEXT, pathlib.Path, "a path"),
    **{each: _Scalar(_TEXT, each, "a path") for each in _PATHS},
    **{each: _Scalar(_TEXT, each, words) for each, words in _ADDRESSES.items()},
}


def _scalar(kind: Any) -> Convert:
    """Return the converter of a type of the table of scalars."""
    given, make, expected = _SCALARS[kind]

    def convert(value: Any) -> Any:
        words = ""
        if type(value) in given:
            try:
                return make(value)
            except Exception:  # noqa: BLE001 - each type has its own way to refuse
                words = shown(value)
        elif isinstance(value, kind) and type(value) is not bool:
            return value
        raise _mismatch(value, expected, words=words)

    return convert


def _collected(
    steps: Iterable[tuple[str | int, Convert, Any]], known: Iterable[tuple[Path, str]] = ()
) -> list[Any]:
    """Return what the parts of a value become, or raise what is wrong with any of them."""
    found, problems = [], [*known]
    for part, convert, value in steps:
        try:
            found.append(convert(value))
        except UnfitError as error:
            problems += error.below(part)
    if problems:
        raise UnfitError(problems)
    return found


_ARRAYS: dict[Any, Callable[[list[Any]], Any]] = {
    list: _same,
    collections.abc.Sequence: _same,
    collections.abc.MutableSequence: _same,
    collections.abc.Collection: _same,
    collections.abc.Iterable: _same,
    set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
    collections.deque: collections.deque,
    tuple: tuple,
}
_ARRAY_LIKE = (list, tuple, set, frozenset, collections.deque)


def _array(build: Build, annotation: Any) -> Convert:
    """Return the converter of a ``list[T]`` and its like."""
    make = _ARRAYS[typing.get_origin(annotation) or annotation]
    item = build(*(typing.get_args(annotation)[:1] or (Any,)))

    def convert(values: Any) -> Any:
        if not isinstance(values, _ARRAY_LIKE):
            raise _mismatch(values, "an array")
        items = _collected(zip(count(), repeat(item), values, strict=False))
        return _called(partial(make, items))

    return convert


def _tuple(build: Build, annotation: Any) -> Convert:
    """Return the converter of a tuple, of any length or of a fixed one."""
    arguments = typing.get_args(annotation)
    if arguments[1:] == (...,) or annotation in (tuple, typing.Tuple):  # noqa: UP006 - as it is written
        return _array(build, annotation)
    if any(map(_is_unpacked, arguments)):
        return _array(build, tuple)
    items = [build(each) for each in arguments]

    def convert(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple):
            raise _mismatch(values, "an array")
        if len(values) != len(items):
            raise UnfitError([((), f"must have exactly {len(items)} items, not {len(values)}")])
        return tuple(_collected(zip(count(), items, values, strict=False)))

    return convert


def _is_unpacked(annotation: Any) -> bool:
    unpacked = getattr(annotation, "__unpacked__", False)
    return unpacked is True or typing.get_origin(annotation) is typing.Unpack


_OBJECTS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: _same,
    Mapping: _same,
    collections.abc.MutableMapping: _same,
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: partial(collections.defaultdict, None),
}


def _object(build: Build, annotation: Any) -> Convert:
    """Return the converter of a ``dict[K, V]`` and its like."""
    make = _OBJECTS[typing.get_origin(annotation) or annotation]
    kind, content = typing.get_args(annotation) or (Any, Any)
    key, item = _key(build(kind)), build(content)

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _mismatch(value, "an object")
        keys = zip(value, repeat(key), value, strict=False)
        every = _collected(chain(keys, zip(value, repeat(item), value.values(), strict=False)))
        half = len(value)
        found = _called(partial(dict, zip(every[:half], every[half:], strict=True)))
        if len(found) < half:
            raise UnfitError([((), "has keys that stand for the same")])
        return make(found)

    return convert


def _key(convert: Convert) -> Convert:
    """Return what makes a key of a text: as it stands, or as JSON text such as ``12``."""

    def read(text: Any) -> Any:
        try:
            return convert(text)
        except UnfitError as error:
            value = parsed(text) if isinstance(text, str) else text
            with suppress(UnfitError):
                if not isinstance(value, Unparsed):
                    return convert(value)
            raise UnfitError([((), f"the key {error.problems[0][1]}")]) from error

    return read if convert is not _same else _same


_EXACT: dict[Any, tuple[type, ...]] = {
    **{each: (each,) for each in (str, int, bool, NoneType, list, dict)},
    float: (float, int),
    list[Any]: (list,),
    dict[str, Any]: (dict,),
}
_RANKS: dict[Any, int] = {
    datetime: 1,
    **dict.fromkeys((bytes, bytearray, os.PathLike, *_PATHS), 2),
    **dict.fromkeys((str, int, float, bool), 3),
}


def _union(build: Build, annotation: Any) -> Convert:
    """Return the converter of a union, however it is written."""
    members = [_described(each) for each in typing.get_args(annotation)]
    exact = {kind for each in members for kind in _EXACT.get(each, ())}
    made = [each for each in members if each is not NoneType]
    ranked = map(build, sorted(made, key=lambda each: _RANKS.get(each, 0)))
    converters = sorted(ranked, key=lambda convert: convert is _same)
    if len(converters) > 1:
        return _Alternatives(frozenset(exact), tuple(converters)).convert
    return _optional(converters[0])


def _defaulting(convert: Convert, default: Any) -> Convert:
    """Return the converter of a parameter, which takes its default of None, whatever it says."""
    return _optional(convert) if default is None else convert


def _optional(convert: Convert) -> Convert:
    return _same if convert is _same else lambda value: None if value is None else convert(value)


_Outcomes: TypeAlias = dict[tuple[int, int], tuple[Any, Any, Any, UnfitError | None]]


class _Trials(local):
    """What the unions in one value came to, so that no part of it is tried time and again."""

    outcomes: _Outcomes | None = None


_TRIALS = _Trials()


class _Alternatives(NamedTuple):
    """A union: types of values that stay as they are, and what else may be made, in order."""

    exact: frozenset[type]
    converters: tuple[Convert, ...]

    def convert(self, value: Any) -> Any:
        if type(value) in self.exact:
            return value
        if not isinstance(value, dict | list):
            return self._tried(value)
        if _TRIALS.outcomes is not None:
            return self._remembered(value, _TRIALS.outcomes)
        _TRIALS.outcomes = {}
        try:
            return self._tried(value)
        finally:
            _TRIALS.outcomes = None

    def _tried(self, value: Any) -> Any:
        errors = []
        for convert in self.converters:
            try:
                return convert(value)
            except UnfitError as error:
                errors.append(error)
        raise _nearest(errors, value)

    def _remembered(self, value: JSON, outcomes: _Outcomes) -> Any:
        key = id(self.converters), id(value)
        if key not in outcomes:
            try:
                outcomes[key] = self, value, self._tried(value), None
            except UnfitError as error:
                outcomes[key] = self, value, None, error
        *_, result, unfit = outcomes[key]
        if unfit is not None:
            raise UnfitError(unfit.problems, unfit.expected)
        return result


def _nearest(errors: list[UnfitError], value: Any) -> UnfitError:
    """Return what speaks against the member that fits best: least at the top, then below."""
    inner = [error for error in errors if not error.expected]
    if inner:
        return min(inner, key=lambda error: error.distance)
    return _mismatch(value, *(words for error in errors for words in error.expected))


def _literal(_: Build, annotation: Any) -> Convert:
    """Return the converter of a ``Literal``, which may list members of an Enum."""
    values = typing.get_args(annotation)
    members = {value: value for value in values if isinstance(value, Enum)}
    return _choice({_written(value): value for value in values}, members.__getitem__)


def _enum(_: Build, annotation: Any) -> Convert:
    """Return the converter of an Enum."""
    return _choice({_written(each): each for each in annotation.__members__.values()}, annotation)


def _written(value: Any) -> JSON:
    """Return the JSON value that stands for a member of an Enum, or of a Literal."""
    if not isinstance(value, Enum):
        return value
    return value.value if isinstance(value.value, _JSON_SCALARS) else value.name


def _choice(choices: Mapping[JSON, Any], otherwise: Convert) -> Convert:
    if not choices:
        raise ValueError("there is nothing to choose from")
    by_kind = {(value, type(value) is bool): choice for value, choice in choices.items()}

    def convert(value: Any) -> Any:
        try:
            return by_kind[value, type(value) is bool]
        except (KeyError, TypeError):
            pass
        with suppress(Exception):
            return otherwise(value)
        words = ", ".join(map(shown, [*choices][:20]))
        problem = Problem("enum", (), value, [*choices])
        raise UnfitError([((), describe(problem))], (f"one of {words}",))

    return convert


class _Field(NamedTuple):
    convert: Convert
    is_required: bool


class _Shape(NamedTuple):
    """What an object must look like; one that is open may have other keys as well."""

    fields: dict[str, _Field]
    is_open: bool


class _Instance:
    """A class that is made of an object; its fields are looked at when the first value comes.

    So a class may refer to itself.
    """

    def __init__(self, kind: Any, shape: Callable[[], _Shape]) -> None:
        self._kind = kind
        self._look = shape

    @cached_property
    def _shape(self) -> _Shape:
        return self._look()

    def convert(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return value
        return _called(partial(self._kind, **self.fields_of(value)))

    def from_array(self, value: Any) -> Any:
        """Convert an array of the fields in their order, or what ``convert`` does."""
        if type(value) not in {list, tuple}:
            return self.convert(value)
        names = [*self._shape.fields]
        if len(value) > len(names):
            raise UnfitError([((), f"must have at most {len(names)} items, not {len(value)}")])
        try:
            return self.convert(dict(zip(names, value, strict=False)))
        except UnfitError as error:
            places: list[tuple[Path, str]] = [
                ((*(names.index(str(part)) for part in path[:1]), *path[1:]), words)
                for path, words in error.problems
            ]
            raise UnfitError(places) from error

    def fields_of(self, value: Any) -> dict[str, Any]:
        """Return the converted fields of an object."""
        if not isinstance(value, Mapping):
            raise _mismatch(value, "an object")
        fields, is_open = self._shape
        missing = [name for name in fields if fields[name].is_required and name not in value]
        strange = [] if is_open else [name for name in value if name not in fields]
        problems = [((name,), "is required") for name in missing]
        problems += [((name,), self._unknown(name, fields.keys() - value)) for name in strange]
        steps = ((name, fields.get(name, _ANYTHING).convert, value[name]) for name in value)
        return dict(zip(value, _collected(steps, problems), strict=True))

    def _unknown(self, name: str, others: set[str]) -> str:
        near = nearest(str(name), others)
        hint = f"; did you mean {near!r}?" if near else ""
        return f"is not a field of {self._kind.__name__}{hint}"


_ANYTHING = _Field(_same, is_required=False)


def _instance(build: Build, annotation: Any) -> Convert:
    """Return the converter of a dataclass."""
    return _with_parameters(build, annotation).convert


def _named_tuple(build: Build, annotation: Any) -> Convert:
    """Return the converter of a NamedTuple."""
    return _with_parameters(build, annotation).from_array


def _typed_dict(build: Build, annotation: Any) -> Convert:
    """Return the converter of a TypedDict, which stays a dictionary."""
    return _Instance(_origin(annotation), partial(_keys, build, annotation)).fields_of


def _with_parameters(build: Build, annotation: Any) -> _Instance:
    kind = _origin(annotation)
    taken = [*inspect.signature(kind).parameters.values()]
    return _Instance(kind, lambda: _parameters(build, taken, annotation))


def _parameters(build: Build, taken: list[inspect.Parameter], annotation: Any) -> _Shape:
    """Return the shape of an object of keywords for those parameters of a class."""
    hints, names = _hints(annotation), _namespaces(_origin(annotation))
    fields = {}
    for each in taken:
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            hint = hints[each.name] if each.name in hints else resolved(each.annotation, *names)
            convert = _defaulting(build(hint), each.default)
            fields[each.name] = _Field(convert, is_required=each.default is each.empty)
    return _Shape(fields, any(each.kind is each.VAR_KEYWORD for each in taken))


def _keys(build: Build, annotation: Any) -> _Shape:
    kind = _origin(annotation)
    fields = {
        name: _Field(
            build(hint),
            _SAID.get(typing.get_origin(hint), name in kind.__required_keys__),
        )
        for name, hint in _hints(annotation).items()
    }
    return _Shape(fields, is_open=True)


_SAID: dict[Any, bool] = {typing.Required: True, typing.NotRequired: False}


def _origin(annotation: Any) -> Any:
    """Return ``list`` for ``list[T]``, and what has no parameters as it is."""
    return typing.get_origin(annotation) or annotation


def _hints(annotation: Any) -> dict[str, Any]:
    """Return the annotations of a class and of those that it inherits from."""
    kind = _origin(annotation)
    found = {
        name: resolved(each, *_namespaces(base))
        for base in reversed(kind.__mro__)
        for name, each in inspect.get_annotations(base).items()
    }
    bound = dict(
        zip(getattr(kind, "__parameters__", ()), typing.get_args(annotation), strict=False)
    )
    return {name: _substituted(hint, bound) for name, hint in found.items()}


def _namespaces(kind: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the names in a class's annotations stand for; its module's come first."""
    return {**vars(kind), kind.__name__: kind}, vars(sys.modules.get(kind.__module__) or builtins)


def _substituted(annotation: Any, bound: Mapping[Any, Any]) -> Any:
    """Return an annotation with the type variables of a generic class replaced."""
    if isinstance(annotation, typing.TypeVar):
        return bound.get(annotation, annotation)
    free = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or bound.keys().isdisjoint(free):
        return annotation
    return annotation[tuple(bound.get(each, each) for each in free)]


def resolved(
    annotation: Any, names: dict[str, Any], local: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Return an annotation with its text evaluated; ``local`` names come before the others.

    Where a name can't be found, it says nothing: ``Any``.
    """
    try:
        if isinstance(annotation, str):
            annotation = ForwardRef(annotation, is_argument=False, is_class=True)
        holder = SimpleNamespace(__annotations__={"annotation": annotation})
        return typing.get_type_hints(holder, names, local, include_extras=True)["annotation"]
    except Exception:  # noqa: BLE001 - evaluating it runs whatever its author wrote
        return Any


def _pydantic(_: Build, annotation: Any) -> Convert:
    """Return the converter of what pydantic knows how to make.

    Raises:
        Exception: it does not know after all; which one is up to pydantic.
    """
    library = sys.modules["pydantic"]
    adapter = library.TypeAdapter(annotation)

    def from_text(value: Any) -> Any:
        try:
            return adapter.validate_json(json.dumps(value))
        except library.ValidationError as error:
            found = error.errors()
            problems = [(_place(each, value), _reworded(each)) for each in found]
            raise UnfitError(problems) from error

    def convert(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except Exception:  # noqa: BLE001 - a strict model takes dates from JSON text only
            return _called(partial(from_text, value))

    return convert


def _place(error: Mapping[str, Any], value: JSON) -> Path:
    """Return where an error is; those parts that name members of a union are left out."""
    path: Path = ()
    for part in error["loc"]:
        with suppress(LookupError, TypeError):
            value = value[part]
            path = (*path, part)
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _reworded(error: Mapping[str, Any]) -> str:
    message: str = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    should = re.match(r"\w+ should ", message)
    if should:
        return f"must {message[should.end() :]}, not {named(error['input'])}"
    return _PYDANTIC.get(error["type"], message)


_PYDANTIC = {"missing": "is required", "extra_forbidden": "is not a field"}


def _is_pydantic(kind: Any) -> bool:
    """Tell whether a class says to pydantic how it is made."""
    own = hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")
    return own and "pydantic" in sys.modules


def _has_rules(metadata: Any) -> bool:
    """Tell whether metadata of ``Annotated`` makes pydantic do more than describe."""
    if not type(metadata).__module__.startswith("pydantic."):
        return False
    if type(metadata).__name__ != "FieldInfo":
        return True
    return bool(metadata.metadata or metadata.discriminator)


def _annotated(build: Build, annotation: Any) -> Convert:
    if _described(annotation) is annotation:
        with suppress(Exception):
            return _pydantic(build, annotation)
    return _inner(build, annotation)


def _described(annotation: Any) -> Any:
    """Return what an ``Annotated`` describes, or itself where pydantic makes more of it."""
    if typing.get_origin(annotation) is not Annotated:
        return annotation
    inner, *metadata = typing.get_args(annotation)
    has_rules = "pydantic" in sys.modules and any(map(_has_rules, metadata))
    return annotation if has_rules else inner


def _inner(build: Build, annotation: Any) -> Convert:
    return build(typing.get_args(annotation)[0])


def _variable(annotation: typing.TypeVar) -> Any:
    if annotation.__constraints__:
        return Union[annotation.__constraints__]  # noqa: UP007 - there may be any number
    return annotation.__bound__ or Any


_FORMS: dict[Any, Form] = {
    Union: _union,
    UnionType: _union,
    Annotated: _annotated,
    Literal: _literal,
    **dict.fromkeys(_ARRAYS, _array),
    **dict.fromkeys(_OBJECTS, _object),
    **dict.fromkeys((typing.Required, typing.NotRequired, typing.Final), _inner),
    tuple: _tuple,
}
_CLASSES: tuple[tuple[Callable[[Any], bool], Form], ...] = (
    (_is_pydantic, _pydantic),
    (lambda kind: issubclass(kind, Enum), _enum),
    (lambda kind: issubclass(kind, dict) and hasattr(kind, "__required_keys__"), _typed_dict),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), _named_tuple),
    (is_dataclass, _instance),
)
_MEANINGS: dict[Any, Callable[[Any], Any]] = {
    typing.NewType: lambda annotation: annotation.__supertype__,
    typing.TypeVar: _variable,
    InitVar: lambda annotation: annotation.type,
    NoneType: lambda _: NoneType,
}


class Builder:
    """Makes converters for the parameters of one function; each class is looked at once."""

    def __init__(self) -> None:
        self._made: dict[Any, Convert] = {}

    def parameter(self, annotation: Any, default: Any) -> Convert | None:
        """Return a parameter's converter, or None if the annotation asks for nothing."""
        convert = _defaulting(self.build(annotation), default)
        return None if convert is _same else convert

    def build(self, annotation: Any) -> Convert:
        """Return the converter of an annotation; one that is not understood asks for nothing."""
        try:
            return self._built(annotation)
        except Exception:  # noqa: BLE001 - an annotation may be anything, and its library as well
            return _same

    def _built(self, annotation: Any) -> Convert:
        origin = _origin(annotation)
        if origin in _SCALARS:
            return _scalar(origin)
        if origin in _FORMS:
            return _FORMS[origin](self.build, annotation)
        if isinstance(origin, type):
            return self._of_class(origin, annotation)
        if hasattr(origin, "__value__"):
            return self._of_alias(origin, annotation)
        return self.build(_MEANINGS[type(annotation)](annotation))

    def _of_class(self, kind: Any, annotation: Any) -> Convert:
        if annotation not in self._made:
            makers = (make for applies, make in _CLASSES if applies(kind))
            self._made[annotation] = next(makers, _untouched)(self.build, annotation)
        return self._made[annotation]

    def _of_alias(self, alias: Any, annotation: Any) -> Convert:
        """Return the converter of an alias; it may refer to itself, so it is made when used."""
        if annotation not in self._made:
            bound = dict(zip(alias.__type_params__, typing.get_args(annotation), strict=False))
            look = cache(lambda: self.build(_substituted(alias.__value__, bound)))

            def convert(value: Any) -> Any:
                return look()(value)

            self._made[annotation] = convert
        return self._made[annotation]


def _untouched(_: Build, __: Any) -> Convert:
    return _same


def converted(
    keywords: Mapping[str, Any], converters: Iterable[tuple[str, Convert]]
) -> tuple[dict[str, Any], Problems]:
    """Return keywords with those of the names converted that are given, and what was wrong."""
    found, problems = {**keywords}, []
    for name, convert in converters:
        if name in found:
            try:
                found[name] = convert(found[name])
            except UnfitError as error:
                problems += error.below(name)
            except RecursionError:
                problems.append(((name,), "is nested too deep"))
    return found, problems
