"""One answer in the making: the request, the reply, and what the server has said before."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Reply

CREATED = 1_700_000_000
"""When everything was made, in seconds since 1970: an answer is the same in every run."""


class Event(NamedTuple):
    """An event of a stream: its name, if the API gives it one, and its data."""

    name: str | None
    data: JSON

    def encoded(self) -> bytes:
        """Return the event as it is sent; text that is not ASCII stays as it is."""
        head = f"event: {self.name}\n" if self.name else ""
        text = (
            self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
        )
        # lone surrogates as well: clients have to cope with whatever a model writes
        return f"{head}data: {text}\n\n".encode(errors="surrogatepass")


class Turn(NamedTuple):
    """A reply together with the request that it answers.

    Attributes:
        number: of the answer among those of the server, from one; it goes into the ids.
        request: the request's body.
        reply: the reply; each of its calls has an id.
        piece: how many characters a delta has at most.
    """

    number: int
    request: dict[str, JSON]
    reply: Reply
    piece: int

    @property
    def model(self) -> str:
        """The model that was asked for; a stored prompt may know it instead."""
        return str(self.request.get("model") or "scripted")

    @property
    def is_streaming(self) -> bool:
        """Whether the answer is to be a stream of events."""
        return self.request.get("stream") is True

    def pieces(self, text: str) -> Iterator[str]:
        """Cut a text into deltas, wherever the cuts may fall."""
        for start in range(0, len(text), self.piece):
            yield text[start : start + self.piece]


class Objection(NamedTuple):
    """Why the API would refuse a request.

    Attributes:
        message: in the API's words, where they are known.
        param: OpenAI's name of the part that is wrong.
        code: OpenAI's code.
        status: of the HTTP answer.
        kind: the error's ``type``; None for the one that goes with the status.
    """

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400
    kind: str | None = None


class Request(NamedTuple):
    """What a client asked, and what was wrong with it.

    Attributes:
        provider: ``"openai"`` (Chat Completions), ``"openai-responses"``, ``"anthropic"``, or ""
            if the path is none of theirs.
        path: such as ``/v1/messages``.
        headers: by their names in lower case.
        content: the body's bytes.
        body: the object that the bytes hold; empty if they hold none.
        errors: what the API would refuse, all of it; the first is what it answers.
    """

    provider: str
    path: str
    headers: Mapping[str, str]
    content: bytes
    body: dict[str, JSON]
    errors: tuple[str, ...] = ()

    @property
    def is_streaming(self) -> bool:
        """Whether the answer is to be a stream of events."""
        return self.body.get("stream") is True


def json_object(text: str | bytes) -> dict[str, JSON]:
    """Return the object that a text holds, an empty one if it holds none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Memory:
    """What has been answered, by the ids that it was answered with; any thread may add to it.

    Attributes:
        responses: the items that led to each stored response, and its own.
        items: every item of a response, stored or not.
        reasons: the id of the reasoning item that came before an item, by that item's id.
        stored: the ids of the items that were stored.
        thoughts: the thinking of Messages, by its signature.
        thinking: the blocks of thinking that went before a tool use, by its id.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self.responses: dict[str, list[JSON]] = {}
        self.items: dict[str, JSON] = {}
        self.reasons: dict[str, str] = {}
        self.stored: set[str] = set()
        self.thoughts: dict[str, str] = {}
        self.thinking: dict[str, list[JSON]] = {}

    def turn(self, reply: Reply, request: dict[str, JSON], *, prefix: str, piece: int) -> Turn:
        """Return the answer in the making; it has a number, and so has each of its calls."""
        # requests of several threads must not get the same ids
        with self._lock:
            self._count += 1
            number = self._count
        numbered = tuple(
            call._replace(id=call.id or f"{prefix}_{number}_{index}")
            for index, call in enumerate(reply.calls)
        )
        return Turn(number, request, reply._replace(calls=numbered), piece)
