"""The events of a turn, in order."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeAlias

from sovl_tools.agent.answer import Call, Usage
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.result import ToolResult


class TextDelta(NamedTuple):
    """A piece of text, as soon as it arrives."""

    text: str


class ToolStarted(NamedTuple):
    """A call that is going to run."""

    call: Call


class ToolFinished(NamedTuple):
    """A call that has ended, and its outcome."""

    call: Call
    result: ToolResult


class RoundFinished(NamedTuple):
    """The model has answered, and the calls of its answer have ended.

    Attributes:
        number: of the round in its turn, from 1.
        text: the answer's text.
        calls: the answer's calls, empty for the last round.
        usage: the answer's tokens.
    """

    number: int
    text: str
    calls: tuple[Call, ...]
    usage: Usage


class Reply(str):
    """The answer of a turn: a string with the turn's figures.

    Attributes:
        usage: what all answers of the turn cost together.
        rounds: the number of rounds.
        calls: the calls that were made, in order.
    """

    __slots__ = ("calls", "rounds", "usage")

    usage: Usage
    rounds: int
    calls: tuple[Call, ...]

    @classmethod
    def of(cls, text: str, **known: Any) -> Self:
        """Return a string with all its figures."""
        reply = cls(text)
        for name, value in known.items():
            setattr(reply, name, value)
        return reply


class TurnFinished(NamedTuple):
    """The turn is over, and this is its answer."""

    reply: Reply


Event: TypeAlias = (
    TextDelta | ToolStarted | Progress | LogMessage | ToolFinished | RoundFinished | TurnFinished
)
