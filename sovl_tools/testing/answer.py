"""An answer as it goes over the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Pause, Reply

UNSENT = -1
"""Where the connection is closed before the status is sent."""


class Answer(NamedTuple):
    """An answer of HTTP in the parts that are sent one by one.

    Attributes:
        status: of the answer.
        headers: all but those that say how the body is framed.
        parts: the halves of a whole body, or the events of a stream.
        is_stream: whether there may be more parts than the headers tell.
        pause: where the server stands still.
        pause_at: the number of parts that are sent before; at 0 the status is not sent either.
        drop_at: the number of parts after which the connection is closed; None for never.
    """

    status: int
    headers: Mapping[str, str]
    parts: tuple[bytes, ...]
    is_stream: bool = False
    pause: Pause | Callable[[], object] | None = None
    pause_at: int = 0
    drop_at: int | None = None


def whole(status: int, body: JSON, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a JSON document for its body."""
    content = json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass")
    half = len(content) // 2
    typed = {"content-type": "application/json", **(headers or {})}
    return Answer(status, typed, (content[:half], content[half:]))


def streamed(parts: tuple[bytes, ...]) -> Answer:
    """Return an answer with events for its body."""
    return Answer(200, {"content-type": "text/event-stream"}, parts, is_stream=True)


def disturbed(answer: Answer, reply: Reply) -> Answer:
    """Return an answer with the pause and the loss of the connection that the script wants.

    What is to happen after more events than there are happens at the end; a whole answer stands
    still before its beginning and breaks off in its middle.
    """
    drop_at = reply.drop_after
    if drop_at is not None and drop_at != UNSENT:
        drop_at = min(drop_at, len(answer.parts)) if answer.is_stream else 1
    pause_at = min(reply.pause_after, len(answer.parts)) if answer.is_stream else 0
    return answer._replace(pause=reply.pause, pause_at=pause_at, drop_at=drop_at)
