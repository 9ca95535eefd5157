from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.types import Message

from sovl_tools.serving.security import Security
from tests.patience import PATIENCE
from tests.schema.strategies import moderate
from tests.serving.apps import Exchange, Slow, app_of, client_of, registry_of
from tests.tables import check_each

TOKEN = "s3cret"
OPEN: dict[str, Any] = {}
CLOSED: dict[str, Any] = {"tokens": ("other", TOKEN)}


async def status(headers: dict[str, str], path: str = "/tools", **limits: Any) -> int:
    """Return the status of a request with those headers."""
    registry = registry_of()
    async with client_of(app_of(registry, **limits)) as client:
        response = await client.get(path, headers=headers)
        if response.status_code != 200:
            assert response.headers["content-type"] == "application/problem+json"
        return response.status_code


@check_each(
    ("host", "answered"),
    [
        ("127.0.0.1:8000", True),
        ("localhost", True),
        ("[::1]:8000", True),
        ("10.0.0.7:8000", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("evil@localhost", False),
        ("localhost:x", False),
        ("", False),
    ],
)
async def test_a_name_that_leads_here_is_not_enough(host: str, *, answered: bool) -> None:
    assert await status({"host": host}) == (200 if answered else 421)


async def test_names_can_be_allowed() -> None:
    hosts = ("Tools.example.com",)
    assert await status({"host": "tools.example.com:443"}, hosts=hosts) == 200
    assert await status({"host": "localhost"}, hosts=hosts) == 200
    assert await status({"host": "example.com"}, hosts=hosts) == 421
    assert await status({"host": "10.0.0.7:8000"}, "/healthz", hosts=hosts) == 200
    assert await status({"host": "tools.example.com"}, tokens=(TOKEN,)) == 401


async def test_pages_that_may_call_are_told_so() -> None:
    registry = registry_of()
    limits: dict[str, Any] = {"origins": ("https://chat.example.com",), "tokens": (TOKEN,)}
    headers = {
        "origin": "https://chat.example.com",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    async with client_of(app_of(registry, **limits)) as client:
        preflight = await client.options("/tools/add", headers=headers)
        assert preflight.status_code == 200
        allowed = preflight.headers["access-control-allow-headers"]
        assert {"authorization", "content-type"} <= {*allowed.lower().split(",")}
        given = {"origin": headers["origin"], "authorization": f"Bearer {TOKEN}"}
        response = await client.get("/tools", headers=given)
        assert response.headers["access-control-allow-origin"] == headers["origin"]
        assert (await client.options("/tools", headers={"origin": headers["origin"]})).is_error


@check_each(
    ("origin", "host", "expected"),
    [
        ("http://localhost:3000", "127.0.0.1:8000", 200),
        ("http://127.0.0.1:5173", "localhost:8000", 200),
        ("http://[::1]:3000", "[::1]:8000", 200),
        ("tauri://localhost", "127.0.0.1:8000", 200),
        ("http://localhost.example.com", "127.0.0.1:8000", 403),
        ("http://127.0.0.1.example.com", "127.0.0.1:8000", 403),
        ("http://localhost:3000", "10.0.0.1:8000", 403),
        ("null", "127.0.0.1:8000", 403),
    ],
)
async def test_pages_of_this_machine_may_call_a_server_on_it(
    origin: str, host: str, expected: int
) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "x-a"}
    async with client_of(app_of(registry_of())) as client:
        headers = {"origin": origin, "host": host}
        for path in ("/tools/add", "/mcp"):
            preflight = await client.options(path, headers={**headers, **asked})
            assert preflight.status_code == expected
        answer = await client.get("/tools", headers=headers)
        assert answer.status_code == expected
        is_told = answer.headers.get("access-control-allow-origin") == origin
        assert is_told == (expected == 200)


@check_each(
    ("given", "expected"),
    [
        (None, 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN} ", 200),
        ("Bearer other", 200),
        ("Bearer s3cre", 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer \xff", 401),
    ],
)
async def test_a_token_is_demanded(given: str | None, expected: int) -> None:
    registry = registry_of()
    async with client_of(app_of(registry, **CLOSED)) as client:
        headers = httpx.Headers(
            [] if given is None else [(b"authorization", given.encode("latin-1"))]
        )
        for method, path in (("GET", "/tools"), ("POST", "/tools/add/stream"), ("GET", "/x")):
            response = await client.request(method, path, headers=headers)
            assert (response.status_code == 401) == (expected == 401)
            if expected == 401:
                assert response.headers["www-authenticate"].startswith("Bearer")
                assert TOKEN not in response.text
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


async def test_the_document_says_that_a_token_is_demanded() -> None:
    from openapi_spec_validator import validate

    registry = registry_of()
    headers = {"authorization": f"Bearer {TOKEN}"}
    app = app_of(registry, **CLOSED)
    async with client_of(app, headers=headers) as client:
        document = (await client.get("/openapi.json")).json()
    validate(document)
    assert document["security"] == [{"bearer": []}]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_tokens_are_not_shown() -> None:
    assert TOKEN not in repr(Security(**CLOSED))


@check_each(
    ("fields", "words"),
    [
        ({"tokens": ("a b",)}, "visible ASCII"),
        ({"origins": ("example.com",)}, "an origin is like"),
        ({"max_body_bytes": 0}, "max_body_bytes must be more than 0"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Security(**fields)


@check_each("name", ["authorization", "host", "origin", "content-type"])
async def test_headers_that_stand_twice_are_refused(name: str) -> None:
    registry = registry_of()
    async with client_of(app_of(registry, **OPEN)) as client:
        request = client.build_request("GET", "/tools")
        request.headers = httpx.Headers([("host", "localhost"), (name, "localhost"), (name, "b")])
        response = await client.send(request)
    assert (response.status_code, response.json()["status"]) == (400, 400)
    assert "more than once" in response.json()["detail"]


@check_each("length", ["11", "9" * 5000])
async def test_a_length_that_is_too_much_is_refused_before_it_is_read(length: str) -> None:
    registry = registry_of()
    app = app_of(registry, max_body_bytes=10)
    exchange = Exchange(app, "POST", "/tools/add", headers={"content-length": length})
    start = await exchange.next()
    assert start["status"] == 413
    assert (b"connection", b"close") in start["headers"]
    assert exchange.messages.empty()


async def test_a_body_that_turns_out_too_long_is_refused() -> None:
    registry = registry_of()
    app = app_of(registry, max_body_bytes=10)
    exchange = Exchange(app, "POST", "/tools/add")
    for _ in range(3):
        exchange.messages.put_nowait({"type": "http.request", "body": b"12345", "more_body": True})
    assert (await exchange.next())["status"] == 413


async def test_a_body_with_too_many_arrays_is_refused() -> None:
    exchange = Exchange(app_of(registry_of()), "POST", "/tools/add")
    body = b'{"first": [' + b"[],{}," * 60_000 + b"1]}"
    exchange.messages.put_nowait({"type": "http.request", "body": body, "more_body": False})
    assert (await exchange.next())["status"] == 413


@check_each("path", ["/tools/wait", "/tools/wait/stream"])
async def test_what_a_shutdown_cuts_off_is_answered(path: str) -> None:
    slow = Slow()
    registry = registry_of(slow.wait)
    app = app_of(registry)
    exchange = Exchange(app, "POST", path, b"{}")
    await asyncio.wait_for(slow.started.wait(), PATIENCE)
    is_stream = path.endswith("stream")
    if is_stream:
        assert (await exchange.next())["status"] == 200
        await exchange.next()  # a comment
    app.state.traffic.end()
    exchange.task.cancel()
    if not is_stream:
        assert (await exchange.next())["status"] == 503
    while (await exchange.next()).get("more_body"):
        pass
    await asyncio.wait_for(exchange.task, PATIENCE)
    assert slow.cancelled.is_set()
    async with client_of(app) as client:
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200


TARGETS = st.sampled_from(
    ["/", "/tools", "/tools/add", "/tools/add/stream", "/tools/%00", "/search", "/mcp", "/healthz"]
)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "X"])
HEADS = st.sampled_from(
    ["host", "origin", "content-type", "accept", "if-none-match", "content-length", "cookie"]
)
VALUES = st.sampled_from(
    ["application/json", "*/*", "*", "localhost", "null", "http://localhost", '"a", W/"b"', "-1"]
) | st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=20)


@moderate
@example("GET", "/", b"\x80", {"host": "localhost"}, b"")
@given(METHODS, TARGETS, st.binary(max_size=30), st.dictionaries(HEADS, VALUES), st.binary())
def test_no_request_breaks_the_server(
    method: str, path: str, query: bytes, headers: dict[str, str], body: bytes
) -> None:
    registry = registry_of()
    app = app_of(registry)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    sent: list[Message] = []

    async def main() -> None:
        incoming = [{"type": "http.request", "body": body}]

        async def receive() -> Message:
            if not incoming:
                await asyncio.Event().wait()
            return incoming.pop()

        async def send(message: Message) -> None:
            sent.append(message)

        await asyncio.wait_for(app(scope, receive, send), PATIENCE)

    asyncio.run(main())
    start, *rest = sent
    kind = dict(start["headers"]).get(b"content-type", b"")
    assert start["status"] in {200, 304} or kind == b"application/problem+json"
    assert start["status"] != 500
    assert not rest[-1].get("more_body")
