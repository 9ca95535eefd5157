"""What is sent for an operation, at the other end of the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from typing import Any

import pytest

from sovl_tools import ToolError
from sovl_tools.formats.foreign import Flaw, ForeignTool
from sovl_tools.remote.openapi import Api, read_api
from sovl_tools.remote.operation import Credential, Operation
from tests.remote.recorder import Asked, Recorder, recording
from tests.tables import check_each

TEXT = {"type": "string"}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


def api_of(path: str, operation: Any, base_url: str = "http://localhost", **more: Any) -> Api:
    document = {"openapi": "3.1.0", "paths": {path: {"post": operation}}, **more}
    return read_api(document, base_url=base_url)


def tool_of(operation: Any, **more: Any) -> ForeignTool:
    (tool,) = api_of("/x", operation, **more).definitions
    assert isinstance(tool, ForeignTool), tool
    return tool


def send(operation: Operation, server: Recorder, /, **arguments: Any) -> Asked:
    server.answers(b"1")
    asyncio.run(operation.call(arguments))
    return server.last


def query(name: str, schema: Any = TEXT, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


@check_each(
    ("address", "operation", "arguments", "target"),
    [
        (("", "/a?beta=true"), {"parameters": [query("q")]}, {"q": "1"}, "/a?beta=true&q=1"),
        (("/v1?api-version=2024", "/a"), {"parameters": [query("q")]}, {"q": "x&y"},
         "/v1/a?api-version=2024&q=x%26y"),
        (("/v1/?k=1", "/a?b=2"), {"parameters": [query("q")]}, {"q": "3"}, "/v1/a?k=1&b=2&q=3"),
        (("", "/a?id={id}"), {}, {"id": "x&y=/?"}, "/a?id=x%26y%3D%2F%3F"),
        (("", "/a?beta=true"), {"parameters": [query("beta")]}, {}, "/a?beta=true"),
        (("", "/a"), {"parameters": [query("f", {"type": "object"}, style="deepObject")]},
         {"f": {"a": {"b": [1, True]}, "c": None}},
         "/a?f%5Ba%5D%5Bb%5D%5B0%5D=1&f%5Ba%5D%5Bb%5D%5B1%5D=true&f%5Bc%5D=null"),
        (("", "/{p}"), {"parameters": [{"name": "p", "in": "path", "content": {
            "application/json": {"schema": {}}}}]}, {"p": {"a": 1}}, "/%7B%22a%22%3A%201%7D"),
    ],
)  # fmt: skip
def test_addresses_are_put_together_by_parts(
    address: tuple[str, str], operation: Any, arguments: Any, target: str, server: Recorder
) -> None:
    base, path = address
    api = api_of(path, operation, server.url + base)
    (found,) = api.operations.values()
    assert send(found, server, **arguments).target == target


def test_secrets_of_a_base_url_are_variables(
    server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = server.url.replace("//", "//me:hush@") + "/v1?api-version=2024&api_key=hush&x=1"
    api = api_of("/a", {}, base, info={"title": "Clock"})
    (operation,) = api.operations.values()
    assert operation.url == f"{server.url}/v1/a?api-version=2024&x=1"
    host = server.url.removeprefix("http://")
    assert api.notes == [
        f"set SOVL_CLOCK_USER: user:password, sent to {host}",
        f"set SOVL_CLOCK_API_KEY: 'api_key' of the base URL, sent to {host}",
    ]
    (tool,) = api.definitions
    assert isinstance(tool, ForeignTool)
    assert tool.requires["env"] == ["SOVL_CLOCK_USER", "SOVL_CLOCK_API_KEY"]
    monkeypatch.setenv("SOVL_CLOCK_USER", "me:hush")
    monkeypatch.setenv("SOVL_CLOCK_API_KEY", "hush")
    asked = send(operation, server)
    assert asked.target == "/v1/a?api-version=2024&x=1&api_key=hush"
    assert asked.headers["authorization"] == "Basic bWU6aHVzaA=="


@check_each(
    ("media", "encoding", "value", "sent"),
    [
        ("*/*", {}, {"a": 1}, ("application/json", b'{"a": 1}')),
        ("text/json", {}, {"a": "x"}, ("text/json", b'{"a": "x"}')),
        ("application/xml", {}, "<a/>", ("application/xml", b"<a/>")),
        ("application/x-www-form-urlencoded", {"m": {"style": "deepObject"}},
         {"m": {"k": "v", "l": {"x": 1}}}, ("application/x-www-form-urlencoded",
         b"m%5Bk%5D=v&m%5Bl%5D%5Bx%5D=1")),
        ("application/x-www-form-urlencoded; charset=utf-8", {}, {"a": ["x", "y"], "n": None},
         ("application/x-www-form-urlencoded; charset=utf-8", b"a=x&a=y")),
        ("application/x-www-form-urlencoded", {}, {"a": {"k": [1]}},
         ("application/x-www-form-urlencoded", b"a=%7B%22k%22%3A+%5B1%5D%7D")),
    ],
)  # fmt: skip
def test_a_body_is_written_as_its_media_type_says(
    media: str, encoding: Any, value: Any, sent: tuple[str, bytes], server: Recorder
) -> None:
    operation = {"requestBody": {"content": {media: {"schema": {}, "encoding": encoding}}}}
    (made,) = api_of("/x", operation, server.url).operations.values()
    asked = send(made, server, body=value)
    assert (asked.headers["content-type"], asked.body) == sent


def parts_of(asked: Asked) -> list[tuple[Any, Any, str, bytes]]:
    """Return name, file name, media type and content of the parts of a form."""
    head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + asked.body)
    parts: Any = message.get_payload()
    return [
        (_said(each, "name"), _said(each, "filename"),
         each.get_content_type() if "Content-Type" in each else "", each.get_payload(decode=True))
        for each in parts
    ]  # fmt: skip


def _said(part: Message, name: str) -> Any:
    return part.get_param(name, header="content-disposition")


BINARY = {"type": "string", "format": "binary"}


@check_each(
    ("properties", "encoding", "value", "parts"),
    [
        ({"f": BINARY}, {}, {"f": "é"}, [("f", "f.bin", "application/octet-stream", "é".encode())]),
        ({"f": BINARY}, {"f": {"contentType": "text/csv"}}, {"f": "a,b"},
         [("f", "f.csv", "text/csv", b"a,b")]),
        ({"f": {"type": "array", "items": BINARY}}, {}, {"f": ["a", "b"]},
         [("f", "f.bin", "application/octet-stream", b"a"),
          ("f", "f.bin", "application/octet-stream", b"b")]),
        ({"t": {"type": "array", "items": TEXT}}, {}, {"t": ["a", "b"], "u": 1},
         [("t", None, "", b"a"), ("t", None, "", b"b"), ("u", None, "", b"1")]),
        ({"o": {"type": "object"}}, {}, {"o": {"a": 1}, "n": None},
         [("o", None, "application/json", b'{"a": 1}')]),
        ({"o": {"$ref": "#/components/schemas/File"}}, {}, {"o": "x"},
         [("o", "o.bin", "application/octet-stream", b"x")]),
    ],
)  # fmt: skip
def test_a_form_has_files_types_and_repeated_parts(
    properties: Any, encoding: Any, value: Any, parts: Any, server: Recorder
) -> None:
    schema = {"type": "object", "properties": properties}
    content = {"Multipart/Form-Data": {"schema": schema, "encoding": encoding}}
    api = api_of("/x", {"requestBody": {"content": content}}, server.url,
                 components={"schemas": {"File": BINARY}})  # fmt: skip
    (operation,) = api.operations.values()
    assert parts_of(send(operation, server, body=value)) == parts


@check_each(
    ("media", "data", "value"),
    [
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/plain; charset=UTF-16", "café".encode("utf-16"), "café"),
        ("text/plain; charset=nothing", "é".encode(), "é"),
        ("text/plain", "é".encode(), "é"),
        ("application/json", '"é"'.encode("utf-16"), "é"),
        ("text/json", b'{"a": 1}', {"a": 1}),
    ],
)
def test_an_answer_is_read_in_its_charset(
    media: str, data: bytes, value: Any, server: Recorder
) -> None:
    server.answers(data, media)
    assert asyncio.run(Operation("GET", server.url).call({})) == value


def test_headers_that_media_types_and_credentials_set_are_no_arguments() -> None:
    names = ["Accept", "content-type", "AUTHORIZATION", "X-Accept", "Accept-Language"]
    parameters = [{"name": each, "in": "header", "required": True, "schema": TEXT}
                  for each in names]  # fmt: skip
    tool = tool_of({"parameters": [*parameters, query("accept")]})
    assert [*tool.parameters["properties"]] == ["X-Accept", "Accept-Language", "accept"]


def test_no_cookie_is_kept(server: Recorder) -> None:
    operation = Operation("GET", server.url)
    server.answer = (200, {"Set-Cookie": "session=1; Path=/"}, b"1")
    asyncio.run(operation.call({}))
    asyncio.run(operation.call({}))
    assert "cookie" not in server.last.headers


@check_each(
    ("security", "env", "sent"),
    [
        ([{}, {"key": []}], {}, (None, None)),
        ([{}, {"key": []}], {"SOVL_KEY": "k"}, ("k", None)),
        ([{}, {"key": [], "token": []}], {"SOVL_KEY": "k"}, (None, None)),
        ([{}, {"key": [], "token": []}], {"SOVL_KEY": "k", "SOVL_TOKEN": "t"}, ("k", "Bearer t")),
        ([{"odd": []}, {"token": []}], {"SOVL_TOKEN": "t"}, (None, "Bearer t")),
    ],
)
def test_optional_credentials_are_sent_where_they_are_set(
    security: Any, env: dict[str, str], sent: Any, server: Recorder
) -> None:
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"},
               "token": {"type": "http", "scheme": "bearer"}}  # fmt: skip
    api = api_of("/x", {"security": security}, server.url, components={"securitySchemes": schemes})
    (operation,) = api.operations.values()
    (tool,) = api.definitions
    assert isinstance(tool, ForeignTool)
    if {} in security:
        assert "env" not in tool.requires
        assert all("(optional)" in note for note in api.notes)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        headers = send(operation, server).headers
    assert (headers.get("x-key"), headers.get("authorization")) == sent


def test_no_value_of_an_optional_variable_is_in_an_error(
    server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOVL_KEY", "a-long-secret")
    credential = Credential("header", "X-Key", "SOVL_KEY", is_optional=True)
    server.answers(b"no: a-long-secret", "text/plain", status=401)
    url = f"{server.url}/path-secret?key=query-secret".replace("//", "//me:user-secret@")
    with pytest.raises(ToolError) as caught:
        asyncio.run(Operation("GET", url, {}, [credential]).call({}))
    assert (
        str(caught.value)
        == f"GET at {server.url} was answered with 401 Unauthorized: no: [SOVL_KEY]"
    )
    monkeypatch.setenv("SOVL_KEY", " a-long-secret")
    with pytest.raises(ToolError, match="spaces around it"):
        asyncio.run(Operation("GET", url, {}, [credential]).call({}))


def checks(schema: Any, **more: Any) -> tuple[dict[str, Any], Any]:
    """Return the schema of a body with this schema, and a function that tells what it accepts."""
    from sovl_tools.schema.engine import compile_schema

    content = {"application/json": {"schema": schema}}
    tool = tool_of({"requestBody": {"required": True, "content": content}}, **more)
    validator = compile_schema(tool.parameters)
    return tool.parameters, lambda value: validator.is_valid({"body": value})


def components(**schemas: Any) -> dict[str, Any]:
    return {"components": {"schemas": schemas}}


def of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def obj(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": properties}


CAT, DOG = obj("kind", kind=TEXT, name=TEXT), obj("kind", kind=TEXT, name=TEXT)
BASE = obj("kind", kind={"type": "string", "enum": ["cat", "dog"]})
PETS = {"oneOf": [of("Cat"), of("Dog")], "discriminator": {"propertyName": "kind"}}
MAPPED = {**PETS, "discriminator": {"propertyName": "kind", "mapping": {
    "cat": "#/components/schemas/Cat", "dog": "Dog", "wolf": "Dog"}}}  # fmt: skip


@check_each(
    ("schema", "schemas", "valid", "invalid"),
    [
        (PETS, {"Cat": CAT, "Dog": DOG}, [{"kind": "Cat"}, {"kind": "Dog", "name": "x"}],
         [{"kind": "cat"}, {"name": "x"}, {"kind": "Cat", "name": 1}]),
        (MAPPED, {"Cat": CAT, "Dog": DOG}, [{"kind": "cat"}, {"kind": "wolf"}],
         [{"kind": "Cat"}, {"kind": 1}]),
        # a base that lists the values of all
        (MAPPED, {"Cat": {"allOf": [BASE]}, "Dog": {"allOf": [BASE]}},
         [{"kind": "cat"}, {"kind": "dog"}], [{"kind": "wolf"}, {}]),
        # alternatives that say themselves which they are
        (PETS, {"Cat": obj("kind", kind={"const": "c"}), "Dog": obj("kind", kind={"enum": ["d"]})},
         [{"kind": "c"}, {"kind": "d"}], [{"kind": "Cat"}]),
        # alternatives that are alternatives
        ({"oneOf": [of("Pet"), of("Fish")], "discriminator": {"propertyName": "kind"}},
         {"Pet": PETS, "Cat": CAT, "Dog": DOG, "Fish": obj("kind", kind={"const": "f"})},
         [{"kind": "Cat"}, {"kind": "f"}], [{"kind": "Pet"}]),
        ({"anyOf": [of("Cat"), of("Dog"), {"type": "null"}],
          "discriminator": {"propertyName": "kind"}}, {"Cat": CAT, "Dog": DOG},
         [{"kind": "Cat"}, None], [{"kind": "x"}]),
        ({"type": "object", "discriminator": {"propertyName": "kind"}, **CAT}, {},
         [{"kind": "any"}], [{}]),
    ],
)  # fmt: skip
def test_a_discriminator_decides(schema: Any, schemas: Any, valid: Any, invalid: Any) -> None:
    if schema.get("oneOf", 0) is None:
        schema = {key: each for key, each in schema.items() if key != "oneOf"}
    _, accepts = checks(schema, **components(**schemas))
    assert [each for each in valid if not accepts(each)] == []
    assert [each for each in invalid if accepts(each)] == []


NOTES = ["POST /x: 'body.v' takes values that match several schemas of 'oneOf'"]


@check_each(
    ("alternatives", "valid", "said"),
    [
        ([{"type": "integer"}, {"type": "number"}], [1, 1.5], NOTES),
        ([TEXT, {"type": "string", "enum": ["a"]}], ["a", "b"], NOTES),
        ([obj("a", a=TEXT), obj("a", "b", a=TEXT, b=TEXT)], [{"a": "x", "b": "y"}], NOTES),
        ([TEXT, {"type": "integer"}], ["a", 1], []),
        ([obj("a", a=TEXT), obj("b", b=TEXT)], [{"a": "x"}, {"b": "x"}], []),
    ],
)
def test_values_that_fit_several_alternatives_are_accepted_and_noted(
    alternatives: Any, valid: list[Any], said: list[str]
) -> None:
    content = {"application/json": {"schema": obj(v={"oneOf": alternatives})}}
    api = api_of("/x", {"requestBody": {"content": content}})
    assert api.notes == said
    _, accepts = checks(obj(v={"oneOf": alternatives}))
    assert [each for each in valid if not accepts({"v": each})] == []


ID = {"type": "integer", "readOnly": True}


@check_each(
    ("schema", "schemas", "valid", "invalid"),
    [
        # required, and listed nowhere
        (obj("a", "b", a=TEXT), {}, [{"a": "x", "b": [1]}], [{"a": "x"}]),
        ({"allOf": [of("B"), obj("a", "b", b=TEXT)]}, {"B": obj(a=TEXT)},
         [{"a": "x", "b": "y"}], [{"a": 1, "b": "y"}, {"b": "y"}]),
        ({"allOf": [of("B")], **obj("a", "b", b=TEXT)}, {"B": obj(a=TEXT)},
         [{"a": "x", "b": "y"}], [{"a": 1, "b": "y"}, {"b": "y"}]),
        # read only
        (obj("id", "a", id=ID, a=TEXT), {}, [{"a": "x"}], [{}]),
        (obj("id", id={"allOf": [of("Id")]}), {"Id": ID}, [{}], []),
        ({"allOf": [of("B"), {"required": ["id", "a"]}]}, {"B": obj("id", id=ID, a=TEXT)},
         [{"a": "x"}], [{}]),
        # of draft 2019-09
        (of("T"), {"T": {"$recursiveAnchor": True, **obj("k", k=TEXT, n={"$recursiveRef": "#"})}},
         [{"k": "x", "n": {"k": "y"}}], [{"k": "x", "n": {}}]),
    ],
)  # fmt: skip
def test_flaws_and_names_that_are_understood(
    schema: Any, schemas: Any, valid: Any, invalid: Any
) -> None:
    parameters, accepts = checks(schema, **components(**schemas))
    assert [each for each in valid if not accepts(each)] == []
    assert [each for each in invalid if accepts(each)] == []
    assert "ecursive" not in json.dumps(parameters)
    assert "readOnly" not in json.dumps(parameters)


@check_each(
    ("name", "here"),
    [
        ("filter[x]", "filter_x"),
        ("StartTime<", "StartTime_lt"),
        ("$filter", "filter"),
        ("ids[]", "ids"),
        ("ключ", "property"),
        ("x" * 65, "x" * 60),
        ("plain-name.x_1", "plain-name.x_1"),
    ],
)
def test_names_that_providers_reject_are_others_here(
    name: str, here: str, server: Recorder
) -> None:
    schema = obj(name, **{name: TEXT, "deep": {"type": "array", "items": obj(**{name: TEXT})}})
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}},
                 "parameters": [query(name)] if name else []}  # fmt: skip
    api = api_of("/x", operation, server.url)
    (tool,) = api.definitions
    assert isinstance(tool, ForeignTool), tool
    assert [*tool.parameters["properties"]] == ([here] if name else []) + ["body"]
    body = tool.parameters["properties"]["body"]
    assert ([*body["properties"]], body["required"]) == ([here, "deep"], [here])
    given_ = {here: "1", "body": {here: "2", "deep": [{here: "3"}]}}
    (made,) = api.operations.values()
    asked = send(made, server, **{k: v for k, v in given_.items() if k in made.arguments})
    assert json.loads(asked.body) == {name: "2", "deep": [{name: "3"}]}
    assert len(api.notes) == (0 if name == here else 1)


def test_names_that_become_the_same_stay_apart(server: Recorder) -> None:
    names = ["filter[x]", "filter_x", "filter{x}", "Filter x"]
    api = api_of("/x", {"parameters": [query(each) for each in names]}, server.url)
    (tool,) = api.definitions
    (operation,) = api.operations.values()
    assert isinstance(tool, ForeignTool)
    own = [*tool.parameters["properties"]]
    assert own == ["filter_x_2", "filter_x", "filter_x_3", "Filter_x"]
    asked = send(operation, server, **{each: str(at) for at, each in enumerate(own)})
    assert asked.target == "/x?filter%5Bx%5D=0&filter_x=1&filter%7Bx%7D=2&Filter+x=3"


def nested(levels: int, keyword: str) -> Any:
    schema: Any = TEXT
    for _ in range(levels):
        schema = {keyword: [schema] if keyword == "allOf" else schema}
    return schema


@check_each(
    ("schema", "schemas"),
    [
        (nested(220, "not"), {}),
        (nested(110, "allOf"), {}),
        (of("S0"), {f"S{i}": {"allOf": [of(f"S{i + 1}"), obj(x=ID)]} for i in range(500)}),
        (of("S0"), {f"S{i}": obj(**{f"a{j}": of(f"S{j}") for j in range(30)}) for i in range(30)}),
        ({"oneOf": [obj(**{f"a{j}": {"maxLength": i} for j in range(9)}) for i in range(99)]}, {}),
        (of("A"), {"A": of("B"), "B": of("A")}),
        ({"oneOf": [of("A")], "discriminator": {"propertyName": "t"}},
         {"A": {"oneOf": [of("A")], "discriminator": {"propertyName": "t"}}}),
        ({"$dynamicRef": "#/paths"}, {}),
    ],
)  # fmt: skip
def test_hostile_schemas_are_tools_or_flaws(schema: Any, schemas: Any) -> None:
    content = {"application/json": {"schema": schema}}
    (found,) = api_of(
        "/x", {"requestBody": {"content": content}}, **components(**schemas)
    ).definitions
    assert isinstance(found, Flaw | ForeignTool)


@check_each(
    ("url", "words"),
    [
        (
            "/",
            "is not a whole http or https address: give --base-url URL, such as https://api.",
        ),
        ("https://{region}.example.org", "give --base-url"),
        ("http://[", "give --base-url URL, such as https://api.example.com"),
    ],
)
def test_a_document_without_a_server_says_what_to_give(url: str, words: str) -> None:
    from sovl_tools.remote.openapi import DocumentError

    document: dict[str, Any] = {"openapi": "3.1.0", "servers": [{"url": url}],
                                "paths": {"/a": {"get": {}}, "/b": {"get": {}}}}  # fmt: skip
    with pytest.raises(DocumentError) as caught:
        read_api(document)
    assert words in str(caught.value)
    # an operation with its own server is a tool all the same
    document["paths"]["/b"]["get"] = {"servers": [{"url": "http://localhost"}]}
    flaw, tool = read_api(document).definitions
    assert isinstance(flaw, Flaw)
    assert isinstance(tool, ForeignTool)


def test_variables_of_documents_are_never_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    schemes = {"API_KEY": {"type": "http", "scheme": "bearer"}}
    document = {
        "openapi": "3.1.0", "info": {"title": "Anthropic"}, "security": [{"API_KEY": []}],
        "servers": [{"url": "https://evil.example/v1"}], "paths": {"/a": {"get": {}}},
        "components": {"securitySchemes": schemes},
    }  # fmt: skip

    def variable(**given: str) -> str:
        api = read_api(document, credentials=given)
        (operation,) = api.operations.values()
        notes.append(api.notes)
        return operation.credentials[0].variable

    notes: list[list[str]] = []
    monkeypatch.setenv("ANTHROPIC_API_KEY", "mine")
    assert variable() == "SOVL_ANTHROPIC_API_KEY"
    assert notes[-1] == ["set SOVL_ANTHROPIC_API_KEY: the bearer token, sent to evil.example"]
    monkeypatch.setenv("SOVL_ANTHROPIC_API_KEY", "another's")
    assert variable() == "SOVL_ANTHROPIC_API_KEY_2"
    assert "--credential 'API_KEY=SOVL_ANTHROPIC_API_KEY' uses it" in notes[-1][0]
    assert variable(API_KEY="ANTHROPIC_API_KEY") == "ANTHROPIC_API_KEY"
    assert "sent to evil.example" in notes[-1][0]
    from sovl_tools.remote.openapi import DocumentError

    with pytest.raises(DocumentError, match="no security scheme 'odd'; there are: 'API_KEY'"):
        read_api(document, credentials={"odd": "X"})
