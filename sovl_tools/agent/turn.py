"""One turn of a conversation: from the user's message to the answer, over many rounds."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext, suppress
from dataclasses import InitVar, dataclass, field
from functools import partial
from inspect import isawaitable
from itertools import count
from typing import Any, NamedTuple, TypeVar

from sovl_tools.agent.answer import MODES, Answer, Call, Draft, Prompt, Usage, check_answer
from sovl_tools.agent.driver import Apply, Ask, Listen, Request, Steps, Tell, Work
from sovl_tools.agent.errors import (
    AgentError,
    EmptyAnswerError,
    LengthError,
    RefusalError,
    RoundsError,
    provider_error,
    reading_answer,
)
from sovl_tools.agent.events import (
    Event,
    Reply,
    RoundFinished,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from sovl_tools.agent.history import (
    TrimPolicy,
    answer_open_calls,
    assistant_message,
    text_of,
    tool_message,
    unmade_call,
    unpacked,
)
from sovl_tools.agent.providers.choice import ProviderChoice
from sovl_tools.agent.sampling import ask_model
from sovl_tools.agent.toolbox import (
    WAITING_AGENTS,
    Approve,
    Budget,
    Offer,
    Offering,
    agent_host,
    agent_registry,
)
from sovl_tools.dispatch.hooks import marked_methods
from sovl_tools.dispatch.prepared import log_event
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.document import JSON
from sovl_tools.model.host import Host
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")
_T = TypeVar("_T")
_Steps = Generator[Request, Any, _T]


_STOPPED = "this call was cancelled: the turn ended before it"
_BEYOND = "this call was not made: there were more than {} rounds of calls"


class Tracing(NamedTuple):
    """Makes spans of turns, rounds and answers, if there is anyone who makes spans.

    They follow OpenTelemetry's conventions for generative AI
    (https://github.com/open-telemetry/semantic-conventions-genai): ``invoke_agent`` and ``chat``.
    Between the two is one for each round, with the calls of tools below it.

    Attributes:
        tracer: a ``sovl_tools.dispatch.opentelemetry.OpenTelemetry``, or None.
        provider: the provider's name.
    """

    tracer: Any
    provider: str

    def span(
        self, operation: str, subject: object, attributes: dict[str, Any], within: Any = None
    ) -> AbstractContextManager[Any]:
        """Return a span; the one around it is handed on, for a turn crosses tasks and threads."""
        if self.tracer is None:
            return nullcontext()
        # the conventions have no name for this API of OpenAI
        provider = "openai" if self.provider == "openai-responses" else self.provider
        head = {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider}
        span: AbstractContextManager[Any] = self.tracer.span(
            f"{operation} {subject}", {**head, **attributes}, within=within
        )
        return span


@dataclass(eq=False)
class AgentSettings:
    """An agent's settings, and the objects it works with next to the conversation.

    Attributes:
        name: its name for other agents.
        provider: the provider, its client and the model.
        given_tools: the tools of its constructor.
        calling: parameters of its Tooler.
        host: answers the tools' questions, and gets their events.
        approve: decides on calls that need approval; None for the host.
        system: the system prompt; "" for none.
        options: further parameters of each request.
        instructions: whether the system prompt includes the tools' own instructions.
        strict: whether the provider enforces the schemas of arguments.
        budget: the maximum size of an offer.
        most_rounds: the maximum number of rounds of calls in one turn.
        trim: selects the messages that are kept when a turn begins; None for all of them.
        emits_tools: whether calls are emitted too.
        parallel: whether the calls of one round run at the same time.
        most_characters: the part of a result that the model reads; None for all of it.
        offering: selects the tools of a request, and their form.
        tooler: what calls them.
        spoken: the methods that add to the system prompt.
        responded: the methods that change the answer.
        tracing: makes spans, if anyone wants them.
        busy: locked during a turn.
    """

    agent: InitVar[Any]
    name: str
    provider: ProviderChoice
    given_tools: Any
    calling: Mapping[str, Any]
    host: Host
    approve: Approve | None
    system: str
    options: Mapping[str, Any]
    instructions: bool
    strict: bool
    budget: Budget
    most_rounds: int
    trim: TrimPolicy | None
    emits_tools: bool
    parallel: bool
    most_characters: int | None
    offering: Offering = field(init=False)
    tooler: Tooler = field(init=False)
    spoken: Sequence[Callable[[], Any]] = field(init=False)
    responded: Sequence[Callable[[str], Any]] = field(init=False)
    tracing: Tracing = field(init=False)
    busy: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self, agent: Any) -> None:
        """Give the agent its tools, and work out what else it needs.

        Raises:
            TypeError, ValueError, ToolLoadError: as in ``agent_registry``.
        """
        agent.tools = agent_registry(agent, self.given_tools)
        self.offering = Offering(
            lambda: agent.tools,  # read each time, since a user may replace the attribute
            self.provider.format,
            strict=self.strict,
            budget=self.budget,
        )
        # The registry with the search in it: a model calls that like any other tool.
        sample = partial(ask_model, self.provider, agent)
        host = agent_host(self.host, self.approve, sample, lambda: agent.tools)
        self.tooler = Tooler(self.offering.search, host=host, **self.calling)
        self.spoken = marked_methods(agent, "system")
        self.responded = marked_methods(agent, "response")
        tracers = (each for each in self.calling["observers"] if hasattr(each, "span"))
        self.tracing = Tracing(next(tracers, None), self.provider.name)


class TurnOptions(NamedTuple):
    """The settings of one turn.

    Attributes:
        tools: the names of the offered tools; None for all.
        choice: ``"auto"``, ``"required"``, ``"none"`` or a tool's name, for the first answer.
        is_streaming: whether text is streamed.
    """

    tools: tuple[str, ...] | None = None
    choice: str = "auto"
    is_streaming: bool = False


class Turn:
    """One turn; ``steps`` is what must be driven, once."""

    def __init__(self, agent: Any, settings: AgentSettings, wanted: TurnOptions) -> None:
        self._agent = agent
        self._settings = settings
        named = settings.tooler.meant  # aliases are for callers: a model is told a tool's own name
        tools = wanted.tools and tuple(map(named, wanted.tools))
        choice = wanted.choice if wanted.choice in MODES else named(wanted.choice)
        self._wanted = wanted._replace(tools=tools, choice=choice)
        self._draft: Draft | None = None
        self._usage = Usage()
        self._calls: list[Call] = []

    def steps(self, content: JSON) -> Steps:
        """Add the user's message, and continue to the answer.

        The conversation remains valid for every provider, however the turn ends. If it ends
        before the model has answered, the conversation is unchanged.

        Raises:
            RuntimeError: another turn of the agent is running.
        """
        if not self._settings.busy.acquire(blocking=False):
            words = "the agent is in the middle of a turn; a conversation has one at a time"
            raise RuntimeError(words)
        try:
            messages, trim = self._agent.messages, self._settings.trim
            if trim is not None:
                # In place: the list is the user's as well, who can keep a reference to it.
                messages[:] = trim(list(messages))
            messages.append({"role": "user", "content": content})
            before = len(messages)
            try:
                name = self._settings.name
                tracing, attributes = self._settings.tracing, {"gen_ai.agent.name": name}
                with tracing.span("invoke_agent", name, attributes) as span:
                    yield from self._rounds(span)
            except BaseException:  # a stream that is dropped ends with GeneratorExit
                messages = self._agent.messages  # a hook can have put another list there
                # The part of a streamed answer that arrived is kept, so that the model has it.
                if self._draft is not None and self._draft.text.strip():
                    messages.append(assistant_message(Answer(self._draft.text), ""))
                answer_open_calls(messages, _STOPPED)
                if len(messages) == before:
                    del messages[before - 1 :]
                raise
        finally:
            self._settings.busy.release()

    def _rounds(self, span: Any) -> Steps:
        # The user has spoken by now, so that the system prompt can depend on it.
        system = [self._settings.system]
        for function in (self._agent._system_messages, *self._settings.spoken):  # noqa: SLF001 - its own
            system += _system_texts((yield Apply(function)))
        most, tracing = self._settings.most_rounds, self._settings.tracing
        for number in count(1):
            with tracing.span("round", number, {"sovl_tools.round": number}, span) as inner:
                named = self._wanted.choice if number == 1 else "auto"
                # Selected again each round: a search or a reload can have changed the tools.
                offer = self._settings.offering.offer(
                    self._agent.messages, self._wanted.tools, None if named in MODES else named
                )
                answer = yield from self._answer(self._prompt(system, offer, number), inner)
                answer = unpacked(answer, self._agent.tools)
                # A tuple's own + would append.
                self._usage = Usage(*map(sum, zip(self._usage, answer.usage, strict=True)))
                self._keep_answer(answer)
                # The round after the last one is there for an answer, no longer for calls.
                if answer.calls and number > most:
                    answer_open_calls(self._agent.messages, _BEYOND.format(most))
                    raise RoundsError(f"there were more than {most} rounds of calls", answer.text)
                if answer.calls:
                    yield from self._make_calls(answer.calls, offer, inner)
            yield Tell(RoundFinished(number, answer.text, answer.calls, answer.usage))
            if not answer.calls:
                yield from self._finish(answer.text, number)
                return

    def _prompt(self, system: Sequence[str], offer: Offer, number: int) -> Prompt:
        settings = self._settings
        instructions = offer.instructions() if settings.instructions else ()
        return Prompt(
            self._agent.model,
            (*system, *instructions),
            self._agent.messages,
            offer.definitions,
            # A tool that is required again in each round would be called for ever.
            self._wanted.choice if number == 1 or self._wanted.choice == "none" else "auto",
            settings.options,
            offer.registry,
            offer.names,
        )

    def _answer(self, prompt: Prompt, span: Any) -> _Steps[Answer]:
        adapter = self._settings.provider.adapter
        model = {"gen_ai.request.model": prompt.model}
        with self._settings.tracing.span("chat", prompt.model, model, span) as inner:
            try:
                method, body = adapter.method(self._agent.client), adapter.body(prompt)
                if self._wanted.is_streaming:
                    # If the turn breaks off, the draft is what had come in until then.
                    self._draft = adapter.Draft(prompt.offered)
                    yield Listen(method, {**adapter.STREAM, **body}, self._draft)
                    with reading_answer():
                        answer = check_answer(self._draft.answer())
                    self._draft = None
                else:
                    response = yield Ask(method, body)
                    with reading_answer():
                        answer = check_answer(adapter.parse_answer(response))
            except Exception as error:
                known = provider_error(error)
                if known is None:
                    raise
                raise known from error
            if inner is not None:
                inner.set_attribute("gen_ai.usage.input_tokens", answer.usage.input_tokens)
                inner.set_attribute("gen_ai.usage.output_tokens", answer.usage.output_tokens)
                inner.set_attribute("gen_ai.response.finish_reasons", (answer.stop,))
        return answer

    def _keep_answer(self, answer: Answer) -> None:
        """Enter an answer into the conversation.

        Raises:
            AgentError: a turn can neither end nor continue with it.
        """
        messages = self._agent.messages
        problem: AgentError | None = None
        if answer.stop == "refusal":
            problem = RefusalError(answer.text or "the model refused to answer", answer.text)
        elif answer.stop == "length":
            problem = LengthError("the answer was cut off, because it got too long", answer.text)
        elif not (answer.calls or answer.text.strip()):
            problem = EmptyAnswerError("the model's answer is empty")
        if problem is None:
            messages.append(assistant_message(answer, self._settings.provider.name))
            return
        # The text is kept without the provider's own form, which can be cut off.
        if answer.text.strip():
            messages.append(assistant_message(Answer(answer.text), ""))
        raise problem

    def _make_calls(self, calls: Sequence[Call], offer: Offer, span: Any) -> Steps:
        """Make calls, and enter their outcomes in their order."""
        results: dict[int, ToolResult] = {}
        self._calls += calls
        try:
            yield Work(partial(self._events, calls, offer, results, span))
        finally:
            # Also after an interrupt: providers reject a history in which a call has no result.
            for place, call in enumerate(calls):
                if place in results:
                    tool = self._agent.tools.get(results[place].tool)
                    is_bounded = tool is not None and "max_result_bytes" in tool.execution
                    most = None if is_bounded else self._settings.most_characters
                    self._agent.messages.append(tool_message(call, results[place], most))
                else:
                    self._agent.messages.append(unmade_call(call, _STOPPED))

    def _finish(self, text: str, rounds: int) -> Steps:
        """Let hooks change the answer, keep the result, and report it."""
        agent, message, said = self._agent, self._agent.messages[-1], text
        for function in (agent._finalize_response, *self._settings.responded):  # noqa: SLF001 - its own
            changed = yield Apply(function, (text,))
            if changed is None:
                raise TypeError(f"{function.__qualname__} must return the answer, not None")
            text = str(changed)
        if text != said:
            message["content"] = text
            # The provider's own form of the answer has the text from before.
            for key in ("provider", "items"):
                message.pop(key, None)
        reply = Reply.of(text, usage=self._usage, rounds=rounds, calls=tuple(self._calls))
        if agent.emit is not None:
            try:
                yield Apply(agent.emit, ({"type": "ai_response", "message": text},))
            except Exception:  # what listens must not cost the answer, which is paid for
                _LOGGER.exception("emit failed at an answer")
        yield Tell(TurnFinished(reply))

    async def _events(
        self, calls: Sequence[Call], offer: Offer, results: dict[int, ToolResult], span: Any
    ) -> AsyncGenerator[Event, None]:
        """Make calls, and yield events as they begin, tell and end; closing it early cancels them.

        The results of ended calls are entered by their places among the calls.
        """
        places = range(len(calls))
        for batch in [places] if self._settings.parallel else [[place] for place in places]:
            for place in batch:
                await self._emit(ToolStarted(calls[place]))
                yield ToolStarted(calls[place])
            events = self._batch({place: calls[place] for place in batch}, offer, results, span)
            async with aclosing(events):
                async for event in events:
                    yield event

    async def _batch(
        self, calls: Mapping[int, Call], offer: Offer, results: dict[int, ToolResult], span: Any
    ) -> AsyncGenerator[Event, None]:
        """Make calls at the same time, and yield their events and results."""
        loop, happened = asyncio.get_running_loop(), asyncio.Queue[Any]()

        def hear(event: Progress | LogMessage) -> None:
            """Take an event of a call, in any thread."""
            (self._settings.host.on_event or log_event)(event)
            with suppress(RuntimeError):  # the loop is closed; the call was left behind
                loop.call_soon_threadsafe(happened.put_nowait, event)

        async def make(place: int) -> tuple[int, KeyboardInterrupt | None]:
            """Make a call; an interrupt is returned, since a task that raises it ends its loop."""
            try:
                results[place] = await self._call(calls[place], offer, span, hear)
            except KeyboardInterrupt as interrupt:
                return place, interrupt
            return place, None

        tasks = [asyncio.create_task(make(place)) for place in calls]
        for each in tasks:
            each.add_done_callback(happened.put_nowait)
        left = len(tasks)
        try:
            while left:
                found = await happened.get()
                if isinstance(found, Progress | LogMessage):
                    yield found
                    continue
                left -= 1
                place, interrupt = await found
                if interrupt is not None:
                    raise interrupt
                finished = ToolFinished(calls[place], results[place])
                await self._emit(finished)
                yield finished
        finally:
            # No call outlives its turn: the turn waits for cancelled calls.
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(
        self, call: Call, offer: Offer, span: Any, hear: Callable[[Progress | LogMessage], None]
    ) -> ToolResult:
        settings, allowed = self._settings, self._wanted.tools
        name = settings.tooler.meant(call.name)
        if allowed is not None and name not in allowed:
            there = f"there is {', '.join(allowed)}" if allowed else "there isn't one"
            words = f"there's no tool {call.name!r} in this turn; {there}"
            return ToolResult(call.name, None, Failure("unknown_tool", words), 0.0)
        # The call has its own task and context: nothing of this must be reset.
        if settings.tracing.tracer is not None:
            settings.tracing.tracer.enter(span)
        WAITING_AGENTS.set((*WAITING_AGENTS.get(), settings.name))
        # In a strict schema the model writes null for arguments it omits.
        arguments = offer.export.restore(name, call.arguments)
        # the model's own name of the call, unless it gives several calls the same
        ids = [each.id for each in self._calls]
        named: dict[str, Any] = {"call_id": call.id} if call.id and ids.count(call.id) == 1 else {}
        return await settings.tooler.call(call.name, arguments, on_event=hear, **named)

    async def _emit(self, event: ToolStarted | ToolFinished) -> None:
        if self._settings.emits_tools and self._agent.emit is not None:
            head = {"name": event.call.name, "call_id": event.call.id}
            message: dict[str, Any]
            if isinstance(event, ToolStarted):
                message = {"type": "tool_call", **head, "arguments": event.call.arguments}
            else:
                result = event.result
                message = {
                    "type": "tool_result",
                    **head,
                    "ok": result.ok,
                    "value": result.value,
                    "error": None if result.error is None else result.error.message,
                    "duration": result.duration,
                }
            try:
                emitted = self._agent.emit(message)
                if isawaitable(emitted):
                    await emitted
            except Exception:
                _LOGGER.exception("emit failed at a call of %s", event.call.name)


def _system_texts(said: Any) -> Iterable[str]:
    """Yield the strings of system messages, which can be strings, messages or None.

    Raises:
        TypeError: they are something else.
    """
    if said is None:
        return
    for each in [said] if isinstance(said, str | dict) else said:
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict) and isinstance(each.get("content"), str | list):
            yield text_of(each["content"])
        else:
            raise TypeError(f"a system message must be a string or a message, not {each!r:.80}")
