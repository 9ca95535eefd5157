"""What a kind of type is: how it looks in JSON, and how values are read from that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import local
from typing import Any, NamedTuple, Protocol, TypeAlias

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import ToolError
from sovl_tools.schema.messages import named, one_of, shown

Schema: TypeAlias = dict[str, JSON]

Convert: TypeAlias = Callable[[Any], Any]
"""From a value to an instance; raises an UnfitError if none can be made."""

Build: TypeAlias = Callable[[Any], Convert]
"""From an annotation to its converter."""

Words: TypeAlias = str | Callable[[], str]
"""What is wrong, in words that need not be found before somebody reads them."""

Problems: TypeAlias = list[tuple[Path, Words]]


class Builder(Protocol):
    """Finds the schemas of the types that a type is made of."""

    def build(self, annotation: Any) -> Schema:
        """Return the schema of an annotation, the caller's own; raises an InexpressibleError."""

    def default(self, annotation: Any, schema: Schema, value: Any) -> JSON:
        """Return the JSON that becomes a default again; None if it is that, or there is none."""

    def define(self, annotation: Any, name: str, make: Callable[[], Schema]) -> Schema:
        """Return the schema of a type that may refer to itself; each is made once."""

    def hoist(self, schema: Schema) -> Schema:
        """Return a schema without the definitions at its root, which are kept for the whole."""

    def warn(self, message: str) -> None:
        """Note what the author should know although a schema can be made."""


class Kind(NamedTuple):
    """Annotations of one kind.

    Attributes:
        describe: makes the schema of one; raises an InexpressibleError if it has none.
        convert: makes the converter of one; whatever it raises, the annotation asks for nothing.
        is_shared: whether one converter serves all places, because it may lead to itself.
    """

    describe: Callable[[Builder, Any], Schema]
    convert: Callable[[Build, Any], Convert]
    is_shared: bool = False


class InexpressibleError(Exception):
    """A type that JSON Schema can't describe.

    Attributes:
        reason: what is there.
        advice: what would be right, as an imperative.
        is_open: whether that may be different later, when more names are defined.
    """

    def __init__(self, reason: str, advice: str | None = None, *, is_open: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.is_open = is_open

    def within(self, place: str) -> InexpressibleError:
        """Return the error as it is told from one level up."""
        return InexpressibleError(f"{place}: {self.reason}", self.advice, is_open=self.is_open)


class UnfitError(Exception):
    """A value of which no instance can be made.

    Attributes:
        problems: places in the value, and what is wrong there.
        expected: what would fit instead, in words, if the value as a whole does not.
    """

    def __init__(
        self, problems: Iterable[tuple[Path, Words]], expected: tuple[str, ...] = ()
    ) -> None:
        self.problems: Problems = [*problems]
        super().__init__(self.problems)
        self.expected = expected

    def below(self, part: str | int) -> Problems:
        """Return the problems as they are called from one level up."""
        return [((part, *path), words) for path, words in self.problems]

    @property
    def distance(self) -> tuple[int, int]:
        """How far the value is from fitting: problems at its top, then all of them."""
        at_top = sum(len(path) < 2 for path, _ in self.problems)  # noqa: PLR2004 - a part and the value itself
        return at_top, len(self.problems)


def mismatch(value: Any, *expected: str, is_type: bool = True) -> UnfitError:
    """Return what is said of a value that is of another type, or of a type that has others."""
    return UnfitError([((), partial(_mismatch, value, expected, is_type=is_type))], expected)


def _mismatch(value: Any, expected: tuple[str, ...], *, is_type: bool) -> str:
    return f"must be {one_of(dict.fromkeys(expected))}, not {(named if is_type else shown)(value)}"


def in_words(words: Words) -> str:
    """Return what is wrong as text."""
    return words if isinstance(words, str) else words()


def same(value: Any) -> Any:
    """Leave a value as it is: the converter for annotations that ask for nothing."""
    return value


def called(make: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Return what the code of a type makes; whatever it raises speaks against the value."""
    try:
        return make(*arguments, **keywords)
    except UnfitError:
        raise
    except Exception as error:
        raise UnfitError([((), _said(error))]) from error


def _said(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the code of a tool
        text = ""
    if text and isinstance(error, ValueError | TypeError | AssertionError | ToolError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def collected(
    parts: Iterable[tuple[str | int, Convert, Any]], known: Iterable[tuple[Path, Words]] = ()
) -> list[Any]:
    """Return what the parts of a value become, or raise what is wrong with any of them."""
    found, problems = [], [*known]
    for part, convert, value in parts:
        try:
            found.append(convert(value))
        except UnfitError as error:
            problems += error.below(part)
    if problems:
        raise UnfitError(problems)
    return found


class _Ignored(local):
    """How many keys of objects were ignored so far; None where nobody counts them."""

    keys: int | None = None


_IGNORED = _Ignored()


def are_counted() -> bool:
    """Tell whether it matters how many keys are ignored: a union has to choose."""
    return _IGNORED.keys is not None


def ignore(keys: int) -> None:
    """Note that so many keys of an object have no part in what is made of it."""
    if _IGNORED.keys is not None:
        _IGNORED.keys += keys


def counted(convert: Convert, value: Any) -> tuple[Any, int]:
    """Return what a value becomes, and how many keys in it are ignored on the way.

    Raises:
        UnfitError: no instance can be made.
    """
    before, _IGNORED.keys = _IGNORED.keys, 0
    try:
        return convert(value), _IGNORED.keys
    finally:
        _IGNORED.keys = before


MAPPINGS = (dict, Mapping)
"""What an object may be; dict comes first, because asking Mapping takes longer."""


def types_of(schema: Schema) -> set[str]:
    """Return the JSON types that a schema admits; all of them where it does not say."""
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in types_of(each)}
    kinds = schema.get("type", _TYPES)
    return {kinds} if isinstance(kinds, str) else {*kinds}


_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
