"""Annotations, values of them, and the JSON of those values."""

from __future__ import annotations

import collections
import enum
import functools
import ipaddress
import json
import pathlib
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import make_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple, NewType, Optional, Union
from uuid import UUID

from hypothesis import strategies as st

from sovl_tools import ToolDefinition, definition_of, tool
from sovl_tools.annotations.hints import Names, resolved
from sovl_tools.annotations.kinds import SchemaBuilder
from sovl_tools.signature.inference import blamed
from tests.schema.strategies import texts

kinds: Any = typing  # for annotations that are known only when a test runs


def schema_of(annotation: Any) -> dict[str, Any]:
    """Return the JSON Schema of one type, with ``$defs`` where types refer to themselves."""
    builder = SchemaBuilder()
    try:
        schema = builder.build(resolved(annotation, Names({})))
    except Exception as error:  # noqa: BLE001 - as it is told of a function
        refusal = blamed(error, "")
        raise refusal from refusal.__cause__
    return builder.with_definitions(schema)


def defined(function: Callable[..., Any]) -> ToolDefinition:
    """Return the definition that a function has as a tool."""
    return definition_of(tool(description="Try it.")(function))


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Mixed(enum.Enum):
    ONE = 1
    HALF = 0.5
    TEXT = "text"
    NONE = None
    NO = False


class Unit(enum.Enum):
    FOOT = Fraction(381, 1250)
    MILE = Fraction(201168, 125)


OPTION = Literal[2, True, None]  # noqa: PYI061 - a member like the others
Name = NewType("Name", str)


class Case(NamedTuple):
    """An annotation, values of it next to their JSON, and the JSON types that those can have."""

    annotation: Any
    pairs: st.SearchStrategy[tuple[Any, Any]]
    types: frozenset[str]


def scalar(
    annotation: Any, of: st.SearchStrategy[Any], write: Callable[[Any], Any], *types: str
) -> Case:
    return Case(
        annotation,
        of.map(lambda value: (value, write(value))),
        frozenset(types or ("string",)),
    )


def same(value: Any) -> Any:
    return value


def value_of(member: Any) -> Any:
    return member.value


LONGEST = timedelta(days=10_000)
whole = st.integers(-999, 999)
numbers = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.decimals(allow_nan=False, allow_infinity=False)
STRINGS = [
    scalar(str, texts, same),
    scalar(Name, texts, same),
    scalar(datetime, st.datetimes(timezones=st.none() | st.just(UTC)), datetime.isoformat),
    scalar(date, st.dates(), date.isoformat),
    scalar(time, st.times(), time.isoformat),
    scalar(UUID, st.uuids(), str),
    scalar(pathlib.PurePosixPath, texts.map(pathlib.PurePosixPath), str),
    scalar(bytes, texts.map(str.encode), bytes.decode),
    scalar(ipaddress.IPv4Address, st.ip_addresses(v=4), str),
    scalar(ipaddress.IPv6Address, st.ip_addresses(v=6), str),
    scalar(Color, st.sampled_from(Color), value_of),
    scalar(Unit, st.sampled_from(Unit), lambda member: member.name),
    scalar(
        Literal["a", Color.RED],
        st.sampled_from(["a", Color.RED]),
        lambda it: Color.RED.value if it is Color.RED else it,
    ),
]
OTHERS = [
    scalar(int, whole, same, "integer"),
    scalar(float, numbers, same, "number", "integer"),
    scalar(bool, st.booleans(), same, "boolean"),
    scalar(
        timedelta, st.timedeltas(-LONGEST, LONGEST), timedelta.total_seconds, "number", "string"
    ),
    scalar(Decimal, decimals, str, "number", "string"),
    scalar(Decimal, numbers.map(repr).map(Decimal), float, "number", "string"),
    scalar(Fraction, st.fractions(), str, "number", "string"),
    scalar(Level, st.sampled_from(Level), value_of, "integer"),
    scalar(Right, st.integers(0, 7).map(Right), value_of, "integer"),
    scalar(Literal[1, 2], st.sampled_from([1, 2]), same, "integer"),
    scalar(
        Mixed, st.sampled_from(Mixed), value_of, "integer", "number", "string", "null", "boolean"
    ),
    scalar(OPTION, st.sampled_from([2, True, None]), same, "integer", "boolean", "null"),
]
SCALARS = [*STRINGS, *OTHERS]


