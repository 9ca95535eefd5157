"""A client that a generator of other people's makes from the document calls the tools."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from sovl_tools import ToolRegistry
from tests.conftest import REPOSITORY
from tests.patience import PATIENCE
from tests.serving.apps import app_of
from tests.serving.servers import running

TOKEN = "secret"


def generate(document: bytes, into: Path) -> None:
    """Generate a client from a document; the generator has nothing to remark."""
    (into / "openapi.json").write_bytes(document)
    (into / "config.json").write_text(json.dumps({"post_hooks": []}))
    command = [
        *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"),
        *("--path", "openapi.json", "--config", "config.json", "--fail-on-warning"),
        *("--output-path", "generated_client"),
    ]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_generated_client_calls_a_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = ToolRegistry.from_directory(REPOSITORY / "tools")
    app = app_of(registry, tokens=(TOKEN,))
    with running(app) as url:
        headers = {"authorization": f"Bearer {TOKEN}"}
        document = httpx.get(f"{url}/openapi.json", headers=headers, timeout=PATIENCE).content
        generate(document, tmp_path)
        monkeypatch.syspath_prepend(tmp_path)

        def generated(name: str) -> Any:
            return importlib.import_module(f"generated_client.{name}")

        call = generated("api.math.example_tool").sync
        arguments = generated("models").ExampleToolArguments
        with generated("client").AuthenticatedClient(base_url=url, token=TOKEN) as client:
            assert call(client=client, body=arguments(5, 3))["result"] == 8
            problem = call(client=client, body=arguments("x", 3))
            assert problem.status == 400
            assert [each.pointer for each in problem.errors] == ["#/number1"]
            listed = generated("api.server.tools_list").sync(client=client, tag=["math"])
            names = [tool.name for tool in registry.filter(tags=["math"])]
            assert [each.name for each in listed.tools] == names
            found = generated("api.server.tools_search").sync(
                client=client, q="average of a csv column", limit=1
            )
            assert [each.tool for each in found.matches] == ["csv_statistics"]
        with generated("client").Client(base_url=url) as client:
            assert call(client=client, body=arguments(5, 3)).status == 401
    for name in [each for each in sys.modules if each.startswith("generated_client")]:
        del sys.modules[name]
