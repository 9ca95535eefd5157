"""``sovl-tools watch``, and ``recheck`` for ``validate --watch``."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import NamedTuple, TypeVar

import click

from sovl_tools.cli.command import (
    Command,
    format_option,
    is_quiet,
    note,
    poll_option,
    tools_option,
)
from sovl_tools.cli.output import excerpt_width, json_text, listed, results, show, write
from sovl_tools.configuration import Configuration, load_configuration
from sovl_tools.configured import add_code
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.outcome import STATUSES, Outcome, counted
from sovl_tools.reporting.text import EXCERPT_WIDTH, Piece, block, plain

EXAMPLES = """\b
Examples:
  sovl-tools watch
  sovl-tools watch --tools drafts
  sovl-tools watch --poll              on a network drive
  sovl-tools watch --format json       one line for each change"""
EXITS = {0: "After Ctrl-C or SIGTERM, or when the reader of the output has left."}

_TINTS = {
    "added": "green",
    "updated": "green",
    "removed": "yellow",
    "waiting": "cyan",
    "rejected": "bold red",
    "checked": "cyan",
}
_WIDTH = max(map(len, _TINTS))


class Moment(NamedTuple):
    """A change of the tools.

    Attributes:
        time: local, with its offset.
        change: the tools that were added, updated, removed and so on.
        serving: the rejected tools whose last good version keeps serving.
        is_start: whether the change is the load at the start.
    """

    time: datetime
    change: CatalogChange
    serving: tuple[str, ...] = ()
    is_start: bool = False


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@tools_option
@poll_option
@format_option("text", "json")
def watch(
    *,
    tools: tuple[str, ...],
    poll: bool,
    format_: str,
) -> None:
    """Reload tools as they are edited, and log each change, until Ctrl-C.

    When an edit breaks a tool, the log has the findings of validate, and the last good version
    keeps serving. JSON is one object a line: first the tools at the start, then each change.
    """
    found = load_configuration(tools)
    print_moment = _print_text if format_ == "text" else _print_json
    quiet = is_quiet()
    with until_ended(), contextlib.closing(_events(found, poll=poll)) as events:
        for event in events:
            if not isinstance(event, str):
                print_moment(event)
            elif not quiet:
                show(plain(event), err=True)


def _events(found: Configuration, *, poll: bool) -> Generator[Moment | str]:
    """Load the tools and yield moments, and sentences for the user."""
    absent = [path for path in _places(found) if not os.path.exists(path)]
    started = perf_counter()
    registry = ToolRegistry.from_directory(
        *found.paths,
        exclude=found.exclude,
        import_timeout=found.import_timeout,
        locked=found.lock_file if found.locked else None,
    )
    add_code(registry, found, entry_points=False)
    report = registry.report
    named = {
        status: tuple(sorted({each.name for each in report.folders if each.status == status}))
        for status in ("rejected", "waiting")
    }
    # the loaded tools count as added; a missing path isn't an error, as it may still appear
    loaded_change = CatalogChange(
        added=tuple(sorted(registry.catalog.tools)),
        **named,
        diagnostics=tuple(each for each in report.diagnostics if each.path not in absent),
        duration=perf_counter() - started,
    )
    start = Moment(_now(), loaded_change, is_start=True)
    counts = Outcome(report).statuses
    others = [f"{counts[each]} {each}" for each in STATUSES[1:] if counts[each]]
    loaded = ", ".join([f"{counted(counts['loaded'], 'tool')} loaded", *others])
    moments = SimpleQueue[Moment]()

    def hear(change: CatalogChange) -> None:
        # in the thread that made the change: what is served may differ by the time it is shown
        moments.put(moment_of(registry, change))

    def await_moment(seconds: float) -> Moment | None:
        with contextlib.suppress(Empty):
            return moments.get(timeout=seconds)
        return None

    registry.subscribe(hear)
    with registry.watch(poll=poll, libraries=found.watch) as watching:
        yield f"watching {', '.join(_places(found))}: {loaded}; Ctrl-C ends it"
        yield from (f"{path!r} is not there yet; waiting for it" for path in absent)
        yield start
        yield from follow(await_moment, lambda: watching.notice)


def moment_of(registry: ToolRegistry, change: CatalogChange) -> Moment:
    """Return the moment of a change, with the rejected tools that are still served."""
    catalog = registry.catalog
    served = {
        each.name
        for each in catalog.candidates
        if each.previous and each.previous.definition is catalog.tools.get(each.name)
    }
    return Moment(_now(), change, tuple(name for name in change.rejected if name in served))


def _places(found: Configuration) -> tuple[str, ...]:
    return *found.paths, *found.plugins, *found.watch


def _now() -> datetime:
    return datetime.now().astimezone()


def pieces(moment: Moment, width: int = EXCERPT_WIDTH) -> Iterator[Piece]:
    """Yield a line for each kind of news, then the diagnostics with excerpts and help.

    For the start there are only the findings in rejected tools.
    """
    for number, paragraph in enumerate(_paragraphs(moment, width)):
        yield "\n" * (number > 0)
        yield from paragraph


def _paragraphs(moment: Moment, width: int) -> Iterator[Iterable[Piece]]:
    change = moment.change
    if moment.is_start:
        for each in change.diagnostics:
            if each.severity == "error" or each.tool in change.rejected:
                yield block(each, width=width)
        return
    time, took = f"{moment.time:%H:%M:%S}", f"{round(change.duration * 1000):,} ms"
    for word, names in news(moment):
        padding = " " * (_WIDTH - len(word))
        yield (time, "dim"), "  ", (word, _TINTS[word]), f"{padding}  {took:>8}  {names}"
    for each in change.diagnostics:
        yield block(each, width=width)


def news(moment: Moment) -> list[tuple[str, str]]:
    """Return kinds of changes with the names of their tools; ``checked`` for mere diagnostics."""
    change = moment.change
    others = [name for name in change.rejected if name not in moment.serving]
    kinds = [
        ("added", change.added, ""),
        ("updated", change.updated, ""),
        ("removed", change.removed, ""),
        ("waiting", change.waiting, ": not all files are there yet"),
        ("rejected", moment.serving, ": the last good version keeps serving"),
        ("rejected", others, ": not served"),
    ]
    found = [(word, f"{listed(names)}{remark}") for word, names, remark in kinds if names]
    places = sorted({each.tool or each.path for each in change.diagnostics})
    return found or [("checked", listed(places))]


def document(moment: Moment) -> dict[str, JSON]:
    """Return the moment as a JSON value; ``duration`` is in seconds."""
    change = moment.change
    words = ("added", "updated", "removed", "rejected", "waiting")
    return {
        "time": moment.time.isoformat(timespec="milliseconds"),
        **{word: list(getattr(change, word)) for word in words},
        "serving": list(moment.serving),
        "duration": round(change.duration, 6),
        "diagnostics": [each._asdict() for each in change.diagnostics],
    }


def _print_text(moment: Moment) -> None:
    shown = list(pieces(moment, excerpt_width(results())))
    if shown:
        show(shown)


def _print_json(moment: Moment) -> None:
    write(json_text(document(moment)))


_T = TypeVar("_T")

# seconds between two checks whether the reader of the results has left
_BEAT = 0.5


@contextmanager
def until_ended() -> Iterator[None]:
    """End the block in order at Ctrl-C, at SIGTERM and when the reader of the results leaves."""
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
    """Yield events and new notices until the reader of the results leaves.

    ``await_next`` waits up to that many seconds for an event, and returns None without one.
    """
    known = None
    while _has_reader():
        latest = notice()
        if latest is not None and latest != known:
            yield latest
        known = latest
        found = await_next(_BEAT)
        if found is not None:
            yield found


def _has_reader() -> bool:
    """Return False if the results go into a pipe whose reader has closed it."""
    output = results().fileno()
    if sys.platform == "win32" or not stat.S_ISFIFO(os.fstat(output).st_mode):
        return True
    poll = select.poll()
    poll.register(output, 0)  # a closed end is always reported
    return not poll.poll(0)


def recheck(check: Callable[[], object], watched: Callable[[], Iterable[str]]) -> None:
    """Check, and again after each change of the watched paths, until Ctrl-C.

    An error, such as a half-edited configuration, is reported, and the watch continues.

    Raises:
        OSError: the system gives no watches.
    """
    from sovl_tools.reloading.events import Events, places  # noqa: PLC0415 - 40 ms
    from sovl_tools.reloading.watcher import Debounce  # noqa: PLC0415 - 40 ms

    paths = list(watched())
    debounce = Debounce()
    events = Events(debounce.put)

    def look() -> None:
        # before the check, so that changes while it runs cause another one
        events.aim(places(map(os.path.abspath, paths), {}))
        try:
            check()
            paths[:] = watched()
        except (click.ClickException, SovlToolsError) as error:
            show(plain(f"Error: {error}"), err=True)
        note("watching; Ctrl-C ends it")

    def await_change(seconds: float) -> set[str] | None:
        batch = debounce.next(seconds)
        return batch.paths or None if batch is not None else None

    with until_ended():
        try:
            look()
            for _ in follow(await_change):
                look()
        finally:
            events.stop()
