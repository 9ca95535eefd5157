"""``sovl-tools dev``."""

from __future__ import annotations

import asyncio
import webbrowser
from contextlib import closing, suppress
from secrets import token_urlsafe
from threading import Thread

import click

from sovl_tools.cli.command import Command, note
from sovl_tools.cli.output import write
from sovl_tools.cli.serve import EXITS as SERVE_EXITS
from sovl_tools.cli.serve import Offer, bind, check_extra, offer_options, token_of
from sovl_tools.cli.watch import until_ended
from sovl_tools.reporting.outcome import counted

EXAMPLES = """\b
Examples:
  sovl-tools dev
  sovl-tools dev --procedures procedures --port 9000"""
EXITS = {0: "After Ctrl-C or SIGTERM.", 1: SERVE_EXITS[1]}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@offer_options
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8321,
    show_default=True,
    help="The port; 0 selects a free one.",
)
@click.option(
    "--token-env",
    metavar="NAME",
    help="Take the token from this environment variable. Default: a new one at each start.",
)
@click.option("--no-open", is_flag=True, help="Do not open the page in the browser.")
def dev(
    *,
    offer: Offer,
    port: int,
    token_env: str | None,
    no_open: bool,
) -> None:
    """Show the tools in the browser while you edit them.

    The page lists the tools with their findings, calls them with a form, shows the definitions
    for each provider, and runs procedures step by step. It follows every edit; when an edit breaks
    a tool, the last good version keeps serving. Other clients can use the same server: MCP at /mcp
    and the JSON API at /tools. The page shows their calls, too.

    Only this machine can connect, with the token in the URL.
    """
    check_extra()
    from sovl_tools.dev.app import DevApi  # noqa: PLC0415 - an extra, and heavy
    from sovl_tools.dev.calls import telling_what_is_printed  # noqa: PLC0415 - likewise
    from sovl_tools.serving.run_http import serve  # noqa: PLC0415 - likewise

    token = token_urlsafe(24) if token_env is None else token_of(token_env)
    found = offer.tools.settings()
    # it listens first, so that wrong options are rejected before any tool is imported
    listening, _ = bind("127.0.0.1", port, tokens=(token,))
    with until_ended(), closing(listening):
        registry = offer.registry()
        api = DevApi(registry, found, offer.policy(found))

        def on_start(url: str) -> None:
            address = f"{url}/#token={token}"
            note(f"showing {counted(len(registry), 'tool')}; Ctrl-C ends it")
            with suppress(BrokenPipeError):  # standard output is closed
                write(address)
            if not no_open:
                # on a thread: a browser in the terminal would keep the server
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        watching = registry.watch(libraries=found.watch)
        with api.tooler, watching, telling_what_is_printed():
            asyncio.run(serve(api.app(token), listening, on_start=on_start))
