"""Providers that cannot be asked, or say that something is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from sovl_tools import Agent
from sovl_tools.agent.errors import ProviderError
from sovl_tools.testing import Reply, calls, drops, fails, interrupts, says
from tests.agent.conversations import (
    Way,
    each_api,
    each_provider,
    each_streaming,
    each_way,
    said,
    talk,
)
from tests.tables import check_each


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


FAILURES = (
    (400, "bad_request", False),
    (401, "authentication", False),
    (403, "authentication", False),
    (404, "bad_request", False),
    (408, "timeout", True),
    (429, "rate_limit", True),
    (500, "overloaded", True),
    (504, "timeout", True),
    (529, "overloaded", True),
)


@each_way
def test_errors_of_http_are_told_apart_and_leave_the_conversation_as_it_was(way: Way) -> None:
    script = [fails(status, f"It is {status}.") for status, _, _ in FAILURES]
    with talk(way, [says("Good day."), *script, says("Better now.")]) as to:
        to.say("Hello")
        for status, kind, is_retryable in FAILURES:
            with pytest.raises(ProviderError, match=f"^It is {status}.$") as caught:
                to.say("Are you there?")
            error = caught.value
            assert (error.status, error.kind, error.is_retryable) == (status, kind, is_retryable)
            assert error.retry_after is None
            assert len(to.messages) == 2
        assert to.say("And now?") == "Better now."


WAITS: tuple[tuple[dict[str, str], float | None], ...] = (
    ({"retry-after": "7"}, 7.0),
    ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
    ({"retry-after": "nan"}, None),
    ({}, None),
)


@each_provider
def test_it_is_told_when_to_ask_again(way: Way) -> None:
    with talk(way, [fails(429, headers=headers) for headers, _ in WAITS]) as to:
        for _, seconds in WAITS:
            with pytest.raises(ProviderError) as caught:
                to.say("Hello")
            assert caught.value.retry_after == seconds


@each_way
def test_a_connection_that_is_lost_before_the_answer_is_told(way: Way) -> None:
    with talk(way, [drops(), says("Here again.")]) as to:
        with pytest.raises(ProviderError) as caught:
            to.say("Hello")
        assert (caught.value.kind, caught.value.status) == ("connection", None)
        assert caught.value.is_retryable
        assert to.messages == []
        assert to.say("Hello") == "Here again."


@each_api
@check_each("after", [0, 1, 4, 6])
def test_a_connection_that_is_lost_in_the_midst_of_an_answer_is_told(way: Way, after: int) -> None:
    with talk(way, [drops(says("One two three four."), after=after), says("Here again.")]) as to:
        with pytest.raises(ProviderError) as caught:
            to.say("Count")
        assert caught.value.kind == "connection"
        assert to.say("Go on") == "Here again."


@each_streaming
def test_what_was_said_before_the_connection_was_lost_is_kept(way: Way) -> None:
    events: list[Any] = []
    with talk(way, [drops(says("One two three four."), after=6), says("Here again.")]) as to:
        with pytest.raises(ProviderError):
            to.each("Count", events.append)
        heard = said(events)
        assert "One two three four.".startswith(heard)
        assert heard
        assert to.messages[1:] == [{"role": "assistant", "content": heard}]
        to.say("Go on")


@each_streaming
def test_calls_of_a_stream_that_was_lost_are_not_made(way: Way) -> None:
    script = [drops(calls(("add", {"a": 1, "b": 2})), after=5), says("Here again.")]
    with talk(way, script, tools=[add]) as to:
        with pytest.raises(ProviderError):
            to.say("Add")
        assert to.messages == []
        assert to.say("Add") == "Here again."


def test_errors_in_the_midst_of_a_stream_have_their_kind() -> None:
    for provider, kind, expected in STREAMED:
        script: list[Reply] = [interrupts(says("One two."), after=4, kind=kind), says("Here.")]
        with talk(Way(provider, is_streaming=True), script) as to:
            with pytest.raises(ProviderError, match=r"^Overloaded$") as caught:
                to.say("Count")
            assert (caught.value.kind, caught.value.status) == (expected, None)
            assert to.say("Go on") == "Here."


STREAMED = (
    ("openai", None, "overloaded"),
    ("openai", "rate_limit_exceeded", "rate_limit"),
    ("openai-responses", None, "overloaded"),
    ("openai-responses", "rate_limit_exceeded", "rate_limit"),
    ("anthropic", None, "overloaded"),
    ("anthropic", "rate_limit_error", "rate_limit"),
    ("anthropic", "invalid_request_error", "bad_request"),
)


@check_each(
    ("error", "kind", "words"),
    [
        (ConnectionResetError("by peer"), "connection", "by peer"),
        (openai.APITimeoutError(request=None), "timeout", "Request timed out."),
        (httpx2.InvalidURL(""), "other", "InvalidURL"),
        (ValueError("odd"), None, "odd"),
    ],
)
def test_what_a_client_raises_is_told_by_its_kind(
    error: Exception, kind: str | None, words: str
) -> None:
    def create(**_body: Any) -> Any:
        raise error

    client = SimpleNamespace(messages=SimpleNamespace(create=create))
    with pytest.raises(ProviderError if kind else ValueError) as caught:
        Agent(client, "m").chat_sync("Hello")
    assert str(caught.value) == words
    assert getattr(caught.value, "kind", None) == kind


class Page(BaseHTTPRequestHandler):
    """Answers whatever it is asked with a page that isn't an answer of any API."""

    status, type, text = 200, "application/json", ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(self.status)
        self.send_header("content-type", self.type)
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def asking(provider: str, text: str, **attributes: Any) -> Iterator[Agent]:
    """Yield an agent whose server answers each request with a string."""
    page = type("Page", (Page,), {"text": text, **attributes})
    sdk: Any = anthropic if provider == "anthropic" else openai
    package = sdk.Anthropic if provider == "anthropic" else sdk.OpenAI
    http = sdk.DefaultHttpxClient(verify=False)  # reading certificates takes longer than the test
    with ThreadingHTTPServer(("127.0.0.1", 0), page) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            with package(base_url=url, api_key="any", max_retries=0, http_client=http) as client:
                yield Agent(client, model="any", provider=provider, tools=[add])
        finally:
            server.shutdown()
            thread.join()


