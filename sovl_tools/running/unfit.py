"""What values become, and what is said of a value of which nothing can be made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from sovl_tools.model.document import Path
from sovl_tools.model.errors import ToolError
from sovl_tools.validation.wording import named, one_of

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


def mismatch(value: Any, *expected: str, words: str = "") -> UnfitError:
    """Return what is said of a value that is of another type; ``words`` name the value."""
    message = f"must be {one_of(dict.fromkeys(expected))}, not {words or named(value)}"
    return UnfitError([((), message)], expected)


def same(value: Any) -> Any:
    """Leave a value as it is: the converter for annotations that ask for nothing."""
    return value


def called(make: Callable[[], Any]) -> Any:
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


def collected(
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
