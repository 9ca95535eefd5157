from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.serving import event_stream
from sovl_tools.serving.asks import Asks
from sovl_tools.serving.traffic import Client, Traffic
from tests.conftest import REPOSITORY
from tests.patience import PATIENCE
from tests.schema.validators import validator
from tests.serving.apps import (
    PNG,
    Exchange,
    Slow,
    app_of,
    client_of,
    events_of,
    registry_of,
    tooler_of,
)
from tests.tables import check_each

PROBLEM = "urn:sovl-tools:problem:"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    registry = registry_of()
    async with client_of(app_of(registry)) as found:
        yield found


def problem(response: httpx.Response) -> dict[str, Any]:
    """Return the problem document of a response, which is one."""
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["status"] == response.status_code
    assert document["detail"]
    return document


async def test_a_call_returns_the_value_as_json(client: httpx.AsyncClient) -> None:
    response = await client.post("/tools/add", json={"first": 1})
    assert (response.status_code, response.json()) == (200, 3)
    assert response.headers["content-type"] == "application/json"


async def test_content_is_a_list_of_blocks(client: httpx.AsyncClient) -> None:
    response = await client.post("/tools/content")  # no body means no arguments
    text, image, audio, resource = response.json()
    assert text == {"type": "text", "text": "text"}
    assert image == {
        "type": "image",
        "data": b64encode(PNG).decode(),
        "mimeType": "image/png",
    }
    assert audio["type"] == "audio"
    assert resource == {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}}


async def test_arguments_that_do_not_fit_are_named_by_pointers(client: httpx.AsyncClient) -> None:
    given = {"first": "x", "a/b~ ü'\"\\": 1, "second": None}
    response = await client.post("/tools/add", json=given)
    found = problem(response)
    assert (found["type"], found["status"]) == (f"{PROBLEM}invalid_arguments", 400)
    assert found["title"] == "Invalid arguments"
    assert {each["pointer"] for each in found["errors"]} == {
        "#/first",
        "#/a~1b~0%20%C3%BC'%22%5C",
        "#/second",
    }
    assert "must be an integer" in str(found["errors"])


async def test_a_call_without_a_value_says_why(client: httpx.AsyncClient) -> None:
    found = problem(await client.post("/tools/ad", json={}))
    assert (found["status"], found["type"]) == (404, f"{PROBLEM}unknown_tool")
    assert found["detail"] == "there's no tool 'ad'; did you mean 'add'?"
    found = problem(await client.post("/tools/fail", json={"message": "no luck"}))
    assert (found["status"], found["type"]) == (500, f"{PROBLEM}tool_error")
    assert found["detail"] == "no luck"
    found = problem(await client.post("/tools/odd", json={}))
    assert (found["status"], found["type"]) == (502, f"{PROBLEM}invalid_result")


async def test_a_call_that_takes_too_long_is_a_timeout() -> None:
    registry = registry_of(Slow().wait)
    async with client_of(app_of(registry, Tooler(registry, timeout=0.01))) as client:
        found = problem(await client.post("/tools/wait"))
    assert (found["status"], found["type"]) == (504, f"{PROBLEM}timeout")


async def test_a_tool_that_did_not_load_is_not_available() -> None:
    registry = ToolRegistry.from_directory(
        REPOSITORY / "tests/cases/ST402-required-not-taken/tools"
    )
    (name, *_) = registry.catalog.unavailable
    async with client_of(app_of(registry)) as client:
        for found in (
            await client.post(f"/tools/{name}"),
            await client.post(f"/tools/{name}/stream"),
            await client.get(f"/tools/{name}"),
        ):
            assert problem(found)["type"] == f"{PROBLEM}unavailable"
            assert found.status_code == 503
            # where tools are on this machine is nobody's business
            assert problem(found)["detail"].startswith(f"tool {name!r} is not available: {name}/")
            assert str(REPOSITORY) not in found.text


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'{"first": "\\ud800"}', "application/json", 400),
        (b"{" * 10_000, "application/json", 400),
        (b'{"first": 1}', "text/plain", 415),
        (b'{"first": 1}', "application/json; charset=latin-1", 415),
        (b'{"first": 1}', 'application/json; charset="UTF-8"', 200),
    ],
)
async def test_a_body_that_is_no_object_is_refused(
    client: httpx.AsyncClient, body: bytes, kind: str | None, status: int
) -> None:
    headers = {} if kind is None else {"content-type": kind}
    for path in ("/tools/add", "/tools/add/stream"):
        response = await client.post(path, content=body, headers=headers)
        assert response.status_code == status, response.text
        assert status == 200 or problem(response)


