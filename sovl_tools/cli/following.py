"""What the commands do that go on until somebody ends them: they follow what happens."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import click

from sovl_tools.cli.command import is_quiet
from sovl_tools.cli.output import results
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.reloading.events import Events, places
from sovl_tools.reloading.watcher import Batch, Debounce

_T = TypeVar("_T")

# seconds after which it is noticed at the latest that nobody reads the results any more
_BEAT = 0.5


@contextmanager
def until_ended() -> Iterator[None]:
    """Take Ctrl-C, SIGTERM and a reader that leaves for the end, not for a failure."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):
        if sys.stderr.isatty():
            click.echo(err=True)
    finally:
        signal.signal(signal.SIGTERM, previous)


def follow(
    await_next: Callable[[float], _T | None], notice: Callable[[], str | None] = lambda: None
) -> Iterator[_T | str]:
    """Yield what happens and each new notice, for as long as somebody reads the results.

    ``await_next`` waits for ``seconds``, and returns None if nothing has happened in them.
    """
    known = None
    while _has_reader():
        latest = notice()
        if latest is not None and latest != known:
            yield latest
        known = latest
        # a heartbeat as well: when nothing happens the reader is looked after
        found = await_next(_BEAT)
        if found is not None:
            yield found


def _has_reader() -> bool:
    """Tell whether the results are read, as far as it is known; a pipe knows when it is closed."""
    output = results().fileno()
    if sys.platform == "win32" or not stat.S_ISFIFO(os.fstat(output).st_mode):
        return True
    poll = select.poll()
    poll.register(output, 0)  # an error, such as a closed end, is reported whatever is asked for
    return not poll.poll(0)


def recheck(check: Callable[[], object], watched: Callable[[], Iterable[str]]) -> None:
    """Check, and again whenever what is watched has changed and come to rest, until it is ended.

    What can't be checked just now, such as a half-edited configuration, is reported, and the
    watch goes on; at the start it ends the command.

    Raises:
        OSError: the system gives no watches.
    """
    paths = list(watched())
    debounce = Debounce()
    events = Events(debounce.put)

    def look() -> None:
        # before the check: what changes while it runs is looked at afterwards
        events.aim(places(map(os.path.abspath, paths), {}))
        try:
            check()
            paths[:] = watched()
        except (click.ClickException, SovlToolsError) as error:
            click.echo(f"Error: {error}", err=True)
        if not is_quiet():
            click.echo("watching; Ctrl-C ends it", err=True)

    def await_change(seconds: float) -> Batch | None:
        batch = debounce.next(seconds)
        return batch if batch is not None and batch.paths else None

    with until_ended():
        try:
            look()
            for _ in follow(await_change):
                look()
        finally:
            events.stop()
