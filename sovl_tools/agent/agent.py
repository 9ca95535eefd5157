"""A conversation with a model that calls tools."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sovl_tools.agent.answer import Message
from sovl_tools.agent.driver import AgentStream, Steps, in_async, in_sync
from sovl_tools.agent.errors import AgentError
from sovl_tools.agent.events import Reply
from sovl_tools.agent.history import TrimPolicy, parse_messages
from sovl_tools.agent.providers.choice import choose_provider
from sovl_tools.agent.toolbox import (
    MOST_WAITING_AGENTS,
    WAITING_AGENTS,
    Approve,
    Budget,
)
from sovl_tools.agent.turn import AgentSettings, Turn, TurnOptions
from sovl_tools.dispatch.caller import check_host
from sovl_tools.dispatch.hooks import Hook, HookFunction
from sovl_tools.dispatch.statistics import Statistics
from sovl_tools.model.call import Mode
from sovl_tools.model.caller import (
    check_count,
    check_function,
    check_given,
    check_iterable,
    check_text,
    check_type,
)
from sovl_tools.model.content import is_block
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import ToolError
from sovl_tools.model.former_names import refuse_attribute, with_names_here
from sovl_tools.model.host import NO_HOST, Host
from sovl_tools.model.policy import Coerce, Policy
from sovl_tools.registry import ToolRegistry


def _agent_policy(policy: Policy | None, **given: Any) -> Policy:
    """Return the settings of an agent's calls: destructive ones need approval."""
    found = policy or Policy()
    return found.but(approval=found.approval or "destructive", **given)


