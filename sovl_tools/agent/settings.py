"""How an agent is configured, and what it holds beside the conversation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.agent.answer import MODES
from sovl_tools.agent.history import Policy
from sovl_tools.agent.providers.choice import ProviderChoice
from sovl_tools.agent.toolbox import Budget, Offering, agent_registry
from sovl_tools.agent.tracing import Tracing
from sovl_tools.dispatch.hooks import marked_methods
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.caller import check_iterable
from sovl_tools.model.content import is_block
from sovl_tools.model.document import JSON


class Configuration(NamedTuple):
    """What an agent was made with; its twins are made with the same.

    Attributes:
        name: what other agents know it by.
        provider: who is asked.
        tools: what it was given to call.
        calling: parameters of its Tooler.
        system: the system prompt; "" for none.
        options: further parameters of each request.
        instructions: whether the system prompt includes the tools' own instructions.
        strict: whether the provider is to enforce the schemas of arguments.
        budget: how many tools the model is offered.
        most_rounds: how often the model may call tools in one turn.
        trim: what is kept of the conversation when a turn begins; None for all of it.
        emits_tools: whether calls are emitted too.
        parallel: whether the calls of one round run at the same time.
        most_characters: how much of a result the model reads; None for all of it.
    """

    name: str
    provider: ProviderChoice
    tools: Any
    calling: Mapping[str, Any]
    system: str
    options: Mapping[str, Any]
    instructions: bool
    strict: bool
    budget: Budget
    most_rounds: int
    trim: Policy | None
    emits_tools: bool
    parallel: bool
    most_characters: int | None


class Settings(NamedTuple):
    """What an agent holds beside the conversation.

    Attributes:
        configuration: what it was made with.
        key: the same for an agent and its twins.
        offering: which tools the model is offered, and in which form.
        tooler: what calls them.
        spoken: the methods that add to the system prompt.
        responded: the methods that change the answer.
        tracing: makes spans, if anybody wants them.
        busy: held during a turn.
    """

    configuration: Configuration
    key: int
    offering: Offering
    tooler: Tooler
    spoken: Sequence[Callable[[], Any]]
    responded: Sequence[Callable[[str], Any]]
    tracing: Tracing
    busy: threading.Lock


class TurnOptions(NamedTuple):
    """What is wanted of one turn.

    Attributes:
        tools: the names of those that may be called; None for all.
        choice: ``"auto"``, ``"required"``, ``"none"`` or a tool's name, for the first answer.
        is_streaming: whether text is wanted as it comes in.
    """

    tools: tuple[str, ...] | None = None
    choice: str = "auto"
    is_streaming: bool = False

    @property
    def tool(self) -> str | None:
        """The tool that the first answer has to call; None if no one is named."""
        return None if self.choice in MODES else self.choice


def turn_options(
    content: JSON, tools: Sequence[str] | None, choice: str, *, is_streaming: bool
) -> TurnOptions:
    """Return what is wanted of a turn.

    Raises:
        TypeError: an argument is of another type.
    """
    if not isinstance(content, str | list):
        raise TypeError(f"say a text or a list of content blocks, not {content!r:.80}")
    for block in content if isinstance(content, list) else ():
        if not is_block(block):
            raise TypeError(
                f"content must be a text or a list of content blocks, not {block!r:.80}"
            )
    if tools is not None:
        check_iterable("tools", tools, "a list of names")
    for name in (choice, *(tools or ())):
        if not isinstance(name, str):
            raise TypeError(f"a tool must be given by its name, not {name!r:.80}")
    return TurnOptions(None if tools is None else tuple(tools), choice, is_streaming)


def make_settings(agent: Any, configuration: Configuration, key: int) -> Settings:
    """Give an agent its tools, and return what else it holds.

    Raises:
        TypeError, ValueError, ToolLoadError: as in ``agent_registry``.
    """
    agent.tools = agent_registry(agent, configuration.tools)
    offering = Offering(
        lambda: agent.tools,  # asked each time, since a user may replace the attribute
        configuration.provider.format,
        strict=configuration.strict,
        budget=configuration.budget,
    )
    return Settings(
        configuration,
        key,
        offering,
        # The registry with the search in it: a model calls that like any other tool.
        Tooler(offering.search, **configuration.calling),
        marked_methods(agent, "system"),
        marked_methods(agent, "response"),
        Tracing.of(
            configuration.calling["observers"], configuration.name, configuration.provider.name
        ),
        threading.Lock(),
    )
