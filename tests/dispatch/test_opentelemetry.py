from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sovl_tools import CallEvent, Failure, ToolCall, ToolDefinition, ToolResult
from sovl_tools.dispatch.opentelemetry import OpenTelemetry
from tests.dispatch.toolbox import Call, each_way, tooler

TOOL = ToolDefinition("echo", "Say something.", {"type": "object"}, lambda text: text)
CALL = ToolCall(TOOL, {"text": "secret"}, "c1")
STARTED = 1_763_805_600.25


def result(value: Any = "secret", error: Failure | None = None) -> ToolResult:
    return ToolResult("echo", None if error else value, error, 0.5)


def event(**fields: Any) -> CallEvent:
    known = {"tool": "echo", "call_id": "c1", "started": STARTED, "duration": 0.5}
    return CallEvent(**{**known, **fields})


class Bench(NamedTuple):
    """Providers that keep what they are told."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader
    tracers: TracerProvider
    meters: MeterProvider

    def telemetry(self, *, content: bool = False) -> OpenTelemetry:
        return OpenTelemetry(
            tracer_provider=self.tracers, meter_provider=self.meters, content=content
        )

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    @property
    def points(self) -> list[Any]:
        data = self.reader.get_metrics_data()
        (metric,) = data.resource_metrics[0].scope_metrics[0].metrics if data else ()
        assert (metric.name, metric.unit) == ("gen_ai.execute_tool.duration", "s")
        return list(metric.data.data_points)


@pytest.fixture
def bench() -> Iterator[Bench]:
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    yield Bench(exporter, reader, tracers, meters)
    tracers.shutdown()
    meters.shutdown()


def driven(telemetry: OpenTelemetry, run: Callable[[ToolCall], ToolResult]) -> ToolResult:
    """Drive the hook as a sync call does."""
    steps = telemetry.hook(CALL, lambda call: lambda: run(call))
    step = next(steps)
    try:
        answer = step()
    except BaseException as error:
        steps.throw(error)
        raise
    with pytest.raises(StopIteration) as stop:
        steps.send(answer)
    returned = stop.value.value
    assert isinstance(returned, ToolResult)
    return returned


def test_a_call_is_a_span_of_the_conventions(bench: Bench) -> None:
    assert driven(bench.telemetry(), lambda _: result()) == result()
    (span,) = bench.spans
    assert span.name == "execute_tool echo"
    assert span.kind is trace.SpanKind.INTERNAL
    assert span.status.status_code is trace.StatusCode.UNSET
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Say something.",
        "gen_ai.tool.call.id": "c1",
    }
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "sovl_tools"


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Failure("tool_error", "no secret", error_type="ValueError"), "ValueError"),
        (Failure("timeout", "too slow"), "timeout"),
    ],
    ids=["exception", "kind"],
)
def test_a_failure_is_an_error_whose_message_stays_private(
    failure: Failure, error: str, bench: Bench
) -> None:
    driven(bench.telemetry(), lambda _: result(error=failure))
    (span,) = bench.spans
    assert (span.attributes or {})["error.type"] == error
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.status.description is None
    assert "secret" not in span.to_json()


def test_arguments_results_and_messages_are_told_on_request(bench: Bench) -> None:
    telemetry = bench.telemetry(content=True)
    driven(telemetry, lambda _: result({"said": "ü"}))
    driven(telemetry, lambda _: result(error=Failure("tool_error", "bad \ud800")))
    good, bad = bench.spans
    attributes = good.attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == '{"text":"secret"}'
    assert attributes["gen_ai.tool.call.result"] == '{"said":"ü"}'
    assert "gen_ai.tool.call.result" not in (bad.attributes or {})
    assert bad.status.description == "bad \\ud800"


def inner(bench: Bench) -> None:
    bench.tracers.get_tracer("tool").start_span("inner").end()


def test_a_traced_call_is_measured_and_not_traced_again(bench: Bench) -> None:
    telemetry = bench.telemetry()
    driven(telemetry, lambda _: result())
    telemetry(event())
    assert len(bench.spans) == 1
    (point,) = bench.points
    assert (point.count, point.sum) == (1, 0.5)
    assert dict(point.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.type": "function",
    }
    assert point.explicit_bounds == (
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    )  # fmt: skip


def test_a_call_that_never_gets_to_the_hook_is_traced_when_it_has_ended(bench: Bench) -> None:
    telemetry = bench.telemetry()
    with bench.tracers.get_tracer("agent").start_as_current_span("agent") as agent:
        telemetry(event(kind="invalid_arguments", arguments={"text": "secret"}))
    span, _ = bench.spans
    assert span.name == "execute_tool echo"
    assert span.parent == agent.get_span_context()
    assert span.start_time == pytest.approx(1_763_805_600_250_000_000, abs=1000)
    assert (span.end_time or 0) - (span.start_time or 0) == 500_000_000
    assert span.status.status_code is trace.StatusCode.ERROR
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "error.type": "invalid_arguments",
    }


def test_names_that_a_model_made_up_do_not_multiply_the_metric(bench: Bench) -> None:
    telemetry = bench.telemetry()
    for name in ("ecko", "eko\ud800"):
        telemetry(event(tool=name, kind="unknown_tool"))
    (point,) = bench.points
    assert point.count == 2
    assert point.attributes["gen_ai.tool.name"] == "_OTHER"
    assert point.attributes["error.type"] == "unknown_tool"
    assert [span.name for span in bench.spans] == ["execute_tool ecko", "execute_tool eko\\ud800"]
    for span in bench.spans:
        json.dumps(dict(span.attributes or {}), ensure_ascii=False).encode()


@each_way
@pytest.mark.parametrize("limit", [None, 5.0], ids=["no limit", "limit"])
def test_a_tooler_has_each_call_traced_once_and_measured(
    call: Call, limit: float | None, bench: Bench
) -> None:
    def plain(**_: Any) -> None:
        inner(bench)

    async def awaiting(**_: Any) -> None:
        await asyncio.sleep(0)
        inner(bench)

    made = tooler(plain, awaiting, observers=[bench.telemetry()], timeout=limit)
    for name in ("plain", "awaiting", "plain", "absent"):
        call(made, name, {})
    call(made, "plain", "{")
    names = {span.context.span_id: span.name for span in bench.spans if span.context}
    found = [
        (span.name, names[span.parent.span_id] if span.parent else None) for span in bench.spans
    ]
    assert found == [
        ("inner", "execute_tool plain"),
        ("execute_tool plain", None),
        ("inner", "execute_tool awaiting"),
        ("execute_tool awaiting", None),
        ("inner", "execute_tool plain"),
        ("execute_tool plain", None),
        ("execute_tool absent", None),
        ("execute_tool plain", None),
    ]
    assert sum(point.count for point in bench.points) == 5
