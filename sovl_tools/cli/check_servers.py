"""``sovl-tools check``."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Iterable
from glob import glob
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, MISUSE, Command, Misuse, note
from sovl_tools.cli.diff import shown_change
from sovl_tools.cli.output import show
from sovl_tools.cli.validate import (
    configured_targets,
    destinations_for,
    format_options,
    rule_options,
    target_option,
    write_outcome,
)
from sovl_tools.configuration import Configuration, add_variables, load_configuration
from sovl_tools.linting.rules import RULES
from sovl_tools.linting.selection import selection_of, strict
from sovl_tools.linting.servers import changes, findings, listed, rewritten, together
from sovl_tools.loading.rules.server import other_change
from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import Diagnostic, in_order
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.remote.secrets import server_label, without_secrets
from sovl_tools.remote.session import McpServer, load_sdk
from sovl_tools.remote.snapshot import Snapshot, SnapshotError, read_snapshot, snapshot_of
from sovl_tools.reporting.outcome import Destination, Outcome
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.files import replace_files

EXAMPLES = """\b
Examples:
  sovl-tools check                                 all configured servers
  sovl-tools check 'uvx mcp-server-git' --update   write its snapshot
  sovl-tools check git --locked                    in CI: no difference at all
  sovl-tools check https://example.com/mcp --header Authorization=MCP_TOKEN
  sovl-tools check tools.json --target gemini      a file, without a server"""
EXITS = {
    1: "There are errors, or the server differs from its snapshot in a way that breaks callers.",
    2: "A server can't be reached or sends no lists, a file is missing, or an option is wrong.",
}
SNAPSHOTS = "mcp"
"""The directory of snapshots, next to the configuration file."""


class Subject(NamedTuple):
    """Definitions to check.

    Attributes:
        snapshot: the definitions as they are now, and the file that findings point into.
        before: the file to compare with; None for a check of a file alone.
        is_served: whether they come from a server, so that the snapshot can be written.
    """

    snapshot: Snapshot
    before: str | None
    is_served: bool


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("sources", nargs=-1, metavar="[NAME|COMMAND|URL|FILE]...")
@click.option("--update", is_flag=True, help="Write the snapshots, and print the differences.")
@click.option("--locked", is_flag=True, help="Fail at any difference from the snapshot.")
@option.file("--against", words="Compare with this file. Default: mcp/NAME.json for a server.")
@option.header
@option.env
@option.timeout(f"The time limit for each answer of a server. Default: {SERVER_TIMEOUT:g}.")
@target_option("none")
@rule_options
@format_options
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Check the definitions of MCP servers, and compare them with reviewed snapshots.

    NAME is a server of the configuration; without a source, all of them are checked. A COMMAND is
    started, and a URL is connected to. FILE is a snapshot, the result of `tools/list`, another list
    of definitions, or a directory of such files; it needs no server.

    The rules are the same as for tool folders: schemas, descriptions, names, hidden characters,
    instructions to the model, secrets. Findings point into the snapshot, mcp/NAME.json. --update
    writes it; commit it. Later differences are breaking, compatible or wording, as in
    `sovl-tools diff`, and breaking ones fail.

    Snapshots also protect at run time: registry.load_mcp(…, locked="mcp/git.json") and
    `sovl-tools import mcp --locked FILE` reject definitions without a review.
    """
    asked = _Options(**options)
    found = load_configuration(imports=False)
    add_variables(found)
    if asked.update and asked.locked:
        raise Misuse("--update accepts differences, --locked rejects them; use one of them")
    if asked.against is not None and len(asked.sources) != 1:
        raise Misuse("--against takes one source")
    started = perf_counter()
    destinations = destinations_for(asked.formats, found)
    subjects: list[Subject] = []
    failures: list[str] = []
    for source in _sources(asked, found):
        try:
            subjects += _subjects(asked, source, found)
        except (SovlToolsError, ValueError) as error:
            failures.append(str(error))
    if not subjects:
        raise Misuse("\n".join(failures) or "name a server or a file to check")
    for words in failures:
        show(plain(words), err=True)
    is_text = all(each.file or each.format in {"text", "concise"} for each in destinations)
    diagnostics: list[Diagnostic] = []
    targets = asked.targets or configured_targets(found)
    for each in subjects:
        diagnostics += findings(each.snapshot, targets)
        diagnostics += _differences(asked, each, is_text=is_text)
    files = [each.snapshot for each in subjects if not each.is_served]
    for _, group in groupby(files, lambda each: os.path.dirname(each.path)):
        diagnostics += together(group)
    tools = [
        Candidate(tool.tool.name, each.snapshot.path, each.snapshot.path, "loaded")
        for each in subjects
        for tool in listed(each.snapshot.document)[0]
    ]
    report = LoadReport(tuple(tools), in_order(diagnostics))
    report = selection_of(found, asked.select, asked.ignore).of(report)
    if asked.warnings_as_errors or found.warnings_as_errors:
        report = strict(report)
    roots = None if all(map(_is_written, subjects)) else ()
    outcome = Outcome(report, perf_counter() - started, rules=RULES, roots=roots, command="check")
    write_outcome(outcome, destinations)
    ctx.exit(MISUSE if failures else FINDINGS if report.errors else 0)


