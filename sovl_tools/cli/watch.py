"""``sovl-tools watch``, and ``recheck`` for ``validate --watch``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import NamedTuple

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import Command, note
from sovl_tools.cli.output import excerpt_width, json_text, results, show, write
from sovl_tools.configuration import Configuration, load_configuration
from sovl_tools.configured import add_code
from sovl_tools.model.catalog import CatalogChange, LoadReport
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.changes import news
from sovl_tools.reporting.outcome import STATUSES, Outcome, counted
from sovl_tools.reporting.text import EXCERPT_WIDTH, Piece, block, plain

EXAMPLES = """\b
Examples:
  sovl-tools watch
  sovl-tools watch --poll              on a network drive
  sovl-tools watch --format json       one line for each change"""
EXITS = {0: "After Ctrl-C or SIGTERM."}

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
@option.tools
@click.option("--poll", is_flag=True, help="Scan each second instead of waiting for file events.")
@option.format_("text", "json")
def watch(
    *,
    tools: tuple[str, ...],
    poll: bool,
    format_: str,
) -> None:
    """Reload tools while you edit them, and log each change, until Ctrl-C.

    When an edit breaks a tool, the log has the findings of validate, and the last good version
    keeps serving. JSON is one object a line: first the tools at the start, then each change.
    """
    found = load_configuration(tools)
    show_moment = _show_text if format_ == "text" else _show_json
    absent = [path for path in _places(found) if not os.path.exists(path)]
    moments = SimpleQueue[Moment]()
    with until_ended():
        started = perf_counter()
        registry = ToolRegistry.from_directory(
            *found.paths,
            exclude=found.exclude,
            import_timeout=found.import_timeout,
            locked=found.lock_file if found.locked else None,
        )
        add_code(registry, found, entry_points=False)
        start = _start(registry.report, registry.catalog.tools, absent, perf_counter() - started)
        # in the thread that made the change: what is served may differ by the time it is shown
        registry.subscribe(lambda change: moments.put(moment_of(registry, change)))
        with registry.watch(poll=poll, libraries=found.watch) as watching:
            note(f"watching {', '.join(_places(found))}: {_loaded(registry)}; Ctrl-C ends it")
            for path in absent:
                note(f"{path!r} is not there yet; waiting for it")
            show_moment(start)
            known = None
            while True:
                if watching.notice not in {None, known}:
                    note(str(watching.notice))
                known = watching.notice
                with contextlib.suppress(Empty):
                    show_moment(moments.get(timeout=_BEAT))


_BEAT = 0.5
"""Seconds between two searches for a notice of the watch."""


def _loaded(registry: ToolRegistry) -> str:
    counts = Outcome(registry.report).statuses
    others = [f"{counts[each]} {each}" for each in STATUSES[1:] if counts[each]]
    return ", ".join([f"{counted(counts['loaded'], 'tool')} loaded", *others])


def _start(
    report: LoadReport, loaded: Iterable[str], absent: Collection[str], duration: float
) -> Moment:
    """Return the load at the start as a change: the loaded tools count as added."""
    named = {
        status: tuple(sorted({each.name for each in report.folders if each.status == status}))
        for status in ("rejected", "waiting")
    }
    # a missing path isn't an error, as it can still appear
    found = tuple(each for each in report.diagnostics if each.path not in absent)
    change = CatalogChange(
        added=tuple(sorted(loaded)), **named, diagnostics=found, duration=duration
    )
    return Moment(_now(), change, is_start=True)


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
    for word, names in news(change, moment.serving):
        padding = " " * (_WIDTH - len(word))
        yield (time, "dim"), "  ", (word, _TINTS[word]), f"{padding}  {took:>8}  {names}"
    for each in change.diagnostics:
        yield block(each, width=width)


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


def _show_text(moment: Moment) -> None:
    shown = list(pieces(moment, excerpt_width(results())))
    if shown:
        show(shown)


def _show_json(moment: Moment) -> None:
    write(json_text(document(moment)))


@contextmanager
def until_ended() -> Iterator[None]:
    """End the block in order at Ctrl-C, at SIGTERM and when no program reads the results."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):
        if sys.stderr.isatty():
            click.echo(err=True)
    finally:
        signal.signal(signal.SIGTERM, previous)


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
        # before the check, so that changes while it runs cause another
        events.aim(places(map(os.path.abspath, paths), ()))
        try:
            check()
            paths[:] = watched()
        except (click.ClickException, SovlToolsError) as error:
            show(plain(f"Error: {error}"), err=True)
        note("watching; Ctrl-C ends it")

    with until_ended():
        try:
            look()
            while True:
                batch = debounce.next(_BEAT)
                if batch is not None and batch.paths:
                    look()
        finally:
            events.stop()
