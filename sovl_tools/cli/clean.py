"""``sovl-tools clean``."""

from __future__ import annotations

import os
import shutil

import click

from sovl_tools.cli.command import Command
from sovl_tools.cli.output import write
from sovl_tools.configuration import load_configuration
from sovl_tools.linting.cache import TAG, cache_directory
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools clean"""
EXITS = {1: "The directory can't be removed, or is something else."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
def clean() -> None:
    """Remove what validate keeps between runs: .sovl_tools_cache.

    It lies beside the configuration, or in the current directory if there is none. The next run
    checks all tools anew.
    """
    directory = cache_directory(load_configuration())
    was_there = os.path.lexists(directory)
    try:
        if os.path.isdir(directory):
            os.listdir(directory)  # raises where nobody can tell
        if was_there:
            if os.path.islink(directory) or not os.path.isfile(os.path.join(directory, TAG)):
                words = f"{directory!r} is no cache of sovl-tools; nothing is removed"
                raise click.ClickException(words)
            shutil.rmtree(directory)
    except OSError as error:
        raise click.ClickException(plain(str(error))) from error
    write(plain(f"removed {directory}" if was_there else f"there is no {directory}"))
