"""The clients that start servers, and our entry in the configuration of each: all else stays."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sovl_tools.configuration import Configuration
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import collect, read_manifest, unique
from sovl_tools.model.document import JSON, encodes
from sovl_tools.model.errors import ConfigurationError
from sovl_tools.scaffolding.files import replace_files
from sovl_tools.scaffolding.jsonedit import HOUSE, edit_json, render_json, without_comments


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts servers.

    Attributes:
        title: what people call it.
        user: where it keeps the servers of all of a user's projects, with ``{home}``,
            ``{settings}`` of desktop programs and ``{claude}``; "" if it can't be known.
        project: where it searches for those of one project, below its directory; "" for nowhere.
        key: the object of that file that has an entry for each server.
        fields: what each entry says in addition command, arguments and environment.
        reference: how a file says "the environment variable {}"; "" where it can't.
        follow_up: what the user does then.
        names: what it makes of the names of the server and of a tool; "" if that isn't known.
        longest: the maximum length of that.
        store: its package in the store of Windows, as a pattern.
    """

    title: str
    user: str
    project: str = ""
    key: str = "mcpServers"
    fields: Mapping[str, JSON] = field(default_factory=dict)
    reference: str = ""
    follow_up: str = "start it again"
    names: str = ""
    longest: int = 64
    store: str = ""


def users_file(client: Client, platform: str, home: Path, environment: Mapping[str, str]) -> Path:
    """Return where a client keeps a user's servers; ``platform`` is as ``sys.platform`` says."""
    if platform == "darwin":
        settings = home / "Library" / "Application Support"
    elif platform == "win32":
        settings = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
        # an installation from the store sees a directory of its own
        local = environment.get("LOCALAPPDATA")
        store = f"Packages/{client.store}/LocalCache/Roaming"
        if local and client.store and (found := sorted(Path(local).glob(store))):
            settings = found[0]
    else:
        settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    claude = environment.get("CLAUDE_CONFIG_DIR") or home
    return Path(client.user.format(home=home, settings=settings, claude=claude))


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "{settings}/Claude/claude_desktop_config.json",
        store="Claude_*",
        follow_up="quit Claude Desktop and start it again",
        names="mcp__{}__{}",
    ),
    "claude-code": Client(
        "Claude Code",
        "{claude}/.claude.json",
        ".mcp.json",
        fields={"type": "stdio"},
        reference="${{{}}}",
        follow_up="start claude again; /mcp shows the server",
        names="mcp__{}__{}",
    ),
    "cursor": Client(
        "Cursor",
        "{home}/.cursor/mcp.json",
        ".cursor/mcp.json",
        reference="${{env:{}}}",
        follow_up="open Cursor's settings, Tools & MCP, and switch the server on",
        names="{}:{}",
        longest=60,
    ),
    "vscode": Client(
        "VS Code",
        "{settings}/Code/User/mcp.json",
        ".vscode/mcp.json",
        key="servers",
        fields={"type": "stdio"},
        reference="${{env:{}}}",
        follow_up="run 'MCP: List Servers' in VS Code, start the server, and chat in agent mode",
        names="mcp_{:.12}_{}",
    ),
    "windsurf": Client(
        "Windsurf",
        "{home}/.codeium/windsurf/mcp_config.json",
        reference="${{env:{}}}",
        follow_up="press refresh in Windsurf's list of MCP servers",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        "{home}/.gemini/settings.json",
        ".gemini/settings.json",
        reference="${{{}}}",
        follow_up="start gemini again; /mcp shows the server",
    ),
    "mcp-json": Client(
        "another client", "", follow_up="start the client again", names="mcp__{}__{}"
    ),
}
"""The clients by their names on the command line; ``mcp-json`` is what most others read."""

BACKUP = ".sovl-tools.bak"
"""What the name of a file ends with that holds a configuration as it was before."""