GARBAGE = ("", "[]", "<html>", '{"choices": [null], "content": 3, "output": 3}')


@check_each("text", GARBAGE)
@check_each("provider", ["openai", "openai-responses", "anthropic"])
def test_an_answer_that_cannot_be_read_is_an_error_of_the_provider(
    provider: str, text: str
) -> None:
    with asking(provider, text) as agent:
        with pytest.raises(ProviderError, match=r"^the answer can't be read: "):
            agent.chat_sync("Hello")
        assert agent.messages == []


@check_each("provider", ["openai", "openai-responses", "anthropic"])
def test_an_object_without_an_answer_is_told_with_the_error_in_it(provider: str) -> None:
    with (
        asking(provider, '{"error": "no model is loaded"}') as agent,
        pytest.raises(ProviderError, match=r"^no model is loaded$"),
    ):
        agent.chat_sync("Hello")
    with (
        asking(provider, "{}") as agent,
        pytest.raises(ProviderError, match=r"^there's no answer in the response$"),
    ):
        agent.chat_sync("Hello")


CALL = {"id": "a", "function": {"name": "add", "arguments": "{}"}}


@check_each(
    "part",
    [
        {"message": {"tool_calls": [{**CALL, "function": {"name": 7}}]}},
        {"message": {"content": "Hello."}, "usage": {"prompt_tokens": "7"}},
    ],
)
def test_an_answer_with_parts_of_other_types_does_not_get_into_the_conversation(part: Any) -> None:
    answer = {"choices": [part], "usage": part.get("usage")}
    with asking("openai", json.dumps(answer)) as agent:
        with pytest.raises(ProviderError, match=r"instead of"):
            agent.chat_sync("Hello")
        assert agent.messages == []


@check_each(
    ("text", "message"),
    [
        ('{"detail": "Not Found"}', "^Error code: 404: Not Found$"),
        ('{"error": "no such model"}', "^Error code: 404: no such model$"),
        ("{}", "^Error code: 404"),
    ],
)
def test_what_a_server_says_of_an_error_in_its_own_form_is_told(text: str, message: str) -> None:
    with asking("openai", text, status=404) as agent, pytest.raises(ProviderError, match=message):
        agent.chat_sync("Hello")
