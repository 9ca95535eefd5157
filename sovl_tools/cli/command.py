"""What all commands share: options, exit codes, errors in one line, and progress."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce, wraps
from time import perf_counter
from typing import Any, NamedTuple, Self, TypeVar

import click

from sovl_tools.cli.help import HelpContext
from sovl_tools.cli.output import clean_output, show, wrapped
from sovl_tools.configuration import DEFAULT_SOURCE, Configuration, load_configuration
from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.loading.rules.folder import missing_directory
from sovl_tools.model.call import MODES
from sovl_tools.model.diagnostic import Diagnostic, internal_verdict
from sovl_tools.model.errors import TRACE, ConfigurationError, SovlToolsError
from sovl_tools.reporting.text import plain, plain_lines

_F = TypeVar("_F", bound=Callable[..., Any])

# exit codes; click itself exits with 2 for wrong options
FINDINGS, MISUSE = 1, 2


SECONDS = click.FloatRange(min=0, max=86_400, min_open=True)
"""A time limit of up to a day."""


def value_reader(
    read: Callable[[Any], Any],
) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that reads an option with a function; its ValueErrors are misuse."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        try:
            return read(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return callback


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
        with clean_output():
            try:
                return super().invoke(ctx)
            except ConfigurationError as error:
                raise Misuse(wrapped(str(error))) from error
            except SovlToolsError as error:
                raise click.ClickException(wrapped(str(error))) from error
            except click.UsageError:
                raise
            except click.ClickException as error:
                raise type(error)(wrapped(error.message)) from error
            except (click.exceptions.Exit, click.Abort, OSError):
                raise
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


def options(*adding: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Return a decorator that adds several options, which help shows in this order."""
    return lambda function: reduce(lambda made, add: add(made), reversed(adding), function)


def tools_option(function: _F) -> _F:
    """Add ``--tools DIR``, which can be given more than once."""
    return click.option(
        "--tools",
        "tools",
        multiple=True,
        metavar="DIR",
        type=click.Path(),
        help="A tools directory; can be repeated, the first wins. Default: see sovl-tools --help.",
    )(function)


def timeout_option(words: str) -> Callable[[_F], _F]:
    """Add ``--timeout SECONDS``; ``words`` say what it limits."""
    return click.option("--timeout", type=SECONDS, metavar="SECONDS", help=words)


def mode_option(function: _F) -> _F:
    """Add ``--mode``: for one call it wins over the manifest, as in Python."""
    return click.option(
        "--mode",
        type=click.Choice(MODES),
        help="Where tools run; the default is in their manifests. A process can be killed with its"
        " children; it needs sovl-tools[process].",
    )(function)


dask_option = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run the tool on the Dask cluster of that scheduler, as tcp://10.0.0.1:8786, whatever the"
    " mode is; it needs sovl-tools[dask].",
)


def view_options(function: _F) -> _F:
    """Add options that select some of the tools, below ``registry_options``."""
    return options(
        click.option(
            "--tag",
            "tags",
            multiple=True,
            metavar="T",
            help="Only tools with this tag; repeatable.",
        ),
        click.option("--category", metavar="C", help="Only tools of this category."),
        click.option(
            "--name",
            "patterns",
            multiple=True,
            metavar="PATTERN",
            help="Only tools whose names match this shell pattern, or one of several.",
        ),
        click.option(
            "--view",
            "views",
            multiple=True,
            metavar="VIEW",
            help="Only tools of this view of the configuration; repeatable.",
        ),
    )(function)


class ToolOptions(NamedTuple):
    """The options that select tools.

    Attributes:
        directories: of ``--tools``.
        locked: whether only locked tools are loaded; None if the configuration decides.
        tags: of ``--tag``, which a tool must have.
        category: of ``--category``.
        patterns: of ``--name``, one of which must match.
        views: of ``--view``, all of which must have the tool.
    """

    directories: tuple[str, ...]
    locked: bool | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    patterns: tuple[str, ...] = ()
    views: tuple[str, ...] = ()

    def settings(self) -> Configuration:
        """Load the configuration; the default ``./tools`` can be missing."""
        return settings(self.directories, needs_tools=False, locked=self.locked)


def registry_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--tools``, for commands that use all tools.

    The command gets it as one value, ``tools``, together with ``--locked`` and the
    ``view_options`` if it has those.
    """

    @wraps(function)
    def packed(*args: Any, tools: tuple[str, ...], **given: Any) -> Any:
        chosen = {key: given.pop(key) for key in ToolOptions._fields if key in given}
        return function(*args, tools=ToolOptions(tools, **chosen), **given)

    return tools_option(packed)


def locked_option(function: _F) -> _F:
    """Add ``--locked``; None if the configuration decides."""
    return click.option(
        "--locked/--no-locked",
        "locked",
        default=None,
        help="Load only tools that match sovl-tools.lock. Default: locked in the configuration.",
    )(function)


def check_option(function: _F) -> _F:
    """Add ``--check``, for commands that write files."""
    return click.option(
        "--check", is_flag=True, help="Only check; exit with 1 if anything would change."
    )(function)


def format_option(*formats: str) -> Callable[[_F], _F]:
    """Add ``--format``, with one of these formats; the first is the default."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )


def header_variables(values: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of ``NAME=ENV``.

    Raises:
        ValueError: one isn't such a pair.
    """
    pairs = [value.partition("=") for value in values]
    for value, (name, _equals, variable) in zip(values, pairs, strict=True):
        if not name.strip() or not variable.isidentifier():
            raise ValueError(f"{value!r} is not NAME=ENV, where ENV names a variable")
    return tuple((name.strip(), variable) for name, _, variable in pairs)


def _env(values: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    pairs = [value.partition("=") for value in values]
    for value, (key, _equals, _value) in zip(values, pairs, strict=True):
        if not key or "\0" in value:
            raise ValueError(f"{value!r} is not KEY or KEY=VALUE")
    return tuple((key, text if equals else None) for key, equals, text in pairs)


header_option = click.option(
    "--header",
    "headers",
    multiple=True,
    callback=value_reader(header_variables),
    metavar="NAME=ENV",
    help="A header with the value of an environment variable; can be repeated.",
)
env_option = click.option(
    "--env",
    multiple=True,
    callback=value_reader(_env),
    metavar="KEY[=VALUE]",
    help="A variable for the server's process; can be repeated.",
)


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


class Progress:
    """A line on the error output with a bar; it appears after a second and is erased at the end."""

    def __init__(self, total: int, *, done: int = 0) -> None:
        self._total = total
        self._done = done
        self._started = perf_counter()
        # not in logs, where each update would be another line
        self._active = sys.stderr.isatty() and not is_quiet()
        self._end = ExitStack()
        self._update: Callable[[int, str], None] | None = None

    def advance(self, name: str = "") -> None:
        """Count an item as done, and show its name."""
        self._done += 1
        if not self._active:
            return
        if self._update is None and perf_counter() - self._started > _DELAY:
            from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

            bar, self._update = terminal.progress_bar(
                self._total, self._done, plain(name), sys.stderr
            )
            self._end.enter_context(bar)
        elif self._update is not None:
            self._update(self._done, plain(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()