async def test_tools_are_listed_by_name_with_their_schemas(client: httpx.AsyncClient) -> None:
    found = (await client.get("/tools")).json()
    assert found["next_cursor"] is None
    assert [each["name"] for each in found["tools"]] == ["add", "content", "count", "fail", "odd"]
    (one,) = [each for each in found["tools"] if each["name"] == "add"]
    assert one["description"] == "Add two numbers."
    assert one["parameters"]["properties"]["second"]["default"] == 2
    assert one == (await client.get("/tools/add")).json()


async def test_pages_hold_every_tool_once(client: httpx.AsyncClient) -> None:
    names: list[str] = []
    query: dict[str, str] | None = {"limit": "2"}
    while query is not None:
        page = (await client.get("/tools", params=query)).json()
        names += [each["name"] for each in page["tools"]]
        cursor = page["next_cursor"]
        query = {"limit": "2", "cursor": cursor} if cursor else None
    assert names == ["add", "content", "count", "fail", "odd"]


async def test_tools_are_chosen_by_tag_and_category() -> None:
    registry = ToolRegistry.from_directory(REPOSITORY / "tools")
    tags = next(tool.tags for tool in registry if len(tool.tags) > 1)
    async with client_of(app_of(registry)) as client:
        response = await client.get("/tools", params={"tag": list(tags)})
        wanted = [tool.name for tool in registry.filter(tags=list(tags))]
        assert [each["name"] for each in response.json()["tools"]] == wanted
        response = await client.get("/tools", params={"category": "none such"})
        assert response.json() == {"tools": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/tools?tags=a", "there's no query parameter 'tags'; did you mean 'tag'?"),
        ("/tools?limit=0", "the query parameter 'limit' must be a whole number from 1 to 1,000"),
        ("/search?q=a&least=-1", "the query parameter 'least' must be a number from 0"),
        ("/tools?limit=" + "9" * 5000, "must be a whole number"),
        ("/tools?cursor=zz", "'zz' isn't a cursor of this list"),
        ("/search", "the query parameter 'q' is required"),
    ],
)
async def test_a_wrong_query_is_refused(
    client: httpx.AsyncClient, path: str, detail: str | None
) -> None:
    response = await client.get(path)
    if detail is None:
        assert response.status_code == 200
    else:
        assert detail in problem(response)["detail"]
        assert response.status_code == 400


async def test_a_list_that_is_known_is_not_sent_again(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/tools")).headers["etag"]
    for known in (tag, f"W/{tag}", f'"x", {tag}'):
        response = await client.get("/tools", headers={"if-none-match": known})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == tag
    assert (await client.get("/tools", headers={"if-none-match": '"x"'})).status_code == 200


async def test_a_change_of_the_tools_is_a_change_of_the_list() -> None:
    registry = registry_of()
    async with client_of(app_of(registry)) as client:
        before = await client.get("/tools")
        registry.unregister("odd")
        after = await client.get("/tools", headers={"if-none-match": before.headers["etag"]})
        assert after.status_code == 200
        assert len(after.json()["tools"]) == len(before.json()["tools"]) - 1
        other = registry_of()
        other.unregister("odd")
        async with client_of(app_of(other)) as second:
            assert (await second.get("/tools")).headers["etag"] == after.headers["etag"]


async def test_search_finds_tools(client: httpx.AsyncClient) -> None:
    found = (await client.get("/search", params={"q": "add numbers", "limit": 1})).json()
    assert [each["tool"] for each in found["matches"]] == ["add"]
    assert set(found["matches"][0]) == {"tool", "score", "words", "evidence"}
    query = {"q": "what do the numbers of the lottery add to my life", "least": "99.5"}
    assert (await client.get("/search", params=query)).json() == {"matches": []}


async def test_the_document_of_the_routes_is_valid_and_whole(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    validate(document)
    assert document["servers"] == [{"url": "/"}]
    assert {f"/tools/{name}" for name in ("add", "count")} < set(document["paths"])
    assert "security" not in document
    schema = {"$ref": "#/components/schemas/Tool", "components": document["components"]}
    check = validator(schema)
    for each in (await client.get("/tools")).json()["tools"]:
        assert check.is_valid(each)


async def test_the_document_says_where_the_server_is_mounted() -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    registry = registry_of()
    app = Starlette(routes=[Mount("/ai", app_of(registry))])
    async with client_of(app) as client:
        document = (await client.get("/ai/openapi.json")).json()
        assert document["servers"] == [{"url": "/ai"}]
        assert (await client.post("/ai/tools/add", json={"first": 1})).json() == 3


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/serch", 404, None),
        ("GET", "/tools/%2e%2e/x", 404, None),
        ("DELETE", "/tools/add", 405, "GET, HEAD, POST"),
        ("POST", "/tools", 405, "GET, HEAD"),
        ("GET", "/tools/add/stream", 405, "POST"),
    ],
)
async def test_odd_paths_and_methods_are_problems(
    client: httpx.AsyncClient, method: str, path: str, status: int, allow: str | None
) -> None:
    response = await client.request(method, path)
    assert response.status_code == status
    assert {*response.headers.get("allow", "").split(", ")} == {*(allow or "").split(", ")}
    problem(response)


