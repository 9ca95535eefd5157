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


@pytest.mark.parametrize("header", [{}, {"authorization": ""}, {"authorization": "Bearer"}])
def test_an_empty_key_is_none(header: dict[str, str]) -> None:
    with ScriptedServer([], strict=False) as server:
        assert post(server, "/v1/responses", json={}, headers=header).status_code == 401


def test_anthropic_takes_a_token_for_a_key_and_needs_its_version() -> None:
    token = {"authorization": "Bearer any"}
    with ScriptedServer([], strict=False) as server:
        answer = post(server, "/v1/messages", json=BODIES["anthropic"], headers=token)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "anthropic-version: header is required"


@PROVIDER
@check_each("content", [b"", b"{", b"[]", b"\xff"])
def test_the_body_has_to_be_an_object(provider: str, content: bytes) -> None:
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], content=content, headers=HEADERS[provider])
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]["message"]
    assert server.requests[0].body == {}


@pytest.mark.parametrize("path", ["/v1/completions", "/", "/chat/completions"])
def test_other_paths_are_not_found(path: str) -> None:
    with ScriptedServer([], strict=False) as server:
        answer = post(server, path, json={})
    assert answer.status_code == 404
    assert path in answer.json()["error"]["message"]
    assert server.requests[0].provider == ""


def test_other_methods_are_refused() -> None:
    with ScriptedServer([], strict=False) as server, httpx2.Client(verify=False) as client:
        answer = client.get(f"{server.openai_url}/models")
    assert answer.status_code == 404


def test_a_query_is_no_part_of_the_path() -> None:
    with ScriptedServer([says("Hi")]) as server:
        answer = post(
            server,
            "/v1/messages?beta=true",
            json=BODIES["anthropic"],
            headers=HEADERS["anthropic"],
        )
    assert answer.status_code == 200


@PROVIDER
def test_the_first_error_is_answered_and_all_are_written_down(provider: str) -> None:
    body = {**BODIES[provider], "one": 1, "two": 2}
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], json=body, headers=HEADERS[provider])
    (request,) = server.requests
    assert answer.json()["error"]["message"] == request.errors[0]
    assert ["one" in request.errors[0], "two" in request.errors[1]] == [True, True]
