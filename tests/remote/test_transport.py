"""What a hostile or careless server answers over HTTP."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sovl_tools.remote.session import McpServer, RemoteError
from tests.patience import PATIENCE


@pytest.mark.parametrize(
    ("status", "kind", "sent", "words"),
    [
        (401, "text/html", b"<html>no", "it answers with status 401"),
        (200, "application/json", b"<html>no", "Failed to parse JSON response"),
        (200, "application/json; x", b" " * 2000, "longer than 1,000 bytes"),
        (200, "text/html", b"<html>no", "content type: text/html"),
        (307, "https://me:hush@h.example/hush?hush", b"", "Redirect to https://h.example not"),
        (308, "/hush/", b"", "Redirect to http://127.0.0.1"),
    ],
)
def test_an_answer_of_http_that_is_none_is_told(
    status: int, kind: str, sent: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("location" if 300 < status < 400 else "content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    monkeypatch.setattr("sovl_tools.remote.transport.MAX_MESSAGE", 1000)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        server = McpServer(f"http://127.0.0.1:{served.server_port}/mcp", timeout=PATIENCE)
        with pytest.raises(RemoteError) as caught:
            asyncio.run(server.list_tools())
        served.shutdown()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)
