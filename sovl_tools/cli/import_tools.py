"""``sovl-tools import``: definitions in a file, the tools of an MCP server, an OpenAPI document."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import click

from sovl_tools.cli import option
from sovl_tools.cli.arguments import read_input
from sovl_tools.cli.command import FINDINGS, Command, Misuse, note
from sovl_tools.cli.help import LazyGroup
from sovl_tools.cli.load_tools import target_directory
from sovl_tools.cli.output import show, write
from sovl_tools.formats.foreign import (
    Flaw,
    ForeignTool,
    Selection,
    definitions_in,
)
from sovl_tools.loading.jsontext import line_and_column
from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.model.document import JSON, json_path, parse_json
from sovl_tools.procedures.parse.yaml import NotYamlError, load
from sovl_tools.remote.openapi import DocumentError, is_address, read_api
from sovl_tools.remote.operation import Operation
from sovl_tools.remote.origin import read_tools
from sovl_tools.remote.secrets import without_secrets
from sovl_tools.remote.session import McpServer
from sovl_tools.remote.snapshot import Reviewed
from sovl_tools.reporting.changes import listed
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.imported import ImportedTools, import_tools, stub
from sovl_tools.scaffolding.new_tool import docstring, function_head, literal

EXITS = {
    1: "A definition can't become a tool; other tools are written.",
    2: "The source can't be read, or a folder exists.",
}


COMMANDS = {
    "mcp": ("import_tools:import_mcp", "Write a folder for each tool of an MCP server."),
    "openapi": (
        "import_tools:import_openapi",
        "Write a folder for each operation of an OpenAPI document.",
    ),
    "openai": ("import_tools:import_openai", "Write a folder for each definition in a file."),
}
EXAMPLES = """\b
Examples:
  sovl-tools import mcp 'uvx mcp-server-git'
  sovl-tools import openapi https://example.com/openapi.json
  sovl-tools import openai functions.json"""


@click.group("import", cls=LazyGroup, groups={"Commands": COMMANDS}, epilog=EXAMPLES)
def import_() -> None:
    """Write folders of tools that are defined elsewhere."""


class Target(NamedTuple):
    """Which folders are written, where they go, and how: the options of ``target_options``."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    tools: tuple[str, ...]
    output: str | None
    force: bool
    dry_run: bool

    @property
    def directory(self) -> str:
        """The directory for the folders; raises Misuse if no folders of tools can be there."""
        return target_directory(self.tools, self.output)

    @property
    def selection(self) -> Selection:
        """The tools to import."""
        return Selection(self.include, self.exclude)


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the folders to write; the command gets them as one value, ``target``."""
    return option.several(
        click.option(
            "--include", multiple=True, metavar="PATTERN", help="Only these tools; can be repeated."
        ),
        click.option(
            "--exclude", multiple=True, metavar="PATTERN", help="Not these tools; can be repeated."
        ),
        option.tools,
        click.option(
            "-o",
            "--output",
            metavar="DIR",
            type=click.Path(),
            help="The directory for the folders. Default: the first tools directory.",
        ),
        click.option("--force", is_flag=True, help="Replace the files of existing tools."),
        click.option(
            "--dry-run", is_flag=True, help="Print the files that would be written, and write none."
        ),
    )(option.packed(function, target=Target))


def write_all(found: ImportedTools, target: Target, *, source: str) -> None:
    """Write the folders of what was found, and report what can't become a tool.

    Raises:
        Misuse: a folder is there already, there's no tool, or something can't be written.
        Exit: there is a flaw; the other tools are written.
    """
    for each_note in found.notes:
        note(each_note)
    lines = [f"{source}: {json_path(each.place)}: {each.message}" for each in found.flaws]
    for line in lines:
        show(plain(line), err=True)
    if not found.tools and found.flaws:
        raise click.ClickException("no file is written")
    if not found.tools:
        raise Misuse(f"{source!r} defines no tool")
    directory = target.directory
    there = [
        each.name for each in found.tools if os.path.lexists(os.path.join(directory, each.name))
    ]
    if there and not target.force:
        words = f"there's already {listed(there)} in {directory!r}"
        raise Misuse(f"{words}; --force replaces their files")
    if not target.dry_run:
        create_folders(directory, {each.name: each.files for each in found.tools})
    lines = [f"{directory}/{each.name}/{file}" for each in found.tools for file in each.files]
    write("\n".join(map(plain, lines)))
    if target.dry_run:
        note(f"no file is written: these would be {counted(len(found.tools), 'tool')}")
    if found.flaws:
        note(f"{counted(len(found.flaws), 'definition')} can't become a tool; see above")
        click.get_current_context().exit(FINDINGS)


OPENAI_EXAMPLES = """\b
Examples:
  sovl-tools import openai functions.json
  cat request.json | sovl-tools import openai -

