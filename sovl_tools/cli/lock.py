"""``sovl-tools lock``."""

from __future__ import annotations

import os

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, Command, note, settings
from sovl_tools.cli.output import show
from sovl_tools.loading.lock import lock_changes, lock_of, read_lock, written
from sovl_tools.loading.rules.folder import missing_directory
from sovl_tools.loading.sources import collect
from sovl_tools.model.errors import LockError
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.files import replace_files

EXAMPLES = """\b
Examples:
  sovl-tools lock               after a review: these tools can run
  sovl-tools lock --check       in CI: only check, fail if a tool differs
  sovl-tools validate --locked  the same, and all other checks"""
EXITS = {
    1: "A tool can't be locked, or with --check a tool differs from the lock.",
    2: "A directory does not exist, or with --check the lock file is missing or damaged.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@option.tools
@option.check
@click.pass_context
def lock(ctx: click.Context, *, tools: tuple[str, ...], check: bool) -> None:
    """Record the content of each tool, so that only reviewed tools are loaded.

    sovl-tools.lock, next to the configuration or in the current directory, gets a line for each
    tool folder with hashes of its manifest, its Python files and the data files that it lists.
    Commit it. With --locked, or `locked = true` in the configuration, a tool that differs is not
    loaded. This command imports no tool.
    """
    found = settings(tools, imports=False)
    path = found.lock_file
    collected = collect(found.paths, exclude=found.exclude)
    new, unreadable = lock_of(collected.folders)
    for each in collected.diagnostics:
        show(plain(str(each)), err=True)
    if any(each.code == missing_directory.code for each in collected.diagnostics):
        raise click.ClickException(f"{path} is unchanged: a directory of tools is missing")
    try:
        former = read_lock(path)
    except LockError:
        # writing into a FIFO would wait for its reader
        if check or (os.path.exists(path) and not os.path.isfile(path)):
            raise
        former = {}  # a damaged lock is replaced
    lines = [*lock_changes(former, new)]
    if not check:
        directory, name = os.path.split(path)
        # at once: a program may load the tools meanwhile
        replace_files(directory or ".", {name: f"{written(new)}\n".encode()})
    for folder in unreadable:
        words = f"{folder.path} can't be locked; sovl-tools validate {folder.path} says why"
        show(plain(words), err=True)
    for line in lines:
        show(plain(line))
    note(f"{path}: {counted(len(new), 'tool')}, {len(lines)} changed")
    is_broken = any(each.severity == "error" for each in collected.diagnostics)
    ctx.exit(FINDINGS if unreadable or is_broken or (check and lines) else 0)
