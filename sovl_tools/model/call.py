"""A call of a tool, as hooks see it before it runs and as observers see it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, get_args

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import FailureKind

Mode: TypeAlias = Literal["inline", "thread", "process"]
"""Where a tool runs: in the thread that calls, on one of the Tooler's own, in a worker process."""

SERVER_TIMEOUT: Final = 30.0
"""How long an MCP server must answer when it is connected to, or lists its tools, in seconds."""

MODES: tuple[Mode, ...] = get_args(Mode)

Level: TypeAlias = Literal["debug", "info", "warning", "error"]

LEVELS: tuple[Level, ...] = get_args(Level)


class ToolCall(NamedTuple):
    """A call that is about to run: the tool is there and the arguments are valid.

    Attributes:
        tool: the definition with which the call began, and with which it ends.
        arguments: as the function is going to get them, with defaults. They are not to be
            changed: ``with_arguments`` returns another call.
        call_id: the caller's own, or one that the Tooler made.
        chain: the names of the tools that called each other to get here, outermost first.
    """

    tool: ToolDefinition
    arguments: Mapping[str, JSON]
    call_id: str
    chain: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    def with_arguments(self, arguments: Mapping[str, JSON]) -> Self:
        """Return the same call with other arguments; they are checked before the tool runs."""
        return self._replace(arguments=arguments)


class CallEvent(NamedTuple):
    """A call that has ended.

    Attributes:
        tool: the name that was asked for, whether there is such a tool or not.
        call_id: the call's.
        started: when it began, in seconds since 1970.
        duration: how long it took, in seconds.
        kind: what sort of failure; None for a success.
        error_type: the class name of the exception that the tool raised, if it raised one.
        is_abandoned: whether a thread or task was abandoned that can still be at it.
        arguments: what was given, unchecked and as it was given.
        value: what came of it; None for a failure.
    """

    tool: str
    call_id: str
    started: float
    duration: float
    kind: FailureKind | None = None
    error_type: str | None = None
    is_abandoned: bool = False
    arguments: Any = None
    value: JSON = None

    @property
    def ok(self) -> bool:
        """Whether the tool returned a value."""
        return self.kind is None


class Progress(NamedTuple):
    """How far a running call is: ``done`` of ``total``, in a unit of the tool's own."""

    tool: str
    call_id: str
    done: float
    total: float | None = None
    message: str | None = None


class LogMessage(NamedTuple):
    """Something that a running call must say."""

    tool: str
    call_id: str
    level: Level
    message: str
