"""The outcome of a call."""

from __future__ import annotations

from importlib import import_module
from typing import Literal, NamedTuple, TypeAlias, final

from sovl_tools.model.content import Content
from sovl_tools.model.document import JSON

_TO_MESSAGE = "sovl_tools.formats.messages:to_message"
"""The module that makes messages: above values, which are independent of providers."""

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


class Repair(NamedTuple):
    """An argument that was repaired; ``path`` is a JSONPath."""

    path: str
    given: JSON
    used: JSON


@final
class Failure(NamedTuple):
    """Why a call has no value.

    Attributes:
        kind: what sort of failure, for programs.
        message: the text for the model.
        details: one entry for each bad argument.
        error_type: the class name of the exception that the tool raised, if it raised one.
        is_abandoned: whether a thread or task was abandoned that can still be at it.
        place: the line of the author's code that raised an exception which isn't a ToolError, as
            ``path:line``; no model reads it.
    """

    kind: FailureKind
    message: str
    details: tuple[BadArgument, ...] = ()
    error_type: str | None = None
    is_abandoned: bool = False
    place: str | None = None

    def __str__(self) -> str:
        return self.message


class ToolResult(NamedTuple):
    """The outcome of a call: a value or an error.

    Attributes:
        tool: the name that was called.
        value: JSON; content such as images is in it as in the Model Context Protocol.
        error: None if the tool returned a value.
        duration: in seconds.
        content: the strings, images, sounds and resources that the tool returned, in order;
            empty for a plain value.
        repairs: the arguments that ``coerce="lenient"`` repaired.
    """

    tool: str
    value: JSON
    error: Failure | None
    duration: float
    content: tuple[Content, ...] = ()
    repairs: tuple[Repair, ...] = ()

    def to_message(
        self,
        format: str,  # noqa: A002 - the field's word
        *,
        call_id: str | None = None,
    ) -> dict[str, JSON]:
        """Return the message that gives a model the outcome of its call.

        The model reads the value, as text if it is JSON, or the error; pictures are included where
        the provider takes them from a tool. Anthropic wants the blocks of all calls of an answer in
        one message: join their ``content``.

        Args:
            format: ``"openai"`` (Chat Completions), ``"openai-responses"``, ``"anthropic"``,
                ``"gemini"`` or ``"openrouter"``.
            call_id: the id of the model's call; only Gemini's calls can be without one.

        Raises:
            ValueError: the format has no messages.
            TypeError: ``call_id`` is missing.
        """
        module, _, name = _TO_MESSAGE.partition(":")
        made: dict[str, JSON] = getattr(import_module(module), name)(self, format, call_id)
        return made

    @property
    def ok(self) -> bool:
        """Whether the tool returned a value."""
        return self.error is None