FILE holds JSON or JSON Lines: one definition, a list of them, or an object around such a list, in
the form of OpenAI (both APIs), Anthropic, Gemini, Bedrock, MCP, or name, description and parameters
alone: a JSON Schema, a map by name, or a list, also under "args" or "inputs"."""


@click.command("openai", cls=Command, epilog=OPENAI_EXAMPLES, exits=EXITS)
@click.argument("file")
@target_options
def import_openai(*, file: str, target: Target) -> None:
    """Write a folder for each definition in a file: a manifest, and a function to be written.

    The function takes the schema's arguments and raises NotImplementedError until you write it. A
    name that is invalid for a folder is changed.
    """
    data = read_input(file)
    try:
        document = parse_json(data)
    except ValueError as error:
        document = _json_lines(data)
        if document is None:
            raise Misuse(f"{file!r} is not JSON: {error}") from error
    definitions = definitions_in(document, target.selection)
    write_all(import_tools(definitions, stub), target, source=file)
    if not target.dry_run:
        note("next: write the functions, then: sovl-tools validate")


def _json_lines(data: bytes) -> JSON:
    """Return the values of JSON Lines as a list; None if a line isn't an object."""
    try:
        found = [parse_json(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        return None
    return found if all(isinstance(each, dict) for each in found) else None


MCP_EXAMPLES = """\b
Examples:
  sovl-tools import mcp 'uvx mcp-server-git --repository .'
  sovl-tools import mcp https://example.com/mcp --header Authorization=MCP_TOKEN
  sovl-tools import mcp 'npx -y some-server' --env API_KEY --env LEVEL=debug

A header's value is read from the environment variable ENV when a tool is called. --env KEY passes
a variable on to the server's process; --env KEY=VALUE writes the value into the folders. What looks
like a secret, also in COMMAND or URL, isn't written: the folders read it from a variable."""
PACKAGE = "mcp>=2.3,<3"
_WIDTH = 88


@click.command("mcp", cls=Command, epilog=MCP_EXAMPLES, exits=EXITS)
@click.argument("address", metavar="COMMAND|URL")
@option.header
@option.env
@option.timeout(f"The time limit for each answer of the server. Default: {SERVER_TIMEOUT:g}.")
@option.file(
    "--locked",
    words="Reject tools that differ from this snapshot of sovl-tools check.",
)
@target_options
def import_mcp(
    *,
    address: str,
    headers: tuple[tuple[str, str], ...],
    env: tuple[tuple[str, str | None], ...],
    timeout: float | None,
    locked: str | None,
    target: Target,
) -> None:
    """Write a folder for each tool of an MCP server, which calls that server.

    All folders of a server share one session, which begins with the first call and begins again
    when the server has died. The functions need the extra [mcp]. registry.load_mcp does the same
    without files.
    """
    try:
        given = McpServer(address, headers, env, timeout or SERVER_TIMEOUT)
        reviewed = Reviewed.of(locked) if locked is not None else None
        offered = asyncio.run(given.list_tools())
    except ValueError as error:
        raise Misuse(str(error)) from error
    server = without_secrets(given)
    said = {"env": server.variables, "packages": [PACKAGE]}
    requires = {key: each for key, each in said.items() if each}
    definitions: list[ForeignTool | Flaw] = []
    for each in read_tools(offered, target.selection):
        objection = reviewed and reviewed.objection(offered[int(each.place[1])])
        if objection:
            words = f"it isn't as reviewed: {objection}; review it, then run sovl-tools check"
            definitions.append(Flaw(each.place, f"{words} --update"))
        elif isinstance(each, ForeignTool):
            definitions.append(each._replace(requires=requires))
        else:
            definitions.append(each)

    def module(name: str, tool: ForeignTool) -> str:
        if locked is None:
            return _mcp_module(name, tool, server)
        snapshot = Path(os.path.relpath(locked, os.path.join(target.directory, name))).as_posix()
        place = _Expression(f"str(Path(__file__).parent / {literal(snapshot)})")
        return _mcp_module(name, tool, replace(server, locked=place))

    notes = []
    for name in server.variables:
        is_new = name not in given.variables
        withheld = " (it looks like a secret, and isn't written into the folders)" if is_new else ""
        notes.append(f"set {name}: the server needs it{withheld}")
    found = import_tools(definitions, module)
    write_all(found._replace(notes=(*found.notes, *notes)), target, source=str(server))


def _mcp_module(name: str, tool: ForeignTool, server: McpServer) -> str:
    context = "context"
    while context in tool.parameters["properties"]:
        context += "_"
    head = [f"{context}: ToolContext", "**arguments: Any"]
    is_repeatable = tool.annotations.get("read_only") or tool.annotations.get("idempotent")
    return (
        '"""A tool of an MCP server, called over the one session that is kept with it."""\n\n'
        f"{'from pathlib import Path' + chr(10) if server.locked else ''}"
        "from typing import Any\n\n"
        "from sovl_tools import ToolContext\n"
        "from sovl_tools.remote.session import McpServer\n\n"
        f"_SERVER = {_source_of(server)}\n\n\n"
        f"{function_head(name, head, returns='Any', is_async=True)}\n"
        f"{docstring(tool.description if tool.description.strip() else f'Call {name}.')}"
        f"    return await _SERVER.call({literal(tool.name)}, arguments, {context}"
        f"{', repeatable=True' if is_repeatable else ''})\n"
    )


class _Expression(str):
    """Source that is written as it is."""

    __slots__ = ()


def _source_of(value: Any, indent: str = "") -> str:
    """Return a value as Python source, a record without the fields that have their defaults."""
    inner = f"{indent}    "
    if hasattr(value, "__match_args__"):
        start, end = f"{type(value).__name__}(", ")"
        fields = signature(type(value)).parameters
        given = {
            name: getattr(value, name)
            for name, field in fields.items()
            if field.default is field.empty or getattr(value, name) not in (field.default, (), {})
        }
        items = [f"{name}={_source_of(each, inner)}" for name, each in given.items()]
    elif isinstance(value, Mapping):
        start, end = "{}"
        items = [f"{literal(key)}: {_source_of(each, inner)}" for key, each in value.items()]
    elif isinstance(value, list):
        start, end = "[]"
        items = [_source_of(each, inner) for each in value]
    elif isinstance(value, tuple):
        return f"({', '.join(_source_of(each, inner) for each in value)},)"
    else:
        return value if isinstance(value, _Expression) else literal(value)
    line = f"{start}{', '.join(items)}{end}"
    if len(indent) + len(line) <= _WIDTH and "\n" not in line:
        return line
    return "\n".join([start, *(f"{inner}{each}," for each in items), f"{indent}{end}"])


OPENAPI_EXAMPLES = """\b
Examples:
  sovl-tools import openapi https://example.com/openapi.json --include 'pets'
  sovl-tools import openapi api.yaml --base-url http://localhost:8080 --exclude 'DELETE *'
  sovl-tools import openapi api.yaml --credential bearerAuth=API_TOKEN

A PATTERN is a shell pattern, for the operation's id, one of its tags, or METHOD PATH. The
API's credentials are read from an environment variable, which the command names;
--credential names another for a scheme of the document."""
_MOST_VALUES = 2_000_000
_SECONDS = 30


@click.command("openapi", cls=Command, epilog=OPENAPI_EXAMPLES, exits=EXITS)
@click.argument("source", metavar="FILE|URL")
@click.option("--base-url", metavar="URL", help="Where the API is, unless the document says it.")
@click.option(
    "--credential",
    "credentials",
    multiple=True,
    callback=option.value_reader(option.header_variables),
    metavar="SCHEME=ENV",
    help="The environment variable for a security scheme; can be repeated.",
)
@target_options
def import_openapi(
    *,
    source: str,
    base_url: str | None,
    credentials: tuple[tuple[str, str], ...],
    target: Target,
) -> None:
    """Write a folder for each operation of an OpenAPI 3 document, which calls the API.

    Parameters and the body become the tool's parameters; GET is marked as reading only, DELETE as
    destructive, PUT as idempotent. An answer that is an error is an error of the tool. An operation
    that can't be called is named, and the rest are written. The functions need the extra [http].
    """
    if base_url is not None and not is_address(base_url):
        raise Misuse(f"--base-url: {base_url!r} is not an http or https address")
    is_remote = is_address(source)
    data = _fetched(source) if is_remote else read_input(source)
    try:
        api = read_api(
            _document(data, source),
            selection=target.selection,
            base_url=base_url,
            source=source if is_remote else "",
            credentials=dict(credentials),
        )
    except DocumentError as error:
        raise Misuse(f"{source!r}: {error}") from error

    def module(name: str, tool: ForeignTool) -> str:
        return module_of(name, tool, api.operations[tool.place])

    found = import_tools(api.definitions, module)
    write_all(found._replace(notes=(*found.notes, *api.notes)), target, source=source)


def _fetched(url: str) -> bytes:
    try:
        import httpx  # noqa: PLC0415 - heavy, and an extra
    except ModuleNotFoundError as error:
        raise Misuse(
            "a document behind a URL needs httpx: pip install 'sovl-tools[http]'"
        ) from error
    try:
        answer = httpx.get(url, follow_redirects=True, timeout=_SECONDS)
        return answer.raise_for_status().content
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        first = (str(error) or type(error).__name__).partition("\n")[0]
        raise Misuse(f"{url!r} can't be read: {first}") from error


def _document(data: bytes, source: str) -> JSON:
    """Return the document of a string, which is JSON if it begins like JSON, and YAML otherwise."""
    try:
        if data.lstrip()[:1] in {b"{", b"["} or data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return parse_json(data)
        text = data.decode().removeprefix("\ufeff")
        return load(text, most_values=_MOST_VALUES).value
    except NotYamlError as error:
        line, column = line_and_column(data.decode().removeprefix("\ufeff"), error.offset)
        raise Misuse(f"{source}:{line}:{column}: {error.message}") from error
    except ValueError as error:
        raise Misuse(f"{source!r} is neither JSON nor YAML: {error}") from error


def module_of(name: str, tool: ForeignTool, operation: Operation) -> str:
    """Return the text of a module whose function calls an operation."""
    uses = ["Argument"] * bool(operation.arguments) + ["Credential"] * bool(operation.credentials)
    title = " ".join(f"{operation.method} {tool.place[1]}".split())
    head = function_head(name, ["**arguments: Any"], returns="Any", is_async=True)
    return (
        f"{docstring(f'The operation {title} of an HTTP API.').lstrip(' ')}"
        "\nfrom typing import Any\n\n"
        f"from sovl_tools.remote.operation import {', '.join([*uses, 'Operation'])}\n\n"
        f"_OPERATION = {_source_of(operation)}\n\n\n"
        f"{head}\n{docstring(tool.description)}"
        "    return await _OPERATION.call(arguments)\n"
    )
