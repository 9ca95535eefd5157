"""``sovl-tools call``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sovl_tools.cli.command import (
    FINDINGS,
    MISUSE,
    SECONDS,
    Command,
    Misuse,
    tools_option,
    write,
)
from sovl_tools.cli.documents import json_text
from sovl_tools.cli.loaded import complete_names, one_tool
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.reporting.plain import plain
from sovl_tools.running.tooler import Tooler

EXAMPLES = """\b
Examples:
  sovl-tools call example_tool number1=5 number2=3
  sovl-tools call example_tool --args '{"number1": 5, "number2": 3}'
  echo '{"number1": 5, "number2": 3}' | sovl-tools call example_tool --args -

A value is read as the parameter's type says: text as it stands, anything else as JSON."""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("name", shell_complete=complete_names)
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@tools_option
@click.option("--args", "text", metavar="JSON|@FILE|-", help="All arguments as one JSON object.")
@click.option(
    "--timeout",
    type=SECONDS,
    metavar="SECONDS",
    help="How long the call may take.",
)
@click.pass_context
def call(
    ctx: click.Context,
    *,
    name: str,
    pairs: tuple[str, ...],
    tools: tuple[str, ...],
    text: str | None,
    timeout: float | None,
) -> None:
    """Call a tool and print its result as JSON, nothing else.

    Only this tool is imported. What it prints goes to the error output. Exits with 1 if the tool
    fails and with 2 if there is no such tool or the arguments do not fit. `sovl-tools -v call …`
    shows the traceback of a tool that fails.
    """
    if pairs and text is not None:
        raise Misuse("give the arguments as KEY=VALUE or with --args, not both")
    registry = one_tool(tools, name)
    tool = registry.get(name)
    arguments = _given(text) if text is not None else _paired(pairs, tool)
    result = Tooler(registry).call_sync(name, arguments, timeout=timeout)
    if result.error is not None:
        ctx.exit(_failed(result.error))
    write(_encoded(result))


def _given(text: str) -> str:
    """Return the JSON text that ``--args`` names."""
    if text == "-":
        if sys.stdin is None:
            raise Misuse("--args -: there is no standard input")
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise Misuse(f"--args {text}: {error}") from error
    return text


def _paired(pairs: tuple[str, ...], tool: ToolDefinition | None) -> dict[str, JSON]:
    arguments: dict[str, JSON] = {}
    properties = tool.parameters["properties"] if tool else {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise Misuse(f"{pair!r} is not KEY=VALUE")
        if key in arguments:
            raise Misuse(f"{key!r} is given twice")
        arguments[key] = _value(value, properties.get(key))
    return arguments


def _value(text: str, schema: JSON) -> JSON:
    """Read a value as its schema wants it; what is no JSON is text, and the check will say so."""
    kinds = schema.get("type") if isinstance(schema, dict) else None
    if kinds == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _failed(error: Failure) -> int:
    for line in error.message.split("\n"):
        click.echo(plain(line), err=True)
    return MISUSE if error.kind in {"invalid_arguments", "unknown_tool"} else FINDINGS


def _encoded(result: ToolResult) -> str:
    try:
        return json_text(result.value)
    except (TypeError, ValueError, RecursionError) as error:
        raise click.ClickException(f"the result can't be written as JSON: {error}") from error
