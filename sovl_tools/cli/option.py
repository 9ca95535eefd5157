"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import Any, NamedTuple, TypeVar

import click

from sovl_tools.cli.command import settings
from sovl_tools.configuration import Configuration
from sovl_tools.model.call import MODES

_F = TypeVar("_F", bound=Callable[..., Any])


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


def several(*adding: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Return a decorator that adds several options, which help shows in this order."""
    return lambda function: reduce(lambda made, add: add(made), reversed(adding), function)


def packed(function: Callable[..., Any], **types: Any) -> Callable[..., Any]:
    """Return a function that gets some options as one value of a NamedTuple: ``offer=Offer``."""

    @wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        values = {
            name: type_(**{key: given.pop(key) for key in type_._fields})
            for name, type_ in types.items()
        }
        return function(*args, **values, **given)

    return command


def tools(function: _F) -> _F:
    """Add ``--tools DIR``, which can be given more than once."""
    return click.option(
        "--tools",
        "tools",
        multiple=True,
        metavar="DIR",
        type=click.Path(),
        help="A tools directory; can be repeated, the first wins. Default: see sovl-tools --help.",
    )(function)


def timeout(words: str) -> Callable[[_F], _F]:
    """Add ``--timeout SECONDS``; ``words`` say what it limits."""
    return click.option("--timeout", type=SECONDS, metavar="SECONDS", help=words)


def mode(function: _F) -> _F:
    """Add ``--mode``: for one call it wins over the manifest, as in Python."""
    return click.option(
        "--mode",
        type=click.Choice(MODES),
        help="Where tools run; the default is in their manifests. A process can be killed with its"
        " children; it needs sovl-tools[process].",
    )(function)


dask = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run the tool on the Dask cluster of that scheduler, as tcp://10.0.0.1:8786, whatever the"
    " mode is; it needs sovl-tools[dask].",
)


def views(function: _F) -> _F:
    """Add options that select some of the tools, below ``registry``."""
    return several(
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


def registry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--tools``, for commands that use all tools.

    The command gets it as one value, ``tools``, together with ``--locked`` and the
    ``views`` if it has those.
    """

    @wraps(function)
    def packed(*args: Any, tools: tuple[str, ...], **given: Any) -> Any:
        chosen = {key: given.pop(key) for key in ToolOptions._fields if key in given}
        return function(*args, tools=ToolOptions(tools, **chosen), **given)

    return tools(packed)


def locked(function: _F) -> _F:
    """Add ``--locked``; None if the configuration decides."""
    return click.option(
        "--locked/--no-locked",
        "locked",
        default=None,
        help="Load only tools that match sovl-tools.lock. Default: locked in the configuration.",
    )(function)


def check(function: _F) -> _F:
    """Add ``--check``, for commands that write files."""
    return click.option(
        "--check", is_flag=True, help="Only check; exit with 1 if anything would change."
    )(function)


def format_(*formats: str) -> Callable[[_F], _F]:
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


header = click.option(
    "--header",
    "headers",
    multiple=True,
    callback=value_reader(header_variables),
    metavar="NAME=ENV",
    help="A header with the value of an environment variable; can be repeated.",
)
env = click.option(
    "--env",
    multiple=True,
    callback=value_reader(_env),
    metavar="KEY[=VALUE]",
    help="A variable for the server's process; can be repeated.",
)


def file(*names: str, words: str) -> Callable[[_F], _F]:
    """Add an option that names a file."""
    return click.option(*names, type=click.Path(dir_okay=False), metavar="FILE", help=words)
