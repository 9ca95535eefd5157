"""What commands write: results on a clean standard output or in a file, as JSON, YAML or text."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

import click

from sovl_tools.model.document import JSON
from sovl_tools.reporting.plain import is_unsafe

_RESULTS: ContextVar[tuple[TextIO, int]] = ContextVar("results")
"""The stream of the results, and the process whose they are."""
_ERROR_OUTPUT = 2


@contextlib.contextmanager
def clean_output() -> Iterator[None]:
    """Keep a duplicate of descriptor 1 for results and point descriptor 1 at the error output."""
    previous = sys.stdout
    encoding = getattr(previous, "encoding", None) or "utf-8"
    kept = _duplicate()
    with open(kept, "w", encoding=encoding, errors="backslashreplace") as results:
        token = _RESULTS.set((results, os.getpid()))
        os.dup2(_ERROR_OUTPUT, 1)
        sys.stdout = sys.stderr
        try:
            yield
        finally:
            results.flush()
            os.dup2(kept, 1)
            sys.stdout = previous
            _RESULTS.reset(token)


def _duplicate() -> int:
    """Return a duplicate of descriptor 1; where that is closed, one that can't be written to.

    Descriptor 1 is open afterwards, so that no other file gets that number.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        return os.dup(1)
    except OSError:
        unwritable = os.open(os.devnull, os.O_RDONLY)
        os.dup2(unwritable, 1)
        return os.dup(unwritable)


def results() -> TextIO:
    """Return the stream that the command's results go to.

    A process that a tool has forked, and that came back here, ends: its parent has the results.
    """
    stream, process = _RESULTS.get()
    if process != os.getpid():
        os._exit(0)
    return stream


def write(text: str, *, end: str = "\n") -> None:
    """Write a result with a final newline, or what else it is to end with.

    Raises:
        ClickException: there is no room for it, or another reason why it can't be written.
        BrokenPipeError: nobody reads it; click ends the program without a word.
    """
    try:
        print(text, end=end, file=results(), flush=True)
    except OSError as error:
        _give_up_output()
        if isinstance(error, BrokenPipeError):
            raise
        is_closed = error.errno == errno.EBADF
        reason = "the standard output is closed" if is_closed else error.strerror
        raise click.ClickException(f"the result can't be written: {reason}") from error


def _give_up_output() -> None:
    """Let what could not be written go nowhere, so that closing the stream does not try again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, results().fileno())
    os.close(nowhere)


def colored() -> bool:
    """Tell whether results may be coloured: on a terminal, unless ``NO_COLOR`` is set."""
    return results().isatty() and not os.environ.get("NO_COLOR")


def write_to(path: str | None, text: str) -> None:
    """Write a result into a file; None and ``-`` are the standard output."""
    if path in {None, "-"}:
        write(text)
    else:
        save(str(path), text)


def save(path: str, text: str) -> None:
    """Write a result into a file, with a final newline; what was there is replaced at once.

    What is no file, such as a pipe or ``/dev/null``, stays what it is and is written to.

    Raises:
        ClickException: it can't be written.
    """
    from sovl_tools.scaffolding.files import replace_files  # noqa: PLC0415 - 10 ms, for files only

    data = f"{text}\n".encode()
    folder, name = os.path.split(path)
    try:
        if os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path):
            replace_files(folder or ".", {name: data})
        else:
            Path(path).write_bytes(data)
    except OSError as error:
        raise click.ClickException(f"{path!r} can't be written: {error.strerror}") from error


def serialized(value: JSON, format: str) -> str:  # noqa: A002 - the field's word
    """Return the value in ``"json"`` or ``"yaml"``, without a final newline."""
    return _yaml(value) if format == "yaml" else json_text(value, indent=2)


def json_text(value: JSON, *, indent: int | None = None) -> str:
    """Return the value as JSON text that every output can hold and every terminal can show.

    Control and direction characters are escaped, and all that is not ASCII where the output is
    not UTF-8.

    Raises:
        TypeError, ValueError, RecursionError: the value is no JSON.
    """
    is_wide = "utf" in (results().encoding or "").lower()
    text = json.dumps(value, indent=indent, ensure_ascii=not is_wide, allow_nan=False)
    return "".join(_escaped(letter) if is_unsafe(letter) else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter if letter == "\n" else json.dumps(letter)[1:-1]


def _yaml(value: JSON) -> str:
    import yaml  # noqa: PLC0415 - 20 ms, only for this format

    is_safe = not any(map(is_unsafe, json.dumps(value, ensure_ascii=False)))
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=is_safe)
    return text.rstrip("\n")
