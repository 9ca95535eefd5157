from __future__ import annotations

from pathlib import Path

from sovl_tools.serving.install import CLIENTS, users_file
from tests.tables import check_each

HOME = Path("/home/ada")


@check_each(
    ("client", "platform", "environment", "place"),
    [
        (
            *("claude-desktop", "darwin", {}),
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", {}, ".claude.json"),
        ("vscode", "darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("windsurf", "darwin", {}, ".codeium/windsurf/mcp_config.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", "win32", {"APPDATA": "/r"}, "/r/Code/User/mcp.json"),
    ],
)
def test_where_a_client_keeps_a_users_servers(
    client: str, platform: str, environment: dict[str, str], place: str
) -> None:
    assert users_file(CLIENTS[client], platform, HOME, environment) == HOME / place


def test_an_installation_from_the_store_has_a_directory_of_its_own(tmp_path: Path) -> None:
    directory = tmp_path / "Packages" / "Claude_abc" / "LocalCache" / "Roaming" / "Claude"
    directory.mkdir(parents=True)
    found = users_file(CLIENTS["claude-desktop"], "win32", HOME, {"LOCALAPPDATA": str(tmp_path)})
    assert found == directory / "claude_desktop_config.json"
