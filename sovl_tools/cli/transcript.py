"""How a chat is shown: answers as results, everything else beside them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from sovl_tools.agent.events import Event, RoundFinished, TextDelta, ToolFinished, ToolStarted
from sovl_tools.agent.messages import tool_message
from sovl_tools.cli.output import write
from sovl_tools.formats.messages import as_one_text
from sovl_tools.model.document import JSON
from sovl_tools.reporting.plain import plain
from sovl_tools.reporting.text import painted

_FAINT, _RED = "2", "31"
_LONGEST = 200
_LONGEST_VALUE = 60
_NOTABLE = 0.1
"""Seconds from which on it is told how long a call took."""


class Transcript:
    """Shows what happens, and knows whether a line has been begun.

    Attributes:
        is_quiet: whether only answers and errors are shown.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        self.is_quiet = is_quiet
        self._is_begun = False

    def show(self, event: Event) -> None:
        """Show an event of a turn."""
        shown = _SHOWN.get(type(event))
        if shown is not None:
            shown(self, event)

    def text(self, piece: str) -> None:
        """Show a piece of an answer."""
        write(harmless(piece), end="")
        self._is_begun = not piece.endswith("\n")

    def end(self) -> None:
        """End the line that has been begun."""
        if self._is_begun:
            write("")
            self._is_begun = False

    def result(self, text: str) -> None:
        """Show what a command of the chat was asked for."""
        self.end()
        write(harmless(text))

    def note(self, text: str, tint: str = _FAINT) -> None:
        """Say something in a line beside the answers."""
        self.end()
        if not self.is_quiet:
            _say(text, tint)

    def problem(self, text: str) -> None:
        """Say what went wrong, in a line."""
        self.end()
        _say(text, _RED)

    def question(self, name: str, arguments: Mapping[str, JSON]) -> str:
        """Return the question whether a call may be made."""
        return f"call {_cut(plain(_call(name, arguments)))}? [y/N] "

    def _started(self, event: ToolStarted) -> None:
        self.note(f"→ {_call(event.call.name, _parsed(event.call.arguments))}")

    def _finished(self, event: ToolFinished) -> None:
        result = event.result
        content = as_one_text(tool_message(event.call, result)["content"])
        words = content if result.error is None else f"error: {content}"
        took = f" ({result.duration:.1f} s)" if result.duration > _NOTABLE else ""
        tint = _FAINT if result.error is None else _RED
        self.note(f"← {_cut(' '.join(words.split()), _LONGEST - len(took))}{took}", tint)


_SHOWN: dict[type, Callable[[Transcript, Any], None]] = {
    TextDelta: lambda transcript, event: transcript.text(event.text),
    ToolStarted: Transcript._started,  # noqa: SLF001 - its own
    ToolFinished: Transcript._finished,  # noqa: SLF001 - its own
    RoundFinished: lambda transcript, _: transcript.end(),
}


def _say(text: str, tint: str) -> None:
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(painted(plain(_cut(text, 5 * _LONGEST)), tint, color=color), err=True)


def harmless(text: str) -> str:
    """Return a text of several lines in which nothing can do anything to a terminal."""
    lines = text.replace("\r\n", "\n")
    return "".join(part if part in "\n\t" else plain(part) for part in re.split(r"([\n\t])", lines))


def _call(name: str, arguments: JSON) -> str:
    if not isinstance(arguments, Mapping):
        return f"{name}({arguments})"
    return f"{name}({', '.join(f'{key}={_value(value)}' for key, value in arguments.items())})"


def _value(value: JSON) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)


def _parsed(arguments: str) -> JSON:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _cut(text: str, length: int = _LONGEST) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
