"""What came of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

FailureKind: TypeAlias = Literal[
    "unknown_tool",
    "unavailable",
    "invalid_arguments",
    "tool_error",
    "timeout",
    "cancelled",
    "invalid_result",
]


class BadArgument(NamedTuple):
    """One thing that is wrong with the arguments; ``path`` is a JSONPath such as ``$.a[0]``."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call has no value.

    Attributes:
        kind: what sort of failure, for programs.
        message: what the model reads.
        details: one entry for each bad argument.
    """

    kind: FailureKind
    message: str
    details: tuple[BadArgument, ...] = ()

    def __str__(self) -> str:
        return self.message


class ToolResult(NamedTuple):
    """What came of a call: a value or an error, and how long it took in seconds."""

    tool: str
    value: Any
    error: Failure | None
    duration: float

    @property
    def ok(self) -> bool:
        """Whether the tool returned a value."""
        return self.error is None
