"""``sovl-tools serve``."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from sovl_tools.cli.command import (
    Command,
    entry_points_option,
    is_quiet,
    locked_option,
    mode_option,
    settings,
    timeout_option,
    tools_option,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import results
from sovl_tools.cli.serve_http import HttpOptions, http_options, serve_http
from sovl_tools.cli.watch import moment_of, text
from sovl_tools.dispatch.prepared import Observer
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Mode
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools serve                     for a client that starts it
  sovl-tools serve --tools drafts --no-watch
  sovl-tools serve --transport http --port 0
  sovl-tools serve --transport http --host 0.0.0.0 --token-env TOOLS_TOKEN"""
EXITS = {
    0: "After the client has closed its side, Ctrl-C and SIGTERM.",
    1: "The extra mcp is not installed: pip install 'sovl-tools[mcp]'.",
}


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@tools_option
@entry_points_option
@click.option("--no-watch", is_flag=True, help="Do not load tools anew as they are edited.")
@click.option("--poll", is_flag=True, help="Look each second instead of asking the system.")
@timeout_option("How long a call may take, unless its tool says otherwise.")
@mode_option
@locked_option
@click.option("--otel", is_flag=True, help="Trace and measure calls with OpenTelemetry.")
@click.option(
    "--search-tools/--no-search-tools",
    "search_tools",
    default=None,
    help="Offer two tools that find and call all others. Default: if there are more than 128, or"
    " their definitions take more than 25,000 tokens.",
)
@click.option(
    "--procedures",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Offer the procedures in a directory as tools, too; may be repeated.",
)
@http_options
def serve(
    *,
    tools: tuple[str, ...],
    entry_points: bool,
    no_watch: bool,
    poll: bool,
    timeout: float | None,
    mode: Mode | None,
    locked: bool | None,
    otel: bool,
    search_tools: bool | None,
    procedures: tuple[str, ...],
    http: HttpOptions | None,
) -> None:
    """Offer the tools to clients of the Model Context Protocol, and follow their edits.

    An editor or an assistant starts this command and talks to it over its standard input and
    output. A folder that is dropped in, edited or removed is told to clients that are connected;
    of a tool that an edit broke the last good version keeps serving. What tools print goes to
    the error output, and so does the log.

    With --transport http any number of clients connect to /mcp, and programs that do not speak
    the protocol use the JSON API beside it: /tools, /search, /openapi.json. Others than this
    machine's own need a token.
    """
    try:
        import mcp.server  # noqa: F401, PLC0415 - an extra, and heavy
    except ImportError as error:
        raise click.ClickException(
            f"serving needs the extra mcp: pip install 'sovl-tools[mcp]' ({error})"
        ) from error
    found = settings(tools, needs_tools=False, locked=locked)
    registry = all_tools(tools, entry_points=entry_points, locked=locked)
    for each in procedures:
        registry.load_procedures(each)
    quiet = is_quiet()
    observers = [_telemetry()] if otel else []
    with Tooler(registry, timeout=timeout, mode=mode, observers=observers) as tooler:
        server = registry.mcp_server(tooler, search_tools=search_tools)
        watching: AbstractContextManager[object] = nullcontext()
        if not no_watch:
            if not quiet:
                registry.subscribe(_log(server))
            watching = registry.watch(poll=poll, libraries=found.watch)
        with watching:
            _serve(server, http, quiet=quiet)


def _telemetry() -> Observer:
    """Return OpenTelemetry's observer, which reports where its environment variables say."""
    try:
        from sovl_tools.dispatch.opentelemetry import OpenTelemetry  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    return OpenTelemetry()


def _log(server: Any) -> Callable[[CatalogChange], None]:
    """Return what tells on the error output of each change, in the words of ``watch``."""
    known = server.advertised.left_out

    def log(change: CatalogChange) -> None:
        nonlocal known
        click.echo(text(moment_of(server.registry, change)), err=True)
        known, before = server.advertised.left_out, known
        for each in known:
            if each not in before:
                click.echo(plain(str(each)), err=True)

    return log


def _serve(server: Any, http: HttpOptions | None, *, quiet: bool) -> None:
    """Serve until the client leaves or a signal comes; ``server`` is an ``McpServer``."""
    told = server.advertised
    if not quiet:
        for each in told.left_out:
            click.echo(plain(str(each)), err=True)
    offered = counted(len(told.hidden if told.is_searching else told.modern), "tool")
    if told.is_searching:
        offered += " by search_tools and call_tool"
    if http is not None:
        serve_http(server.app, http, None if quiet else offered)
        return
    import asyncio  # noqa: PLC0415 - with all that the protocol needs

    from sovl_tools.serving.stdio import own_input  # noqa: PLC0415 - an extra

    if not quiet:
        click.echo(f"serving {offered} over standard input and output", err=True)
    with own_input() as descriptor:
        asyncio.run(server.run_stdio(descriptor, results().fileno(), signals=_SIGNALS))