async def test_a_stream_tells_of_a_call_as_it_runs(client: httpx.AsyncClient) -> None:
    response = await client.post("/tools/count/stream", json={"upto": 2})
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events_of(response.text)
    assert ("log", {"level": "info", "message": "begins"}) in found
    progress = [data for name, data in found if name == "progress"]
    assert progress == [{"done": n, "total": 2, "message": None} for n in (1, 2)]
    assert [data for name, data in found if name == "item"] == [0, 1]
    name, last = found[-1]
    assert (name, last["value"]) == ("result", [0, 1])
    assert last["duration"] > 0


async def test_the_stream_of_a_tool_that_is_no_generator_is_its_result(
    client: httpx.AsyncClient,
) -> None:
    response = await client.post("/tools/add/stream", json={"first": 1})
    [(name, last)] = events_of(response.text)
    assert (name, last["value"]) == ("result", 3)


async def test_a_stream_that_fails_later_ends_with_the_problem() -> None:
    async def halve(upto: int) -> AsyncIterator[float]:
        """Divide."""
        for number in range(upto, -1, -1):
            yield 1 / number

    registry = registry_of(halve)
    async with client_of(app_of(registry)) as client:
        response = await client.post("/tools/halve/stream", json={"upto": 2})
    *items, (name, last) = events_of(response.text)
    assert items == [("item", 0.5), ("item", 1.0)]
    assert (name, last["type"]) == ("problem", f"{PROBLEM}tool_error")


def calling_of(registry: ToolRegistry) -> event_stream.Calling:
    return event_stream.Calling(tooler_of(registry), registry, Asks())


async def test_a_silent_stream_says_that_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "PROMPT", 0.001)
    monkeypatch.setattr(event_stream, "PING", 0.001)
    slow = Slow()
    registry = registry_of(slow.wait)
    stream = event_stream.call_events(calling_of(registry), "wait", {}, client=Client(Traffic(1)))
    for _ in range(3):
        assert (await anext(stream)).encoded() == b":\n\n"
    await stream.aclose()
    assert slow.cancelled.is_set()


@check_each("path", ["/tools/wait", "/tools/wait/stream"])
async def test_a_client_that_leaves_cancels_its_call(path: str) -> None:
    slow = Slow()
    registry = registry_of(slow.wait)
    exchange = Exchange(app_of(registry), "POST", path, b"{}")
    await asyncio.wait_for(slow.started.wait(), PATIENCE)
    exchange.leave()
    await asyncio.wait_for(slow.cancelled.wait(), PATIENCE)
    await asyncio.wait_for(exchange.task, PATIENCE)


@check_each("path", ["/tools/wait", "/tools/wait/stream"])
async def test_a_call_beyond_those_that_may_be_under_way_is_refused(path: str) -> None:
    slow = Slow()
    app = app_of(registry_of(slow.wait), max_concurrency=1)
    exchange = Exchange(app, "POST", path, b"{}")
    await asyncio.wait_for(slow.started.wait(), PATIENCE)
    async with client_of(app) as client:
        for other in ("/tools/add", "/tools/add/stream"):
            response = await client.post(other, json={"first": 1})
            assert problem(response)["detail"] == "1 calls are running; try again later"
            assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        assert (await client.get("/tools")).status_code == 200
        exchange.leave()
        await asyncio.wait_for(exchange.task, PATIENCE)
        assert (await client.post("/tools/add", json={"first": 1})).json() == 3
