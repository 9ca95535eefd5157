"""Servers over HTTP that are restarted, between calls and during them, in both eras."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.errors import ToolError
from sovl_tools.remote.session import McpServer
from tests.conftest import Run
from tests.patience import PATIENCE
from tests.remote.http_servers import UNKNOWN_SESSION, SessionServer, session_server
from tests.tables import check_each


def call(served: SessionServer, *, repeatable: bool = False) -> str:
    server = McpServer(served.url, timeout=PATIENCE)
    try:
        return str(asyncio.run(server.call("once", {}, repeatable=repeatable)))
    except ToolError as error:
        return str(error).partition(" ")[2]


@check_each("era", [*UNKNOWN_SESSION])
def test_an_unknown_session_is_opened_again_once(era: str) -> None:
    with session_server(era) as served:
        assert call(served) == "run 1"
        served.restart()
        assert call(served) == "run 2"
        served.endings = ["forget"]
        assert call(served) == "run 3"
        assert (served.opened, served.runs) == (3, 3)
        served.endings = ["forget", "forget"]
        assert call(served) == "doesn't know a session that it has just opened"
        assert (served.opened, served.runs) == (4, 3)
        assert call(served) == "run 4"


@check_each(("era", "streams"), [("1.12", False), ("1.30", True)])
def test_a_call_that_may_have_run_is_repeated_if_it_is_idempotent(era: str, streams: Any) -> None:
    with session_server(era, streams=streams) as served:
        assert call(served) == "run 1"
        served.endings = ["drop"]
        assert call(served).endswith("during the call, which can have been carried out")
        assert served.runs == 2
        served.endings = ["drop"]
        assert call(served, repeatable=True) == "run 4"
        served.restart()
        assert len(asyncio.run(McpServer(served.url, timeout=PATIENCE).list_tools())) == 2


@check_each(
    ("status", "data", "words"),
    [
        # errors of the protocol that have nothing to do with the session
        (400, b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no session_id"}}',
         "no session_id"),
        (404, b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no method"}}',
         "no method"),
        (400, b'{"detail": "bad"}', "it answers with status 400 Bad Request: bad"),
        (403, b'{"message": "the session has no right"}',
         "it answers with status 403 Forbidden: the session has no right"),
        (500, b"the session is broken", "it answers with status 500 Internal Server Error"),
        (500, b'{"message": "' + b"x" * 2000 + b'"}', "xx… [cut: "),
        (500, b'{"message": "' + b"x" * 2**20 + b'"}', "it answers with status 500"),
    ],
)  # fmt: skip
def test_other_errors_say_their_reason_and_keep_the_session(
    status: int, data: bytes, words: str
) -> None:
    with session_server("1.30") as served:
        assert call(served) == "run 1"
        served.refusal = (status, "application/json", data)
        served.endings = ["forget"]
        said = call(served)
        assert words in said
        assert "\n" not in said
        assert (served.opened, served.runs) == (1, 1)


def test_folders_and_registries_find_a_restarted_server(run: Run, tmp_path: Path) -> None:
    with session_server("1.12") as served:
        done = run("import", "mcp", served.url)
        assert done.code == 0, done.err
        folders = ToolRegistry.from_directory(tmp_path / "tools")
        joined = ToolRegistry()
        joined.load_mcp(served.url, timeout=PATIENCE)
        for registry in (folders, joined):
            tooler = Tooler(registry)
            for name in ("once", "again"):
                served.restart()
                result = tooler.call_sync(name, {})
                assert result.error is None
                assert result.value == f"run {served.runs}"
        assert Tooler(folders).call_sync("once", {}).ok
        served.endings = ["drop"]
        error = Tooler(folders).call_sync("once", {}).error
        assert error is not None
        assert "can have been carried out" in error.message
        served.endings = ["drop"]
        assert Tooler(folders).call_sync("again", {}).ok
