"""One answer in the making: the reply, what it answers, and how it is cut for a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
