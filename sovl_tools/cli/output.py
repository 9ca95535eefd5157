"""Output of commands: results on a clean standard output or in a file, messages for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.reporting.text import (
    EXCERPT_WIDTH,
    Piece,
    block,
    is_unsafe,
    plain_lines,
    unstyled,
)

_RESULTS: ContextVar[TextIO] = ContextVar("results")
_ERROR_OUTPUT = 2


@contextmanager
def clean_output() -> Iterator[None]:
    """Redirect descriptor 1 to the error output, and keep a duplicate of it for results."""
    previous = sys.stdout
    previous.flush()
    kept = os.dup(1)
    # characters that the output can't encode are escaped
    with open(kept, "w", encoding=previous.encoding, errors="backslashreplace") as results:
        token = _RESULTS.set(results)
        # child processes and C code of tools write to the descriptor, Python's print to the stream
        os.dup2(_ERROR_OUTPUT, 1)
        sys.stdout = sys.stderr
        try:
            yield
        finally:
            results.flush()
            os.dup2(kept, 1)
            sys.stdout = previous
            _RESULTS.reset(token)


def results() -> TextIO:
    """Return the stream for the command's results."""
    return _RESULTS.get()


def write(text: str, *, end: str = "\n") -> None:
    """Write a result, by default with a final newline.

    Raises:
        OSError: it can't be written; click exits silently if the reader has closed the pipe.
    """
    print(text, end=end, file=results(), flush=True)


def echo(printed: bytes) -> None:
    """Show what a tool prints while it is imported, on the error output."""
    sys.stderr.write(printed.decode(errors="backslashreplace"))
    sys.stderr.flush()


def show(pieces: str | Iterable[Piece], *, err: bool = False) -> None:
    """Write text for people: on a terminal with its styles, and wrapped between words.

    Args:
        pieces: the text, in which control characters are written out.
        err: whether it goes to the error output, as messages do, not to the results.
    """
    given = (pieces,) if isinstance(pieces, str) else pieces
    stream = sys.stderr if err else results()
    if stream.isatty():
        from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

        text = terminal.styled(given, stream)
    else:
        text = unstyled(given)
    if err:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    else:
        write(text)


def excerpt_width(stream: TextIO) -> int:
    """Return how wide the excerpts of a report can be: 100, or less in a narrow terminal."""
    if not stream.isatty():
        return EXCERPT_WIDTH
    from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

    # next to the line number, the bar and two ellipses
    return max(20, min(EXCERPT_WIDTH, terminal.width_of(stream) - 12))


def show_diagnostics(found: Iterable[Diagnostic], *, err: bool = False) -> None:
    """Write diagnostics with their excerpts, each followed by an empty line."""
    width = excerpt_width(sys.stderr if err else results())
    for each in found:
        show(block(each, width=width), err=err)


def wrapped(message: str, head: str = "Error: ") -> str:
    """Return a message that is shown after ``head``, wrapped between words in a terminal."""
    message = plain_lines(message)
    if not sys.stderr.isatty():
        return message
    from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

    return terminal.styled([f"{head}{message}"], sys.stderr).removeprefix(head)


def show_json(value: JSON, *, indent: int | None = None) -> None:
    """Write a value as JSON: on a terminal in colours, indented, elsewhere as ``indent`` says."""
    if results().isatty():
        from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

        write(terminal.highlighted(json_text(value, indent=2), results()))
    else:
        write(json_text(value, indent=indent))


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    dim: Collection[str] = (),
    optional: Sequence[int] = (),
) -> str:
    """Return rows with aligned columns; see ``terminal.table``.

    Only a terminal gets a table that matches its width: pipes and files get whole lines.
    """
    from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

    stream = results()
    return terminal.table(head, rows, stream, numbers=numbers, dim=dim, optional=optional)


def write_to(path: str | None, text: str | Iterable[Piece]) -> None:
    """Write a result into a file; None and ``-`` are the standard output."""
    if path not in {None, "-"}:
        content = text if isinstance(text, str) else unstyled(text)
        Path(str(path)).write_bytes(f"{content}\n".encode())
    elif isinstance(text, str):
        write(text)
    else:
        show(text)


def write_each(results: Iterable[tuple[str | None, str | Iterable[Piece]]]) -> None:
    """Write results into files, then to the standard output, whose reader may leave early."""
    for path, text in sorted(results, key=lambda each: each[0] is None):
        write_to(path, text)


def show_value(value: JSON, format: str) -> None:  # noqa: A002 - the field's word
    """Write a value in ``"json"`` or ``"yaml"``."""
    if format != "yaml":
        show_json(value, indent=2)
        return
    import yaml  # noqa: PLC0415 - 20 ms, only for this format

    # PyYAML writes direction marks as they are, unless it escapes all that is not ASCII
    is_safe = not any(map(is_unsafe, json.dumps(value, ensure_ascii=False)))
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=is_safe)
    write(text.rstrip("\n"))


def json_text(value: JSON, *, indent: int | None = None) -> str:
    """Return the value as JSON text that is safe for the output and for terminals.

    Control and bidirectional characters are escaped, and non-ASCII characters unless the output is
    UTF-8.

    Raises:
        TypeError, ValueError, RecursionError: the value is not JSON; NaN isn't either.
    """
    is_wide = "utf" in (results().encoding or "").lower()
    text = json.dumps(value, indent=indent, ensure_ascii=not is_wide, allow_nan=False)
    return "".join(
        json.dumps(letter)[1:-1] if is_unsafe(letter) and letter != "\n" else letter
        for letter in text
    )
