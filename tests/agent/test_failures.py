"""Providers that cannot be asked, or say that something is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Agent
from sovl_tools.agent.errors import ProviderError, reported_error
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
from tests.schema.strategies import moderate
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
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "-3"}, None),
    ({"retry-after-ms": "inf"}, None),
    ({}, None),
)


@each_provider
def test_it_is_told_when_to_ask_again(way: Way) -> None:
    with talk(way, [fails(429, headers=headers) for headers, _ in WAITS]) as to:
        for _, seconds in WAITS:
            with pytest.raises(ProviderError) as caught:
                to.say("Hello")
            assert caught.value.retry_after == seconds


def test_a_date_to_ask_again_is_told_in_seconds() -> None:
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with talk(Way("openai"), [fails(429, headers={"retry-after": in_an_hour})]) as to:
        with pytest.raises(ProviderError) as caught:
            to.say("Hello")
        assert caught.value.retry_after == pytest.approx(3600, abs=60)


@each_provider
def test_a_client_may_try_again_by_itself(way: Way) -> None:
    tried = fails(429, headers={"retry-after-ms": "1", "retry-after": "0.001"})
    with talk(way, [tried, says("Here.")], retries=2) as to:
        assert to.say("Hello") == "Here."


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


@each_api
def test_a_failure_in_a_later_round_keeps_the_rounds_before(way: Way) -> None:
    script = [calls(("add", {"a": 1, "b": 2})), fails(500), says("That made 3.")]
    with talk(way, script, tools=[add]) as to:
        with pytest.raises(ProviderError):
            to.say("Add")
        assert to.results() == ["3"]
        assert to.say("Go on") == "That made 3."


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


@check_each("is_streaming", [False, True], ids=["plain", "streaming"])
def test_a_response_that_failed_is_an_error(*, is_streaming: bool) -> None:
    way = Way("openai-responses", is_streaming=is_streaming)
    failed = interrupts(says("One"), after=3, message="It fell.", event="response.failed")
    with talk(way, [failed, says("Here.")]) as to:
        with pytest.raises(ProviderError, match=r"^It fell\.$") as caught:
            to.say("Count")
        assert caught.value.kind == "overloaded"
        assert to.say("Go on") == "Here."


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


_WORDS = st.sampled_from(["message", "type", "code"])
_REPORTS = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner),
    max_leaves=6,
)


@moderate
@given(_REPORTS)
def test_whatever_a_provider_reports_is_an_error(error: Any) -> None:
    found = reported_error(error)
    assert str(found)
    assert found.is_retryable


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


GARBAGE = (
    "",
    "null",
    "[]",
    "3",
    '"hello"',
    "<html>",
    '{"choices": [null], "content": 3, "output": 3}',
)


@check_each("text", GARBAGE)
@check_each("provider", ["openai", "openai-responses", "anthropic"])
def test_an_answer_that_cannot_be_read_is_an_error_of_the_provider(
    provider: str, text: str
) -> None:
    with asking(provider, text) as agent:
        with pytest.raises(ProviderError, match=r"^the answer can't be read: "):
            agent.chat_sync("Hello")
        assert agent.messages == []


@check_each("depth", [980, 100_000])
@check_each("kind", ["application/json", "text/event-stream"])
@check_each("provider", ["openai", "openai-responses", "anthropic"])
def test_an_answer_that_is_nested_too_deeply_is_an_error_of_the_provider(
    provider: str, kind: str, depth: int
) -> None:
    nested = f"{'[' * depth}{']' * depth}"
    text = f'{{"choices": {nested}, "content": {nested}, "output": {nested}, "type": {nested}}}'
    is_streamed = kind == "text/event-stream"
    with asking(provider, f"data: {text}\n\n" if is_streamed else text, type=kind) as agent:
        with pytest.raises(ProviderError):
            list(agent.stream("Hello")) if is_streamed else agent.chat_sync("Hello")
        assert agent.messages == []


def test_a_page_instead_of_an_answer_is_shown() -> None:
    with (
        asking("openai", "<h1>Sorry</h1>", type="text/html") as agent,
        pytest.raises(ProviderError, match=r"must be a JSON object, not '<h1>Sorry</h1>'$"),
    ):
        agent.chat_sync("Hello")


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


@check_each("text", ["data: [null]\n\n", "data: {nope\n\n"])
def test_an_event_that_cannot_be_read_is_an_error_of_the_provider(text: str) -> None:
    with (
        asking("openai", text, type="text/event-stream") as agent,
        pytest.raises(ProviderError, match=r"^the answer can't be read: "),
    ):
        list(agent.stream("Hello"))


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
