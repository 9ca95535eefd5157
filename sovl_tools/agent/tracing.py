"""Spans of turns, rounds and answers, as OpenTelemetry's conventions for generative AI have them.

https://github.com/open-telemetry/semantic-conventions-genai: the spans ``invoke_agent`` and
``chat``. Between the two is one for each round, in which the calls of tools lie too.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from sovl_tools.agent.answer import Answer

_PROVIDERS = {"openai-responses": "openai"}
"""Names of providers in the conventions, where they are not ours."""


class Tracing(NamedTuple):
    """Makes spans of turns, if there is anybody who makes spans.

    Attributes:
        tracer: a ``sovl_tools.dispatch.opentelemetry.OpenTelemetry``, or None.
        agent: the agent's name.
        provider: the provider's name.
    """

    tracer: Any
    agent: str
    provider: str

    @classmethod
    def of(cls, observers: Iterable[Any], agent: str, provider: str) -> Tracing:
        """Return what makes the spans of an agent that has those observers."""
        tracer = next((each for each in observers if hasattr(each, "span")), None)
        return cls(tracer, agent, _PROVIDERS.get(provider, provider))

    def turn(self) -> AbstractContextManager[Any]:
        """Return the span of a turn."""
        name = f"invoke_agent {self.agent}"
        return self._span(name, "invoke_agent", {"gen_ai.agent.name": self.agent}, None)

    def round(self, number: int, within: Any) -> AbstractContextManager[Any]:
        """Return the span of a round of a turn."""
        return self._span(f"round {number}", "round", {"sovl_tools.round": number}, within)

    def answer(self, model: str, within: Any) -> AbstractContextManager[Any]:
        """Return the span of an answer in a round."""
        return self._span(f"chat {model}", "chat", {"gen_ai.request.model": model}, within)

    def _span(
        self, name: str, operation: str, attributes: dict[str, Any], within: Any
    ) -> AbstractContextManager[Any]:
        if self.tracer is None:
            return nullcontext()
        head = {"gen_ai.operation.name": operation, "gen_ai.provider.name": self.provider}
        # The span around it is handed on, for a turn goes on in other tasks and threads.
        span: AbstractContextManager[Any] = self.tracer.span(
            name, {**head, **attributes}, within=within
        )
        return span

    def enter(self, span: Any) -> None:
        """Let what the current task does lie in a span."""
        if self.tracer is not None:
            self.tracer.enter(span)


def note(span: Any, answer: Answer) -> None:
    """Say in the span of an answer what it cost and why it ended."""
    if span is not None:
        span.set_attribute("gen_ai.usage.input_tokens", answer.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", answer.usage.output_tokens)
        span.set_attribute("gen_ai.response.finish_reasons", (answer.stop,))
