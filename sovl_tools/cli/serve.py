"""``sovl-tools serve``, over descriptors and over HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from typing import Any, NamedTuple

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import Command, Misuse, is_quiet, note
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import results, show, write
from sovl_tools.cli.watch import moment_of, pieces, until_ended
from sovl_tools.configuration import Configuration
from sovl_tools.dispatch.prepared import Observer
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Mode
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.policy import Policy
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.serving.error_output import passed_on
from sovl_tools.serving.limits import MOST_TOKENS, MOST_TOOLS

_HTTP_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to bind."),
    click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=8000,
        show_default=True,
        help="The port; 0 selects a free one. The URL is written to the standard output.",
    ),
    click.option(
        "--token-env",
        multiple=True,
        metavar="NAME",
        help="Require the bearer token in this environment variable, or one of several.",
    ),
    click.option(
        "--allow-unauthenticated",
        is_flag=True,
        help="Bind an address that other machines can reach, without a token.",
    ),
    click.option("--allow-host", multiple=True, metavar="NAME", help="A host name of the server."),
    click.option(
        "--allow-origin",
        multiple=True,
        metavar="URL",
        help="An origin whose pages can call the tools from a browser.",
    ),
)


def bind(host: str, port: int, *, allow_all: bool = False, **limits: Any) -> tuple[Any, Any]:
    """Return a socket that listens, and the ``Security`` of its server.

    Raises:
        Misuse, ListeningError: a limit is wrong, or the address can't be bound.
    """
    from sovl_tools.serving.run_http import listen  # noqa: PLC0415 - an extra
    from sovl_tools.serving.security import Security  # noqa: PLC0415 - an extra

    try:
        security = Security(**limits)
        return listen(host, port, security, allow_all=allow_all), security
    except ValueError as error:
        raise Misuse(str(error)) from error


def token_of(name: str) -> str:
    """Return the token in an environment variable.

    Raises:
        Misuse: there is none.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise Misuse(f"the environment variable {plain(name)} is empty")
    return value


EXAMPLES = """\b
Examples:
  sovl-tools serve                     for a client that starts it
  sovl-tools serve --transport http --port 0
  sovl-tools serve --transport http --host 0.0.0.0 --token-env TOOLS_TOKEN"""
EXITS = {
    0: "After the client has left, Ctrl-C or SIGTERM.",
    1: "The extra mcp is not installed: pip install 'sovl-tools[mcp]'.",
}


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Offer(NamedTuple):
    """The tools of a server and the settings of its calls: the options of ``offer_options``.

    Attributes:
        tools: the options that select tools.
        timeout: the time limit of a call, in seconds.
        mode: where tools run.
        approve: whether the user must approve calls of destructive tools.
        procedures: directories of procedures.
    """

    tools: option.ToolOptions
    timeout: float | None
    mode: Mode | None
    approve: bool
    procedures: tuple[str, ...]

    def registry(self) -> ToolRegistry:
        """Load the tools and procedures."""
        registry = all_tools(self.tools, lazy=True)
        for each in self.procedures:
            registry.load_procedures(each)
        return registry

    def policy(self, found: Configuration) -> Policy:
        """Return the configured settings of calls, with the options applied."""
        policy = found.policy.but(timeout=self.timeout, mode=self.mode)
        if self.approve and policy.approval in {None, "never"}:
            return policy.but(approval="destructive")
        return policy


