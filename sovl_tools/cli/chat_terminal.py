"""The lines of a chat, from a terminal or a pipe, and its transcript.

At a terminal they have a history and completion; notices wait for the end of a line.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import click

from sovl_tools.agent.events import Event, RoundFinished, TextDelta, ToolFinished, ToolStarted
from sovl_tools.agent.history import tool_message
from sovl_tools.cli.output import results, show, write
from sovl_tools.cli.terminal_host import NOT_A_TERMINAL, describe_call, describe_event
from sovl_tools.formats.messages import as_one_text
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolError
from sovl_tools.reporting.text import cut, plain

PROMPT = "> "
# called at each completion, as the tools can have changed
Words = Callable[[], list[str]]


def lines(words: Words) -> Pipe | Terminal:
    """Return the lines of the standard input; at a terminal ``words`` complete what is typed."""
    return Terminal(words) if sys.stdin.isatty() else Pipe()


class Pipe:
    """Lines of a program or a file, without a user who could be asked."""

    is_terminal = False

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        return sys.stdin.readline() or None

    def prompt(self, question: str) -> str:
        """Refuse to ask.

        Raises:
            ToolError: the user can't be asked.
        """
        raise ToolError(NOT_A_TERMINAL)


class Terminal:
    """Lines that are typed; Ctrl-C clears one, a second time it ends them, as Ctrl-D does.

    Where Python has the module ``readline``, it edits them, with a history and with completion.
    """

    is_terminal = True

    def __init__(self, words: Words) -> None:
        self._readline: Any = None
        self._found: list[str] = []
        with suppress(ImportError):
            self._edit(words)

    def _edit(self, words: Words) -> None:
        import readline  # noqa: PLC0415 - not on every system

        def complete(text: str, number: int) -> str | None:
            if number == 0:
                self._found = [f"{each} " for each in words() if each.startswith(text)]
            return self._found[number] if number < len(self._found) else None

        readline.set_completer(complete)
        readline.set_completer_delims(" ")
        is_editline = "libedit" in (readline.__doc__ or "")  # as on macOS
        readline.parse_and_bind("bind ^I rl_complete" if is_editline else "tab: complete")
        readline.set_history_length(1000)
        readline.set_auto_history(False)  # answers to questions stay out of it
        self._readline = readline
        path = history_path()
        with suppress(OSError):  # the chat works without a history
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            readline.read_history_file(path)
            atexit.register(readline.write_history_file, path)

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        for advice in ("Ctrl-C again, or Ctrl-D, leaves", ""):
            try:
                line = self.prompt(PROMPT)
            except KeyboardInterrupt:
                click.echo(f"\n{advice}", err=True, nl=bool(advice))
            except EOFError:
                return None
            else:
                if line.strip() and self._readline is not None:
                    self._readline.add_history(line)
                return line
        return None

    def prompt(self, question: str) -> str:
        """Return what is typed after a question.

        Raises:
            EOFError: the user typed Ctrl-D.
            KeyboardInterrupt: the user stops the answer.
        """
        # readline needs descriptor 1, which leads to the error output
        with open(1, "w", closefd=False) as screen, redirect_stdout(screen):
            try:
                return input(question)
            except EOFError:
                click.echo(err=True)
                raise


def history_path() -> Path:
    """Return the path of the chat's history (XDG Base Directory Specification)."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    root = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
    return root / "sovl-tools" / "chat_history"


_FAINT, _RED = "dim", "red"
_LONGEST = 200
# shorter durations aren't shown
_NOTABLE = 0.1


class Transcript:
    """Shows the chat, and tracks whether a line has been begun.

    Attributes:
        is_quiet: whether only answers and errors are shown.

    Args:
        shows_results: whether results of calls are shown; False if they are the answers.
    """

    def __init__(self, *, is_quiet: bool = False, shows_results: bool = True) -> None:
        self.is_quiet = is_quiet
        self._shows_results = shows_results
        self._is_begun = False
        self._wrap: Any = None
        if results().isatty():
            from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

            self._wrap = terminal.WordWrap(results())

    def show(self, event: Event) -> None:
        """Show an event of a turn."""
        match event:
            case TextDelta(text=piece):
                self.text(piece)
            case ToolStarted(call=call):
                # arguments that aren't JSON are shown unchanged
                arguments: JSON = call.arguments or "{}"
                with suppress(ValueError, RecursionError):
                    arguments = json.loads(arguments)
                self.note(f"→ {describe_call(call.name, arguments)}")
            case ToolFinished(call=call, result=result) if self._shows_results:
                content = as_one_text(tool_message(call, result)["content"])
                words = content if result.error is None else f"error: {content}"
                took = f" ({result.duration:.1f} s)" if result.duration > _NOTABLE else ""
                tint = _FAINT if result.error is None else _RED
                self.note(f"← {cut(' '.join(words.split()), _LONGEST - len(took))}{took}", tint)
            case Progress() | LogMessage():
                self.note(describe_event(event))
            case RoundFinished():
                self.end()

    def text(self, piece: str) -> None:
        """Show a piece of an answer."""
        shown = escape_controls(piece)
        write(shown if self._wrap is None else self._wrap.add(shown), end="")
        self._is_begun = not piece.endswith("\n")

    def end(self) -> None:
        """End the line that has been begun."""
        rest = "" if self._wrap is None else self._wrap.end()
        if self._is_begun:
            write(rest)
            self._is_begun = False

    def result(self, text: str) -> None:
        """Show the result of a command of the chat."""
        self.end()
        show(escape_controls(text))

    def note(self, text: str, tint: str = _FAINT) -> None:
        """Show a note in its own line."""
        self.end()
        if not self.is_quiet:
            _say(text, tint)

    def problem(self, text: str) -> None:
        """Show an error in its own line."""
        self.end()
        _say(text, _RED)


def _say(text: str, tint: str) -> None:
    show([(plain(cut(text, 5 * _LONGEST)), tint)], err=True)


def escape_controls(text: str) -> str:
    """Return a string of several lines without control characters."""
    lines = text.replace("\r\n", "\n")
    return "".join(part if part in "\n\t" else plain(part) for part in re.split(r"([\n\t])", lines))
