"""``sovl-tools serve``, over descriptors and over HTTP."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial, wraps
from ipaddress import ip_network
from typing import Any, NamedTuple

import click

from sovl_tools.cli.command import (
    SECONDS,
    Command,
    Misuse,
    ToolOptions,
    is_quiet,
    locked_option,
    mode_option,
    note,
    options,
    registry_options,
    timeout_option,
    value_reader,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import json_text, results, show, write
from sovl_tools.cli.watch import moment_of, pieces, until_ended
from sovl_tools.dispatch.prepared import Observer
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Mode
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.document import JSON
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.serving.limits import (
    MAX_BODY_BYTES,
    MAX_CONCURRENCY,
    MOST_TOKENS,
    MOST_TOOLS,
    SHUTDOWN_TIMEOUT,
)


class HttpOptions(NamedTuple):
    """What the command line says of the server."""

    host: str
    port: int
    token_env: tuple[str, ...]
    allow_unauthenticated: bool
    allow_host: tuple[str, ...]
    allow_origin: tuple[str, ...]
    stateless: bool
    json_response: bool
    max_body: int
    max_concurrency: int
    shutdown_timeout: float
    root_path: str
    trust_proxy: tuple[str, ...]
    access_log: bool


def _prefix(value: str) -> str:
    path = value.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", path):
        raise ValueError("it is a path such as /ai or /tools/v1")
    return path


def _addresses(values: tuple[str, ...]) -> tuple[str, ...]:
    try:
        for value in values:
            ip_network(value)
    except ValueError as error:
        raise ValueError("it is an IP address or a network, 10.0.0.0/8") from error
    return values


_POSITIVE = click.IntRange(min=1)
_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen."),
    click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=8000,
        show_default=True,
        help="0 is any that is free; standard output has the address.",
    ),
    click.option(
        "--token-env",
        multiple=True,
        metavar="NAME",
        help="Demand the bearer token in this environment variable; with several any of them.",
    ),
    click.option(
        "--allow-unauthenticated",
        is_flag=True,
        help="Listen without a token where others can reach it.",
    ),
    click.option(
        "--allow-host", multiple=True, metavar="NAME", help="A name under which it is reached."
    ),
    click.option(
        "--allow-origin", multiple=True, metavar="URL", help="Pages that may call from a browser."
    ),
    click.option(
        "--stateless", is_flag=True, help="No sessions: any of several processes may answer."
    ),
    click.option("--json-response", is_flag=True, help="MCP: answer with JSON, never a stream."),
    click.option(
        "--max-body",
        type=_POSITIVE,
        default=MAX_BODY_BYTES,
        show_default=True,
        metavar="BYTES",
        help="How long a request may be.",
    ),
    click.option(
        "--max-concurrency",
        type=_POSITIVE,
        default=MAX_CONCURRENCY,
        show_default=True,
        metavar="N",
        help="How many requests may be under way; more get 503.",
    ),
    click.option(
        "--shutdown-timeout",
        type=SECONDS,
        default=SHUTDOWN_TIMEOUT,
        show_default=True,
        metavar="SECONDS",
        help="How long calls may take to end after the first signal.",
    ),
    click.option(
        "--root-path",
        default="",
        callback=value_reader(_prefix),
        metavar="PATH",
        help="What a proxy takes away from the front of each path, such as /ai.",
    ),
    click.option(
        "--trust-proxy",
        multiple=True,
        callback=value_reader(_addresses),
        metavar="ADDRESS",
        help="A proxy that says in X-Forwarded-For who calls, for the log; may be a network.",
    ),
    click.option(
        "--access-log", is_flag=True, help="Write a line of JSON for each request to stderr."
    ),
)


def http_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the server, which the command gets as one value, ``http``.

    With another transport it gets None, and options that were given all the same are refused.
    """

    @wraps(function)
    def packed(*, transport: str, **given: Any) -> Any:
        http = HttpOptions(**{name: given.pop(name) for name in HttpOptions._fields})
        if transport == "http":
            return function(**given, http=http)
        context = click.get_current_context()
        for parameter in context.command.params:
            name = parameter.name or ""
            source = context.get_parameter_source(name)
            if name in HttpOptions._fields and source is click.core.ParameterSource.COMMANDLINE:
                raise Misuse(f"{parameter.opts[0]} goes with --transport http")
        return function(**given, http=None)

    transports = click.Choice(("stdio", "http"))
    transport = click.option(
        "--transport",
        type=transports,
        default="stdio",
        show_default=True,
        help="How clients talk to it: as the parent process, or over the network.",
    )
    return options(transport, *_OPTIONS)(packed)


@contextmanager
def _listening(options: HttpOptions | None) -> Iterator[Callable[..., None] | None]:
    """Listen for as long as a block, if it is to be over HTTP; yield what serves there.

    Raises:
        Misuse: the options make no sense, or there is nowhere to listen.
    """
    if options is None:
        yield None
        return
    from sovl_tools.serving.run_http import ListeningError, listen  # noqa: PLC0415 - an extra
    from sovl_tools.serving.security import Security  # noqa: PLC0415 - an extra

    try:
        security = Security(
            tokens=tuple(map(_token, options.token_env)),
            hosts=options.allow_host,
            origins=options.allow_origin,
            max_body_bytes=options.max_body,
            max_concurrency=options.max_concurrency,
        )
        listening = listen(
            options.host, options.port, security, allow_all=options.allow_unauthenticated
        )
    except (ValueError, ListeningError) as error:
        raise Misuse(plain(str(error))) from error
    with closing(listening):
        yield partial(_serve_http, options, security=security, listening=listening)


