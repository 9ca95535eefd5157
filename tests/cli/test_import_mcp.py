from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sovl_tools.remote.loop import remote_loop
from tests.conftest import Run
from tests.remote.conftest import Offer, Raw, http_server


@pytest.fixture(scope="module")
def offer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offer]:
    yield Offer(tmp_path_factory.mktemp("server") / "offer.json", sys.executable)
    remote_loop().close()


def test_the_tools_of_a_server_become_folders_that_call_it(run: Run, offer: Offer) -> None:
    done = run("import", "mcp", offer.command)
    assert done.code == 0, done.err
    assert "tools/many_kinds/many_kinds.py" in done.out.splitlines()
    assert done.err.endswith("'many-kinds' is called 'many_kinds' here\n")
    checked = run("validate", "--warnings-as-errors")
    assert checked.code == 0, checked.out
    assert json.loads(run("call", "echo", "text=hi").out)["said"] == "hi"
    assert '"type": "image"' in run("call", "many_kinds").out
    failed = run("call", "fail")
    assert (failed.code, failed.out) == (1, "")
    assert "it does not work" in failed.err
    assert "half" in run("call", "progress").err
    shown = json.loads(run("show", "echo", "--format", "json").out)
    assert shown["metadata"] == {"icons": [{"src": "https://example.com/a.png"}]}
    assert shown["annotations"] == {"read_only": True}


def test_a_server_at_an_address_with_a_header(run: Run, offer: Offer) -> None:
    with http_server(offer, "stateless") as url:
        absent = run("import", "mcp", url, "--header", "Authorization=MCP_TOKEN")
        assert absent.code == 2
        assert "the environment variable MCP_TOKEN is not set" in absent.err
        token = {"MCP_TOKEN": "Bearer x"}
        done = run("import", "mcp", url, "--header", "Authorization=MCP_TOKEN", **token)
        assert done.code == 0, done.err
        assert done.err.endswith("set MCP_TOKEN: the server needs it\n")
        assert json.loads(run("call", "echo", "text=hi", **token).out)["said"] == "hi"
        assert "MCP_TOKEN" in run("call", "echo").err


def test_what_looks_like_a_secret_is_not_written(run: Run, offer: Offer, tmp_path: Path) -> None:
    python, *rest = shlex.split(offer.command)
    command = shlex.join(["env", "MY_TOKEN=hush-hush", python, *rest])
    done = run("import", "mcp", command, "--env", "OTHER_KEY=hush-too")
    assert done.code == 0, done.err
    # the label is the first word that starts no other program
    (name,) = re.findall(r"set (SOVL_\w+_MY_TOKEN): the server needs it \(it looks", done.err)
    assert "set OTHER_KEY: the server needs it (it looks like a secret" in done.err
    written = [each.read_text() for each in (tmp_path / "tools").rglob("*.*")]
    assert not any("hush" in each for each in [done.err, done.out, *written])
    given = {name: "mine", "OTHER_KEY": "mine too"}
    assert run("validate", **given).code == 0
    assert run("call", "env", "text=MY_TOKEN", **given).out == '"mine"\n'
    assert run("call", "env", "text=OTHER_KEY", **given).out == '"mine too"\n'
    assert name in run("call", "env", "text=MY_TOKEN").err


def test_one_broken_tool_costs_only_itself(run: Run, tmp_path: Path) -> None:
    raw = Raw(tmp_path / "says.json")
    raw.says([{"name": "fine", "inputSchema": {}}, {"name": "odd", "inputSchema": 3}])
    done = run("import", "mcp", raw.command)
    assert (done.code, done.out.splitlines()[0]) == (1, "tools/fine/fine.json")
    assert "$.tools[1].inputSchema: a schema must be an object, not 'integer'" in done.err
    assert run("import", "mcp", raw.command, "--exclude", "odd", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-command-anywhere"], "can't be reached"),
        (["ftp://localhost/mcp"], "'ftp://localhost/mcp' is neither a command nor an http"),
        (["http://127.0.0.1:9/mcp"], "can't be reached"),
        (["x", "--header", "A=B"], "headers are for a server at a URL"),
        (["x", "--header", "A"], "is not NAME=ENV"),
    ],
)
def test_misuse_is_one_line(arguments: list[str], words: str, run: Run, tmp_path: Path) -> None:
    done = run("import", "mcp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not (tmp_path / "tools").exists()
