"""What a request is made of, and what is rejected before anything is sent."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from sovl_tools import ToolError
from sovl_tools.remote.loop import RemoteLoop, remote_loop
from sovl_tools.remote.operation import Argument, Credential, Operation
from tests.patience import PATIENCE
from tests.remote.recorder import recording
from tests.tables import check_each

URL = "http://127.0.0.1:9/x"


def made(argument: Argument, value: Any, url: str = URL, **more: Any) -> dict[str, Any]:
    return Operation("POST", url, {"a": argument}, **more)._request({"a": value})


@check_each(
    ("argument", "value", "query"),
    [
        (Argument("query", "q"), 3, [("q", "3")]),
        (Argument("query", "q"), None, None),
        (Argument("query", "q"), ["a", 1], [("q", "a"), ("q", "1")]),
        (Argument("query", "q"), {"x": 1, "y": True}, [("x", "1"), ("y", "true")]),
        (Argument("query", "q", "commaDelimited"), {"x": 1}, [("q", "x,1")]),
        (Argument("query", "q", "pipeDelimited"), ["a", "b"], [("q", "a|b")]),
        (Argument("query", "q", "spaceDelimited"), ["a", "b"], [("q", "a b")]),
        (Argument("query", "q", "deepObject"), {"x": 1}, [("q[x]", "1")]),
        (Argument("query", "q", "json"), {"x": 1}, [("q", '{"x": 1}')]),
    ],
)
def test_an_argument_in_the_query(argument: Argument, value: Any, query: Any) -> None:
    assert made(argument, value)["params"] == query


@check_each(
    ("argument", "value", "path"),
    [
        (Argument("path", "p"), "a/b", "a%2Fb"),
        (Argument("path", "p"), ["a", "b,c"], "a,b%2Cc"),
        (Argument("path", "p"), {"x": 1}, "x,1"),
        (Argument("path", "p", explode=True), {"x": 1}, "x%3D1"),
        (Argument("path", "p"), "{q}", "%7Bq%7D"),
    ],
)
def test_an_argument_in_the_path(argument: Argument, value: Any, path: str) -> None:
    url = "http://127.0.0.1:9/{p}/y"
    assert made(argument, value, url)["url"] == f"http://127.0.0.1:9/{path}/y"


@check_each(
    ("media", "value", "sent"),
    [
        ("application/json", {"x": "é"}, {"content": '{"x": "é"}'.encode()}),
        ("text/plain", "é", {"content": "é".encode()}),
        ("application/json", "x", {"content": b'"x"'}),
        ("multipart/form-data", {"x": 1, "y": "z"},
         {"files": [("x", (None, b"1", None)), ("y", (None, b"z", None))]}),
        ("application/x-www-form-urlencoded", {"x": [1, "z"]}, {"data": {"x": ["1", "z"]}}),
    ],
)  # fmt: skip
def test_a_body_by_its_media_type(media: str, value: Any, sent: dict[str, Any]) -> None:
    request = made(Argument("body", media), value)
    assert {key: request[key] for key in sent} == sent


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
    with pytest.raises(ToolError, match="KEY has a line break"):
        made(Argument("header", "X-A"), "a", credentials=[cookie])
    monkeypatch.setenv("KEY", "é")
    with pytest.raises(ToolError, match="KEY has a character that is not ASCII"):
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


def test_a_loop_closes_what_is_on_it_and_ends_once() -> None:
    loop = RemoteLoop()
    closed: list[str] = []

    async def close() -> None:
        closed.append("closed")

    async def for_ever() -> None:
        await asyncio.Event().wait()

    loop.closing("key", close)
    forever = loop.submit(for_ever())
    assert loop.is_usable
    loop.close()
    loop.close()
    assert (closed, loop.is_usable) == (["closed"], False)
    assert forever.cancelled()


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    async def one() -> int:
        return 1

    assert remote_loop().submit(one()).result(PATIENCE) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if remote_loop().submit(one()).result(PATIENCE) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