def _serve_http(
    options: HttpOptions,
    make_app: Callable[..., Any],
    *,
    security: Any,
    listening: Any,
    offered: str,
) -> None:
    """Serve until a signal comes what ``McpServer.app`` makes; ``offered`` says what it is."""
    from sovl_tools.serving.run_http import Proxy, serve  # noqa: PLC0415 - an extra

    def log(record: dict[str, JSON]) -> None:
        click.echo(json_text(record), err=True)

    app = make_app(
        security=security,
        stateless=options.stateless,
        json_response=options.json_response,
        log=log if options.access_log else None,
    )

    def on_start(url: str) -> None:
        note(f"serving {offered} at {url}: JSON at /tools, MCP at /mcp")
        with suppress(BrokenPipeError):  # nobody needs the address
            write(url)

    serving = serve(
        app,
        listening,
        shutdown_timeout=options.shutdown_timeout,
        proxy=Proxy(options.root_path, options.trust_proxy),
        on_start=on_start,
    )
    _run(serving)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to its end, whatever is raised by a task that a tool has left behind.

    For a KeyboardInterrupt or a SystemExit in any task asyncio ends the loop. A Ctrl-C comes in
    another way, as soon as somebody handles its signal.
    """
    import asyncio  # noqa: PLC0415 - with all that a server needs

    with asyncio.Runner() as runner:
        task = runner.get_loop().create_task(work)
        while True:
            try:
                runner.get_loop().run_until_complete(task)
            except (KeyboardInterrupt, SystemExit) as error:
                is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
                if task.done() or (is_ours and isinstance(error, KeyboardInterrupt)):
                    raise
                name = type(error).__name__
                click.echo(f"a task that a tool has left raised {name}; serving goes on", err=True)
            else:
                return


def _token(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise Misuse(f"the environment variable {plain(name)} holds no token")
    return value


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
@registry_options
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
    help="Offer two tools that find and call all others. Default: if there are more than"
    f" {MOST_TOOLS}, or their definitions take more than {MOST_TOKENS:,} tokens.",
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
    tools: ToolOptions,
    no_watch: bool,
    poll: bool,
    timeout: float | None,
    mode: Mode | None,
    otel: bool,
    search_tools: bool | None,
    procedures: tuple[str, ...],
    http: HttpOptions | None,
) -> None:
    """Offer the tools to clients of the Model Context Protocol, and follow their edits.

    An editor or an assistant starts this command and talks to it over its standard input and
    output. A folder that is dropped in, edited or removed is announced to connected clients;
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
    found = tools.settings()
    # it listens first, so that options that are wrong are refused before any tool is imported
    with until_ended(), _listening(http) as serve_http:
        registry = all_tools(tools)
        for each in procedures:
            registry.load_procedures(each)
        observers: list[Observer] = []
        if otel:
            try:
                from sovl_tools.dispatch.opentelemetry import (  # noqa: PLC0415 - an extra
                    OpenTelemetry,
                )
            except ImportError as error:
                raise click.ClickException(str(error)) from error
            observers.append(OpenTelemetry())  # it reports where its environment variables say
        with Tooler(registry, timeout=timeout, mode=mode, observers=observers) as tooler:
            server = registry.mcp_server(tooler, search_tools=search_tools)
            watching: AbstractContextManager[object] = nullcontext()
            if not no_watch:
                if not is_quiet():
                    registry.subscribe(_log(server))
                watching = registry.watch(poll=poll, libraries=found.watch)
            with watching:
                _serve(server, serve_http)


def _log(server: Any) -> Callable[[CatalogChange], None]:
    """Return what tells on the error output of each change, in the words of ``watch``."""
    known = server.advertised.left_out

    def log(change: CatalogChange) -> None:
        nonlocal known
        show(pieces(moment_of(server.registry, change)), err=True)
        known, before = server.advertised.left_out, known
        for each in known:
            if each not in before:
                click.echo(plain(str(each)), err=True)

    return log


def _serve(server: Any, serve_http: Callable[..., None] | None) -> None:
    """Serve until the client leaves or a signal comes; ``server`` is an ``McpServer``."""
    advertised = server.advertised
    for each in advertised.left_out:
        note(str(each))
    offered = counted(len(advertised.modern), "tool")
    if advertised.is_searching:
        offered = f"{counted(len(advertised.hidden), 'tool')} by search_tools and call_tool"
    if serve_http is not None:
        serve_http(server.app, offered=offered)
        return
    from sovl_tools.serving.stdio import own_input  # noqa: PLC0415 - an extra

    note(f"serving {offered} over standard input and output")
    with own_input() as descriptor:
        _run(server.run_stdio(descriptor, results().fileno(), signals=_SIGNALS))
