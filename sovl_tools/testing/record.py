"""A request as the server received it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON


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
