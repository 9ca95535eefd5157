"""What all commands share: exit codes, errors in one line, settings, and progress."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import click

from sovl_tools.cli.help import HelpContext
from sovl_tools.cli.output import clean_output, show, wrapped
from sovl_tools.configuration import DEFAULT_SOURCE, Configuration, load_configuration
from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.loading.rules.folder import missing_directory
from sovl_tools.model.diagnostic import Diagnostic, internal_verdict
from sovl_tools.model.errors import TRACE, SovlToolsError
from sovl_tools.reporting.text import plain, plain_lines

# exit codes; click itself exits with 2 for wrong options
FINDINGS, MISUSE = 1, 2


class Command(click.Command):
    """A command that writes only its results to the standard output.

    The output of tools, libraries and child processes goes to the error output instead. ``exits``
    documents the exit codes in the help, other than 0 and misuse.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, exits: Mapping[int, str] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.exits = exits or {}
        # documented in the help of the group; accepted after the command's name as well
        quiet = click.Option(["-q", "--quiet"], is_flag=True, hidden=True)
        verbose = click.Option(["-v", "--verbose"], count=True, hidden=True)
        self.params += [quiet, verbose]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the exit codes."""
        super().format_options(ctx, formatter)
        if self.exits:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), words) for code, words in self.exits.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with a clean standard output; turn exceptions into errors of one line."""
        shared = ctx.ensure_object(dict)
        shared["quiet"] = ctx.params.pop("quiet") or shared.get("quiet", False)
        verbose = shared["verbose"] = shared.get("verbose", 0) + ctx.params.pop("verbose")
        handler = logging.StreamHandler(sys.stderr) if verbose else logging.NullHandler()
        handler.setFormatter(_Formatter("%(levelname)s %(message)s"))
        # those of the tools' own modules are shown, too
        for name in ("sovl_tools", TOOL_ROOT, PLUGIN_ROOT):
            logger = logging.getLogger(name)
            # several commands can run in one process, as in tests: each replaces the handler
            logger.handlers[:] = [handler]
            logger.propagate = False
            logger.setLevel((logging.WARNING, logging.DEBUG, TRACE)[min(verbose, 2)])
        # the one place where exceptions become exit codes; click handles those not caught here
        try:
            with clean_output():
                return super().invoke(ctx)
        except SovlToolsError as error:  # by definition what the caller got wrong
            raise Misuse(wrapped(str(error))) from error
        except (click.UsageError, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except click.ClickException as error:
            raise type(error)(wrapped(error.message)) from error
        except OSError as error:  # such as a full disk
            where = "" if error.filename is None else f"{error.filename!r}: "
            raise click.ClickException(wrapped(f"{where}{error.strerror or error}")) from error
        except Exception as error:
            # a bug of ours: users get a line to report, and the traceback with -vv
            _, (_, words, advice, _) = internal_verdict(error)
            raise click.ClickException(f"{words}; {advice}") from error


class _Formatter(logging.Formatter):
    """Shows the tool, or the module of tools, that logged a message."""

    def format(self, record: logging.LogRecord) -> str:
        root, *parts = record.name.split(".")
        text = plain_lines(super().format(record))
        if root not in {TOOL_ROOT, PLUGIN_ROOT} or len(parts) <= 1:
            return text
        # after the directory comes the tool's folder, or the name of the module
        return text.replace(f"{record.levelname} ", f"{record.levelname} {parts[1]}: ", 1)


class Misuse(click.ClickException):
    """The command was used wrongly; exit code 2."""

    exit_code = MISUSE


def is_quiet() -> bool:
    """Return whether the user wants only results and errors."""
    # click's context belongs to this thread: ask before others are started
    return bool(click.get_current_context().ensure_object(dict).get("quiet"))


def note(text: str) -> None:
    """Write a message to the error output, unless the command must be quiet."""
    if not is_quiet():
        show(plain(text), err=True)


def settings(
    tools: Sequence[str],
    *,
    needs_tools: bool = True,
    locked: bool | None = None,
    imports: bool = True,
) -> Configuration:
    """Load the configuration, check its paths, and make the user's packages importable.

    Paths from options or files must exist; the default ``./tools`` can be missing unless
    ``needs_tools``. ``locked`` overrides the configuration. Without ``imports`` the user's packages
    stay out of this process's ``sys.path``.

    Raises:
        ConfigurationError: the configuration can't be read.
        Misuse: a path does not exist.
    """
    found = load_configuration(tools, imports=imports)
    if locked is not None:
        found = replace(found, locked=locked)
    is_default = found.source == DEFAULT_SOURCE
    # paths from options and files must exist even where the command could do without them
    absent = (path for path in found.paths if not os.path.exists(path))
    for path in absent if needs_tools or not is_default else ():
        advice = " here; name a tools directory with --tools, or make a tool: sovl-tools new NAME"
        raise Misuse(
            f"there's no {path!r}{advice if is_default else f' (named by {found.source})'}"
        )
    return found


def refuse_unlisted(diagnostics: Iterable[Diagnostic]) -> None:
    """Reject the tools of some directories if others can't be listed.

    Raises:
        Misuse: the diagnostics say so.
    """
    for each in diagnostics:
        if each.code == missing_directory.code:
            raise Misuse(each.message)


_DELAY = 1.0


@contextmanager
def progress(total: int, *, done: int = 0) -> Iterator[Callable[[str], None]]:
    """Show a line with a bar on a terminal, after a second; it is erased at the end.

    Yield what counts an item as done, and shows its name.
    """
    started = perf_counter()
    is_shown = sys.stderr.isatty() and not is_quiet()
    update: Callable[[int, str], None] | None = None

    def advance(name: str) -> None:
        nonlocal done, update
        done += 1
        if is_shown and update is None and perf_counter() - started > _DELAY:
            from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

            bar = terminal.progress_bar(total, done, plain(name), sys.stderr)
            update = end.enter_context(bar)
        elif update is not None:
            update(done, plain(name))

    with ExitStack() as end:
        yield advance
