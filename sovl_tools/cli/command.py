"""What all commands share: results on a clean standard output, one clear line for an error."""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TextIO, TypeVar

import click

from sovl_tools.configuration import DEFAULT_SOURCE, Configuration, configuration
from sovl_tools.model.diagnostic import internal_verdict
from sovl_tools.model.errors import TRACE, ConfigurationError, SovlToolsError

_F = TypeVar("_F", bound=Callable[..., Any])
_RESULTS: ContextVar[TextIO] = ContextVar("results")

FINDINGS, MISUSE = 1, 2
_ERROR_OUTPUT = 2


class Seconds(click.FloatRange):
    """A time limit: more than nothing and no more than a day."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, max=86_400, min_open=True)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the number; ``nan`` is none, although no comparison excludes it."""
        number = super().convert(value, param, ctx)
        return self.fail(f"{value!r} is no time.", param, ctx) if math.isnan(number) else number


SECONDS = Seconds()


class Command(click.Command):
    """A command whose standard output belongs to its results alone.

    What a tool, a library or a child process prints goes to the error output instead.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with its output kept clean and its errors made one line."""
        obj = ctx.ensure_object(dict)
        _configure_log(obj.get("verbose", 0))
        with _clean_output():
            try:
                return super().invoke(ctx)
            except ConfigurationError as error:
                raise Misuse(str(error)) from error
            except SovlToolsError as error:
                raise click.ClickException(str(error)) from error
            except FileNotFoundError as error:
                if _is_somewhere():
                    raise
                words = f"the current directory: {error.strerror}; go to a directory that is there"
                raise Misuse(words) from error
            except (click.ClickException, click.exceptions.Exit, click.Abort, OSError):
                raise
            except Exception as error:
                _, (_, words, advice) = internal_verdict(error)
                raise click.ClickException(f"{words}; {advice}") from error


def _is_somewhere() -> bool:
    """Tell whether there is a current directory, which others can remove."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


class Misuse(click.ClickException):
    """The command was used in a way that it can't be; exit code 2."""

    exit_code = MISUSE


@contextlib.contextmanager
def _clean_output() -> Iterator[None]:
    """Keep a duplicate of descriptor 1 for results and point descriptor 1 at the error output."""
    previous = sys.stdout
    encoding = getattr(previous, "encoding", None) or "utf-8"
    kept = _duplicate()
    with open(kept, "w", encoding=encoding, errors="backslashreplace") as results:
        token = _RESULTS.set(results)
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
    """Return the stream that the command's results go to."""
    return _RESULTS.get()


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


def _configure_log(verbose: int) -> None:
    logger = logging.getLogger("sovl_tools")
    handler = logging.StreamHandler(sys.stderr) if verbose else logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.handlers[:] = [handler]
    logger.propagate = False
    levels = (logging.WARNING, logging.DEBUG, TRACE)
    logger.setLevel(levels[min(verbose, 2)])


def tools_option(function: _F) -> _F:
    """Add ``--tools DIR``, which may be given more than once."""
    return click.option(
        "--tools",
        "tools",
        multiple=True,
        metavar="DIR",
        type=click.Path(),
        help="A tools directory; may be repeated, the first wins. Default: see sovl-tools --help.",
    )(function)


def import_timeout_option(function: _F) -> _F:
    """Add ``--import-timeout SECONDS``."""
    return click.option(
        "--import-timeout",
        type=SECONDS,
        metavar="SECONDS",
        help="How long importing one tool may take."
        " Default: 10, or import_timeout in pyproject.toml.",
    )(function)


def code_option(function: _F) -> _F:
    """Add ``--no-entry-points``, for commands that use all tools there are."""
    return click.option(
        "--no-entry-points",
        "entry_points",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Leave out the tools of installed distributions.",
    )(function)


def _missing(path: str, source: str) -> str:
    if source == DEFAULT_SOURCE:
        return f"there is no {path!r} here; name a tools directory with --tools"
    return f"there is no {path!r} (named by {source})"


def settings(tools: Sequence[str], *, needs_tools: bool = True) -> Configuration:
    """Return the settings that hold; every path that was named on purpose must be there.

    ``./tools`` may be missing if nobody has named it and there are tools elsewhere.

    Raises:
        Misuse: a path is not there.
    """
    found = configuration(tools)
    for path in found.paths:
        is_needed = needs_tools or found.source != DEFAULT_SOURCE
        if is_needed and not os.path.exists(path):
            raise Misuse(_missing(path, found.source))
    return found
