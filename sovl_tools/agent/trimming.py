"""Policies for what is kept of a conversation: ``Agent(trim=last_turns(20))``.

They cut before something that a user says, so that no call is parted from its result.
"""

from __future__ import annotations

from sovl_tools.agent.answer import Message
from sovl_tools.agent.messages import Policy
from sovl_tools.formats.tokens import estimate


def last_turns(count: int) -> Policy:
    """Keep what was said in the last turns, so many.

    Raises:
        ValueError: the number is below 0.
    """
    if count < 0:
        raise ValueError(f"the number of turns must be at least 0, not {count}")

    def policy(messages: list[Message]) -> list[Message]:
        turns = _turns(messages)
        # From the front: turns[-0:] would be all of them.
        kept = turns[max(0, len(turns) - count) :]
        return [message for turn in kept for message in turn]

    return policy


def last_tokens(count: int) -> Policy:
    """Keep as many whole turns as take so many tokens at the most, by estimate.

    Raises:
        ValueError: the number is below 0.
    """
    if count < 0:
        raise ValueError(f"the number of tokens must be at least 0, not {count}")

    def policy(messages: list[Message]) -> list[Message]:
        kept: list[Message] = []
        left = count
        for turn in reversed(_turns(messages)):
            left -= sum(map(estimate, turn))
            if left < 0:
                break
            kept = [*turn, *kept]
        return kept

    return policy


def _turns(messages: list[Message]) -> list[list[Message]]:
    """Return a conversation in pieces, each of which but the first begins with a user."""
    turns: list[list[Message]] = []
    for message in messages:
        if message["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