_PRIVATE = 0o600
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Server:
    """How a client starts ``sovl-tools serve``.

    Attributes:
        name: what the client calls it.
        command: the interpreter, an absolute path.
        arguments: what follows it.
        tools: the tools directories, absolute.
        environment: what the client adds to the environment.
    """

    name: str
    command: str
    arguments: tuple[str, ...]
    tools: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def entry(self, client: Client, old: JSON = None) -> dict[str, JSON]:
        """Return what a client's configuration says of it.

        What users have added to an ``old`` entry stays, such as ``"disabled"``.
        """
        kept = old if isinstance(old, dict) else {}
        variables = kept.get("env")
        former = variables if isinstance(variables, dict) else {}
        environment = {**former, **self.environment}
        return {
            **kept,
            **client.fields,
            "command": self.command,
            "args": [*self.arguments],
            **({"env": environment} if environment or variables is not None else {}),
        }


def required_variables(found: Configuration) -> dict[str, list[str]]:
    """Return the variables that tool folders name in ``requires.env``, with the tools' names.

    Nothing is imported. What is wrong with a manifest is not reported here.
    """
    paths = [path for path in found.paths if os.path.exists(path)]
    variables: dict[str, list[str]] = {}
    for folder in collect(paths, exclude=found.exclude).folders:
        reading = read_manifest(folder)
        if isinstance(reading, Unreadable) or reading.manifest is None:
            continue
        document = reading.manifest.document
        requires = document.get("requires") if isinstance(document, dict) else None
        names = requires.get("env") if isinstance(requires, dict) else None
        if isinstance(names, list) and document.get("enabled") is not False:
            for name in names:
                if isinstance(name, str) and is_variable(name):
                    variables.setdefault(name, []).append(folder.name)
    return dict(sorted(variables.items()))


def long_names(found: Configuration, client: Client, server: str) -> list[str]:
    """Return the tools whose names are longer than a client takes, with what it adds to them."""
    paths = [path for path in found.paths if os.path.exists(path)]
    names = (each.name for each in collect(paths, exclude=found.exclude).folders)
    return [
        each
        for each in names
        if client.names and len(client.names.format(server, each)) > client.longest
    ]


def is_variable(name: str) -> bool:
    """Return whether an environment variable can have that name."""
    return _VARIABLE.fullmatch(name) is not None


class Change(NamedTuple):
    """What was done to a client's file.

    Attributes:
        path: the file.
        entry: what it says of the server now, or said before it was removed.
        backup: where it is as it was before, if there was one.
        is_changed: False if it said so already.
        is_private: whether no one else can read it because of what it holds.
    """

    path: str
    entry: dict[str, JSON]
    backup: str | None = None
    is_changed: bool = True
    is_private: bool = False


def add_server(
    path: str, client: Client, server: Server, *, force: bool = False, dry_run: bool = False
) -> Change:
    """Write the entry of a server, instead of the one that it had for the same tools.

    The file is replaced at once; what else it says stays unchanged written, comments included.

    Raises:
        ConfigurationError: the file can't be read or written, is no such configuration, or has
            another server of that name and ``force`` does not say to replace it.
    """
    before = _Configuration.read(path, client.key)
    old = before.servers.get(server.name)
    tools = _tools_of(old)
    if old is not None and not force and tools != server.tools:
        words = "that does not start sovl-tools"
        if tools is not None:
            words = f"for {', '.join(tools) or 'other tools'}"
        advice = "--name gives this one another name, --force replaces that one"
        raise ConfigurationError(path, f"there is a server {server.name!r} {words}; {advice}")
    entry = server.entry(client, None if tools is None else old)
    text = before.with_servers({**before.servers, server.name: entry})
    is_private = bool(literals(client, entry))
    backup = None
    is_changed = text != before.text
    if is_changed and not dry_run:
        backup = before.backed_up()
        before.replace(text, mode=_PRIVATE if is_private else None)
    return Change(path, entry, backup, is_changed, is_private)