class Agent:
    """Conducts a conversation: lets the model call tools and returns its answers.

        agent = Agent(tools="tools/")
        print(agent.chat_sync("Add 5 and 3."))

    A subclass can have its own tools, methods with ``@tool``, and override ``_system_messages``
    and ``_finalize_response``. Of its attributes only those below are taken, and ``_settings``.

    Attributes:
        client: of an SDK, sync or async; None for the provider ``local``.
        model: its name.
        messages: the conversation, as JSON; see ``sovl_tools.agent.history``.
        tools: the registry of all that can be called.
        emit: called with each answer; None for no one.
    """

    tools: ToolRegistry

    if not TYPE_CHECKING:  # to a type checker, a missing attribute stays missing

        def __getattr__(self, name: str) -> Any:
            """Return the name that an attribute of another framework has here."""
            refuse_attribute("Agent", name)

    @with_names_here("Agent")
    def __init__(  # noqa: PLR0913 - independent options
        self,
        client: Any = None,
        model: str | None = None,
        emit: Callable[[dict[str, Any]], Any] | None = None,
        *,
        tools: Any = None,
        provider: str | None = None,
        base_url: str | None = None,
        system: str = "",
        emit_tools: bool = False,
        options: Mapping[str, Any] | None = None,
        strict: bool = False,
        instructions: bool = True,
        max_rounds: int = 10,
        parallel_calls: bool = True,
        max_result_characters: int | None = 100_000,
        max_tools: int = 64,
        max_tool_tokens: int | None = None,
        trim: TrimPolicy | None = None,
        approve: Approve | None = None,
        host: Host = NO_HOST,
        policy: Policy | None = None,
        timeout: float | None = None,
        mode: Mode | None = None,
        coerce: Coerce | None = None,
        executor: Executor | None = None,
        hooks: Iterable[Hook | HookFunction] = (),
        observers: Iterable[Callable[[Any], object]] = (),
    ) -> None:
        """Make an agent with an empty conversation.

        Args:
            client: of the ``openai`` or the ``anthropic`` SDK, sync or async, or any object with
                the method that sends requests, such as ``chat.completions.create``; it may answer
                with objects or dictionaries. Without a client one is made for the provider.
            model: the model's name; unless given, what ``OPENAI_MODEL`` or ``ANTHROPIC_MODEL``
                says, or a recent one.
            emit: called with ``{"type": "ai_response", "message": text}`` once a turn, maybe async.
            tools: a ToolRegistry, a list of functions, or the path of a tools directory.
            provider: ``openai-responses``, ``openai`` (Chat Completions, also of compatible
                servers), ``anthropic``, ``openrouter`` or ``local``. Unless given, the client
                tells it, or else the first of ``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY`` and
                ``OPENROUTER_API_KEY`` that is set; ``local`` answers if none is.
            base_url: of a server that is compatible with OpenAI's Chat Completions.
            system: the system prompt.
            emit_tools: whether ``emit`` gets calls as well: ``tool_call`` and ``tool_result``.
            options: further parameters of each request, such as ``{"temperature": 0}``.
            strict: have the provider enforce the schemas of arguments, where it can.
            instructions: tell the model the tools' own instructions.
            max_rounds: the maximum number of rounds of calls in one turn.
            parallel_calls: whether the calls of one round run at the same time; otherwise one
                after the other, in their order.
            max_result_characters: the part of a result that the model reads; longer strings are cut
                and say so. A tool's own ``execution.max_result_bytes`` wins. None for all of it.
            max_tools: the maximum number of tools in a request; of more, the ones that match the
                conversation best, and a tool that finds the rest.
            max_tool_tokens: the maximum number of tokens of their definitions, by estimate.
            trim: selects the messages that are kept when a turn begins, such as ``last_turns(20)``
                of ``sovl_tools.agent.history``.
            approve: called before a destructive tool runs; sync or async. False,
                or a string with the reason, rejects the call. Without it, such calls are rejected,
                unless the host or the policy says otherwise.
            host: answers the tools' questions, and gets their events; the agent's own model answers
                requests for samples.
            policy: the settings of calls; see ``Policy``.
            timeout: a tool's limit, in seconds.
            mode: where tools run; see ``Tooler``.
            coerce: ``"lenient"`` repairs arguments where there is one way to do so.
            executor: runs the tools; see ``Tooler``.
            hooks: functions around each call of a tool; see ``hook``.
            observers: called after each call of a tool; see ``Tooler``.

        Raises:
            ValueError: the provider or directory doesn't exist, or a number is not more than 0.
            ImportError: the provider's SDK is not installed.
            AgentError: the client can't be made.
            TypeError: an object among the tools can't become a tool, the client
                belongs to another provider, or another argument has a wrong type.
        """
        check_count("max_rounds", max_rounds)
        check_count("max_tools", max_tools)
        check_given(check_count, max_result_characters=max_result_characters)
        check_given(check_function, emit=emit, approve=approve, trim=trim)
        check_given(check_text, provider=provider, model=model, base_url=base_url)
        if options is not None:
            check_type("options", options, Mapping, "an object")
        who = choose_provider(client, provider=provider, model=model, base_url=base_url)
        calling = {
            "policy": _agent_policy(policy, timeout=timeout, mode=mode, coerce=coerce),
            "executor": executor,
            "hooks": (*hooks,),
            "observers": (*observers,),
        }
        self._settings = AgentSettings(
            self, type(self).__name__, who, tools, calling, check_host("host", host), approve,
            system, dict(options or {}), instructions=instructions, strict=strict,
            budget=Budget(max_tools, max_tool_tokens), most_rounds=max_rounds, trim=trim,
            emits_tools=emit_tools, parallel=parallel_calls, most_characters=max_result_characters,
        )  # fmt: skip
        self.client, self.model = who.client, who.model
        self.messages: list[Message] = []
        self.emit = emit

    def _system_messages(self) -> Any:
        """Return the system prompt; to be overridden, sync or async.

        Strings or ``{"role": "system", "content": text}``, one or a list of them. The text of the
        user just said is the last of ``messages``. They are sent first, each turn again, and aren't
        part of the conversation; definitions of tools are made afterwards.
        """
        return []

    def _finalize_response(self, text: str) -> Any:
        """Return the answer as it must be; to be overridden, sync or async."""
        return text

    async def chat(
        self,
        content: str | list[dict[str, JSON]],
        *,
        tools: Sequence[str] | None = None,
        tool_choice: str = "auto",
    ) -> Reply:
        """Send a message and await the answer; the model can call tools in many rounds.

        Args:
            content: a string, or content blocks as in the Model Context Protocol.
            tools: the names of the tools that can be called in this turn; None for all.
            tool_choice: ``"auto"``, ``"required"``, ``"none"`` or the name of a tool, for the
                first answer of the model.

        Raises:
            RefusalError: the model refused.
            LengthError: the answer was cut off.
            EmptyAnswerError: the answer is empty.
            RoundsError: the model continued calling tools beyond ``max_rounds``.
            ProviderError: the provider is unreachable, or returned an error.
            ToolNotFoundError: a tool doesn't exist.
            TypeError: an argument has a wrong type.
            RuntimeError: a turn of this agent is running.
        """
        wanted = _options(content, tools, tool_choice, is_streaming=False)
        async with aclosing(in_async(_turn(self, content, wanted))) as events:
            return [event async for event in events][-1].reply  # type: ignore[union-attr]

    def chat_sync(
        self,
        content: str | list[dict[str, JSON]],
        *,
        tools: Sequence[str] | None = None,
        tool_choice: str = "auto",
    ) -> Reply:
        """Say something and wait for the answer; see ``chat``."""
        wanted = _options(content, tools, tool_choice, is_streaming=False)
        with closing(in_sync(_turn(self, content, wanted))) as events:
            return list(events)[-1].reply  # type: ignore[union-attr]

    def stream(
        self,
        content: str | list[dict[str, JSON]],
        *,
        tools: Sequence[str] | None = None,
        tool_choice: str = "auto",
    ) -> AgentStream:
        """Send a message and return the events of the turn, for ``async for`` or ``for``.

        async for event in agent.stream("Add 5 and 3."):
            if isinstance(event, TextDelta):
                print(event.text, end="")

        Closing it early cancels the turn; the conversation keeps everything until then. See
        ``chat`` for the arguments and the exceptions.
        """
        wanted = _options(content, tools, tool_choice, is_streaming=True)
        return AgentStream(lambda: _turn(self, content, wanted))

    def definitions(self) -> list[JSON]:
        """Return the definitions of tools that the model would be offered now."""
        found: list[JSON] = copied(self._settings.offering.offer(self.messages, None).definitions)
        return found

    def as_tool(self, name: str, description: str) -> ToolDefinition:
        """Return a tool through which other agents call this one, each time in a new conversation.

        More than five agents in a row, such as two that ask each other, are rejected.
        """

        async def ask(message: str) -> str:
            chain = WAITING_AGENTS.get()
            names = " → ".join([*chain, name])
            if len(chain) > MOST_WAITING_AGENTS:
                most = f"more than {MOST_WAITING_AGENTS} agents"
                raise ToolError(f"{most} can't ask each other in a row: {names}")
            # A copy: __init__ of a subclass can have unknown parameters.
            twin = copy.copy(self)
            twin.messages, twin.emit = [], None
            twin._settings = replace(  # noqa: SLF001 - of its class
                self._settings, agent=twin, name=name, given_tools=self.tools
            )
            twin._settings.offering.warned = self._settings.offering.warned  # noqa: SLF001 - likewise
            # or each question would start its own worker processes
            twin._settings.tooler.share_workers(self._settings.tooler)  # noqa: SLF001 - likewise
            try:
                return str(await twin.chat(message))
            except AgentError as error:
                raise ToolError(f"{name} has no answer: {error}") from error

        schema = {
            "type": "string",
            "description": "The question, with everything needed to answer it.",
        }
        parameters = {
            "type": "object",
            "properties": {"message": schema},
            "required": ["message"],
            "additionalProperties": False,
        }
        return ToolDefinition(name, description, parameters, ask, source=__name__)

    def statistics(self) -> dict[str, Statistics]:
        """Return the number of the model's calls and failures of each tool, and their times.

        See ``Tooler.statistics``.
        """
        return self._settings.tooler.statistics()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the conversation as JSON.

        Raises:
            OSError: the file can't be written.
        """
        text = json.dumps(self.messages, ensure_ascii=False, indent=1)
        # Models leave halves of characters at the end of an answer that is cut off.
        Path(path).write_text(f"{text}\n", encoding="utf-8", errors="surrogatepass")

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Go on with a conversation that was saved.

        Raises:
            OSError: the file can't be read.
            ValueError: there's no conversation in it.
        """
        text = Path(path).read_text(encoding="utf-8", errors="surrogatepass")
        self.messages = parse_messages(json.loads(text))

    def __repr__(self) -> str:
        name, who = type(self).__name__, self._settings.provider
        model = f" {self.model}" if self.model else ""
        return f"<{name} on {who.name}{model} with {len(self.tools)} tools>"


def _turn(agent: Agent, content: JSON, wanted: TurnOptions) -> Steps:
    # vars(), because a subclass can have its own __getattr__
    settings = vars(agent).get("_settings")
    if settings is None:
        raise RuntimeError(f"{type(agent).__name__}.__init__ has not called super().__init__()")
    return Turn(agent, settings, wanted).steps(content)


def _options(
    content: JSON, tools: Sequence[str] | None, choice: str, *, is_streaming: bool
) -> TurnOptions:
    """Return the settings of a turn, after checking them.

    Raises:
        TypeError: an argument has a wrong type.
    """
    if not isinstance(content, str) and not (
        isinstance(content, list) and all(map(is_block, content))
    ):
        raise TypeError(f"say a string or a list of content blocks, not {content!r:.80}")
    if tools is not None:
        check_iterable("tools", tools, "a list of names")
    return TurnOptions(None if tools is None else tuple(tools), choice, is_streaming)