def offer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a server; the command gets them as one value, ``offer``."""
    return option.several(
        option.registry,
        option.views,
        option.timeout("The time limit of a call, unless its manifest has another."),
        option.mode,
        option.locked,
        click.option(
            "--approve",
            is_flag=True,
            help="Ask the client's user before a destructive tool is called, if the client can"
            " ask.",
        ),
        click.option(
            "--procedures",
            multiple=True,
            metavar="DIR",
            type=click.Path(exists=True, file_okay=False),
            help="Also offer the procedures in a directory as tools; can be repeated.",
        ),
    )(option.packed(function, offer=Offer))


def check_extra() -> None:
    """Raise an error with the fix if the extra ``mcp`` isn't installed."""
    try:
        import mcp.server  # noqa: F401, PLC0415 - an extra, and heavy
    except ImportError as error:
        raise click.ClickException(
            f"serving needs the extra mcp: pip install 'sovl-tools[mcp]' ({error})"
        ) from error


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@offer_options
@click.option("--no-watch", is_flag=True, help="Do not reload tools while you edit them.")
@click.option("--otel", is_flag=True, help="Trace and measure calls with OpenTelemetry.")
@click.option(
    "--search-tools/--no-search-tools",
    "search_tools",
    default=None,
    help="Offer two tools that find and call all others. Default: with more than"
    f" {MOST_TOOLS} tools, or {MOST_TOKENS:,} tokens of definitions.",
)
@click.option(
    "--transport",
    type=click.Choice(("stdio", "http")),
    default="stdio",
    show_default=True,
    help="Serve the parent process over stdio, or clients in the network over HTTP.",
)
@option.several(*_HTTP_OPTIONS)
def serve(
    *,
    offer: Offer,
    no_watch: bool,
    otel: bool,
    search_tools: bool | None,
    transport: str,
    **http: Any,
) -> None:
    """Offer the tools to clients of the Model Context Protocol, and reload them when edited.

    An editor or an assistant starts this command and talks to it over its standard input and
    output. Added, edited and removed folders are announced to connected clients; when an edit
    breaks a tool, the last good version keeps serving. The log and the output of tools go to the
    error output.

    With --transport http any number of clients connect to /mcp, and other programs use the JSON
    API: /tools, /search, /openapi.json. Clients on other machines need a token. For more settings,
    run McpServer.app() with uvicorn.
    """
    check_extra()
    context = click.get_current_context()
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        is_given = each.name in http and source is click.core.ParameterSource.COMMANDLINE
        if is_given and transport != "http":
            raise Misuse(f"{each.opts[0]} needs --transport http")
    found = offer.tools.settings()
    with until_ended(), passed_on(), ExitStack() as stack:
        listening = security = None
        if transport == "http":  # first, so that wrong options are rejected before tools load
            listening, security = bind(
                http["host"],
                http["port"],
                allow_all=http["allow_unauthenticated"],
                tokens=tuple(map(token_of, http["token_env"])),
                hosts=http["allow_host"],
                origins=http["allow_origin"],
            )
            stack.enter_context(closing(listening))
        registry = offer.registry()
        observers: list[Observer] = []
        if otel:
            observers.append(_opentelemetry())
        tooler = stack.enter_context(
            Tooler(registry, policy=offer.policy(found), observers=observers)
        )
        server = registry.mcp_server(tooler, search_tools=search_tools)
        if not no_watch:
            if not is_quiet():
                registry.subscribe(_log(server))
            stack.enter_context(registry.watch(libraries=found.watch))
        _serve(server, listening, security)


def _opentelemetry() -> Observer:
    try:
        from sovl_tools.dispatch.opentelemetry import OpenTelemetry  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    return OpenTelemetry()  # environment variables configure it


def _log(server: Any) -> Callable[[CatalogChange], None]:
    """Return a listener that writes each change to the error output, as ``watch`` does."""
    known = server.advertised.left_out

    def log(change: CatalogChange) -> None:
        nonlocal known
        show(pieces(moment_of(server.registry, change)), err=True)
        known, before = server.advertised.left_out, known
        for each in known:
            if each not in before:
                show(plain(str(each)), err=True)

    return log


def _serve(server: Any, listening: Any, security: Any) -> None:
    """Serve an ``McpServer`` until a signal, over HTTP or until the client at stdin leaves."""
    advertised = server.advertised
    for each in advertised.left_out:
        note(str(each))
    offered = counted(len(advertised.modern), "tool")
    if advertised.is_searching:
        offered = f"{counted(len(advertised.hidden), 'tool')} by search_tools and call_tool"
    if listening is None:
        from sovl_tools.serving.stdio import own_input, serve_stdio  # noqa: PLC0415 - an extra

        note(f"serving {offered} over standard input and output")
        with own_input() as descriptor:
            asyncio.run(
                serve_stdio(server.server, descriptor, results().fileno(), signals=_SIGNALS)
            )
        return
    from sovl_tools.serving.run_http import serve  # noqa: PLC0415 - an extra

    def on_start(url: str) -> None:
        note(f"serving {offered} at {url}: JSON at /tools, MCP at /mcp")
        with suppress(BrokenPipeError):  # no program reads the URL
            write(url)

    asyncio.run(serve(server.app(security=security), listening, on_start=on_start))
