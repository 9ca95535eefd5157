"""The lines of a chat, from a terminal or a pipe, and its transcript.

At a terminal prompt_toolkit edits them (extra ``chat``), with a history and with completion.
Without it, or on a dumb terminal, they are plain lines, and notices wait for the end of one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
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
    # a line that isn't UTF-8 is read with replacement characters
    if sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin is None or not sys.stdin.isatty():
        return Pipe()
    # the answers may go into a file while the user types in the terminal of the error output
    screen = next((each for each in (results(), sys.stderr) if each.isatty()), None)
    if screen is None or os.environ.get("TERM", "dumb") == "dumb":
        return Terminal()
    try:
        return EditedTerminal(screen, words)
    except ImportError:
        return Terminal()


class Pipe:
    """Lines of a program or a file, without a user who could be asked."""

    is_terminal = False

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        return (sys.stdin.readline() if sys.stdin is not None else "") or None

    def prompt(self, question: str) -> str:
        """Refuse to ask.

        Raises:
            ToolError: the user can't be asked.
        """
        raise ToolError(NOT_A_TERMINAL)

    def interject(self, text: str) -> bool:
        """Return False: no user is typing."""
        return False


class Terminal:
    """Lines that are typed; Ctrl-C clears one, a second time it ends them, as Ctrl-D does.

    The terminal itself edits them.
    """

    is_terminal = True

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        for advice in ("Ctrl-C again, or Ctrl-D, leaves", ""):
            try:
                return self.line()
            except KeyboardInterrupt:
                self.end()
                click.echo(advice, err=True, nl=bool(advice))
            except EOFError:
                self.end()
                return None
        return None

    def prompt(self, question: str) -> str:
        """Return what is typed after a question.

        Raises:
            EOFError: the user typed Ctrl-D.
            KeyboardInterrupt: the user stops the answer.
        """
        try:
            return self.answer(question).rstrip("\r\n")
        except EOFError:
            self.end()
            raise

    def line(self) -> str:
        """Return what is typed."""
        return self.answer(PROMPT)

    def answer(self, question: str) -> str:
        """Return what is typed after a question."""
        click.echo(question, err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line

    def end(self) -> None:
        """End the line that was left."""
        click.echo(err=True)

    def interject(self, text: str) -> bool:
        """Show a string above the line that is being typed; return False if that isn't possible."""
        return False


class EditedTerminal(Terminal):
    """Lines that prompt_toolkit edits on a screen, with a history that is kept.

    Raises:
        ImportError: prompt_toolkit is not installed.
    """

    def __init__(self, screen: Any, words: Words) -> None:
        from prompt_toolkit import PromptSession  # noqa: PLC0415 - an extra
        from prompt_toolkit.application import run_in_terminal  # noqa: PLC0415 - the same
        from prompt_toolkit.completion import WordCompleter  # noqa: PLC0415 - the same
        from prompt_toolkit.history import DummyHistory, FileHistory  # noqa: PLC0415 - the same
        from prompt_toolkit.output.defaults import create_output  # noqa: PLC0415 - the same
        from prompt_toolkit.shortcuts import CompleteStyle  # noqa: PLC0415 - the same

        output: Any = create_output(screen)
        output.enable_cpr = False  # the position of the cursor doesn't matter
        path = history_path()
        history: Any = None  # the chat works without a history
        with suppress(OSError, RuntimeError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)  # prompt_toolkit would make it readable for all
            history = FileHistory(path)
        self._run_in_terminal = run_in_terminal
        self._answers: Any = PromptSession(history=DummyHistory(), output=output)
        self._lines: Any = PromptSession(
            history=history,
            completer=WordCompleter(words, WORD=True),
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            output=output,
        )

    def line(self) -> str:
        """Return what is typed."""
        line: str = self._lines.prompt(PROMPT)
        return line

    def answer(self, question: str) -> str:
        """Return what is typed after a question; none of it gets into the history."""
        # in a thread, because the loop of the agent's turn runs in this one
        answer: str = self._answers.prompt(question, in_thread=True)
        return answer

    def end(self) -> None:
        """Do nothing: the line that was left has ended."""

    def interject(self, text: str) -> bool:
        """Show a string above the line that is being typed."""
        # mostly called in the thread that watches the tools; only the loop may draw
        app = self._lines.app
        if not app.is_running or app.loop is None:
            return False
        show = partial(click.echo, text, err=True)
        try:
            app.loop.call_soon_threadsafe(partial(self._run_in_terminal, show), context=app.context)
        except RuntimeError:  # the line has ended meanwhile, and its loop with it
            return False
        return True


def history_path() -> Path:
    """Return the path of the chat's history (XDG Base Directory Specification)."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    root = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
    return root / "sovl-tools" / "chat_history"


_FAINT, _RED = "dim", "red"
_LONGEST = 200
_LONGEST_VALUE = 60
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
