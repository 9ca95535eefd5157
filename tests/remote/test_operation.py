"""What a request is made of, and what is rejected before anything is sent."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from sovl_tools import ToolError
from sovl_tools.remote.loop import remote_loop
from sovl_tools.remote.operation import Argument, Credential, Operation
from tests.patience import PATIENCE
from tests.remote.recorder import recording

URL = "http://127.0.0.1:9/x"


def made(argument: Argument, value: Any, url: str = URL, **more: Any) -> dict[str, Any]:
    return Operation("POST", url, {"a": argument}, **more)._request({"a": value})


def test_headers_and_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    cookie, query = Credential("cookie", "c", "KEY"), Credential("query", "q", "KEY")
    request = made(Argument("header", "X-A"), "é", credentials=[cookie, query])
    assert request["headers"] == {"X-A": "%C3%A9", "Cookie": "c=k"}
    assert request["params"] == [("q", "k")]
    assert made(Argument("cookie", "c"), "v")["headers"] == {"Cookie": "c=v"}
    assert made(Argument("header", "X-A", "json"), {"a": 1})["headers"] == {"X-A": '{"a": 1}'}
    with pytest.raises(ToolError, match="can't have line breaks"):
        made(Argument("cookie", "c"), "v; admin=1")
    monkeypatch.setenv("KEY", "a\nb")
    with pytest.raises(ToolError, match="KEY has a line break, spaces"):
        made(Argument("header", "X-A"), "a", credentials=[cookie])
    monkeypatch.setenv("KEY", "é")
    with pytest.raises(ToolError, match="a character that is not ASCII"):
        made(Argument("header", "X-A"), "a", credentials=[cookie])


def test_a_server_that_is_slow_or_says_too_much() -> None:
    with recording() as server:
        operation = Operation("GET", server.url, timeout=0.3)
        server.hangs.set()
        with pytest.raises(ToolError, match=r"was not answered in 0.3 s"):
            asyncio.run(operation.call({}))
        server.hangs.clear()
        server.answers(bytes(17 << 20), "application/zip")
        with pytest.raises(ToolError, match="has more than 16,777,216 bytes"):
            asyncio.run(Operation("GET", server.url).call({}))
        server.answers(b"\0RIFF", "audio/wav")
        assert asyncio.run(operation.call({})).media_type == "audio/wav"
        server.answers(b"\xff\xfe", "nothing", status=500)
        with pytest.raises(ToolError, match="2 bytes of nothing"):
            asyncio.run(operation.call({}))


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    async def one() -> int:
        return 1

    assert remote_loop().submit(one()).result(PATIENCE) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if remote_loop().submit(one()).result(PATIENCE) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