def both(pairs: Iterable[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    pairs = [*pairs]
    return [value for value, _ in pairs], [form for _, form in pairs]


ARRAY, OBJECT = frozenset({"array"}), frozenset({"object"})


def arrays(make: Callable[[list[Any]], Any], annotation: Any, case: Case) -> Case:
    lists = st.lists(case.pairs, max_size=3).map(both)
    return Case(annotation[case.annotation], lists.map(lambda two: (make(two[0]), two[1])), ARRAY)


def sets(make: Any, case: Case) -> Case:
    lists = st.lists(case.pairs, max_size=3, unique_by=lambda pair: pair[0]).map(both)
    return Case(make[case.annotation], lists.map(lambda two: (make(two[0]), two[1])), ARRAY)


def sequences(case: Case) -> Case:
    return arrays(tuple, tuple, case._replace(annotation=(case.annotation, ...)))


def objects(annotation: Any, case: Case, key: Case) -> Case:
    def text(form: Any) -> str:
        return form if isinstance(form, str) else json.dumps(form)

    items = st.lists(
        st.tuples(key.pairs, case.pairs), max_size=3, unique_by=lambda each: each[0][0]
    )
    return Case(
        annotation[key.annotation, case.annotation],
        items.map(
            lambda found: (
                {name: value for (name, _), (value, _) in found},
                {text(name): form for (_, name), (_, form) in found},
            )
        ),
        OBJECT,
    )


def records(first: Case, second: Case) -> list[Case]:
    """Return a dataclass, a NamedTuple and a TypedDict of two fields, and a pair."""
    a, b = first.annotation, second.annotation
    made = make_dataclass("Made", [("a", a), ("b", b)])
    named = kinds.NamedTuple("Named", [("a", a), ("b", b)])
    typed = kinds.TypedDict("Typed", {"a": a, "b": b})
    pairs = st.tuples(first.pairs, second.pairs).map(both)

    def case(annotation: Any, make: Callable[..., Any], *, types: frozenset[str] = OBJECT) -> Case:
        def pair(two: tuple[list[Any], list[Any]]) -> tuple[Any, Any]:
            form = two[1] if types is ARRAY else dict(zip("ab", two[1], strict=True))
            return make(*two[0]), form

        return Case(annotation, pairs.map(pair), types)

    return [
        case(made, made),
        case(named, named),
        case(typed, lambda *both: dict(zip("ab", both, strict=True))),
        case(kinds.Tuple[a, b], lambda *both: both, types=ARRAY),
    ]


def trees(case: Case) -> Case:
    """Return a dataclass that refers to itself."""
    tree = make_dataclass("Tree", [("leaf", case.annotation), ("branches", Any)])
    tree.__annotations__["branches"] = kinds.List[tree]
    pairs = st.recursive(
        case.pairs.map(lambda pair: (tree(pair[0], []), {"leaf": pair[1], "branches": []})),
        lambda inner: st.tuples(case.pairs, st.lists(inner, max_size=2).map(both)).map(
            lambda found: (
                tree(found[0][0], found[1][0]),
                {"leaf": found[0][1], "branches": found[1][1]},
            )
        ),
        max_leaves=3,
    )
    return Case(tree, pairs, OBJECT)


def optional(case: Case) -> Case:
    if "null" in case.types:
        return case
    return Case(
        Optional[case.annotation],  # noqa: UP045 - known only now
        case.pairs | st.just((None, None)),
        case.types | {"null"},
    )


def either(first: Case, second: Case) -> Case:
    """Return a union, or one of the two if it can't be told by the JSON which one is meant."""
    numeric = {"number", "integer"}
    if not first.types.isdisjoint(second.types) or (
        first.types & numeric and second.types & numeric
    ):
        return first
    return Case(
        Union[first.annotation, second.annotation],  # noqa: UP007 - known only now
        first.pairs | second.pairs,
        first.types | second.types,
    )


def wider(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    hashable = st.sampled_from(SCALARS)
    # the schema of a key doesn't bound numbers
    keys = hashable.filter(lambda case: case.annotation is not Right)
    return st.one_of(
        inner.map(optional),
        st.builds(either, inner, inner),
        inner.map(functools.partial(arrays, list, list)),
        inner.map(functools.partial(arrays, list, Sequence)),
        inner.map(sequences),
        inner.map(functools.partial(arrays, collections.deque, collections.deque)),
        hashable.map(functools.partial(sets, set)),
        hashable.map(functools.partial(sets, frozenset)),
        st.builds(functools.partial(objects, dict), inner, keys),
        st.builds(functools.partial(objects, Mapping), inner, keys),
        st.builds(records, inner, inner).flatmap(st.sampled_from),
        inner.map(trees),
    )


cases = st.recursive(st.sampled_from(SCALARS), wider, max_leaves=5)
"""Annotations of all sorts, also within each other."""
