"""MCP servers over HTTP that forget their sessions, as servers of several years answer then."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from typing import Any
from uuid import uuid4

UNKNOWN_SESSION: dict[str, tuple[int, str, bytes]] = {
    # FastMCP 1.12, FastMCP 1.30, the specification's bare minimum, and others' ways
    "1.12": (400, "text/plain; charset=utf-8", b"Bad Request: No valid session ID provided"),
    "1.30": (404, "application/json", json.dumps({"jsonrpc": "2.0", "id": "server-error", "error": {
        "code": -32600, "message": "Session not found"}}).encode()),
    "typescript": (404, "application/json", json.dumps({"jsonrpc": "2.0", "id": None, "error": {
        "code": -32001, "message": "Session not found"}}).encode()),
    "bare": (404, "", b""),
    "html": (404, "text/html", b"<h1>Not Found</h1>"),
}  # fmt: skip


class SessionServer:
    """A server of the handshake era, which can be restarted and told how to end a call.

    Attributes:
        url: where it is.
        runs: how often its tool ran.
        ending: how the next call ends: ``answer``, ``forget`` (the session, before it runs),
            ``drop`` (the connection, after it ran) or ``late`` (as ``forget``, after it ran).
        rejection: status, media type and body for a session that it doesn't know.
        streams: whether it answers with server-sent events, as FastMCP does.
    """

    def __init__(self, refusal: tuple[int, str, bytes], *, streams: bool = False) -> None:
        self.refusal = refusal
        self.streams = streams
        self.sessions: set[str] = set()
        self.opened = 0
        self.runs = 0
        self.endings: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp"

    def restart(self) -> None:
        """Forget all sessions, as after a restart."""
        self.sessions.clear()

    def answer(self, message: dict[str, Any]) -> Any:
        """Return the result of a request in a session."""
        if message["method"] == "tools/list":
            once = {"name": "once", "inputSchema": {"type": "object"}}
            return {
                "tools": [once, once | {"name": "again", "annotations": {"readOnlyHint": True}}]
            }
        self.runs += 1
        return {"content": [{"type": "text", "text": f"run {self.runs}"}]}

    def _handler(outer) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a self
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.post(self, json.loads(body))

            def do_GET(self) -> None:
                self.reply(405, "", b"")

            def do_DELETE(self) -> None:
                known = self.headers.get("mcp-session-id") in outer.sessions
                self.reply(*((200, "", b"") if known else outer.refusal))

            def reply(self, status: int, media: str, data: bytes, **more: str) -> None:
                self.send_response(status)
                headers = {"content-length": str(len(data)), "content-type": media, **more}
                for key, text in headers.items():
                    if text:
                        self.send_header(key, text)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None: ...

        return Handler

    def post(self, request: Any, message: dict[str, Any]) -> None:
        """Answer a message."""
        method, number = message.get("method"), message.get("id")
        session = request.headers.get("mcp-session-id")
        if method == "initialize":
            self.opened += 1
            new = uuid4().hex
            self.sessions.add(new)
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "fake", "version": "1"}}  # fmt: skip
            return self._send(request, number, result, **{"mcp-session-id": new})
        if session is None:
            error = {"code": -32600, "message": "Bad Request: Missing session ID"}
            data = json.dumps({"jsonrpc": "2.0", "id": "server-error", "error": error}).encode()
            request.reply(400, "application/json", data)
            return None
        ending = self.endings.pop(0) if method == "tools/call" and self.endings else "answer"
        if ending == "forget":
            self.restart()
        if session not in self.sessions:
            request.reply(*self.refusal)
        elif number is None:
            request.reply(202, "", b"")
        else:
            result = self.answer(message)
            if ending == "drop":
                self.restart()
                if self.streams:
                    request.reply(200, "text/event-stream", b"", **{"content-length": "99"})
                request.close_connection = True
                request.connection.shutdown(SHUT_RDWR)
                return None
            self._send(request, number, result)
        return None

    def _send(self, request: Any, number: Any, result: Any, **headers: str) -> None:
        data = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
        if self.streams:
            data = b"event: message\ndata: " + data + b"\n\n"
        media = "text/event-stream" if self.streams else "application/json"
        request.reply(200, media, data, **headers)


@contextmanager
def session_server(era: str, *, streams: bool = False) -> Iterator[SessionServer]:
    """Run a server that rejects unknown sessions as servers of an era do."""
    found = SessionServer(UNKNOWN_SESSION[era], streams=streams)
    thread = threading.Thread(target=found._server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found._server.shutdown()
        found._server.server_close()
        thread.join()
