"""OpenAPI documents as tools: what is read, what calls send, and every wrong type everywhere."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import Image, Tooler, ToolRegistry, ToolResult
from sovl_tools.cli.import_tools import module_of
from sovl_tools.formats.foreign import Flaw, Selection
from sovl_tools.remote.openapi import Api, DocumentError, read_api
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.imported import ImportedTools, import_tools
from tests.remote.documents import PETSTORE
from tests.remote.recorder import Recorder, recording
from tests.remote.services import SERVICES
from tests.schema.strategies import examples, moderate
from tests.test_wrong_types import changes, mutated

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def folders_of(api: Api) -> ImportedTools:
    return import_tools(
        api.definitions, lambda name, tool: module_of(name, tool, api.operations[tool.place])
    )


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


@pytest.fixture(scope="module")
def registry(server: Recorder, tmp_path_factory: pytest.TempPathFactory) -> ToolRegistry:
    """The petstore's tools, which call the server."""
    root = tmp_path_factory.mktemp("petstore")
    found = folders_of(read_api(PETSTORE, base_url=f"{server.url}/v1/"))
    assert found.flaws == ()
    create_folders(str(root), {each.name: each.files for each in found.tools})
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEY", "TOKEN", "LOGIN"):
            patch.setenv(f"SOVL_PETSTORE_{name}", "me:secret")
        return ToolRegistry.from_directory(root)


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEY", "TOKEN", "LOGIN"):
        monkeypatch.setenv(f"SOVL_PETSTORE_{name}", "me:secret")


def call(registry: ToolRegistry, name: str, /, **arguments: Any) -> ToolResult:
    return Tooler(registry).call_sync(name, arguments)


def failure(registry: ToolRegistry, name: str, /, **arguments: Any) -> str:
    """Return the message of a call that fails."""
    error = call(registry, name, **arguments).error
    assert error is not None
    return error.message


def test_arguments_go_where_the_document_says(registry: ToolRegistry, server: Recorder) -> None:
    server.answers(b"[]")
    result = call(
        registry, "list_pets", limit=3, tags=["a b", "c&d"], ids=[1, 2], filter={"a": True},
        where={"x": [1]}, session="s1", **{"X-Trace": "t"},
    )  # fmt: skip
    assert result.value == []
    assert server.last.target == (
        "/v1/pets?limit=3&tags=a+b&tags=c%26d&ids=1%2C2&filter%5Ba%5D=true"
        "&where=%7B%22x%22%3A+%5B1%5D%7D"
    )
    assert server.last.headers["x-trace"] == "t"
    assert server.last.headers["cookie"] == "session=s1"
    assert server.last.headers["x-key"] == "me:secret"
    server.answers(b'{"id": 1}')
    assert call(registry, "createPet", body={"name": "Rex"}).value == {"id": 1}
    assert json.loads(server.last.body) == {"name": "Rex"}
    assert server.last.headers["content-type"] == "application/json"
    assert server.last.headers["authorization"] == "Basic bWU6c2VjcmV0"
    call(registry, "get_pets_id", id="a/b c", id_query=7)
    assert server.last.target == "/v1/pets/a%2Fb%20c?id=7"
    assert "authorization" not in server.last.headers
    call(registry, "replacePet", id="1", body={"a": [1, "x"], "b": True})
    assert server.last.body == b"a=1&a=x&b=true"
    call(registry, "deletePet", id="1")
    assert (server.last.method, server.last.headers["authorization"]) == (
        "DELETE", "Bearer me:secret",
    )  # fmt: skip
    call(registry, "write_note", name="n", body="héllo")
    assert (server.last.target, server.last.body) == ("/v1/notes/n.txt", "héllo".encode())


@pytest.mark.parametrize("value", ["..", ".", "", "%2e%2e/../x"])
def test_no_argument_leads_to_another_operation(
    value: str, registry: ToolRegistry, server: Recorder
) -> None:
    server.answers(b"1")
    result = call(registry, "get_pets_id", id=value)
    if result.ok:
        assert server.last.target == "/v1/pets/%252e%252e%2F..%2Fx"
    else:
        assert server.asked == []


@pytest.mark.parametrize(
    ("body", "media", "value"),
    [
        (PNG, "image/png", None),
        (b'{"a": 1}', "application/vnd.x+json; charset=utf-8", {"a": 1}),
        (b"plain", "text/plain", "plain"),
        (b"", "application/json", None),
        (b"\xff\x00", "application/zip", None),
    ],
)
def test_an_answer_is_a_value_by_its_media_type(
    body: bytes, media: str, value: Any, registry: ToolRegistry, server: Recorder
) -> None:
    server.answers(body, media)
    result = call(registry, "get_pets_id", id="1")
    assert result.ok
    if media == "application/zip":
        assert len(result.content) == 1
    elif media == "image/png":
        assert result.content == (Image(PNG, media),)
    else:
        assert result.value == value


