"""What a type looks like in JSON, or why it has no look there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from sovl_tools.model.document import JSON

Write: TypeAlias = Callable[[Any], JSON]
"""From an instance to the JSON that becomes it again; raises an UnwritableError if none does."""


class Form(NamedTuple):
    """A type in JSON: the schema of its values, the caller's own, and how instances are written."""

    schema: dict[str, JSON]
    write: Write


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


class UnwritableError(Exception):
    """A value from whose JSON the same value would not come back."""


class Builder(Protocol):
    """Finds the forms of the types that a type is made of."""

    def build(self, annotation: Any) -> Form:
        """Return the form of an annotation; raises an InexpressibleError if there is none."""

    def define(self, annotation: Any, name: str, make: Callable[[], Form]) -> Form:
        """Return the form of a type that may refer to itself; each is made once."""

    def hoist(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema without the definitions at its root, which are kept for the whole."""

    def warn(self, message: str) -> None:
        """Note what the author should know although a schema can be made."""


def native(value: Any) -> JSON:
    """Write a value that is JSON by itself: a copy of it."""
    kind = type(value)
    if kind is list:
        return [native(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: native(item) for key, item in value.items()}
    if kind in _SCALARS and (kind is not float or value - value == 0):
        return value
    raise UnwritableError


def types_of(schema: dict[str, JSON]) -> set[str]:
    """Return the JSON types that a schema admits; all of them where it does not say."""
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in types_of(each)}
    kinds = schema.get("type", _TYPES)
    return {kinds} if isinstance(kinds, str) else {*kinds}


_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_SCALARS = frozenset({str, int, bool, float, type(None)})
