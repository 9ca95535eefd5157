"""Documents in the style of well-known services become tools that send what they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.cli.import_tools import module_of
from sovl_tools.formats.foreign import ForeignTool
from sovl_tools.remote.openapi import read_api
from sovl_tools.remote.operation import Operation
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.imported import import_tools
from tests.remote.recorder import Recorder, recording
from tests.remote.services import SERVICES
from tests.tables import check_each

FILTERS = {"type": "and", "filters": [{"type": "or", "filters": [{"type": "eq", "key": "k"}]}]}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


@check_each("name", [*SERVICES])
def test_each_operation_becomes_a_sound_tool_or_is_named(name: str, tmp_path: Path) -> None:
    document, unsupported = SERVICES[name]
    api = read_api(document)
    written: dict[str, Operation] = {}

    def module(tool_name: str, tool: ForeignTool) -> str:
        written[tool_name] = api.operations[tool.place]
        return module_of(tool_name, tool, written[tool_name])

    found = import_tools(api.definitions, module)
    assert {flaw.place[1]: flaw.message[: len(unsupported.get(str(flaw.place[1]), "?"))]
            for flaw in found.flaws} == unsupported  # fmt: skip
    operations = sum(len(item.keys() - {"parameters", "servers"})
                     for item in document["paths"].values())  # fmt: skip
    assert len(found.tools) == operations - len(unsupported)
    root = tmp_path / name
    create_folders(str(root), {each.name: each.files for each in found.tools})
    registry = ToolRegistry.from_directory(root)
    assert [each for each in registry.report.diagnostics if each.severity == "error"] == []
    for tool in found.tools:
        namespace: dict[str, Any] = {}
        exec(tool.source, namespace)
        assert namespace["_OPERATION"] == written[tool.name]
    for provider in ("anthropic", "openai", "gemini"):
        refused = registry.export(provider).diagnostics
        assert [each for each in refused if each.code == "ST906"] == []


@check_each(
    ("call", "arguments", "sent"),
    [
        ("digitalocean droplets_beta", {"page": 2}, "/v2/droplets?beta=true&page=2"),
        ("twilio ListCall", {"StartTime_lt": "a", "StartTime": "b"},
         "/2010-04-01/Calls.json?StartTime%3C=a&StartTime=b"),
        ("openai createThread", {"include": ["a", "b"]},
         "/threads?include%5B%5D=a&include%5B%5D=b"),
        ("stripe GetCustomers", {"created": {"gt": 1}, "expand": ["x"]},
         "/v1/customers?created%5Bgt%5D=1&expand%5B0%5D=x"),
        ("spotify search", {"type": ["album"], "limit": 1}, "/search?type=album&limit=1"),
        ("petstore findPetsByTags", {"tags": ["a", "b"], "filter": {"x": {"y": 1}}},
         "/pet/findByTags?tags=a%7Cb&filter%5Bx%5D%5By%5D=1"),
        ("stripe PostCustomers",
         {"body": {"metadata": {"k": "v"}, "expand": ["a"], "preferred_locales": ["en", "fr"]}},
         [("metadata[k]", "v"), ("expand[0]", "a"), ("preferred_locales", "en"),
          ("preferred_locales", "fr")]),
        ("twilio CreateCall",
         {"body": {"To": "1", "StatusCallbackEvent": ["a", "b"], "Start_lt": "x"}},
         [("To", "1"), ("StatusCallbackEvent", "a"), ("StatusCallbackEvent", "b"),
          ("Start<", "x")]),
        ("slack chat_postMessage", {"body": {"channel": "c"}, "token": "t"}, {"channel": "c"}),
        ("kubernetes createCoreV1NamespacedPod", {"namespace": "n", "body": {"port": 1}},
         {"port": 1}),
        ("openai createResponse",
         {"body": {"model": "m", "temperature": 1,
                   "input": [{"type": "message", "content": "hi"}],
                   "filters": FILTERS}},
         {"model": "m", "temperature": 1, "input": [{"type": "message", "content": "hi"}],
          "filters": FILTERS}),
        ("petstore addPet", {"body": {"petType": "puppy", "bark": "wuff"}},
         {"petType": "puppy", "bark": "wuff"}),
        ("box put_folders_id", {"folder_id": "1", "body": {"type": 3, "name": "n", "etag": None}},
         {"type": 3, "name": "n", "etag": None}),
    ],
)  # fmt: skip
def test_requests_are_what_the_document_says(
    call: str, arguments: Any, sent: Any, server: Recorder, tmp_path: Path
) -> None:
    service, operation = call.split()
    api = read_api(SERVICES[service][0], base_url=server.url)
    tools = import_tools(
        [each for each in api.definitions if getattr(each, "name", "") == operation],
        lambda name, tool: module_of(name, tool, api.operations[tool.place]),
    ).tools
    create_folders(str(tmp_path / service / operation), {each.name: each.files for each in tools})
    server.answers(b"1")
    with pytest.MonkeyPatch.context() as patch:
        for each in chain.from_iterable(each.credentials for each in api.operations.values()):
            patch.setenv(each.variable, "user:pass")
        registry = ToolRegistry.from_directory(tmp_path / service / operation)
        result = Tooler(registry).call_sync(tools[0].name, arguments)
    assert result.error is None
    if isinstance(sent, str):
        assert server.last.target == sent
    elif isinstance(sent, list):
        assert parse_qsl(server.last.body.decode()) == sent
        assert (
            server.last.headers["content-type"]
            .lower()
            .startswith("application/x-www-form-urlencoded")
        )
    else:
        assert json.loads(server.last.body) == sent
        assert server.last.headers["content-type"].startswith("application/json")
