"""Checking again whenever a file changes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable

import click

from sovl_tools.cli.command import is_quiet
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.reloading.events import Events, places
from sovl_tools.reloading.watcher import HEARTBEAT, Debounce


def recheck(check: Callable[[], object], watched: Callable[[], Iterable[str]]) -> None:
    """Check, and again whenever what is watched has changed and come to rest, until Ctrl-C.

    What can't be checked just now, as a configuration in the middle of an edit, is told, and the
    watch goes on; at the start it ends the command.

    Raises:
        OSError: the system gives no watches.
    """
    debounce = Debounce()
    events = Events(debounce.put)
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    paths = list(watched())
    try:
        while True:
            # before the check: what changes while it runs is looked at afterwards
            events.aim(places(map(os.path.abspath, paths), {}))
            try:
                check()
                paths = list(watched())
            except (click.ClickException, SovlToolsError) as error:
                click.echo(f"Error: {error}", err=True)
            if not is_quiet():
                click.echo("watching; Ctrl-C ends it", err=True)
            while not ((batch := debounce.next(HEARTBEAT)) and batch.paths):
                pass
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            click.echo(err=True)
    finally:
        events.stop()
        signal.signal(signal.SIGTERM, previous)
