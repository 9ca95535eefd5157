"""``sovl-tools import``: the group, and what its commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from sovl_tools.cli.command import FINDINGS, Command, Misuse, is_quiet, options, tools_option
from sovl_tools.cli.main import LazyGroup
from sovl_tools.cli.output import write
from sovl_tools.configuration import load_configuration
from sovl_tools.formats.foreign import Flaw, Selection, definitions_in
from sovl_tools.loading.discovery import tool_folder
from sovl_tools.model.document import json_path, parse_json
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.imported import ImportedTools, import_tools, stub

EXITS = {
    1: "Something can not become a tool; nothing is written.",
    2: "The source can not be read, or a folder is there already.",
}
MAX_SOURCE = 64 << 20
"""How many bytes of a document are read."""
_MOST_SHOWN = 20


COMMANDS = {
    "mcp": (
        "sovl_tools.cli.import_mcp:import_mcp",
        "Write a folder for each tool of an MCP server.",
    ),
    "openapi": (
        "sovl_tools.cli.import_openapi:import_openapi",
        "Write a folder for each operation of an OpenAPI 3 document.",
    ),
    "openai": (
        "sovl_tools.cli.import_tools:import_openai",
        "Write a folder for each definition in a file.",
    ),
}
EXAMPLES = """\b
Examples:
  sovl-tools import mcp 'uvx mcp-server-git'
  sovl-tools import openapi https://example.com/openapi.json
  sovl-tools import openai functions.json"""


@click.group("import", cls=LazyGroup, table=COMMANDS, epilog=EXAMPLES)
def import_() -> None:
    """Write folders of tools that are defined elsewhere."""


class Target(NamedTuple):
    """Which folders are written, where they go, and how."""

    directory: str
    force: bool
    dry_run: bool
    selection: Selection


target_options = options(
    click.option(
        "--include", multiple=True, metavar="PATTERN", help="Only such tools; may be repeated."
    ),
    click.option(
        "--exclude", multiple=True, metavar="PATTERN", help="No such tools; may be repeated."
    ),
    tools_option,
    click.option(
        "-o",
        "--output",
        metavar="DIR",
        type=click.Path(),
        help="The directory for the folders. Default: the first tools directory.",
    ),
    click.option("--force", is_flag=True, help="Write over the files of tools that are there."),
    click.option("--dry-run", is_flag=True, help="Write nothing; print what would be written."),
)
"""Adds the options that say which folders are written, where they go, and how."""


def target_of(
    *,
    output: str | None,
    tools: Sequence[str],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    force: bool,
    dry_run: bool,
) -> Target:
    """Return where folders go.

    Raises:
        Misuse: no folders of tools can be there.
    """
    directory = output if output is not None else load_configuration(tools).paths[0]
    if not directory:
        raise Misuse("there is no directory ''")
    if os.path.lexists(directory) and not os.path.isdir(directory):
        raise Misuse(f"{directory!r} is no directory")
    if tool_folder(directory, os.path.abspath(directory)) is not None:
        raise Misuse(f"{directory!r} is a tool; name the directory around it")
    return Target(directory, force, dry_run, Selection(include, exclude))


def read_source(path: str) -> bytes:
    """Return the content of a file, of ``-`` that of the standard input.

    Raises:
        Misuse: it can't be read, or is too long.
    """
    try:
        with click.open_file(path, "rb") as file:
            data: bytes = file.read(MAX_SOURCE + 1)
    except (OSError, ValueError) as error:  # the latter of a path with a NUL
        raise Misuse(f"{path!r} can't be read: {getattr(error, 'strerror', error)}") from error
    if len(data) > MAX_SOURCE:
        raise Misuse(f"{path!r} has more than {MAX_SOURCE:,} bytes")
    return data


def write_all(found: ImportedTools, target: Target, *, source: str) -> None:
    """Write the folders of what was found: all or, if there is a flaw, none.

    Raises:
        Misuse: a folder is there already.
        ClickException: there is a flaw, or something can't be written.
    """
    if found.flaws:
        raise ImportFailure(found.flaws, source)
    if not is_quiet():
        for note in found.notes:
            click.echo(plain(note), err=True)
    if not found.tools:
        raise Misuse(f"{source!r} defines no tool")
    directory = target.directory.rstrip("/") or "/"
    there = [
        each.name for each in found.tools if os.path.lexists(os.path.join(directory, each.name))
    ]
    if there and not target.force:
        more = f" and {len(there) - 1:,} more are" if len(there) > 1 else " is"
        words = f"{f'{directory}/{there[0]}'!r}{more} already there"
        raise Misuse(f"{words}; --force writes over their files")
    if not target.dry_run:
        try:
            create_folders(directory, {each.name: each.files for each in found.tools})
        except OSError as error:
            raise Misuse(f"{directory!r} can't be written: {error.strerror}") from error
    lines = [f"{directory}/{each.name}/{file}" for each in found.tools for file in each.files]
    write("\n".join(map(plain, lines)))
    if target.dry_run and not is_quiet():
        words = f"nothing is written: these would be {counted(len(found.tools), 'tool')}"
        click.echo(words, err=True)


class ImportFailure(click.ClickException):
    """What prevents an import, a line each."""

    exit_code = FINDINGS

    def __init__(self, flaws: Sequence[Flaw], source: str) -> None:
        lines = [f"{source}: {json_path(each.place)}: {each.message}" for each in flaws]
        more = len(lines) - _MOST_SHOWN
        shown = [*lines[:_MOST_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
        last = "nothing is written; --exclude PATTERN leaves tools out"
        super().__init__("\n".join([*map(plain, shown), last]))


OPENAI_EXAMPLES = """\b
Examples:
  sovl-tools import openai functions.json
  sovl-tools import openai functions.json -o lab --dry-run
  cat request.json | sovl-tools import openai -

FILE holds JSON: one definition, a list of them, or an object around such a list, in the form of
OpenAI (both APIs), Anthropic, Gemini, Bedrock, MCP, or name, description and parameters alone."""


@click.command("openai", cls=Command, epilog=OPENAI_EXAMPLES, exits=EXITS)
@click.argument("file")
@target_options
def import_openai(*, file: str, **options: Any) -> None:
    """Write a folder for each definition in a file: a manifest, and a function to be written.

    The function takes what the schema says and raises NotImplementedError until you write it. A
    name that no folder may have becomes one that it may.
    """
    target = target_of(**options)
    try:
        document = parse_json(read_source(file))
    except ValueError as error:
        raise Misuse(f"{file!r} is not JSON: {error}") from error
    definitions = definitions_in(document, target.selection)
    write_all(import_tools(definitions, stub), target, source=file)
    if not target.dry_run and not is_quiet():
        click.echo("next: write the functions, then: sovl-tools validate", err=True)
