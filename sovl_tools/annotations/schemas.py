"""From an annotation to its schema.

=================================  ============================================================
annotation                         schema
=================================  ============================================================
str, int, float, bool, None        ``{"type": …}``
Any, object                        ``{}``
list, Sequence, Iterable, …        ``array``, of ``items`` where they are known
set, frozenset                     the same with ``uniqueItems``
tuple                              ``array``; of a fixed length with ``prefixItems``
dict, Mapping, …                   ``object`` of ``additionalProperties``; ``propertyNames``
                                   where the keys are no plain text
Union                              ``anyOf``
Literal, Enum                      ``enum``, of the type or types of its values
Flag                               an integer, the sum of some of the members
datetime, date, time, UUID, …      ``string`` of a ``format``
timedelta, Decimal, Fraction       a number or text
bytes                              text
dataclass, NamedTuple, TypedDict   ``object`` of ``properties``
pydantic                           what pydantic says
=================================  ============================================================

Annotated, NewType, TypeVar and aliases are what they stand for. What a schema admits is what
the arguments of a call are converted from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sovl_tools.annotations.converters import Converters
from sovl_tools.annotations.defaults import written
from sovl_tools.annotations.definitions import Definitions
from sovl_tools.annotations.hints import Names, resolved
from sovl_tools.annotations.kind import InexpressibleError, Schema
from sovl_tools.annotations.kinds import kind_of
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError, UnresolvedReferenceError


def schema_of(annotation: Any) -> dict[str, JSON]:
    """Return the JSON Schema of one type, with ``$defs`` where types refer to themselves.

    Raises:
        InferenceError: there is no JSON for the type, or for one in it.
        UnresolvedReferenceError: it uses a name that is not defined.
    """
    builder = SchemaBuilder()
    with blaming():
        schema = builder.build(resolved(annotation, Names({})))
    return builder.with_definitions(schema)


@contextmanager
def blaming(function: str = "", parameter: str | None = None) -> Iterator[None]:
    """Say of what can't be described which parameter of which function it is.

    Whatever else is raised comes of an annotation, which may be anything, or of its library.
    """
    try:
        yield
    except InexpressibleError as error:
        raise _refusal(error, function, parameter) from _cause(error)
    except RecursionError as error:
        raise _refusal(InexpressibleError("it is nested too deep"), function, parameter) from error
    except Exception as error:
        reason = f"its annotation can't be read, {type(error).__name__}: {error}"
        raise _refusal(InexpressibleError(reason), function, parameter) from error


def _cause(error: BaseException | None) -> BaseException | None:
    """Return what the author's own code raised, if it did."""
    while isinstance(error, InexpressibleError):
        error = error.__cause__
    return error


def _refusal(error: InexpressibleError, function: str, parameter: str | None) -> InferenceError:
    kind = UnresolvedReferenceError if error.is_open else InferenceError
    return kind(function, parameter, error.reason, error.advice)


class SchemaBuilder:
    """Makes the forms of the parameters of one function, or of one type.

    Attributes:
        warnings: what the author should know, since ``warnings`` was last emptied.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._converters = Converters()
        self._definitions = Definitions()
        self.define = self._definitions.define
        self.hoist = self._definitions.hoist

    def warn(self, message: str) -> None:
        """Note what the author should know although a schema can be made; once is enough."""
        if message not in self.warnings:
            self.warnings.append(message)

    def with_definitions(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema with the ``$defs`` that the schemas made so far refer to."""
        definitions = self._definitions.finished()
        return {**schema, "$defs": definitions} if definitions else schema

    def build(self, annotation: Any) -> Schema:
        """Return the schema of an annotation.

        Raises:
            InexpressibleError: it, or something in it, is none that JSON Schema can describe.
        """
        return kind_of(annotation).describe(self, annotation)

    def default(self, annotation: Any, schema: Schema, value: Any) -> JSON:
        """Return the JSON that becomes a default again; None if it is that, or there is none."""
        return written(value, self._converters.build(annotation), schema)
