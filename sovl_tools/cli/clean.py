"""``sovl-tools clean``."""

from __future__ import annotations

import os
import shutil

import click

from sovl_tools.cli.command import FINDINGS, Command
from sovl_tools.cli.output import write
from sovl_tools.configuration import load_configuration
from sovl_tools.linting.cache import TAG, cache_directory
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools clean"""
EXITS = {1: "The directory can't be removed, or is something else."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.pass_context
def clean(ctx: click.Context) -> None:
    """Remove what validate keeps between runs: .sovl_tools_cache.

    It lies beside the configuration, or in the current directory if there is none. The next run
    checks all tools anew.
    """
    directory = cache_directory(load_configuration())
    try:
        was_there = _removed(directory)
    except (OSError, ValueError) as error:
        click.echo(plain(f"Error: {error}"), err=True)
        ctx.exit(FINDINGS)
    write(plain(f"removed {directory}" if was_there else f"there is no {directory}"))


def _removed(directory: str) -> bool:
    """Remove a cache; return whether there was one."""
    if not os.path.lexists(directory):
        return False
    if os.path.isdir(directory):
        os.listdir(directory)  # raises where nobody can tell
    if os.path.islink(directory) or not os.path.isfile(os.path.join(directory, TAG)):
        raise ValueError(f"{directory!r} is no cache of sovl-tools; nothing is removed")
    shutil.rmtree(directory)
    return True
