"""``sovl-tools dev``."""

from __future__ import annotations

import asyncio
import webbrowser
from contextlib import closing, suppress
from secrets import token_urlsafe
from socket import socket

import click

from sovl_tools.cli.command import (
    Command,
    Misuse,
    ToolOptions,
    locked_option,
    mode_option,
    note,
    poll_option,
    registry_options,
    timeout_option,
    view_options,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import write
from sovl_tools.cli.serve import token_of, with_approval
from sovl_tools.cli.watch import until_ended
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Mode
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

_PORT = 8321
_HOST = "127.0.0.1"

EXAMPLES = """\b
Examples:
  sovl-tools dev
  sovl-tools dev --tools drafts --no-open
  sovl-tools dev --procedures procedures --port 9000"""
EXITS = {
    0: "After Ctrl-C or SIGTERM.",
    1: "The extra mcp is not installed: pip install 'sovl-tools[mcp]'.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@registry_options
@view_options
@poll_option
@timeout_option("The time limit of a call, unless its manifest has another.")
@mode_option
@locked_option
@click.option("--approve", is_flag=True, help="Ask before a destructive tool is called.")
@click.option(
    "--procedures",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Also show the procedures in a directory; may be repeated.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help=f"The port; 0 selects a free one. Default: {_PORT}, or a free one if that is in use.",
)
@click.option(
    "--token-env",
    metavar="NAME",
    help="Take the token from this environment variable. Default: a new one at each start.",
)
@click.option("--no-open", is_flag=True, help="Do not open the page in the browser.")
def dev(
    *,
    tools: ToolOptions,
    poll: bool,
    timeout: float | None,
    mode: Mode | None,
    approve: bool,
    procedures: tuple[str, ...],
    port: int | None,
    token_env: str | None,
    no_open: bool,
) -> None:
    """Show the tools in the browser while you edit them.

    The page lists the tools and what is wrong with them, calls them with a form, shows what each
    provider gets, and runs procedures step by step. It follows every edit; when one breaks a
    tool, the last good version keeps serving. The server also has what serve --transport http
    has: MCP at /mcp and JSON at /tools, so that the page shows the calls of other clients, too.

    Only this machine can connect, and only with the token in the URL.
    """
    try:
        from sovl_tools.dev.app import DevApi  # noqa: PLC0415 - an extra, and heavy
        from sovl_tools.dev.calls import telling_what_is_printed  # noqa: PLC0415 - likewise
        from sovl_tools.serving.run_http import serve  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise click.ClickException(
            f"the page needs the extra mcp: pip install 'sovl-tools[mcp]' ({error})"
        ) from error
    token = token_urlsafe(24) if token_env is None else token_of(token_env)
    found = tools.settings()
    # it listens first, so that wrong options are rejected before any tool is imported
    with until_ended(), closing(_listen(port, token)) as listening:
        registry = all_tools(tools)
        for each in procedures:
            registry.load_procedures(each)
        policy = with_approval(found.policy.but(timeout=timeout, mode=mode), approve=approve)
        api = DevApi(
            registry,
            found,
            lambda history: Tooler(registry, policy=policy, observers=[history]),
        )

        def on_start(url: str) -> None:
            address = f"{url}/#token={token}"
            note(f"showing {counted(len(registry), 'tool')}; Ctrl-C ends it")
            with suppress(BrokenPipeError):  # no program reads the URL
                write(address)
            if not no_open:
                webbrowser.open(address)

        with (
            api.tooler,
            registry.watch(poll=poll, libraries=found.watch),
            telling_what_is_printed(),
        ):
            asyncio.run(serve(api.app(token), listening, on_start=on_start))


def _listen(port: int | None, token: str) -> socket:
    """Return a socket that listens for this machine's clients.

    Raises:
        Misuse: the port is in use.
    """
    from sovl_tools.serving.run_http import ListeningError, listen  # noqa: PLC0415 - an extra
    from sovl_tools.serving.security import Security  # noqa: PLC0415 - an extra

    try:
        security = Security(tokens=(token,))
        try:
            return listen(_HOST, _PORT if port is None else port, security)
        except ListeningError:
            if port is not None:
                raise
            return listen(_HOST, 0, security)
    except (ValueError, ListeningError) as error:
        raise Misuse(plain(str(error))) from error
