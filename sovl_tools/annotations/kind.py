"""A kind of type: its JSON Schema, and the conversion of values."""

from __future__ import annotations

import inspect
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol, TypeAlias

from sovl_tools.model.document import JSON, Path, dotted
from sovl_tools.model.errors import SovlToolsError, ToolError
from sovl_tools.model.suggestion import one_of
from sovl_tools.schema.problem import MAX_PROBLEMS, named, shown

Schema: TypeAlias = dict[str, JSON]

Convert: TypeAlias = Callable[[Any], Any]
"""From a value to an instance; raises a ConversionError if none can be made."""

Build: TypeAlias = Callable[[Any], Convert]
"""From an annotation to its converter."""

Problem: TypeAlias = tuple[Path, str | Callable[[], str]]
"""A place, and its problem: the words, or a function that finds them when they are read."""

EMPTY = inspect.Parameter.empty
"""Marks a missing annotation or default."""

LISTS = (list, Sequence, MutableSequence, Collection, Iterable)
"""Classes as which a list is annotated."""

DICTS = (dict, Mapping, MutableMapping)
"""Classes as which a dictionary is annotated."""

MAPPINGS = (dict, Mapping)
"""Types of objects; dict is first, because checking Mapping takes longer."""


class Builder(Protocol):
    """Finds the schemas of the types that a type is made of.

    Attributes:
        with_none: whether a field whose default is None shows null, too.
    """

    with_none: bool

    def build(self, annotation: Any) -> Schema:
        """Return the schema of an annotation, the caller's own; raises an InexpressibleError."""

    def build_property(self, hint: Any, *, default: Any, text: str | None) -> Schema:
        """Return the schema of a parameter or a field, with its description and its default."""

    def define(self, annotation: Any, name: str, make: Callable[[], Schema]) -> Schema:
        """Return the schema of a type that may refer to itself; each is made once."""

    def hoist(self, schema: Schema) -> Schema:
        """Return a schema without the definitions at its root, which are kept for the whole."""

    def warn(self, message: str) -> None:
        """Record a warning for the author although a schema can be made."""


class Kind(Protocol):
    """Annotations of one kind.

    Attributes:
        is_shared: whether one converter serves all places, because it may lead to itself.
    """

    is_shared: bool = False

    def describe(self, builder: Builder, annotation: Any, /) -> Schema:
        """Return the schema of one; raises an InexpressibleError if it doesn't have one."""

    def convert(self, build: Build, annotation: Any, /) -> Convert:
        """Return the converter of one; if this raises, values stay unchanged."""


class InexpressibleError(Exception):
    """A type that JSON Schema can't describe.

    Attributes:
        reason: the problem.
        advice: the correction, as an imperative.
        is_open: whether that can be different later, when more names are defined.
    """

    def __init__(self, reason: str, advice: str | None = None, *, is_open: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.is_open = is_open

    def within(self, place: str) -> InexpressibleError:
        """Return the error as it reads one level up."""
        return InexpressibleError(f"{place}: {self.reason}", self.advice, is_open=self.is_open)


class ConversionError(SovlToolsError, ValueError):
    """A value that can't become an instance of the annotated type.

    Attributes:
        found: each place in the value with its problem, up to a maximum.
        expected: valid alternatives, in words, if the value as a whole is wrong.
    """

    def __init__(self, found: Iterable[Problem], expected: tuple[str, ...] = ()) -> None:
        self.found = [*islice(found, MAX_PROBLEMS)]
        super().__init__(self.found)
        self.expected = expected

    def __str__(self) -> str:
        return "\n".join(f"{dotted(path)}: {message}" for path, message in self.problems)

    @property
    def problems(self) -> list[tuple[Path, str]]:
        """All places and reasons, in words."""
        return [(path, words if isinstance(words, str) else words()) for path, words in self.found]

    def below(self, part: str | int) -> list[Problem]:
        """Return the problems, with the places counted from one level up."""
        return [((part, *path), words) for path, words in self.found]


def mismatch(value: Any, *expected: str, is_type: bool = True) -> ConversionError:
    """Return the error for a value of another type, or for one that its type doesn't have."""

    def words() -> str:
        actual = named(value) if is_type else shown(value)
        return f"must be {one_of(dict.fromkeys(expected))}, not {actual}"

    return ConversionError([((), words)], expected)


def identity(value: Any) -> Any:
    """Return a value unchanged. Callers compare with it, to skip needless conversions."""
    return value


def optional(convert: Convert) -> Convert:
    """Return a converter that keeps None."""
    return (
        identity if convert is identity else lambda value: None if value is None else convert(value)
    )


def call_type(make: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Call a type's own code; any exception means that the value does not match."""
    try:
        return make(*arguments, **keywords)
    except ConversionError:
        raise
    except Exception as error:
        name, text = type(error).__name__, ""
        with suppress(Exception):  # the code of a tool
            text = str(error)
        # ValueError and the like are how types reject a value, so their text is enough.
        is_plain = isinstance(error, ValueError | TypeError | AssertionError | ToolError)
        reason = text if text and is_plain else f"{name}: {text}" if text else name
        raise ConversionError([((), reason)]) from error


def convert_all(
    parts: Iterable[tuple[str | int, Convert, Any]], known: Iterable[Problem] = ()
) -> list[Any]:
    """Return the converted parts of a value.

    Raises:
        ConversionError: with the known problems and those of every part, up to a maximum.
    """
    made, problems = [], [*islice(known, MAX_PROBLEMS)]
    for part, convert, value in parts:
        if len(problems) >= MAX_PROBLEMS:
            break
        try:
            made.append(convert(value))
        except ConversionError as error:
            problems += error.below(part)
    if problems:
        raise ConversionError(problems)
    return made
