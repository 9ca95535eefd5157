"""Where the lines of a chat come from: somebody at a terminal, or a pipe.

At a terminal prompt_toolkit edits them (extra ``chat``), with a history and with completion.
Without it, or on a dumb terminal, they are plain lines.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import click

from sovl_tools.cli.output import results

PROMPT = "> "
Words = Callable[[], list[str]]
"""Returns what a word of a line can be completed to."""


class Lines(Protocol):
    """Lines of a user.

    Attributes:
        is_terminal: whether somebody sits there.
    """

    is_terminal: bool

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        ...

    def confirmed(self, question: str) -> bool | str:
        """Return whether the user says yes, or why nobody can be asked.

        Raises:
            KeyboardInterrupt: the user wants to leave off.
        """
        ...

    def interject(self, text: str) -> bool:
        """Show a text above the line that is being typed; return False if none is."""
        ...


def lines(words: Words) -> Lines:
    """Return the lines of the standard input; at a terminal ``words`` complete what is typed."""
    if sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin is None or not sys.stdin.isatty():
        return Pipe()
    screen = next((each for each in (results(), sys.stderr) if each.isatty()), None)
    if screen is None or os.environ.get("TERM", "dumb") == "dumb":
        return Terminal(PlainEditor())
    try:
        return Terminal(Editor(screen, words))
    except ImportError:
        return Terminal(PlainEditor())


class Pipe:
    """Lines that a program or a file says."""

    is_terminal = False

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        return (sys.stdin.readline() if sys.stdin is not None else "") or None

    def confirmed(self, question: str) -> bool | str:
        """Return why nobody can be asked."""
        return "nobody can be asked, as the input is no terminal"

    def interject(self, text: str) -> bool:
        """Return False: nobody types."""
        return False


class Terminal:
    """Lines that somebody types; Ctrl-C clears one, a second time it ends them, as Ctrl-D does."""

    is_terminal = True

    def __init__(self, editor: Editor | PlainEditor) -> None:
        self._editor = editor
        self.interject = editor.interject

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        for advice in ("Ctrl-C again, or Ctrl-D, leaves", ""):
            try:
                return self._editor.line()
            except KeyboardInterrupt:
                self._editor.end()
                click.echo(advice, err=True, nl=bool(advice))
            except EOFError:
                self._editor.end()
                return None
        return None

    def confirmed(self, question: str) -> bool | str:
        """Return whether the user says yes."""
        try:
            return self._editor.answer(question).strip().casefold() in {"y", "yes"}
        except EOFError:
            self._editor.end()
            return False


class PlainEditor:
    """Lines as the terminal itself edits them."""

    def __init__(self) -> None:
        self._is_typing = False

    def line(self) -> str:
        """Return what is typed."""
        self._is_typing = True
        try:
            return self.answer(PROMPT)
        finally:
            self._is_typing = False

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
        """Show a text below the line that is being typed."""
        if self._is_typing:
            click.echo(f"\n{text}\n{PROMPT}", err=True, nl=False)
        return self._is_typing


class Editor:
    """Lines that are edited on a screen by prompt_toolkit, with a history that is kept.

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
        output.enable_cpr = False  # nothing here depends on where the cursor is
        path = _made(history_path())
        self._run_in_terminal = run_in_terminal
        self._answers: Any = PromptSession(history=DummyHistory(), output=output)
        self._lines: Any = PromptSession(
            history=FileHistory(path) if path is not None else None,
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
        answer: str = self._answers.prompt(question, in_thread=True)
        return answer

    def end(self) -> None:
        """Do nothing: the line that was left has ended."""

    def interject(self, text: str) -> bool:
        """Show a text above the line that is being typed."""
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
    """Return where the history of the chat is kept (XDG Base Directory Specification)."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    root = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
    return root / "sovl-tools" / "chat_history"


def _made(path: Path) -> Path | None:
    """Return the path of a file that is there, for nobody else to read; None if it can't be."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except (OSError, RuntimeError):
        return None
    return path
