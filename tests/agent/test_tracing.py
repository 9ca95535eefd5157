"""Spans of turns: what lies in what, what they cost, and how they fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from sovl_tools import Agent
from sovl_tools.agent.errors import ProviderError
from sovl_tools.dispatch.opentelemetry import OpenTelemetry
from sovl_tools.testing import ScriptedServer, calls, fails, says


class Spans:
    """An observer, and what it has seen."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.observer = OpenTelemetry(tracer_provider=provider)

    def found(self) -> dict[str, ReadableSpan]:
        """Return the spans that have ended, by name."""
        return {span.name: span for span in self._exporter.get_finished_spans()}

    def parents(self) -> dict[str, str | None]:
        """Return the name of the span in which each lies."""
        found = self.found()
        names = {span.context.span_id: name for name, span in found.items() if span.context}
        return {
            name: None if span.parent is None else names[span.parent.span_id]
            for name, span in found.items()
        }


@pytest.fixture
def spans() -> Spans:
    return Spans()


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def asked(script: list[Any], spans: Spans, *, is_streaming: bool = False) -> None:
    """Have a turn against a script."""
    with (
        ScriptedServer(script) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client,
    ):
        agent = Agent(client, model="some", tools=[add], observers=[spans.observer])
        if is_streaming:
            _exhaust(iter(agent.stream("Add 1 and 2.")))
        else:
            agent.chat_sync("Add 1 and 2.")


def _exhaust(events: Iterator[Any]) -> None:
    for _ in events:
        pass


@pytest.mark.parametrize("way", ["plain", "streaming"])
def test_answers_and_calls_lie_in_rounds_and_rounds_in_the_turn(spans: Spans, way: str) -> None:
    asked([calls(("add", {"a": 1, "b": 2})), says("3")], spans, is_streaming=way == "streaming")
    assert spans.parents() == {
        "invoke_agent Agent": None,
        "round 1": "invoke_agent Agent",
        "round 2": "invoke_agent Agent",
        "chat some": "round 2",
        "execute_tool add": "round 1",
    }
    answer = dict(spans.found()["chat some"].attributes or {})
    assert answer["gen_ai.usage.input_tokens"] == 12
    assert answer["gen_ai.usage.output_tokens"] == 8
    assert answer["gen_ai.response.finish_reasons"] == ("end",)
    assert answer["gen_ai.provider.name"] == "openai"


def test_what_fails_says_so_as_far_as_it_failed(spans: Spans) -> None:
    with pytest.raises(ProviderError):
        asked([fails(429)], spans)
    for span in spans.found().values():
        assert span.status.status_code is StatusCode.ERROR
        assert dict(span.attributes or {})["error.type"] == "ProviderError"
