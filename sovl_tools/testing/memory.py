"""What the server has said before, which later requests refer to."""

from __future__ import annotations

import threading

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Reply
from sovl_tools.testing.turn import Turn


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
        with self._lock:
            self._count += 1
            number = self._count
        numbered = tuple(
            call._replace(id=call.id or f"{prefix}_{number}_{index}")
            for index, call in enumerate(reply.calls)
        )
        return Turn(number, request, reply._replace(calls=numbered), piece)
