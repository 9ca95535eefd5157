from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import Run, Write, clean_environment, manifest_of
from tests.serving.lines import INITIALIZE
from tests.tables import check_each

CALL = {"name": "echo", "arguments": {"text": "hi"}}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[TextIO]:
    """What a server that a client has started says on its error output."""
    with open(tmp_path / "log", "w") as file:
        yield file


def said(*requests: tuple[str, Any]) -> str:
    """Return requests as a client sends them, beginning with its greeting."""
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            for number, (method, params) in enumerate(requests, start=1)
        ),
    ]
    return "".join(json.dumps(each) + "\n" for each in messages)


def test_nothing_that_a_tool_or_its_child_prints_reaches_the_client(echo: Path, run: Run) -> None:
    done = run("serve", "--no-watch", stdin=said(("tools/call", CALL)))
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [each["id"] for each in answers] == [0, 1]
    assert answers[1]["result"]["structuredContent"] == {"said": "hi"}
    assert {"imported", "called", "from a child"} <= set(done.err.splitlines())
    assert done.code == 0


async def test_a_client_of_the_sdk_starts_it_and_calls_a_tool(
    write: Write, tmp_path: Path, log: TextIO
) -> None:
    write("echo")
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "sovl_tools", "serve"],
        cwd=tmp_path,
        env=clean_environment(),
    )
    async with Client(stdio_client(command, errlog=log)) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["echo"]
        call = await client.call_tool("echo", {"text": "hi"})
    assert [each.type for each in call.content] == ["text"]


@check_each(
    ("options", "names"),
    [
        (("--tag", "read"), ["ant", "bee"]),
        (("--tag", "read", "--tag", "fast"), ["bee"]),
        (("--category", "io"), ["bee"]),
        (("--name", "ant", "--name", "c?t"), ["ant", "cat"]),
        (("--view", "reading", "--tag", "fast"), ["bee"]),
    ],
)
def test_options_select_what_is_served_listed_and_exported(
    write: Write, tmp_path: Path, run: Run, options: tuple[str, ...], names: list[str]
) -> None:
    reads = {"annotations": {"read_only": True}}
    write("ant", manifest_of("ant", tags=["read"], **reads))
    write("bee", manifest_of("bee", tags=["read", "fast"], category="io", **reads))
    write("cat", manifest_of("cat", tags=["write"]))
    (tmp_path / "sovl-tools.toml").write_text(
        "[views]\nreading = {annotations = {read_only = true}}\nnamed = {name = ['c*', 'd']}\n"
    )
    asked = said(("tools/list", {}), ("tools/call", {**CALL, "name": "dog"}))
    done = run("serve", "--no-watch", *options, stdin=asked)
    [_, listed, called] = [json.loads(line) for line in done.out.splitlines()]
    assert [each["name"] for each in listed["result"]["tools"]] == names
    assert "there's no tool 'dog'" in called["error"]["message"]
    for command in (("list", "--format", "json"), ("export", "--format", "mcp")):
        shown = json.loads(run(*command, *options).out)
        assert [each["name"] for each in shown] == names
    found = json.loads(run("search", "say", *options, "--format", "json").out)
    assert sorted(each["tool"] for each in found) == names


def test_an_unknown_view_is_misuse(write: Write, tmp_path: Path, run: Run) -> None:
    write("echo")
    done = run("serve", "--view", "reading")
    assert (done.code, done.out) == (2, "")
    assert "there's no view 'reading'; the configuration doesn't have one" in done.err
    (tmp_path / "sovl-tools.toml").write_text("views = {read = {}, write = {tags = 'w'}}\n")
    assert "did you mean 'read'?" in run("list", "--view", "read_").err
    assert "the views are read, write" in run("list", "--view", "other").err


def test_two_tools_stand_for_all_and_procedures_are_tools(
    write: Write, tmp_path: Path, run: Run
) -> None:
    write("echo")
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "greet.yaml").write_text(
        "name: greet\ndescription: Greet.\nsteps:\n"
        "  - {action: tool, tool: echo, arguments: {text: hi}}\n"
    )
    done = run("serve", "--no-watch", "--search-tools", stdin=said(("tools/list", {})))
    assert "serving 1 tool by search_tools and call_tool over standard input" in done.err
    [_, listed] = [json.loads(line) for line in done.out.splitlines()]
    names = [each["name"] for each in listed["result"]["tools"]]
    assert names == ["call_tool", "search_tools"]
    done = run("serve", "--no-watch", "--procedures", "steps", stdin=said(("tools/list", {})))
    [_, listed] = [json.loads(line) for line in done.out.splitlines()]
    assert [each["name"] for each in listed["result"]["tools"]] == ["echo", "greet"]
    assert run("serve", "--procedures", "nowhere").code == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--token-env", "NO_SUCH_TOKEN"], "the environment variable NO_SUCH_TOKEN is empty"),
        (["--host", "no.such.host.invalid"], "there's no address 'no.such.host.invalid'"),
        (["--allow-origin", "nonsense"], "an origin is like"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_a_tool_is_imported(
    write: Write, run: Run, options: list[str], words: str
) -> None:
    write("echo", code="print('imported')\n\n\ndef echo(text: str) -> str:\n    return text\n")
    done = run("serve", "--transport", "http", "--port", "0", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "imported" not in done.err


def test_options_of_http_are_refused_with_another_transport(run: Run) -> None:
    done = run("serve", "--token-env", "TOOLS_TOKEN")
    assert (done.code, done.err) == (2, "Error: --token-env needs --transport http\n")
