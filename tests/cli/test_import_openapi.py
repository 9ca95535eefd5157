from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.remote.documents import PETSTORE
from tests.remote.recorder import Recorder, recording

YAML = """\
openapi: 3.0.3
info: {title: Clock}
paths:
  /time:
    get:
      operationId: get_time
      summary: Tell the time.
      parameters:
        - {name: zone, in: query, required: true, schema: {type: string, description: Where.}}
      responses:
        200: {description: The time.}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


def test_a_document_becomes_folders_that_call_the_api(
    run: Run, tmp_path: Path, server: Recorder
) -> None:
    server.answers(json.dumps({**PETSTORE, "servers": [{"url": "/v1"}]}).encode())
    done = run("import", "openapi", f"{server.url}/openapi.json", "--exclude", "write_*")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 10
    host = server.url.removeprefix("http://")
    assert done.err.splitlines() == [
        "'list-pets' is called 'list_pets' here",
        "'get /pets/{id}' is called 'get_pets_id' here",
        f"set SOVL_PETSTORE_KEY: the API key (header 'X-Key'), sent to {host}",
        f"set SOVL_PETSTORE_LOGIN: user:password, sent to {host}",
        f"set SOVL_PETSTORE_TOKEN: the bearer token, sent to {host}",
    ]
    keys = {f"SOVL_PETSTORE_{name}": "x" for name in ("KEY", "LOGIN", "TOKEN")}
    checked = run("validate", "--warnings-as-errors", **keys)
    assert checked.code == 0, checked.out
    server.answers(b'[{"name": "Rex"}]')
    called = run("call", "list_pets", "limit=2", **keys)
    assert (called.code, called.out) == (0, '[{"name": "Rex"}]\n')
    assert server.last.target == "/v1/pets?limit=2"
    refused = run("call", "list_pets")
    assert refused.code == 1
    assert "SOVL_PETSTORE_KEY" in refused.err


def test_a_yaml_document_with_a_server_of_ones_own(
    run: Run, tmp_path: Path, server: Recorder
) -> None:
    (tmp_path / "clock.yaml").write_text(YAML)
    done = run("import", "openapi", "clock.yaml")
    assert (done.code, done.out) == (2, "")
    assert "give --base-url URL" in done.err
    assert run("import", "openapi", "clock.yaml", "--base-url", server.url).code == 0
    assert run("validate", "--warnings-as-errors").code == 0
    server.answers(b"nine", "text/plain")
    assert run("call", "get_time", "zone=UTC").out == '"nine"\n'
    server.answers(b"no such zone", "text/plain", status=422)
    called = run("call", "get_time", "zone=x")
    assert called.code == 1
    assert f"was answered with 422 {HTTPStatus(422).phrase}: no such zone" in called.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"swagger": "2.0"}', "this is Swagger '2.0', not OpenAPI 3"),
        ("a: [", "odd.yaml:1:5: "),
    ],
)
def test_what_is_no_document_is_told_in_one_line(
    text: str, words: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "odd.yaml").write_text(text)
    done = run("import", "openapi", "odd.yaml", "--base-url", "http://localhost")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "tools").exists()


def test_a_wrong_operation_costs_only_itself(run: Run, tmp_path: Path) -> None:
    document: dict[str, Any] = {
        **PETSTORE,
        "paths": {**PETSTORE["paths"], "/odd": {"get": {"parameters": 3}}},
    }
    (tmp_path / "api.json").write_text(json.dumps(document))
    done = run("import", "openapi", "api.json")
    assert (done.code, len(done.out.splitlines())) == (1, 12)
    flaw = "api.json: $.paths['/odd'].get: it isn't as OpenAPI describes operations\n"
    assert flaw in done.err
    assert "1 definition can't become a tool; see above\n" in done.err
    assert "set SOVL_PETSTORE_KEY: the API key (header 'X-Key'), sent to localhost\n" in done.err
    shutil.rmtree(tmp_path / "tools")
    assert run("import", "openapi", "api.json", "--exclude", "* /odd").code == 0


def test_a_variable_for_a_credential_is_named_by_the_user(
    run: Run, tmp_path: Path, server: Recorder
) -> None:
    (tmp_path / "api.json").write_text(json.dumps(PETSTORE))
    only = ("--include", "deletePet", "--base-url", f"{server.url}/v1?tenant=t")
    done = run("import", "openapi", "api.json", *only, "--credential", "token=MY_TOKEN")
    assert done.code == 0, done.err
    host = server.url.removeprefix("http://")
    assert done.err == f"set MY_TOKEN: the bearer token, sent to {host}\n"
    server.answers(b"1")
    assert run("call", "deletePet", "id=1", MY_TOKEN="mine").code == 0
    assert server.last.target == "/v1/pets/1?tenant=t"
    assert server.last.headers["authorization"] == "Bearer mine"
    for given, words in [("token", "is not NAME=ENV"), ("odd=X", "no security scheme 'odd'")]:
        done = run("import", "openapi", "api.json", *only, "--credential", given)
        assert done.code == 2
        assert words in done.err
