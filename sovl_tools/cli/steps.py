"""What is shown of a run while it goes on: a tree on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import click

from sovl_tools.cli.call import words_of
from sovl_tools.cli.live import Live
from sovl_tools.cli.tree import WORDS, header, label_of, retry
from sovl_tools.procedures.run.events import (
    Event,
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.reporting.plain import plain

Tell: TypeAlias = Callable[[Event], object]

_WIDTH = max(map(len, WORDS.values()))


@contextmanager
def showing(*, is_quiet: bool, is_verbose: bool) -> Iterator[Tell]:
    """Yield what shows events on the error output; of a run that is to be quiet, nothing."""
    if is_quiet:
        yield lambda _: None
    elif sys.stderr.isatty() and not is_verbose:
        with Live() as live:
            yield live.hear
    else:
        yield Lines().hear


class Lines:
    """Says in a line each what begins, what ends and what is tried again."""

    def __init__(self) -> None:
        self._last: str | None = None

    def hear(self, event: Event) -> None:
        """Show an event."""
        click.echo(plain(self._words(event)), err=True)

    def _words(self, event: Event) -> str:
        if isinstance(event, RunStarted):
            return header(event)
        if isinstance(event, StepStarted):
            return _line("started", event)
        if isinstance(event, StepRetried):
            return f"{_line('failed', event)}: {retry(event)}"
        if isinstance(event, StepEnded):
            return f"{_line(WORDS[event.state], event)}{self._ending(event)}"
        return words_of(event)

    def _ending(self, event: StepEnded) -> str:
        """Return how long a step took, and why it failed unless that has just been said."""
        took = "" if event.state in {"skipped", "known"} else f"  in {event.duration:.2f} s"
        is_news = event.message is not None and event.message != self._last
        self._last = event.message
        return f"{took}: {event.message}" if is_news else took


def _line(word: str, event: StepStarted | StepRetried | StepEnded) -> str:
    return f"{word:{_WIDTH}}  {'  ' * event.depth}{label_of(event)}  [{event.key}]"
