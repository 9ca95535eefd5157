"""``sovl-tools import mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import click

from sovl_tools.cli.command import Command, Misuse, is_quiet, timeout_option, value_reader
from sovl_tools.cli.import_tools import EXITS, target_of, target_options, write_all
from sovl_tools.formats.foreign import ForeignTool
from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.remote.origin import read_tools
from sovl_tools.remote.session import McpServer, RemoteError
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.imported import import_tools
from sovl_tools.scaffolding.new_tool import docstring, function_head, literal

EXAMPLES = """\b
Examples:
  sovl-tools import mcp 'uvx mcp-server-git --repository .'
  sovl-tools import mcp https://example.com/mcp --header Authorization=MCP_TOKEN
  sovl-tools import mcp 'npx -y some-server' --env API_KEY --env LEVEL=debug

A header's value is read from the environment variable ENV when a tool is called. --env KEY passes
a variable on to the server's process; --env KEY=VALUE writes the value into the folders."""
PACKAGE = "mcp>=2.3,<3"
_WIDTH = 88


def _headers(values: Sequence[str]) -> tuple[tuple[str, str], ...]:
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


@click.command("mcp", cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("address", metavar="COMMAND|URL")
@click.option(
    "--header",
    "headers",
    multiple=True,
    callback=value_reader(_headers),
    metavar="NAME=ENV",
    help="A header with the value of an environment variable; may be repeated.",
)
@click.option(
    "--env",
    multiple=True,
    callback=value_reader(_env),
    metavar="KEY[=VALUE]",
    help="A variable for the server's process; may be repeated.",
)
@timeout_option(f"How long the server has to answer. Default: {SERVER_TIMEOUT:g}.")
@target_options
def import_mcp(
    *,
    address: str,
    headers: tuple[tuple[str, str], ...],
    env: tuple[tuple[str, str | None], ...],
    timeout: float | None,
    **options: Any,
) -> None:
    """Write a folder for each tool of an MCP server, which calls that server.

    All folders of a server share one session, which begins with the first call and begins anew
    when the server has died. The functions need the extra [mcp]. registry.load_mcp does the same
    without files.
    """
    target = target_of(**options)
    try:
        server = McpServer(address, headers, env, timeout or SERVER_TIMEOUT)
        listed = asyncio.run(server.list_tools())
    except (RemoteError, ValueError) as error:
        raise Misuse(str(error)) from error
    said = {"env": server.variables, "packages": [PACKAGE]}
    requires = {key: each for key, each in said.items() if each}
    definitions = [
        each._replace(requires=requires) if isinstance(each, ForeignTool) else each
        for each in read_tools(listed, target.selection)
    ]

    def module(name: str, tool: ForeignTool) -> str:
        return "".join(_module(name, tool, server))

    write_all(import_tools(definitions, module), target, source=address)
    for name in () if is_quiet() else server.variables:
        click.echo(plain(f"set {name}: the server needs it"), err=True)


def _module(name: str, tool: ForeignTool, server: McpServer) -> Iterator[str]:
    context = "context"
    while context in tool.parameters["properties"]:
        context += "_"
    yield '"""A tool of an MCP server, called over the one session that is kept with it."""\n\n'
    yield "from typing import Any\n\nfrom sovl_tools import ToolContext\n"
    yield "from sovl_tools.remote.session import McpServer\n\n"
    said = [*_server(server)]
    line = f"_SERVER = McpServer({', '.join(said)})"
    spread = "".join(f"    {each},\n" for each in said)
    yield line if len(line) <= _WIDTH else f"_SERVER = McpServer(\n{spread})"
    yield "\n\n\n"
    head = [f"{context}: ToolContext", "**arguments: Any"]
    yield f"{function_head(name, head, returns='Any', is_async=True)}\n"
    yield docstring(tool.description if tool.description.strip() else f"Call {name}.")
    is_repeatable = tool.annotations.get("read_only") or tool.annotations.get("idempotent")
    more = ", repeatable=True" if is_repeatable else ""
    yield f"    return await _SERVER.call({literal(tool.name)}, arguments, {context}{more})\n"


def _server(server: McpServer) -> Iterator[str]:
    yield literal(server.address)
    for key in ("headers", "env"):
        pairs = getattr(server, key)
        if pairs:
            each = (f"({literal(name)}, {literal(value)})" for name, value in pairs)
            yield f"{key}=({', '.join(each)},)"
    if server.timeout != SERVER_TIMEOUT:
        yield f"timeout={server.timeout!r}"
