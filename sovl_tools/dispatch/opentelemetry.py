"""Spans and a metric for each call, as OpenTelemetry's conventions for generative AI have them.

An ``Agent`` that has the object among its observers has spans of its turns as well.

https://github.com/open-telemetry/semantic-conventions-genai: the span ``gen_ai.execute_tool`` and
the metric ``gen_ai.execute_tool.duration``, both in development there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sovl_tools import __version__
from sovl_tools.dispatch.telemetry import as_json, shortened
from sovl_tools.model.call import CallEvent, ToolCall
from sovl_tools.model.result import ToolResult
from sovl_tools.reporting.text import plain

try:
    from opentelemetry import context, metrics, trace
except ImportError as error:
    raise ImportError("OpenTelemetry is not installed: install sovl-tools[otel]") from error

_SCOPE = "sovl_tools"
_SPAN = "execute_tool {}"
_METRIC = "gen_ai.execute_tool.duration"
_BOUNDARIES = (
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
)  # fmt: skip
_CONSTANT = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
_NAME = "gen_ai.tool.name"
_DESCRIPTION = "gen_ai.tool.description"
_CALL_ID = "gen_ai.tool.call.id"
_ARGUMENTS = "gen_ai.tool.call.arguments"
_RESULT = "gen_ai.tool.call.result"
_ERROR = "error.type"
_OTHER = "_OTHER"
"""The conventions' word for a value out of the ordinary, here the name of a tool that is not."""

_CANCELLATIONS = {"CancelledError", "GeneratorExit"}


class OpenTelemetry:
    """Traces and measures calls: ``Tooler(registry, observers=[OpenTelemetry()])``.

    The Tooler tells the object of each call that has ended and takes each that runs through
    ``hook``, outside of all other hooks. Don't register the hook a second time.

    A span ``execute_tool NAME`` is the current one while its tool runs, so that spans of the
    tool's own are its children. A call that never gets to the hook, because the tool is unknown
    or the arguments do not match, has a span as well, made when it has ended. The ``error.type`` of
    a failure is the class name of the exception that the tool raised or else the kind of failure.
    """

    def __init__(
        self,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        content: bool = False,
    ) -> None:
        """Make the tracer and the histogram.

        Args:
            tracer_provider: the global one unless it is given.
            meter_provider: the global one unless it is given.
            content: whether spans also have arguments, results and messages of errors, which
                quote them: as JSON text of at most ``telemetry.LONGEST`` characters.
        """
        self._tracer = trace.get_tracer(_SCOPE, __version__, tracer_provider)
        self._durations = metrics.get_meter(_SCOPE, __version__, meter_provider).create_histogram(
            _METRIC,
            unit="s",
            description="The duration of a single tool execution.",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._content = content
        self._traced: set[tuple[str, str]] = set()

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Any], *, within: trace.Span | None = None
    ) -> Iterator[trace.Span]:
        """Have a span for as long as a block; it fails as the block does.

        It does not become the current one. Its parent is ``within``, or else the current one.
        """
        parent = None if within is None else trace.set_span_in_context(within)
        span = self._tracer.start_span(name, parent, attributes=dict(attributes))
        try:
            yield span
        except BaseException as error:
            _fail(span, _error_type(error))
            raise
        finally:
            span.end()

    @staticmethod
    def enter(span: trace.Span) -> None:
        """Make a span the task's current span, until the task ends."""
        context.attach(trace.set_span_in_context(span))

    def hook(
        self,
        call: ToolCall,
        following: Callable[[ToolCall], Any],
    ) -> Generator[Any, ToolResult, ToolResult]:
        """Go around a call: its span is the current one until the result is there."""
        self._traced.add((call.name, call.call_id))
        attributes = _attributes(call.name, call.call_id)
        attributes[_DESCRIPTION] = call.tool.description
        if self._content:
            attributes[_ARGUMENTS] = _text(as_json(dict(call.arguments)))
        with self._tracer.start_as_current_span(
            _SPAN.format(call.name),
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                result = yield following(call)
            except BaseException as error:
                _fail(span, _error_type(error))
                raise
            self._finish(span, result)
        return result

    def _finish(self, span: trace.Span, result: ToolResult) -> None:
        failure = result.error
        if failure is not None:
            message = failure.message if self._content else None
            _fail(span, failure.error_type or failure.kind, message)
        elif self._content:
            span.set_attribute(_RESULT, _text(as_json(result.value)))

    def __call__(self, event: CallEvent) -> None:
        """Measure a call that has ended, and trace it unless the hook has done so."""
        error = event.error_type or event.kind
        name = _OTHER if event.kind == "unknown_tool" else event.tool
        labels = {**_CONSTANT, _NAME: name}
        self._durations.record(event.duration, {**labels, _ERROR: error} if error else labels)
        call = (event.tool, event.call_id)
        if call in self._traced:
            self._traced.discard(call)
            return
        name = plain(event.tool)
        attributes = _attributes(name, event.call_id)
        if self._content:
            given = event.arguments  # a model sent a string, which is JSON already
            attributes[_ARGUMENTS] = _text(given if isinstance(given, str) else as_json(given))
        if self._content and event.ok:
            attributes[_RESULT] = _text(as_json(event.value))
        start = _nanoseconds(event.started)
        span = self._tracer.start_span(_SPAN.format(name), attributes=attributes, start_time=start)
        if error is not None:
            _fail(span, error)
        span.end(start + _nanoseconds(event.duration))


def _attributes(name: str, call_id: str) -> dict[str, str]:
    return {**_CONSTANT, _NAME: name, _CALL_ID: plain(call_id)}


def _text(text: str) -> str:
    """Return the text shortened and so that exporters can encode it."""
    return shortened(text).encode(errors="backslashreplace").decode()


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1_000_000_000)


def _error_type(error: BaseException) -> str:
    name = type(error).__name__
    return "cancelled" if name in _CANCELLATIONS else name


def _fail(span: trace.Span, error: str, message: str | None = None) -> None:
    span.set_attribute(_ERROR, error)
    span.set_status(trace.StatusCode.ERROR, None if message is None else _text(message))
