"""An HTTP server that records what it is asked, and answers as it is told."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no traceback where a client has left before the end of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Recorder:
    """Answers every request with ``answer``, which tests set: status, headers and body."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"")
        self.hangs = threading.Event()
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {key.lower(): text for key, text in self.headers.items()}
                body = self.rfile.read(length)
                recorder.asked.append(Asked(self.command, self.path, headers, body))
                status, more, data = recorder.answer
                if recorder.hangs.is_set():
                    while recorder.hangs.is_set():
                        threading.Event().wait(0.02)
                    self.close_connection = True
                    return
                self.send_response(status)
                for key, text in {"Content-Length": str(len(data)), **more}.items():
                    self.send_header(key, text)
                self.end_headers()
                self.wfile.write(data)

            # the names are those of http.server
            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve  # noqa: N815

            def log_message(self, *_: Any) -> None: ...

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answers(
        self, body: bytes = b"", media: str = "application/json", status: int = 200, **more: str
    ) -> None:
        """Answer like this from now on, and forget what was asked."""
        self.asked.clear()
        self.answer = (status, {"Content-Type": media, **more}, body)

    @property
    def last(self) -> Asked:
        return self.asked[-1]


@contextmanager
def recording() -> Iterator[Recorder]:
    """Run such a server."""
    recorder = Recorder()
    thread = threading.Thread(target=recorder._server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        recorder.hangs.clear()
        recorder._server.shutdown()
        recorder._server.server_close()
        thread.join()
