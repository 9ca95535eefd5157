"""``sovl-tools import openapi``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from sovl_tools.cli.command import Command, Misuse, is_quiet
from sovl_tools.cli.import_tools import (
    EXITS,
    MAX_SOURCE,
    read_source,
    target_of,
    target_options,
    write_all,
)
from sovl_tools.formats.foreign import ForeignTool
from sovl_tools.loading.jsontext import line_and_column
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.procedures.parse.yaml import NotYamlError, load
from sovl_tools.remote.openapi import DocumentError, is_address, read_api
from sovl_tools.remote.operation import Operation
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.imported import import_tools
from sovl_tools.scaffolding.new_tool import docstring, function_head, literal

EXAMPLES = """\b
Examples:
  sovl-tools import openapi openapi.json
  sovl-tools import openapi https://example.com/openapi.json --include 'pets'
  sovl-tools import openapi api.yaml --base-url http://localhost:8080 --exclude 'DELETE *'

A PATTERN is one of the shell, for the operation's id, one of its tags, or METHOD PATH. What an
API's security scheme asks for is read from an environment variable, which the command names."""
_MOST_VALUES = 2_000_000
_SECONDS = 30


@click.command("openapi", cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("source", metavar="FILE|URL")
@click.option("--base-url", metavar="URL", help="Where the API is, unless the document says it.")
@target_options
def import_openapi(
    *,
    source: str,
    base_url: str | None,
    **options: Any,
) -> None:
    """Write a folder for each operation of an OpenAPI 3 document, which calls the API.

    Parameters and the body become the tool's parameters; GET is marked as reading only, DELETE as
    destructive, PUT as idempotent. An answer that is an error is an error of the tool. The
    functions need the extra [http].
    """
    target = target_of(**options)
    if base_url is not None and not is_address(base_url):
        raise Misuse(f"--base-url: {base_url!r} is no http or https address")
    is_remote = is_address(source)
    data = _fetched(source) if is_remote else read_source(source)
    try:
        api = read_api(
            _document(data, source),
            selection=target.selection,
            base_url=base_url,
            source=source if is_remote else "",
        )
    except DocumentError as error:
        raise Misuse(f"{source!r}: {error}") from error

    def module(name: str, tool: ForeignTool) -> str:
        return module_of(name, tool, api.operations[tool.place])

    write_all(import_tools(api.definitions, module), target, source=source)
    for note in () if is_quiet() else api.notes:
        click.echo(plain(note), err=True)


def _fetched(url: str) -> bytes:
    try:
        import httpx  # noqa: PLC0415 - heavy, and an extra
    except ModuleNotFoundError as error:
        raise Misuse(
            "a document behind a URL needs httpx: pip install 'sovl-tools[http]'"
        ) from error
    data = bytearray()
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=_SECONDS) as answer:
            answer.raise_for_status()
            for chunk in answer.iter_bytes():
                data += chunk
                if len(data) > MAX_SOURCE:
                    raise Misuse(f"{url!r} has more than {MAX_SOURCE:,} bytes")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        first = (str(error) or type(error).__name__).partition("\n")[0]
        raise Misuse(f"{url!r} can't be read: {first}") from error
    return bytes(data)


def _document(data: bytes, source: str) -> JSON:
    """Return the document of a text, which is JSON if it begins like JSON, and YAML otherwise."""
    try:
        if data.lstrip()[:1] in {b"{", b"["} or data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return parse_json(data)
        text = data.decode().removeprefix("\ufeff")
        return load(text, most_values=_MOST_VALUES, has_any_keys=True).value
    except NotYamlError as error:
        line, column = line_and_column(data.decode().removeprefix("\ufeff"), error.offset)
        raise Misuse(f"{source}:{line}:{column}: {error.message}") from error
    except ValueError as error:
        raise Misuse(f"{source!r} is neither JSON nor YAML: {error}") from error


def module_of(name: str, tool: ForeignTool, operation: Operation) -> str:
    """Return the text of a module whose function calls an operation."""
    return "".join(_module(name, tool, operation))


def _module(name: str, tool: ForeignTool, operation: Operation) -> Iterator[str]:
    uses = ["Argument"] if operation.arguments else []
    uses += ["Credential"] if operation.credentials else []
    title = " ".join(f"{operation.method} {tool.place[1]}".split())
    yield docstring(f"The operation {title} of an HTTP API.").replace("    ", "", 1)
    yield "\nfrom typing import Any\n\n"
    yield f"from sovl_tools.remote.operation import {', '.join([*uses, 'Operation'])}\n\n"
    yield f"_OPERATION = Operation(\n    {literal(operation.method)},\n"
    yield f"    {literal(operation.url)},\n"
    if operation.arguments or operation.credentials:
        yield "".join(_arguments(operation))
    if operation.credentials:
        yield "".join(_credentials(operation))
    yield ")\n\n\n"
    yield f"{function_head(name, ['**arguments: Any'], returns='Any', is_async=True)}\n"
    yield f"{docstring(tool.description)}    return await _OPERATION.call(arguments)\n"


def _arguments(operation: Operation) -> Iterator[str]:
    yield "    {"
    for name, each in operation.arguments.items():
        said = [literal(each.where), literal(each.name)]
        said += [literal(each.style)] if each.style or each.explode else []
        said += ["explode=True"] if each.explode else []
        yield f"\n        {literal(name)}: Argument({', '.join(said)}),"
    yield "\n    },\n" if operation.arguments else "},\n"


def _credentials(operation: Operation) -> Iterator[str]:
    yield "    [\n"
    for each in operation.credentials:
        yield f"        Credential({', '.join(map(literal, each))}),\n"
    yield "    ],\n"
