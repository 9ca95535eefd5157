"""The support desk of the examples, and what each way of calling its tools keeps."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

from sovl_tools import Agent, open_registry
from sovl_tools.testing import ScriptedServer, calls, says
from tests.cli.sessions import session
from tests.conftest import REPOSITORY, Run
from tests.entry_points import Found, Way, by_agent, by_json_api, by_mcp, by_tooler
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


ENTRIES: dict[str, Way] = {
    "Tooler": by_tooler,
    "Agent": by_agent,
    "MCP": by_mcp,
    "JSON API": by_json_api,
}


@pytest.fixture(params=[*ENTRIES])
def call(request: pytest.FixtureRequest) -> Callable[[str, Any], Found]:
    """Return what makes one call in one of the ways."""
    way = ENTRIES[request.param]
    return lambda name, arguments: way([(name, arguments)])[0]


Entry = Callable[[str, Any], Found]


@pytest.mark.usefixtures("desk")
def test_nested_filters_find_orders(call: Entry) -> None:
    found = call("find_orders", {"filters": {"customer": "Ada", "total": {"minimum": 100}}})
    assert "2026-11-02" in found.text
    assert "2026-11-05" not in found.text
    assert "filters.status" in call("find_orders", {"filters": {"status": "lost"}}).text


@pytest.mark.usefixtures("desk")
def test_a_refund_asks_for_the_reason(call: Entry) -> None:
    assert "order 3 is refunded: broken" in call("refund_order", {"number": 3}).text
    found = call("find_orders", {"filters": {"status": "refunded"}})
    assert "broken" in found.text


@pytest.mark.usefixtures("desk")
def test_a_rate_is_looked_up_again_after_a_failure(call: Entry) -> None:
    Rates.failures = 2
    assert "1.25" in call("exchange_rate", {"currency": "USD"}).text
    assert Rates.asked == 3
    assert "only for USD" in call("exchange_rate", {"currency": "EUR"}).text


@pytest.mark.usefixtures("desk")
def test_an_export_tells_its_progress_and_returns_a_picture(call: Entry) -> None:
    found = call("export_orders", {"customer": "Ada"})
    assert "image/png" in found.text
    assert "drawing" in found.told


def test_settings_of_the_project_hold_everywhere(call: Entry, desk: Path) -> None:
    file = desk / "sovl-tools.toml"
    settings = 'coerce = "lenient"\napproval = "always"\nmax-result-bytes = 400\n'
    file.write_text(settings + file.read_text())
    found = call("find_orders", {"limit": "1"})
    assert "2026-11-09" in found.text
    assert "2026-11-05" not in found.text
    assert len(call("find_orders", {"limit": 4}).text) < 600


@pytest.mark.usefixtures("desk")
def test_a_view_has_no_refunds(run: Run) -> None:
    view = open_registry().select(annotations={"read_only": True})
    with (
        ScriptedServer([calls(("refund_order", {"number": 3})), says("No.")]) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="any") as client,
    ):
        agent = Agent(client, model="any", tools=view)
        agent.chat_sync("Refund 3.")
        offered = [each["function"]["name"] for each in server.requests[0].body["tools"]]
    assert offered == ["exchange_rate", "export_orders", "find_orders"]
    assert "there's no tool 'refund_order'" in str(agent.messages[2]["content"])
    assert "refund_order" not in run("list", "--view", "read").out


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
    with session(desk, "chat", "--provider", "local", NO_COLOR="1") as talk:
        talk.await_text("\n> ")
        talk.type("refund_order number=2")
        talk.await_text("call refund_order(number=2)? [y/N], or always")
        talk.type("y")
        talk.await_text("Reason (string):")
        talk.type("broken")
        talk.await_text("order 2 is refunded: broken")
        talk.await_text("\n> ")
        talk.type("/quit")
        assert talk.await_end() == 0
