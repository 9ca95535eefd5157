"""What a hostile or careless server sends, before the SDK reads it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.remote import transport
from sovl_tools.remote.session import McpServer, RemoteError
from sovl_tools.remote.transport import LineDecoder, repaired
from tests.patience import PATIENCE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)
LINES = st.binary(max_size=40) | st.builds(
    lambda value, ascii_: json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "replace"),
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": st.integers(0, 9), "result": JSON}),
    st.booleans(),
)


def decode(data: bytes, size: int) -> list[str]:
    decoder = LineDecoder()
    parts = [decoder.decode(data[at : at + size]) for at in range(0, len(data), size)]
    assert all(part.endswith("\n") for part in parts if part)
    return "".join([*parts, decoder.decode(b"", final=True)]).split("\n")


@given(st.lists(LINES), st.integers(1, 50))
def test_lines_of_anything_come_whole_and_readable_however_they_arrive(
    lines: list[bytes], size: int
) -> None:
    data = b"\n".join(lines)
    found = decode(data, size)
    assert found == decode(data, len(data) + 1)
    for line in found:
        line.encode()
    sound = [json.loads(line) for line in found if line.startswith('{"jsonrpc"')]
    assert len(sound) >= sum(line.startswith(b'{"jsonrpc"') for line in lines)


@pytest.mark.parametrize("ends", [b"", b"\n"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "result": nothing}', "expected ident"),
        (b'{"result": nothing, "jsonrpc": "2.0", "id": 7}', "expected ident"),
        (b'{"id":7,"result":%s}' % (b"9" * 5000), "number out of range"),
        (b'{"id":7,"result":%s}' % (b"[" * 200_000 + b"]" * 200_000), "recursion limit"),
        (b'{"id":7,"result":"%s"}' % (b"x" * 1001), "longer than 1,000 bytes"),
        (b'{"jsonrpc": "2.0", "id": 7, "result": []}', "no answer of JSON-RPC"),
        (b'{"jsonrpc": "2.0", "other": 1, "id": 7, "error": "no"}', "no answer"),
        (b'{"jsonrpc": "2.0", "error": "\\ud800", "id": 7}', "no answer of JSON-RPC"),
        (b'{"other": 1, "id": 7, "result": {}}', "no answer of JSON-RPC"),
    ],
)
def test_an_answer_that_can_not_be_read_is_an_error_at_once(
    line: bytes, reason: str, ends: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "longer" in reason:
        monkeypatch.setattr("sovl_tools.remote.transport.MAX_MESSAGE", 1000)
        monkeypatch.setattr("sovl_tools.remote.transport._TOO_LONG", "longer than 1,000 bytes")
    (answer,) = filter(None, decode(line + ends, 300))
    said = json.loads(answer)
    assert said["id"] == 7
    assert "the answer can't be read" in said["error"]["message"]
    assert reason in said["error"]["message"]


def nested(levels: int) -> Any:
    return {"a": nested(levels - 1)} if levels else 1


def test_half_a_surrogate_pair_and_what_is_too_deep_cost_no_more_than_themselves() -> None:
    said = {"tools": [{"name": "a", "description": "\ud800"}, {"name": "b", "x": nested(300)}]}
    found = json.loads(repaired(json.dumps(said).encode()))
    assert found["tools"][0] == {"name": "a", "description": "?"}
    assert found["tools"][1]["name"] == "b"


@pytest.mark.parametrize(
    ("status", "kind", "sent", "words"),
    [
        (401, "text/html", b"<html>no", "it answers with status 401"),
        (503, "", b"", "it answers with status 503"),
        (200, "application/json", b"<html>no", "it is no JSON: expected value"),
        (200, "application/json; x", b" " * 2000, "longer than 1,000 bytes"),
        (200, "application/json", b'{"jsonrpc":"2.0","id":99,"result":{}}', "answers no request"),
        (200, "application/json", b'{"jsonrpc":"2.0","method":"x"}', "answers no request"),
        (200, "application/json", b"[]", "answers no request"),
        (200, "text/event-stream", b'data: {"jsonrpc":"2.0","id":1,"result":[]}\n\n', "result"),
        (200, "text/html", b"<html>no", "content type: text/html"),
    ],
)
def test_an_answer_of_http_that_is_none_is_told(
    status: int, kind: str, sent: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    monkeypatch.setattr("sovl_tools.remote.transport.MAX_MESSAGE", 1000)
    monkeypatch.setattr("sovl_tools.remote.transport._TOO_LONG", "longer than 1,000 bytes")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        server = McpServer(f"http://127.0.0.1:{served.server_port}/mcp", timeout=PATIENCE)
        with pytest.raises(RemoteError) as caught:
            asyncio.run(server.list_tools())
        served.shutdown()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@given(size=st.integers(1, 200), text=st.text(st.characters(), max_size=9))
def test_events_keep_their_form_and_lose_half_surrogate_pairs(
    end: bytes, size: int, text: str
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {"text": text, "other": "\ud800"}}
    head, rest = [b": hello", b"id: 1", b"event: message"], [b"", b"data: no JSON", b"", b"data"]
    data = end.join([*head, b"data: " + json.dumps(message).encode(), *rest])

    async def collected() -> bytes:
        async def chunks() -> AsyncIterator[bytes]:
            for at in range(0, len(data), size):
                yield data[at : at + size]

        return b"".join([each async for each in transport._events(chunks())])

    found = asyncio.run(collected()).split(end)
    assert [*found[:3], *found[4:]] == [*head, *rest]
    said = json.loads(found[3].removeprefix(b"data:"))
    expected = text.encode("utf-8", "replace").decode()
    assert said["result"] == {"text": expected, "other": "?"}


def test_there_is_no_other_encoding_of_that_name() -> None:
    with pytest.raises(LookupError):
        "x".encode("sovl_tools_line")
    assert "ä".encode("sovl_tools_lines").decode("sovl_tools_lines") == "ä"
