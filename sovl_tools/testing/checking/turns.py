"""The turns of a conversation with Anthropic, in which messages of one role are one."""

from __future__ import annotations

from typing import Any, NamedTuple

Blocks = list[dict[str, Any]]


class Part(NamedTuple):
    """The turn of one side.

    Attributes:
        start: the index of its first message.
        role: whose turn it is.
        blocks: all its content.
    """

    start: int
    role: str
    blocks: Blocks

    def of_type(self, *kinds: str) -> Blocks:
        """Return the blocks of one of the types."""
        return [block for block in self.blocks if block["type"] in kinds]


def merged(messages: list[dict[str, Any]]) -> list[Part]:
    """Return the turns; those of the system belong to the user's before them."""
    turns: list[Part] = []
    for index, message in enumerate(messages):
        role = "user" if message["role"] == "system" else message["role"]
        if turns and turns[-1].role == role:
            turns[-1].blocks.extend(content_of(message))
        else:
            turns.append(Part(index, role, content_of(message)))
    return turns


def content_of(message: dict[str, Any]) -> Blocks:
    """Return the blocks of a message, of which a text is one."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
