"""Where the lines of a chat come from: somebody at a terminal, or a pipe."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Protocol

import click

from sovl_tools.cli.command import results
from sovl_tools.reporting.plain import plain

PROMPT = "> "
_MOST_LINES = 1000
_BEAT = 0.25
_CLEAR = "\r\x1b[K"


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


@contextlib.contextmanager
def lines() -> Iterator[Lines]:
    """Yield the lines of the standard input; at a terminal with a history that is kept."""
    if sys.stdin is not None and hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin is None or not sys.stdin.isatty():
        yield Pipe()
        return
    readline = _readline()
    with _history(readline):
        yield Terminal(readline)


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

    def __init__(self, readline: ModuleType | None) -> None:
        self._readline = readline
        self._is_typing = False

    def read(self) -> str | None:
        """Return the next line; None at the end."""
        try:
            return self._typed()
        except KeyboardInterrupt:
            _newline()
            click.echo("Ctrl-C again, or Ctrl-D, leaves", err=True)
        try:
            return self._typed()
        except KeyboardInterrupt:
            _newline()
            return None

    def _typed(self) -> str | None:
        self._is_typing = True
        try:
            return _asked(PROMPT)
        except EOFError:
            _newline()
            return None
        finally:
            self._is_typing = False

    def confirmed(self, question: str) -> bool | str:
        """Return whether the user says yes."""
        with _unrecorded(self._readline):
            try:
                return _asked(question).strip().casefold() in {"y", "yes"}
            except EOFError:
                _newline()
                return False

    def interject(self, text: str) -> bool:
        """Show a text above the line that is being typed, and the line again below it."""
        if not self._is_typing:
            return False
        typed = "" if self._readline is None else self._readline.get_line_buffer()
        start = "\n" if os.environ.get("TERM", "dumb") == "dumb" else _CLEAR
        click.echo(f"{start}{text}\n{PROMPT}{plain(typed)}", err=True, nl=False, color=True)
        return True


def _newline() -> None:
    click.echo(err=True)


def _asked(question: str) -> str:
    """Return what is typed after a question.

    Line editing works only on descriptor 1 and with the ``sys.stdout`` that belongs to it.
    """
    with _attentive(), _descriptor_for_typing(), contextlib.redirect_stdout(sys.__stdout__):
        return input(question)


@contextlib.contextmanager
def _attentive() -> Iterator[None]:
    """Look for signals again and again meanwhile.

    One that comes just before readline begins to wait would be noticed with the next key alone.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    previous = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _BEAT, _BEAT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def _descriptor_for_typing() -> Iterator[None]:
    """Point descriptor 1 at the terminal meanwhile, if results are shown there."""
    if not results().isatty():
        yield
        return
    kept = os.dup(1)
    os.dup2(results().fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextlib.contextmanager
def _unrecorded(readline: ModuleType | None) -> Iterator[None]:
    """Keep what is typed meanwhile out of the history."""
    if readline is None:
        yield
        return
    readline.set_auto_history(False)
    try:
        yield
    finally:
        readline.set_auto_history(True)


def _readline() -> ModuleType | None:
    """Return the library that edits lines, unless there is none or the terminal is too dumb."""
    try:
        import readline  # noqa: PLC0415 - importing it changes how input() works
    except ImportError:
        return None
    return readline


def history_path() -> Path:
    """Return where the history of the chat is kept (XDG Base Directory Specification)."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    root = Path(state) if os.path.isabs(state) else Path("~/.local/state").expanduser()
    return root / "sovl-tools" / "chat_history"


@contextlib.contextmanager
def _history(readline: ModuleType | None) -> Iterator[None]:
    """Recall what was typed before, and keep what is typed; without it if that can't be done."""
    if readline is None:
        yield
        return
    with contextlib.suppress(OSError, RuntimeError):
        readline.read_history_file(history_path())
    try:
        yield
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            _write_history(readline, history_path())


def _write_history(readline: ModuleType, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    readline.set_history_length(_MOST_LINES)
    readline.write_history_file(path)