def remove_server(path: str, client: Client, name: str, *, dry_run: bool = False) -> Change:
    """Remove the entry of our server.

    Raises:
        ConfigurationError: as ``add_server``; or there's no such entry, or it is not ours.
    """
    before = _Configuration.read(path, client.key)
    if name not in before.servers:
        raise ConfigurationError(path, f"there's no server {name!r} in {client.key!r}")
    entry = before.servers[name]
    if _tools_of(entry) is None:
        words = f"the server {name!r} does not start sovl-tools; remove it manually"
        raise ConfigurationError(path, words)
    if not dry_run:
        servers = {key: each for key, each in before.servers.items() if key != name}
        before.replace(before.with_servers(servers))
    return Change(path, entry)


def _tools_of(entry: JSON) -> tuple[str, ...] | None:
    """Return the tools directories of an entry, or None if it doesn't start our server."""
    if not isinstance(entry, dict):
        return None
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str) or not isinstance(arguments, list):
        return None
    words = [each for each in (command, *arguments) if isinstance(each, str)]
    is_ours = any(re.search(r"\bsovl[-_]tools\b", each) for each in words)
    if not is_ours or "serve" not in words:
        return None
    return tuple(value for option, value in pairwise(words) if option == "--tools")


class _Configuration(NamedTuple):
    """A client's file as it was read; ``text`` is None if there isn't one."""

    path: str
    key: str
    text: str | None
    document: dict[str, JSON]

    @classmethod
    def read(cls, path: str, key: str) -> _Configuration:
        """Read a file; one that is missing or blank says nothing.

        Raises:
            ConfigurationError: it can't be read, isn't JSON, or has something else at the key.
        """
        text: str | None = None
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                text = file.read()
            plain = without_comments(text)
            document = json.loads(plain, object_pairs_hook=unique) if plain.strip() else {}
        except FileNotFoundError:
            document = {}
        except OSError as error:
            raise ConfigurationError(path, f"it can't be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(path, f"it isn't JSON: {error}") from error
        if not isinstance(document, dict) or not isinstance(document.get(key, {}), dict):
            raise ConfigurationError(path, f"it should be an object, and {key!r} in it another")
        return cls(path, key, text, document)

    @property
    def servers(self) -> dict[str, JSON]:
        """The entries by the names of their servers."""
        servers: dict[str, JSON] = self.document.get(self.key, {})
        return servers

    def with_servers(self, servers: Mapping[str, JSON]) -> str:
        """Return the text with other entries."""
        document, text = {**self.document, self.key: servers}, self.text or ""
        if without_comments(text).strip():
            return edit_json(text, document)
        # nothing but comments, which stand before what is new
        before = f"{text.rstrip()}\n" if text.strip() else ""
        return f"{before}{render_json(document, HOUSE._replace(is_mixed=False))}\n"

    def backed_up(self) -> str | None:
        """Copy the file and its permissions, if there is one, and return the copy's path."""
        if self.text is None:
            return None
        with _writing(self.path):
            # next to the file, and not next to a link to it
            return shutil.copy(self.path, os.path.realpath(self.path) + BACKUP)

    def replace(self, text: str, *, mode: int | None = None) -> None:
        """Replace the file; its permissions stay if ``mode`` is None."""
        folder, name = os.path.split(os.path.realpath(self.path))
        with _writing(self.path):
            os.makedirs(folder, exist_ok=True)
            replace_files(folder, {name: text.encode()}, mode=mode)


@contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigurationError(path, f"it can't be written: {error.strerror}") from error


def literals(client: Client, entry: Mapping[str, JSON]) -> list[str]:
    """Return the variables of which an entry has the values, and not references to them."""
    variables = entry.get("env")
    if not isinstance(variables, dict):
        return []
    return [key for key, value in variables.items() if value != reference(client, key)]


def reference(client: Client, name: str) -> str | None:
    """Return how a client's file says the value of a variable, if it can."""
    return client.reference.format(name) if client.reference else None


def is_writable(value: str) -> bool:
    """Return whether a value can be written into JSON, and passed in an environment."""
    return encodes(value) and "\0" not in value
