from __future__ import annotations

import json
from pathlib import Path

import pytest

from sovl_tools.model.errors import ConfigurationError
from sovl_tools.scaffolding.jsonedit import without_comments
from sovl_tools.serving.install import (
    BACKUP,
    CLIENTS,
    Server,
    add_server,
    remove_server,
)
from tests.tables import check_each

CLIENT = CLIENTS["cursor"]
START = ("-P", "-m", "sovl_tools", "serve", "--tools", "/t")
SERVER = Server("ours", "/bin/python", START, ("/t",), {"KEY": "s3cret"})
OPEN = Server("ours", "/bin/python", START, ("/t",))

COMMENTED = """\
// my servers
{
\t"mcpServers": {
\t\t// the files
\t\t"files": {"command": "npx", "args": ["-y", "files"],}, // needs node
\t\t/* "old": {} */
\t},
\t"theme": "dark", // as it is
}
"""


def told(path: Path) -> str | None:
    """Return why our server can't be added, or None if it was."""
    try:
        add_server(str(path), CLIENT, SERVER)
    except ConfigurationError as error:
        return str(error)
    return None


@check_each(
    ("content", "words"),
    [
        (b'{"mcpServers": {', "it isn't JSON: Expecting property name"),
        (b"/* no end", "it isn't JSON"),
        (b'{"mcpServers": {}, "mcpServers": {}}', "duplicate key"),
        (b"null", "it should be an object"),
    ],
)
def test_a_file_that_is_no_configuration_is_left_as_it_is(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    assert words in (told(path) or "")
    assert path.read_bytes() == content


def test_comments_and_all_else_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(COMMENTED)
    change = add_server(str(path), CLIENT, SERVER)
    new = path.read_text()
    assert change.backup == f"{path}{BACKUP}"
    assert Path(change.backup).read_text() == COMMENTED
    begin = new.index('\n\t\t"ours"')
    end = new.index("\n\t\t/*")
    assert new[:begin] + new[end:] == COMMENTED
    assert not add_server(str(path), CLIENT, SERVER).is_changed
    assert Path(change.backup).read_text() == COMMENTED
    remove_server(str(path), CLIENT, "ours")
    assert path.read_text() == COMMENTED


@check_each(
    "content", ["", " \n", "// nothing yet\n", "{}", "\ufeff{}\r\n", '{\r\n  "a": 1\r\n}\r\n']
)
def test_a_file_that_says_little_is_written(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content.encode())
    add_server(str(path), CLIENT, SERVER)
    text = path.read_bytes().decode()
    assert ("\r\n" in text) == ("\r\n" in content)
    document = json.loads(without_comments(text))
    assert document["mcpServers"] == {"ours": SERVER.entry(CLIENT)}


def test_what_users_added_to_the_entry_stays(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    add_server(str(path), CLIENT, SERVER)
    document = json.loads(path.read_text())
    document["mcpServers"]["ours"]["disabled"] = True
    document["mcpServers"]["ours"]["env"]["MORE"] = "1"
    path.write_text(json.dumps(document))
    add_server(str(path), CLIENT, Server("ours", "/new", START, ("/t",), {"KEY": "2"}))
    entry = json.loads(path.read_text())["mcpServers"]["ours"]
    assert entry == {**entry, "command": "/new", "disabled": True}
    assert entry["env"] == {"KEY": "2", "MORE": "1"}


def test_another_server_of_that_name_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"ours": {"command": "npx", "args": ["x"]}}}')
    with pytest.raises(ConfigurationError, match="does not start sovl-tools; --name gives"):
        add_server(str(path), CLIENT, SERVER)
    with pytest.raises(ConfigurationError, match="remove it manually"):
        remove_server(str(path), CLIENT, "ours")
    add_server(str(path), CLIENT, SERVER, force=True)
    other = Server("ours", "/bin/python", (*START[:-1], "/u"), ("/u",))
    with pytest.raises(ConfigurationError, match="there is a server 'ours' for /t; --name"):
        add_server(str(path), CLIENT, other)
    with pytest.raises(ConfigurationError, match="there's no server 'theirs'"):
        remove_server(str(path), CLIENT, "theirs")


def test_only_the_user_may_read_a_file_with_secrets(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "mcp.json"
    assert add_server(str(path), CLIENT, SERVER).is_private
    assert path.stat().st_mode & 0o777 == 0o600
    public = tmp_path / "mcp.json"
    public.write_text("{}")
    public.chmod(0o644)
    assert not add_server(str(public), CLIENT, OPEN).is_private
    assert public.stat().st_mode & 0o777 == 0o644
    add_server(str(public), CLIENT, SERVER)
    assert public.stat().st_mode & 0o777 == 0o600
    other = Server("ours", "/bin/python", START, ("/t",), {"KEY": "other"})
    add_server(str(public), CLIENT, other)
    assert Path(f"{public}{BACKUP}").stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one(tmp_path: Path) -> None:
    real, link, nowhere = (tmp_path / name for name in ("real.json", "link.json", "nowhere.json"))
    real.write_text('{"a": 1}')
    link.symlink_to(real)
    change = add_server(str(link), CLIENT, SERVER)
    # what was there is kept beside the file, not beside the link
    assert change.backup == str(real) + BACKUP
    assert Path(change.backup).read_text() == '{"a": 1}'
    assert link.is_symlink()
    assert json.loads(real.read_text())["a"] == 1
    nowhere.symlink_to(tmp_path / "there" / "new.json")
    add_server(str(nowhere), CLIENT, SERVER)
    assert nowhere.is_symlink()
    assert "ours" in (tmp_path / "there" / "new.json").read_text()