def test_an_error_of_the_api_is_the_tools_own(registry: ToolRegistry, server: Recorder) -> None:
    server.answers(b'{"detail": "no such pet"}', status=404)
    assert failure(registry, "get_pets_id", id="9") == (
        f'GET at {server.url} was answered with 404 Not Found: {{"detail": "no such pet"}}'
    )
    server.answers(b"x" * 100_000, status=500)
    assert len(failure(registry, "get_pets_id", id="9")) < 3000
    server.answers(b"", status=302, Location="http://elsewhere.example/")
    assert "302 Found, which leads to http://elsewhere.example/" in failure(
        registry, "get_pets_id", id="9"
    )
    server.answers(b"{", status=200)
    assert "JSON that isn't one" in failure(registry, "get_pets_id", id="9")


def test_operations_are_chosen_by_patterns() -> None:
    def chosen(**patterns: tuple[str, ...]) -> list[str]:
        api = read_api(PETSTORE, selection=Selection(**patterns))
        return [getattr(each, "name", "flaw") for each in api.definitions]

    assert chosen(include=("pets",)) == ["list-pets", "createPet"]
    assert chosen(include=("pets",), exclude=("admin",)) == ["list-pets"]
    assert chosen(include=("* /pets/*",), exclude=("GET *",)) == ["replacePet", "deletePet"]
    assert chosen(include=("nothing",)) == []


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "isn't an OpenAPI 3 document"),
        ({"swagger": "2.0"}, "this is Swagger '2.0', not OpenAPI 3; convert it"),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}, "give --base-url"),
    ],
)
def test_a_document_that_is_none_is_refused(document: Any, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        read_api(document)


def test_references_in_circles_and_to_nowhere_are_flaws_of_their_operation() -> None:
    circle = {"$ref": "#/components/parameters/a"}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {"get": {"parameters": [circle]}},
            "/b": {"get": {"parameters": [{"$ref": "#/nowhere"}]}},
            "/c": {"get": {"parameters": [{"$ref": "urn:x"}]}},
            "/d": {"get": {"operationId": "fine"}},
            "/e": {"$ref": "#/paths/~1e"},
        },
        "components": {"parameters": {"a": circle}},
    }
    api = read_api(document, base_url="http://localhost")
    flaws = [each for each in api.definitions if isinstance(each, Flaw)]
    assert [(flaw.place[1], flaw.message) for flaw in flaws] == [
        ("/a", "must be an object, not 'a circle of references'"),
        ("/b", "the reference '#/nowhere' leads nowhere"),
        ("/c", "the reference 'urn:x' leads out of the schema, and the network is never used"),
        ("/e", "must be an object, not 'a circle of references'"),
    ]  # fmt: skip
    assert len(api.definitions) == 5


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"parameters": [{}]}, "the parameter has no name"),
        ({"requestBody": {}}, "the body is of no media type"),
        ({"security": [{"odd": []}]}, "'odd' isn't defined under 'securitySchemes'"),
        ({"description": 3}, "it isn't as OpenAPI describes operations"),
        (3, "must be an object, not 'integer'"),
    ],
)
def test_an_operation_that_can_not_be_a_tool_is_told(operation: Any, words: str) -> None:
    document = {
        "openapi": "3.1.0",
        "servers": [{"url": "http://localhost"}],
        "paths": {"/a": {"get": operation}, "/b": {"get": {}}},
        "components": {"securitySchemes": {"tls": {"type": "mutualTLS"}}},
    }
    flaw, other = read_api(document).definitions
    assert isinstance(flaw, Flaw)
    assert words in flaw.message
    assert not isinstance(other, Flaw)


DOCUMENTS = {"": PETSTORE, **{name: document for name, (document, _) in SERVICES.items()}}


@settings(moderate, max_examples=examples(2000))
@given(data=st.data(), name=st.sampled_from([*DOCUMENTS]))
def test_a_wrong_value_in_a_document_is_told_or_makes_sound_tools(
    data: st.DataObject, name: str
) -> None:
    check(mutated(DOCUMENTS[name], *data.draw(CHANGES[name])))


CHANGES = {name: changes(document) for name, document in DOCUMENTS.items()}


def check(document: Any) -> None:
    try:
        found = folders_of(read_api(document))
    except DocumentError:
        return
    for flaw in found.flaws:
        assert flaw.message
        assert "\n" not in flaw.message
    for tool in found.tools:
        ast.parse(tool.source)
        assert json.loads(tool.files[f"{tool.name}.json"])["name"] == tool.name
