"""A call of a tool, as hooks see it before it runs and as observers see it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, get_args

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import FailureKind

Mode: TypeAlias = Literal["inline", "thread", "process"]
"""Where a tool runs: the caller's thread, one of the Tooler's threads, or a worker process."""

SERVER_TIMEOUT: Final = 30.0
"""The time an MCP server has to answer a connection or a listing, in seconds."""

MODES: tuple[Mode, ...] = get_args(Mode)

Level: TypeAlias = Literal["debug", "info", "warning", "error"]

LEVELS: tuple[Level, ...] = get_args(Level)


class ToolCall(NamedTuple):
    """A call that is about to run: the tool is there and the arguments are valid.

    Attributes:
        tool: the definition that the call began with, and ends with.
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
        tool: the tool's name, or the requested name if the tool doesn't exist.
        call_id: the call's.
        started: when it began, in seconds since 1970.
        duration: its time, in seconds.
        kind: what sort of failure; None for a success.
        error_type: the class name of the exception that the tool raised, if it raised one.
        is_abandoned: whether a thread or task was abandoned that can still be at it.
        arguments: the given arguments, unchecked and unchanged.
        value: its value; None for a failure.
        message: what the model reads of a failure; None for a success.
        alias: the requested name, if it isn't the tool's own; None otherwise.
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
    message: str | None = None
    alias: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the tool returned a value."""
        return self.kind is None


class Progress(NamedTuple):
    """The progress of a running call: ``done`` of ``total``, in the tool's own unit."""

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
