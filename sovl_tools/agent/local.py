"""The provider ``local``: it answers without key and network, by phrases and words.

It proposes a tool, asks for the arguments that it lacks, calls it and shows what came of it; see
``dialogue``. What a client is to the other providers is a function here, and its response is the
answer itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sovl_tools.agent.answer import Answer, Prompt
from sovl_tools.agent.dialogue import replied

FORMAT = "json-schema"

_PIECES = 5


def method(client: Any) -> Callable[..., Any]:  # noqa: ARG001 - there is none
    """Return the function that answers."""
    return _respond


def body(prompt: Prompt) -> dict[str, Any]:
    """Return what it is asked."""
    return {"prompt": prompt}


def streamed(body: dict[str, Any]) -> dict[str, Any]:
    """Return what asks for an answer in pieces."""
    return {**body, "is_streaming": True}


def answered(response: Any) -> Answer:
    """Return the answer as it is."""
    answer: Answer = response
    return answer


def draft() -> Draft:
    """Return the beginning of an answer."""
    return Draft()


def _respond(*, prompt: Prompt, is_streaming: bool = False) -> Answer | Iterator[str | Answer]:
    answer = replied(prompt)
    return _pieces(answer) if is_streaming else answer


def _pieces(answer: Answer) -> Iterator[str | Answer]:
    """Yield the text of an answer in a few pieces, then the answer."""
    size = len(answer.text) // _PIECES + 1
    yield from (answer.text[start : start + size] for start in range(0, len(answer.text), size))
    yield answer


class Draft:
    """An answer that is coming in."""

    def __init__(self) -> None:
        self.text = ""
        self._answer: Answer | None = None

    def feed(self, chunk: str | Answer) -> str:
        """Take a piece of the text in and return it, or the answer at the end."""
        if isinstance(chunk, Answer):
            self._answer = chunk
            return ""
        self.text += chunk
        return chunk

    def answer(self) -> Answer:
        """Return the answer."""
        if self._answer is None:
            raise ConnectionError("the stream ended before the answer did")
        return self._answer
