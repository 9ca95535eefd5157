"""No secret of an address is written into folders, or read by a model in an error."""

from __future__ import annotations

import shlex
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.remote.secrets import without_secrets
from sovl_tools.remote.session import McpServer
from tests.patience import PATIENCE
from tests.schema.strategies import moderate
from tests.tables import check_each

HIDDEN = "abc-DEF-123"


@check_each(
    ("address", "written"),
    [
        ("npx -y some-server --api-key abc-DEF-123",
         "npx -y some-server --api-key '${SOVL_SOME_SERVER_API_KEY}'"),
        ("server --token=abc-DEF-123", "server '--token=${SOVL_SERVER_TOKEN}'"),
        ("npx mcp-remote https://h.example/sse --header 'Authorization: Bearer abc-DEF-123'",
         ("npx mcp-remote https://h.example/sse --header"
         " 'Authorization: Bearer ${SOVL_MCP_REMOTE_AUTHORIZATION}'")),
        ("docker run -i -e DB_PASSWORD=abc-DEF-123 me/image",
         "docker run -i -e 'DB_PASSWORD=${SOVL_IMAGE_DB_PASSWORD}' me/image"),
        ("uvx server sk-abc-DEF-123", "uvx server '${SOVL_SERVER_SECRET}'"),
        ("uvx pg postgresql://me:abc-DEF-123@localhost/db",
         "uvx pg 'postgresql://me:${SOVL_PG_PASSWORD}@localhost/db'"),
        ("https://h.example/mcp?token=abc-DEF-123&page=1",
         "https://h.example/mcp?token=${SOVL_H_EXAMPLE_TOKEN}&page=1"),
        ("https://abc-DEF-123@h.example/mcp", "https://${SOVL_H_EXAMPLE_USER}@h.example/mcp"),
        ("https://h.example/s/a0b1c2d3e4f5a6b7c8/mcp",
         "https://h.example/s/${SOVL_H_EXAMPLE_SECRET}/mcp"),
        ("server --token abc-DEF-123 --other-token abc-DEF-124",
         "server --token '${SOVL_SERVER_TOKEN}' --other-token '${SOVL_SERVER_OTHER_TOKEN}'"),
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_a_variable(address: str, written: str) -> None:
    server = McpServer(address)
    made = without_secrets(server)
    assert made.address == written
    assert made.variables == [*made.placeholders]
    assert made.placeholders
    with pytest.MonkeyPatch.context() as patch:
        for each in made.placeholders:
            patch.setenv(each, HIDDEN)
        filled = made.filled_address()
    for name in made.placeholders:
        written = written.replace(f"${{{name}}}", HIDDEN)
    assert shlex.split(filled) == shlex.split(written)


@check_each(
    "address",
    [
        "uvx mcp-server-git --repository .",
        "npx -y @modelcontextprotocol/server-filesystem /srv/notes-20241105",
        "server --max-tokens 100 --key-file /etc/key --use-auth true --verbose",
        "docker run -i --rm me/image@sha256:0123456789abcdef0123456789abcdef",
        "https://mcp.example.com/v1/mcp?version=2025-11-25&lang=en",
        "server --cookie-file ~/cookies --auth=off",
    ],
)
def test_other_addresses_stay_as_they_are(address: str) -> None:
    assert without_secrets(McpServer(address)) == McpServer(address)


@moderate
@given(
    words=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12)),
    at=st.integers(0, 5),
)
def test_a_command_is_the_same_when_it_is_filled(words: list[str], at: int) -> None:
    command = ["server", *words[:at], "--token", "hush hush '\"$", *words[at:]]
    made = without_secrets(McpServer(shlex.join(command)))
    assert "hush" not in made.address
    with pytest.MonkeyPatch.context() as patch:
        for name in made.placeholders:
            patch.setenv(name, "hush hush '\"$")
        filled = shlex.split(made.filled_address())
    assert len(filled) == len(command)
    assert filled[command.index("--token") + 1] == "hush hush '\"$"


def test_a_variable_that_is_set_to_something_else_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOVL_SERVER_TOKEN", "of another server")
    made = without_secrets(McpServer(f"server --token {HIDDEN}"))
    assert made.placeholders == ("SOVL_SERVER_TOKEN_2",)
    monkeypatch.setenv("SOVL_SERVER_TOKEN", HIDDEN)
    made = without_secrets(McpServer(f"server --token {HIDDEN}"))
    assert made.placeholders == ("SOVL_SERVER_TOKEN",)


@check_each(
    "address",
    [
        f"{sys.executable} -c 'raise SystemExit' --header 'Authorization: Bearer {HIDDEN}'",
        f"/nowhere/{HIDDEN}/server --token {HIDDEN}",
        f"http://127.0.0.1:9/{HIDDEN}/mcp",
        f"http://me:{HIDDEN}@127.0.0.1:9/mcp",
        f"http://no.such.host.invalid/{HIDDEN}",
    ],
)
def test_errors_name_the_program_or_the_host_alone(address: str) -> None:
    registry = ToolRegistry()
    change = registry.load_mcp(address, timeout=PATIENCE)
    said = [str(change), str(registry.report), repr(McpServer(address))]
    assert not any(HIDDEN in each for each in said)

    async def call() -> None:
        await McpServer(address, timeout=PATIENCE).call("x", {})

    registry.register(call)
    error = Tooler(registry).call_sync("call", {}).error
    assert error is not None
    assert error.kind == "tool_error"
    assert HIDDEN not in error.message
