"""Requests as they come in: keys, bodies, paths, and what is written down of them."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from sovl_tools.testing import ScriptedServer, says
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, ask

PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
HEADERS = {
    "openai": {"authorization": "Bearer any"},
    "openai-responses": {"authorization": "Bearer any"},
    "anthropic": {"x-api-key": "any", "anthropic-version": "2023-06-01"},
}
MESSAGES = [{"role": "user", "content": "Hi"}]
BODIES: dict[str, dict[str, Any]] = {
    "openai": {"model": "m", "messages": MESSAGES},
    "openai-responses": {"model": "m", "input": MESSAGES},
    "anthropic": {"model": "m", "max_tokens": 9, "messages": MESSAGES},
}


def post(server: ScriptedServer, path: str, **more: Any) -> httpx2.Response:
    with httpx2.Client(verify=False) as client:
        return client.post(f"{server.url}{path}", **more)


@PROVIDER
def test_requests_are_written_down(provider: str) -> None:
    with ScriptedServer([says("Hi"), says("Hi")]) as server:
        ask(provider, server)
        ask(provider, server, stream=True)
    plain, streaming = server.requests
    assert (plain.provider, plain.path) == (provider, PATHS[provider])
    assert plain.body["model"] == "m"
    assert b'"model":"m"' in plain.content
    assert plain.headers["content-type"] == "application/json"
    assert plain.errors == ()
    assert [plain.is_streaming, streaming.is_streaming] == [False, True]


@PROVIDER
def test_a_key_is_needed(provider: str) -> None:
    headers = {"anthropic-version": "2023-06-01"}
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], json=BODIES[provider], headers=headers)
    assert answer.status_code == 401
    kinds = {"anthropic": "authentication_error"}
    assert answer.json()["error"]["type"] == kinds.get(provider, "invalid_request_error")


MESSAGES_BODY, KEY = BODIES["anthropic"], HEADERS["anthropic"]


@check_each(
    ("path", "body", "headers", "status", "words"),
    [
        ("/v1/responses", {}, {}, 401, "API key"),
        ("/v1/responses", {}, {"authorization": ""}, 401, "API key"),
        ("/v1/responses", {}, {"authorization": "Bearer"}, 401, "API key"),
        ("/v1/messages", MESSAGES_BODY, {"authorization": "Bearer any"}, 400,
         "anthropic-version: header is required"),
        ("/v1/messages?beta=true", MESSAGES_BODY, KEY, 200, '"text":"Hi"'),
        ("/v1/completions", {}, {}, 404, "/v1/completions"),
        ("/", {}, {}, 404, "POST /"),
        ("/chat/completions", {}, {}, 404, "/chat/completions"),
    ],
)  # fmt: skip
def test_paths_and_headers_decide_first(
    path: str, body: dict[str, Any], headers: dict[str, str], status: int, words: str
) -> None:
    with ScriptedServer([says("Hi")], strict=False) as server:
        answer = post(server, path, json=body, headers=headers)
    assert answer.status_code == status
    assert words in answer.text.replace('": "', '":"')
    assert (server.requests[0].provider == "") == (status == 404)


@PROVIDER
@check_each("content", [b"", b"{", b"[]", b"\xff"])
def test_the_body_has_to_be_an_object(provider: str, content: bytes) -> None:
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], content=content, headers=HEADERS[provider])
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]["message"]
    assert server.requests[0].body == {}


def test_other_methods_are_refused() -> None:
    with ScriptedServer([], strict=False) as server, httpx2.Client(verify=False) as client:
        answer = client.get(f"{server.openai_url}/models")
    assert answer.status_code == 404


@PROVIDER
def test_the_first_error_is_answered_and_all_are_written_down(provider: str) -> None:
    body = {**BODIES[provider], "one": 1, "two": 2}
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], json=body, headers=HEADERS[provider])
    (request,) = server.requests
    assert answer.json()["error"]["message"] == request.errors[0]
    assert ["one" in request.errors[0], "two" in request.errors[1]] == [True, True]
