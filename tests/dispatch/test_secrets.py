"""Values of the environment variables that a tool requires, which no message may give away."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from sovl_tools import (
    CallEvent,
    Failure,
    ToolCall,
    ToolContext,
    ToolDefinition,
    ToolError,
    ToolResult,
)
from sovl_tools.model.redaction import redact
from sovl_tools.model.result import BadArgument
from tests.dispatch.toolbox import Call, each_way, properties, tool, tooler
from tests.tables import check_each

NAME = "SOVL_TEST_KEY"
LABEL = f"[{NAME}]"
PLAIN = "sk-0123456789abcdef"
ODD = "p'ä\"s\\s /w&\tö+rd\n=%"
LINES = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----"


@pytest.fixture(params=[PLAIN, ODD, LINES], ids=["plain", "odd", "lines"])
def secret(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    value = str(request.param)
    monkeypatch.setenv(NAME, value)
    return value


def needy(function: Callable[..., Any], **fields: Any) -> ToolDefinition:
    """Return a tool that requires the variable."""
    schema = properties(value={})
    return replace(tool(function, schema, name="needy"), requires={"env": [NAME]}, **fields)


def forms_of(secret: str) -> list[str]:
    """Return the secret as a message can write it."""
    texts = [secret, repr(secret)[1:-1]]
    texts += [json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    return [*texts, quote(secret), quote(secret, safe=""), quote_plus(secret)]


def assert_hidden(text: str, secret: str) -> None:
    """Check that the label is there, and neither the secret nor a telling part of it."""
    assert LABEL in text
    for form in forms_of(secret):
        pieces = [form[place : place + 12] for place in range(max(1, len(form) - 11))]
        assert [piece for piece in pieces if piece in text] == []


WRITINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: f"key {secret} is wrong",
    "alone": lambda secret: secret,
    "twice": lambda secret: f"{secret}{secret}",
    "quoted": lambda secret: f"key {secret!r} is wrong",
    "quoted next to others": lambda secret: f"{[secret, chr(34), chr(39)]!r}",
    "JSON": lambda secret: json.dumps({"key": secret}),
    "JSON in Unicode": lambda secret: json.dumps({"key": secret}, ensure_ascii=False),
    "path": lambda secret: f"https://example.org/{quote(secret)}/",
    "component": lambda secret: f"https://example.org/{quote(secret, safe='')}/",
    "query": lambda secret: f"https://example.org/?key={quote_plus(secret)}&other=1",
}
each_writing = check_each("write", WRITINGS.values(), ids=WRITINGS)


@each_writing
def test_a_secret_is_hidden_however_it_is_written(write: Any, secret: str) -> None:
    text = redact(write(secret), [NAME])
    assert_hidden(text, secret)
    assert redact(text, [NAME]) == text


def hopeless(error: type[BaseException], write: Callable[[str], str], secret: str) -> Any:
    def fail(**_: Any) -> Any:
        raise error(write(secret))

    return fail


def hopeless_later(error: type[BaseException], write: Callable[[str], str], secret: str) -> Any:
    async def fail(**_: Any) -> Any:
        await asyncio.sleep(0)
        raise error(write(secret))

    return fail


def message_of(result: ToolResult, kind: str = "tool_error") -> str:
    assert result.error is not None
    assert result.error.kind == kind
    return result.error.message


@pytest.mark.unmeasured
@each_way
@each_writing
@check_each("make", [hopeless, hopeless_later])
@check_each("error", [ToolError, ValueError])
def test_no_secret_is_in_the_message_of_an_exception(
    call: Call, make: Any, write: Any, error: type[BaseException], secret: str
) -> None:
    dispatcher = tooler(needy(make(error, write, secret)))
    for _ in range(2):
        assert_hidden(message_of(call(dispatcher, "needy")), secret)


@each_way
@pytest.mark.parametrize("coerce", ["strict", "lenient"])
def test_no_secret_is_in_what_is_said_of_bad_arguments(
    call: Call, coerce: Any, secret: str
) -> None:
    schema = properties(value={"enum": [f"{secret}!"]})
    definition = replace(needy(lambda value: 1), parameters=schema)  # noqa: ARG005
    for bad in ({"value": secret}, {secret: 1}, {"value": {secret: 1}}, f'{{"value": {secret}'):
        result = call(tooler(definition, coerce=coerce), "needy", bad)
        assert result.error is not None
        assert result.error.kind == "invalid_arguments"
        said = [result.error.message, *map("".join, result.error.details)]
        assert not [each for each in said for form in forms_of(secret) if form in each]


@each_way
@pytest.mark.parametrize("error", [ToolError, ValueError])
@pytest.mark.parametrize("form", ["sync", "async", "generator"])
def test_no_secret_is_in_the_failure_of_a_hook(
    call: Call,
    form: str,
    error: type[Exception],
    secret: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(_call: ToolCall, _following: Any) -> ToolResult:
        raise error(f"key {secret}")

    async def fail_later(_call: ToolCall, _following: Any) -> ToolResult:
        raise error(f"key {secret}")

    def fail_anywhere(_call: ToolCall, _following: Any) -> Any:
        yield _following(_call)
        raise error(f"key {secret}")

    hooks = {"sync": fail, "async": fail_later, "generator": fail_anywhere}
    result = call(tooler(needy(lambda **_: 1), hooks=[hooks[form]]), "needy")
    assert_hidden(message_of(result), secret)
    if error is ValueError:
        assert_hidden(caplog.text, secret)


@each_way
def test_no_secret_is_in_a_failure_that_a_hook_makes(call: Call, secret: str) -> None:
    def make(_call: ToolCall, _following: Any) -> ToolResult:
        details = (BadArgument(f"$['{secret}']", f"is not {secret}"),)
        return ToolResult("", None, Failure("invalid_arguments", secret, details), 0.0)

    events: list[CallEvent] = []
    dispatcher = tooler(needy(lambda **_: 1), hooks=[make], observers=[events.append])
    result = call(dispatcher, "needy")
    assert result.error is not None
    assert result.error.message == LABEL
    assert result.error.details == (BadArgument(f"$['{LABEL}']", f"is not {LABEL}"),)


@each_way
def test_no_secret_is_in_what_a_tool_reports(call: Call, secret: str) -> None:
    def report(context: ToolContext) -> None:
        context.log("info", f"key {secret!r}")
        context.log("info", ValueError(secret))  # type: ignore[arg-type]  # authors do
        context.report_progress(1, 2, f"with {secret}")
        context.report_progress(2, 2)

    events: list[Any] = []
    assert call(tooler(needy(report), on_event=events.append), "needy").ok
    assert [event.message for event in events] == [
        f"key '{LABEL}'" if "'" not in secret else events[0].message,
        LABEL,
        f"with {LABEL}",
        None,
    ]
    assert_hidden(repr(events), secret)


@pytest.mark.unmeasured
@each_way
@each_writing
@check_each("make", [hopeless, hopeless_later])
def test_no_secret_is_in_the_log(
    call: Call, make: Any, write: Any, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    def log(context: ToolContext) -> None:
        context.log("warning", write(secret))

    caplog.set_level(logging.DEBUG)
    caplog.clear()
    failing = replace(needy(make(ValueError, write, secret)), name="failing")
    dispatcher = tooler(needy(log), failing)
    assert call(dispatcher, "needy").ok
    assert not call(dispatcher, "failing").ok
    traces = [each for each in caplog.messages if "Traceback" in each]
    messages = [each for each in caplog.messages if each.startswith("needy: ")]
    assert (len(traces), len(messages)) == (1, 1)
    for each in (*traces, *messages):
        assert_hidden(each, secret)


@each_way
def test_values_that_are_not_required_are_no_secrets(call: Call, secret: str) -> None:
    definition = replace(needy(hopeless(ToolError, str, secret)), requires={})
    assert message_of(call(tooler(definition), "needy")) == secret


@each_way
def test_each_line_of_a_secret_is_hidden(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "first-key\nsecond-key")

    def fail() -> None:
        raise ToolError("second-key is wrong, and so is first-key")

    failure = call(tooler(needy(fail)), "needy").error
    assert failure is not None
    assert failure.message == f"{LABEL} is wrong, and so is {LABEL}"


def test_a_value_that_is_too_short_is_not_hidden_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SOVL_TEST_SHORT", "12345")

    def fail() -> None:
        raise ToolError("there are 12345 of them")

    definition = replace(tool(fail), requires={"env": ["SOVL_TEST_SHORT"]})
    calls = tooler(definition)
    for _ in range(2):
        failure = calls.call_sync("fail").error
        assert failure is not None
        assert failure.message == "there are 12345 of them"
    said = [each for each in caplog.messages if "SOVL_TEST_SHORT" in each]
    assert len(said) == 1
    assert "12345" not in said[0]
