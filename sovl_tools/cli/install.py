"""``sovl-tools install``."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import Command, Misuse, note, settings
from sovl_tools.cli.output import write
from sovl_tools.cli.serve import serve
from sovl_tools.configuration import add_variables
from sovl_tools.model.document import JSON
from sovl_tools.reporting.changes import listed
from sovl_tools.reporting.text import plain
from sovl_tools.serving.install import (
    CLIENTS,
    Change,
    Client,
    Server,
    add_server,
    is_variable,
    is_writable,
    literals,
    long_names,
    reference,
    remove_server,
    required_variables,
    users_file,
)

EXAMPLES = """\b
Examples:
  sovl-tools install claude-desktop
  sovl-tools install vscode --project
  sovl-tools install cursor --name weather --env KEY=abc --tools weather/tools
  sovl-tools install cursor -- --procedures procedures   with options of serve
  sovl-tools install mcp-json                            for any other client"""
EXITS = {2: "The client's configuration can't be read or written, or has another such server."}


def _variables(values: Sequence[str]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    for name, equals, value in pairs:
        if not equals or not is_variable(name):
            raise ValueError("it is KEY=VALUE, such as API_KEY=abc")
        if not is_writable(value):
            raise ValueError(f"the value of {name} is not UTF-8")
    return {name: value for name, _, value in pairs}


def _name(value: str) -> str:
    # clients make names of tools of it
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", value):
        raise ValueError("it has letters, digits, '-' and '_', at most 64")
    return value


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF SERVE]")
@click.option(
    "--user/--project",
    "is_user",
    default=True,
    help="For all projects of yours, which is the default, or for the one in this directory.",
)
@click.option(
    "--name",
    default="sovl-tools",
    show_default=True,
    metavar="NAME",
    callback=option.value_reader(_name),
    help="The server's name in the client.",
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="KEY=VALUE",
    callback=option.value_reader(_variables),
    help="An environment variable for the tools; can be repeated.",
)
@click.option(
    "--file",
    "path",
    type=click.Path(),
    metavar="FILE",
    help="The client's configuration, if it is not where it usually is.",
)
@click.option("--dry-run", is_flag=True, help="Print the entry without writing it.")
@click.option("--undo", is_flag=True, help="Remove the entry.")
@click.option("--force", is_flag=True, help="Replace another server of that name.")
@option.tools
def install(
    *,
    client: str,
    options: tuple[str, ...],
    is_user: bool,
    name: str,
    variables: dict[str, str],
    path: str | None,
    dry_run: bool,
    undo: bool,
    force: bool,
    tools: tuple[str, ...],
) -> None:
    """Configure an MCP client to start sovl-tools serve with the tools of this directory.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, gemini-cli or mcp-json, which
    prints the usual format of other clients.

    The entry has absolute paths, so that it works wherever the client is started, and the
    variables that manifests name in requires.env, which desktop programs may not inherit: from
    --env or the environment here. With --project, variables of the environment are written as
    references if the client supports them, so that the file can be shared.

    Clients put the server's name before each tool's; names that get too long for one are reported.

    The rest of the client's file stays unchanged, comments included. A backup is kept next to it.
    """
    known = CLIENTS[client]
    _check_options(options)
    place = path or _place(known, is_user=is_user)
    if undo:
        if place is None:
            raise Misuse(
                "mcp-json writes nothing, so there's nothing to undo; name a file with --file"
            )
        remove_server(place, known, name, dry_run=dry_run)
        write(plain(place))
        note(f"{'would remove' if dry_run else 'removed'} {name!r}")
        return
    server = _server(known, name, tools, variables, is_user=is_user)
    server = replace(server, arguments=(*server.arguments, *options))
    if place is None:
        write(_shown(known, name, server.entry(known)))
        _warn()
        return
    change = add_server(place, known, server, force=force, dry_run=dry_run)
    if dry_run:
        hidden = dict.fromkeys(literals(known, change.entry), "…")
        environment = {"env": {**change.entry["env"], **hidden}} if hidden else {}
        write(_shown(known, name, {**change.entry, **environment}))
        note(f"would be written into {change.path}" if change.is_changed else "it is there already")
        return
    write(plain(place))
    undoing = [*(["--name", name] if name != "sovl-tools" else []), *["--project"] * (not is_user)]
    undoing += ["--file", path] if path else []
    command = shlex.join(["sovl-tools", "install", client, "--undo", *undoing])
    _report(known, change, command)


def _check_options(options: Sequence[str]) -> None:
    """Reject options that serve would reject, before a client starts it with them."""
    chosen = serve.make_context("serve", list(options)).params
    if chosen["transport"] != "stdio":
        raise Misuse("a client that starts the server talks to it over stdio, not over HTTP")
    if chosen["tools"]:
        raise Misuse("--tools goes before --")


def _place(client: Client, *, is_user: bool) -> str | None:
    """Return the file to write, or None if the entry must be printed."""
    if not client.user:
        return None
    if is_user:
        return os.path.abspath(users_file(client, sys.platform, Path.home(), os.environ))
    if not client.project:
        raise Misuse(f"{client.title} has no configuration for a project; leave --project out")
    return client.project


def _server(
    client: Client,
    name: str,
    tools: Sequence[str],
    given: Mapping[str, str],
    *,
    is_user: bool,
) -> Server:
    """Return how the client starts the server; note which variables are missing."""
    found = settings(tools, imports=False)
    add_variables(found)
    environment = {**given}
    for variable, names in required_variables(found).items():
        value = os.environ.get(variable)
        if variable in given:
            continue
        if value and not is_user and client.reference:
            environment[variable] = reference(client, variable) or ""
        elif value and is_writable(value):
            environment[variable] = value
        else:
            note(
                f"{variable} is not set, so {listed(names)} will be unavailable;"
                f" --env {variable}=… sets it"
            )
    for each in long_names(found, client, name):
        whole = client.names.format(name, each)
        words = f"{client.title} takes names of {client.longest} characters, and {whole!r}"
        note(f"{words} has {len(whole)}: rename the tool, or give the server a shorter --name")
    paths = tuple(os.path.abspath(each) for each in found.paths)
    options = [word for each in paths for word in ("--tools", each)]
    # -P: modules in the directory where the client starts must not hide Python's
    start = ("-P", "-m", "sovl_tools", "--directory", os.getcwd(), "serve")
    command = os.path.abspath(sys.executable)
    return Server(name, command, (*start, *options), paths, environment)


def _shown(client: Client, name: str, entry: Mapping[str, JSON]) -> str:
    return json.dumps({client.key: {name: entry}}, indent=2, ensure_ascii=False)


def _report(client: Client, change: Change, undo: str) -> None:
    """Report the change, and the next step."""
    if not change.is_changed:
        note("it is there already")
        return
    if change.backup:
        note(f"backup: {change.backup}")
    if change.is_private:
        names = ", ".join(literals(client, change.entry))
        note(f"it contains the value of {names}: only you can read it; keep it out of repositories")
    note(f"next: {client.follow_up}; undo: {undo}")
    _warn()


def _warn() -> None:
    if find_spec("mcp") is None:
        note("serve needs more: pip install 'sovl-tools[mcp]'")
