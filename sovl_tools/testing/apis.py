"""The APIs that the server stands in for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing import chat_completions, messages, responses
from sovl_tools.testing.checking import chat_completions as chat_rules
from sovl_tools.testing.checking import messages as messages_rules
from sovl_tools.testing.checking import responses as responses_rules
from sovl_tools.testing.memory import Memory
from sovl_tools.testing.record import Objection, Request
from sovl_tools.testing.script import Failure
from sovl_tools.testing.turn import Event, Turn


class API(NamedTuple):
    """One way in which a provider's models are asked.

    Attributes:
        provider: the name that the request gets.
        prefix: of the ids of calls.
        body: makes the whole of an answer.
        events: makes the stream of one.
        broken: makes the events that break a stream off.
        error: makes the body of an error.
        objections: yields what the API refuses in a request.
        remember: keeps of an answer what later requests refer to.
    """

    provider: str
    prefix: str
    body: Callable[[Turn], dict[str, JSON]]
    events: Callable[[Turn], Iterator[Event]]
    broken: Callable[[Turn, Failure, int], Iterator[Event]]
    error: Callable[[Failure, str | None], dict[str, JSON]]
    objections: Callable[[Request, Memory], Iterator[Objection]]
    remember: Callable[[Turn, Memory], None]


def _nothing_to_remember(_turn: Turn, _memory: Memory) -> None:
    """Keep nothing: Chat Completions has no state."""


APIS = {
    "/v1/chat/completions": API(
        "openai",
        "call",
        chat_completions.body,
        chat_completions.events,
        chat_completions.broken,
        chat_completions.error,
        chat_rules.objections,
        _nothing_to_remember,
    ),
    "/v1/responses": API(
        "openai-responses",
        "call",
        responses.body,
        responses.events,
        responses.broken,
        responses.error,
        responses_rules.objections,
        responses_rules.remember,
    ),
    "/v1/messages": API(
        "anthropic",
        "toolu",
        messages.body,
        messages.events,
        messages.broken,
        messages.error,
        messages_rules.objections,
        messages_rules.remember,
    ),
}
"""By their paths."""


def _unknown(request: Request, _memory: Memory) -> Iterator[Objection]:
    yield Objection(f"Invalid URL (POST {request.path})", status=404)


UNKNOWN = APIS["/v1/responses"]._replace(provider="", objections=_unknown)
"""What answers on any other path."""
