"""The support desk of the examples: its tools, by Python and by commands."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.sessions import session
from tests.conftest import REPOSITORY, Run
from tests.patience import PATIENCE

DESK = REPOSITORY / "docs" / "examples" / "support_desk"


class Rates(BaseHTTPRequestHandler):
    """Fails as often as ``failures`` says, and then answers."""

    failures = 0
    asked = 0

    def do_GET(self) -> None:
        """Answer with a rate."""
        Rates.asked += 1
        if Rates.failures > 0:
            Rates.failures -= 1
            self.close_connection = True
            return
        body = b'{"rates": {"USD": 1.25}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def rates() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Rates)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rates: str) -> Path:
    """Return a copy of the desk, which is the current directory."""
    shutil.copytree(DESK, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(os, "environ", {**os.environ, "RATES_URL": rates})
    Rates.failures = Rates.asked = 0
    return tmp_path


def test_the_commands_do_the_same(desk: Path, run: Run) -> None:
    assert run("validate").code == 0
    assert run("sync", "--check").code == 0
    assert '"total": 120.0' in run("call", "find_orders", 'filters={"status": "shipped"}').out
    Rates.failures = 2
    assert run("call", "exchange_rate", "currency=USD").out == "1.25\n"
    done = run("call", "export_orders", "-o", "chart.png")
    assert "export_orders: 4 of 4 (100%): drawing" in done.err
    assert (desk / "chart.png").read_bytes().startswith(b"\x89PNG")
    (desk / "inputs.jsonl").write_text('{"limit": 1}\n{"limit": 2}\n')
    mapped = run("map", "find_orders", "--inputs", "inputs.jsonl", "--ordered").out
    assert [len(json.loads(line)["value"]) for line in mapped.splitlines()] == [1, 2]


def test_a_user_at_a_terminal_is_asked(desk: Path) -> None:
    (desk / "refund.yaml").write_text(
        "name: refund\ndescription: Refunds.\nsteps:\n  - action: tool\n    tool: refund_order\n"
        "    arguments: {number: 3}\n    save_as: done\noutput: '{{ done }}'\n"
    )
    for command in (["call", "refund_order", "number=3"], ["run", "refund.yaml"]):
        with session(desk, *command, NO_COLOR="1") as talk:
            talk.await_text("refund_order: Why is order 3 refunded?")
            talk.await_text("Reason (string): ")
            talk.type("no")
            talk.await_text("characters")
            talk.type("broken")
            talk.await_text("order 3 is refunded: broken")
            assert talk.await_end() == 0
