"""The clients of MCP that start servers by themselves: where each is configured, and how."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sovl_tools.model.document import JSON


@dataclass(frozen=True, slots=True)
class System:
    """Where programs keep a user's settings on this machine.

    Attributes:
        platform: as ``sys.platform`` says.
        home: the user's own directory.
        environment: the environment variables.
    """

    platform: str
    home: Path
    environment: Mapping[str, str]

    def settings_of(self, program: str) -> Path:
        """Return the directory in which a desktop program keeps its settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / program
        if self.platform == "win32":
            roaming = self.environment.get("APPDATA")
            return (Path(roaming) if roaming else self.home / "AppData" / "Roaming") / program
        configured = self.environment.get("XDG_CONFIG_HOME")
        # a relative one has no meaning, says the specification
        is_usable = configured is not None and os.path.isabs(configured)
        return (Path(configured or "") if is_usable else self.home / ".config") / program


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts servers.

    Attributes:
        title: what people call it.
        user: where it keeps the servers of all of a user's projects; None: it can't be known.
        project: where it looks for those of one project, below its directory; "" for nowhere.
        key: the object of that file that has an entry for each server.
        fields: what each entry says besides command, arguments and environment.
        reference: how a file says "the environment variable {}"; "" where it can't.
        follow_up: what the user does then.
    """

    title: str
    user: Callable[[System], Path] | None
    project: str = ""
    key: str = "mcpServers"
    fields: Mapping[str, JSON] = field(default_factory=dict)
    reference: str = ""
    follow_up: str = "start it again"


def _claude_desktop(system: System) -> Path:
    name = "claude_desktop_config.json"
    local = system.environment.get("LOCALAPPDATA")
    if system.platform == "win32" and local:
        # an installation from the store sees this directory in the place of the roaming one
        packages = Path(local, "Packages").glob("Claude_*/LocalCache/Roaming/Claude")
        for directory in sorted(packages):
            return directory / name
    return system.settings_of("Claude") / name


def _claude_code(system: System) -> Path:
    directory = system.environment.get("CLAUDE_CONFIG_DIR")
    return (Path(directory) if directory else system.home) / ".claude.json"


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop", _claude_desktop, follow_up="quit Claude Desktop and start it again"
    ),
    "claude-code": Client(
        "Claude Code",
        _claude_code,
        ".mcp.json",
        fields={"type": "stdio"},
        reference="${{{}}}",
        follow_up="start claude again; /mcp shows the server",
    ),
    "cursor": Client(
        "Cursor",
        lambda system: system.home / ".cursor" / "mcp.json",
        ".cursor/mcp.json",
        reference="${{env:{}}}",
        follow_up="open Cursor's settings, Tools & MCP, and switch the server on",
    ),
    "vscode": Client(
        "VS Code",
        lambda system: system.settings_of("Code") / "User" / "mcp.json",
        ".vscode/mcp.json",
        key="servers",
        fields={"type": "stdio"},
        reference="${{env:{}}}",
        follow_up="run 'MCP: List Servers' in VS Code, start the server, and chat in agent mode",
    ),
    "windsurf": Client(
        "Windsurf",
        lambda system: system.home / ".codeium" / "windsurf" / "mcp_config.json",
        reference="${{env:{}}}",
        follow_up="press refresh in Windsurf's list of MCP servers",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        lambda system: system.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
        reference="${{{}}}",
        follow_up="start gemini again; /mcp shows the server",
    ),
    "mcp-json": Client("any client", None, follow_up="start the client again"),
}
"""The clients by their names on the command line; ``mcp-json`` is what most others read."""
