from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from sovl_tools.serving.install import CLIENTS
from tests.conftest import Done, Run, Write, manifest_of
from tests.patience import PATIENCE
from tests.tables import check_each


@pytest.fixture
def home(tmp_path: Path, write: Write) -> Path:
    """A user's own directory, next to tools of which one needs a variable."""
    write("weather", manifest_of("weather", requires={"env": ["WEATHER_KEY"]}))
    write("echo")
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def entry_in(path: Path, key: str = "mcpServers", name: str = "sovl-tools") -> Any:
    return json.loads(path.read_text())[key][name]


def install(run: Run, home: Path, *arguments: str, **environment: str) -> Done:
    # what the machine says of its own clients is none of the test's
    own = {"HOME": str(home), "XDG_CONFIG_HOME": "", "CLAUDE_CONFIG_DIR": ""}
    return run("install", *arguments, **{**own, **environment})


@check_each(
    ("client", "place"),
    [
        ("claude-code", ".claude.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ],
)
def test_the_entry_starts_the_server_from_anywhere(
    run: Run, home: Path, client: str, place: str
) -> None:
    done = install(run, home, client, WEATHER_KEY="s3cret")
    path = home / place
    assert (done.code, done.out) == (0, f"{path}\n")
    assert "it contains the value of WEATHER_KEY: only you can read it" in done.err
    assert f"undo: sovl-tools install {client} --undo" in done.err
    assert path.stat().st_mode & 0o777 == 0o600
    entry = entry_in(path)
    assert entry["command"] == sys.executable
    start = ["-P", "-m", "sovl_tools", "--directory", str(home.parent), "serve"]
    assert entry["args"] == [*start, "--tools", str(home.parent / "tools")]
    assert entry["env"] == {"WEATHER_KEY": "s3cret"}
    assert install(run, home, client, "--undo").code == 0
    assert json.loads(path.read_text()) == {"mcpServers": {}}


@check_each(
    ("client", "place", "reference"),
    [
        ("claude-code", ".mcp.json", "${WEATHER_KEY}"),
        ("vscode", ".vscode/mcp.json", "${env:WEATHER_KEY}"),
    ],
)
def test_the_file_of_a_project_refers_to_what_the_environment_has(
    run: Run, home: Path, client: str, place: str, reference: str
) -> None:
    key = CLIENTS[client].key
    done = install(run, home, client, "--project", WEATHER_KEY="s3cret")
    assert done.code == 0
    assert "it holds" not in done.err
    path = home.parent / place
    assert entry_in(path, key)["env"] == {"WEATHER_KEY": reference}
    done = install(run, home, client, "--project", "--env", "WEATHER_KEY=a$b", "--env", "MORE=1")
    assert entry_in(path, key)["env"] == {"WEATHER_KEY": "a$b", "MORE": "1"}
    assert "it contains the value of WEATHER_KEY, MORE" in done.err
    assert install(run, home, client, "--project", "--undo").code == 0


def test_what_is_not_set_is_told(run: Run, home: Path, tmp_path: Path) -> None:
    done = install(run, home, "cursor")
    assert (
        "WEATHER_KEY is not set, so weather will be unavailable; --env WEATHER_KEY=… sets it"
        in done.err
    )
    assert "env" not in entry_in(home / ".cursor" / "mcp.json")
    done = install(run, home, "cursor", "--env", "MORE=flag", WEATHER_KEY="here")
    assert "is not set" not in done.err
    env = entry_in(home / ".cursor" / "mcp.json")["env"]
    assert env == {"WEATHER_KEY": "here", "MORE": "flag"}
    assert "it is there already" in install(run, home, "cursor").err


def test_a_dry_run_writes_nothing_and_shows_no_secret(run: Run, home: Path) -> None:
    done = install(run, home, "vscode", "--dry-run", WEATHER_KEY="s3cret")
    entry = json.loads(done.out)["servers"]["sovl-tools"]
    assert entry["type"] == "stdio"
    assert entry["env"] == {"WEATHER_KEY": "…"}
    assert "would be written into" in done.err
    assert [*home.iterdir()] == []
    install(run, home, "cursor")
    done = install(run, home, "cursor", "--undo", "--dry-run")
    assert "would remove 'sovl-tools'" in done.err
    assert entry_in(home / ".cursor" / "mcp.json")
    assert "is there already" in install(run, home, "cursor", "--dry-run").err


@check_each(
    ("arguments", "words"),
    [
        (["emacs"], "is not one of"),
        (["windsurf", "--project"], "Windsurf has no configuration for a project"),
        (["mcp-json", "--undo"], "mcp-json writes nothing"),
        (["cursor", "--undo"], "there's no server 'sovl-tools'"),
        (["cursor", "--name", "a b"], "it has letters, digits"),
        (["cursor", "--env", "novalue"], "it is KEY=VALUE"),
        (["cursor", "--tools", "nowhere"], "there's no 'nowhere'"),
        (["cursor", "--", "--wrong"], "No such option"),
        (["cursor", "--", "--transport", "http"], "talks to it over stdio"),
        (["cursor", "--", "--tools", "other"], "--tools goes before --"),
    ],
)
def test_misuse_is_one_line(run: Run, home: Path, arguments: list[str], words: str) -> None:
    done = install(run, home, *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert [*home.iterdir()] == []


def test_commands_run_as_if_started_elsewhere(run: Run, home: Path, tmp_path: Path) -> None:
    done = run("-C", str(tmp_path), "list", "--format", "json", cwd=home)
    assert [each["name"] for each in json.loads(done.out)] == ["echo"]
    assert run("--directory", "nowhere", "list").code == 2


async def test_a_client_that_knows_the_entry_alone_calls_a_tool(
    run: Run, home: Path, tmp_path: Path
) -> None:
    done = install(run, home, "mcp-json", WEATHER_KEY="s3cret")
    entry = json.loads(done.out)["mcpServers"]["sovl-tools"]
    (tmp_path / "elsewhere").mkdir()
    # a module of the directory that the client is in must not pass for one of Python's
    (tmp_path / "elsewhere" / "json.py").write_text("raise SystemExit\n")
    started = StdioServerParameters(**entry, cwd=tmp_path / "elsewhere")
    async with Client(started, read_timeout_seconds=PATIENCE) as client:
        tools = [each.name for each in (await client.list_tools()).tools]
        assert tools == ["echo", "weather"]
        result = await client.call_tool("weather", {"text": "Oslo"})
        assert result.content[0].model_dump()["text"] == "Oslo"
