"""Agents that are tools of other agents."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from sovl_tools.agent.errors import AgentError
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import ToolError

MOST = 5
"""So many agents may ask one another in a row."""


class Link(NamedTuple):
    """An agent that waits for the answer of another; ``key`` is the same for all its twins."""

    key: int
    name: str


CHAIN: ContextVar[tuple[Link, ...]] = ContextVar("CHAIN", default=())
"""The agents that wait for the one that runs here, the outermost first."""


def forwarding(agent: Any, key: int, *, name: str, description: str) -> ToolDefinition:
    """Return a tool that asks an agent, each time in a conversation of its own.

    ``agent`` is called without arguments for a twin that has said nothing yet.
    """

    async def ask(message: str) -> str:
        chain = CHAIN.get()
        _check(chain, Link(key, name))
        try:
            return str(await agent().chat(message))
        except AgentError as error:
            raise ToolError(f"{name} has no answer: {error}") from error

    schema = {"type": "string", "description": "What is asked, with all that has to be known."}
    parameters = {
        "type": "object",
        "properties": {"message": schema},
        "required": ["message"],
        "additionalProperties": False,
    }
    return ToolDefinition(name, description, parameters, ask, source=__name__)


def _check(chain: tuple[Link, ...], link: Link) -> None:
    """Refuse agents that would wait for themselves.

    Raises:
        ToolError: they would, or too many wait for one another.
    """
    names = " → ".join([each.name for each in chain] + [link.name])
    if any(each.key == link.key for each in chain):
        raise ToolError(f"agents can't ask one another in a circle: {names}")
    if len(chain) > MOST:
        raise ToolError(f"more than {MOST} agents can't ask one another in a row: {names}")
