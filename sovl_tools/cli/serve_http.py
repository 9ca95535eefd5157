"""The options of ``sovl-tools serve --transport http``, and what it does."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, NamedTuple

import click

from sovl_tools.cli.command import SECONDS, Misuse
from sovl_tools.cli.output import json_text, write
from sovl_tools.model.document import JSON
from sovl_tools.reporting.text import plain


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
    access_log: bool


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
        default=4 * 1024 * 1024,
        show_default=True,
        metavar="BYTES",
        help="How long a request may be.",
    ),
    click.option(
        "--max-concurrency",
        type=_POSITIVE,
        default=100,
        show_default=True,
        metavar="N",
        help="How many requests may be under way; more get 503.",
    ),
    click.option(
        "--shutdown-timeout",
        type=SECONDS,
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="How long calls may take to end after the first signal.",
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
        options = HttpOptions(**{name: given.pop(name) for name in HttpOptions._fields})
        if transport == "http":
            return function(**given, http=options)
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
    decorated: Callable[..., Any] = packed
    for option in reversed((transport, *_OPTIONS)):
        decorated = option(decorated)
    return decorated


def serve_http(make_app: Callable[..., Any], options: HttpOptions, offered: str | None) -> None:
    """Serve until a signal comes what ``McpServer.app`` makes.

    ``offered`` says what is served, None that nothing is to be said.

    Raises:
        Misuse: the options make no sense, or there is nowhere to listen.
    """
    import asyncio  # noqa: PLC0415 - with all that a server needs

    from sovl_tools.serving.run_http import ListeningError, listen, serve  # noqa: PLC0415 - an extra
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

    def log(record: dict[str, JSON]) -> None:
        click.echo(json_text(record), err=True)

    app = make_app(
        security=security,
        stateless=options.stateless,
        json_response=options.json_response,
        log=log if options.access_log else None,
    )

    def on_start(url: str) -> None:
        if offered is not None:
            click.echo(f"serving {offered} at {url}: JSON at /tools, MCP at /mcp", err=True)
        with suppress(BrokenPipeError):  # nobody needs the address
            write(url)

    asyncio.run(serve(app, listening, shutdown_timeout=options.shutdown_timeout, on_start=on_start))


def _token(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise Misuse(f"the environment variable {plain(name)} holds no token")
    return value