class _Options(NamedTuple):
    """The options of the command line, by the names of its parameters."""

    sources: tuple[str, ...]
    update: bool
    locked: bool
    against: str | None
    headers: tuple[tuple[str, str], ...]
    env: tuple[tuple[str, str | None], ...]
    timeout: float | None
    targets: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    warnings_as_errors: bool
    formats: tuple[Destination, ...]


def _sources(asked: _Options, found: Configuration) -> Iterable[str]:
    """Return what is named on the command line, or the configured servers."""
    if len(asked.sources) > 1 and not all(_is_source(each, found) for each in asked.sources):
        command = shlex.join([shlex.join(asked.sources)])
        raise Misuse(f"put a command in quotes: sovl-tools check {command}")
    return asked.sources or found.servers


def _is_source(word: str, found: Configuration) -> bool:
    """Return whether a word is more than a part of a command."""
    is_named = word in found.servers or word.endswith(".json") or os.path.isdir(word)
    return is_named or " " in word or "://" in word


def _subjects(asked: _Options, source: str, found: Configuration) -> list[Subject]:
    """Return the definitions of a server, or of one or several files.

    Raises:
        RemoteError, SnapshotError, Misuse, ValueError: there are none.
    """
    if source in found.servers:
        name, given = source, found.servers[source]
        server = McpServer(
            given.get("command") or given["url"],
            tuple(given.get("headers", {}).items()),
            tuple((name, None) for name in given.get("env", ())),
            asked.timeout or given.get("timeout", SERVER_TIMEOUT),
        )
    elif os.path.isdir(source):
        paths = sorted(glob(os.path.join(source, "*.json")))
        if not paths:
            raise Misuse(f"there's no .json file in {source!r}")
        return [Subject(read_snapshot(path), asked.against, is_served=False) for path in paths]
    elif source.endswith(".json") and (os.path.exists(source) or " " not in source):
        # a command can end with such a file, too
        return [Subject(read_snapshot(source), asked.against, is_served=False)]
    else:
        timeout = asked.timeout or SERVER_TIMEOUT
        server = McpServer(source, asked.headers, asked.env, timeout)
        name = server_label(server) or "server"
    beside = os.path.relpath(os.path.dirname(found.file or "") or ".")
    path = os.path.normpath(os.path.join(beside, SNAPSHOTS, f"{name}.json"))
    before = asked.against or (path if os.path.exists(path) else None)
    return [Subject(_snapshot(server, path), before, is_served=True)]


def _snapshot(server: McpServer, path: str) -> Snapshot:
    """Return what a server offers now.

    Raises:
        RemoteError: it can't be reached, or a list is missing, endless or different each time.
        SnapshotError: a list isn't JSON.
    """
    load_sdk()
    shown = plain(without_secrets(server).address)
    note(f"{'connecting to' if server.is_url else 'starting'} {shown}")
    return snapshot_of(asyncio.run(server.offer()), server.credentials, path)


def _differences(asked: _Options, subject: Subject, *, is_text: bool) -> list[Diagnostic]:
    """Return the differences from the snapshot, or write it with --update, and show them.

    They go to the error output where the report is for programs.
    """
    snapshot, before = subject.snapshot, subject.before
    if before is None:
        if subject.is_served and asked.update:
            _write(snapshot)
        elif subject.is_served and asked.locked:
            raise Misuse(f"there's no snapshot {snapshot.path!r}; write it with --update")
        elif subject.is_served:
            note(f"there's no snapshot {snapshot.path!r} yet; --update writes it")
        return []
    old = read_snapshot(before)
    every, found = changes(old.document, snapshot)
    if asked.update and subject.is_served:
        for change in every:
            show([*shown_change(change)], err=not is_text)
        if old.text != snapshot.text or before != snapshot.path:
            _write(snapshot)
        return []
    if found and subject.is_served:
        note(f"{plain(snapshot.path)}: listed {_as_client(snapshot)}")
    if asked.locked:
        found = found or rewritten(old.document, snapshot)
        found = [
            each._replace(severity="error") if each.code == other_change.code else each
            for each in found
        ]
    return found


def _as_client(snapshot: Snapshot) -> str:
    """Return in words as which client a server was asked: its lists can depend on that."""
    client = snapshot.document["client"]
    names = ", ".join(client["credentials"])
    words = f"over protocol {client['protocol']}, without client capabilities"
    return f"{words}, with {names}" if names else f"{words} or credentials"


def _write(snapshot: Snapshot) -> None:
    os.makedirs(os.path.dirname(snapshot.path) or ".", exist_ok=True)
    directory, name = os.path.split(snapshot.path)
    replace_files(directory, {name: snapshot.text.encode()})
    note(f"wrote {plain(snapshot.path)}")


def _is_written(subject: Subject) -> bool:
    """Return whether the file has the checked text, so that it can be quoted."""
    try:
        return read_snapshot(subject.snapshot.path).text == subject.snapshot.text
    except SnapshotError:
        return False
