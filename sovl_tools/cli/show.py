"""``sovl-tools list`` and ``show``."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, Command, Misuse
from sovl_tools.cli.load_tools import all_tools, complete_names, one_tool
from sovl_tools.cli.output import show as show_text
from sovl_tools.cli.output import show_diagnostics, show_value, table, write
from sovl_tools.formats.text import Described, described
from sovl_tools.model.definition import ToolDefinition, manifest_values
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.procedures.parse.files import SUFFIXES, is_procedure
from sovl_tools.reporting.text import plain

LIST_EXAMPLES = """\b
Examples:
  sovl-tools list --tag math
  sovl-tools list --name 'search_*' --format json"""
LIST_EXITS = {
    0: "Also if tools did not load; they are counted on the error output.",
    2: "A directory of tools does not exist or can't be listed.",
}

_COLUMNS = ("NAME", "CATEGORY", "TAGS", "DESCRIPTION")


@click.command("list", cls=Command, epilog=LIST_EXAMPLES, exits=LIST_EXITS)
@option.registry
@option.views
@option.format_("table", "json", "yaml")
def list_tools(
    *,
    tools: option.ToolOptions,
    format_: str,
) -> None:
    """List the tools by name; the table has the reasons why some are not loaded.

    Only their names are available, so all options but --name omit them. A module is imported
    only where its text doesn't show the tool; validate imports all of them.
    """
    registry = all_tools(tools, lazy=True)
    found, catalog = registry.list_tools(), registry.catalog
    if format_ == "table":
        statuses = {each.name: each.status for each in catalog.candidates}
        lost = catalog.unavailable
        rows = [row(tool) for tool in found]
        for name, reasons in lost.items():
            words = f"{statuses.get(name, 'rejected')}: {'; '.join(reasons)}"
            rows.append((plain(name), "", "", plain(words)))
        show_tools(sorted(rows), dim=lost.keys())
        return
    entries: list[dict[str, JSON]] = [
        {
            "name": tool.name,
            "description": tool.description,
            "category": tool.category,
            "tags": list(tool.tags),
            "version": tool.version,
            "path": tool.source,
        }
        for tool in found
    ]
    show_value(entries, format_)


def row(tool: ToolDefinition) -> tuple[str, ...]:
    """Return what a table of tools says of one."""
    first_line = f"{tool.deprecation} {tool.description}".strip().partition("\n")[0]
    cells = (tool.name, tool.category or "", ", ".join(tool.tags), first_line)
    return tuple(plain(cell) for cell in cells)


def show_tools(rows: Sequence[tuple[str, ...]], *, dim: Collection[str] = ()) -> None:
    """Write a table of tools; ``dim`` are the names of those that are dimmed in a terminal."""
    if rows:
        write(table(_COLUMNS, rows, dim=dim, optional=(2, 1)))
    else:
        show_text("no tools")


SHOW_EXAMPLES = """\b
Examples:
  sovl-tools show example_tool
  sovl-tools show weekly_report.yaml --format mermaid > weekly_report.mmd"""
SHOW_EXITS = {
    1: "The tool did not load, or the file isn't a procedure.",
    2: "The tool or file doesn't exist.",
}


@click.command(cls=Command, epilog=SHOW_EXAMPLES, exits=SHOW_EXITS)
@click.argument("name", shell_complete=complete_names)
@option.registry
@option.format_("text", "json", "yaml", "mermaid")
@click.pass_context
def show(ctx: click.Context, *, name: str, tools: option.ToolOptions, format_: str) -> None:
    """Show a tool as a model sees it, or the steps of a procedure.

    NAME is a tool, or the file of a procedure, which is shown as a tree of its steps, or with
    --format mermaid as a flowchart.
    """
    is_file = name.endswith(SUFFIXES) and (is_procedure(name) or not os.path.exists(name))
    if format_ == "mermaid" or is_file:
        ctx.exit(_show_procedure(name, format_))
    try:
        tool = one_tool(tools, name, lazy=True)[name].resolve()
    except ToolNotFoundError as error:
        show_text(plain(str(error)), err=True)
        ctx.exit(FINDINGS)
    if format_ == "text":
        show_text(_text(tool))
    else:
        show_value(_document(tool), format_)


def _show_procedure(path: str, format_: str) -> int:
    """Show the steps of a procedure; return the exit code."""
    from sovl_tools.cli.procedures import with_procedures_it_runs  # noqa: PLC0415 - heavy
    from sovl_tools.procedures.outline import mermaid, plan  # noqa: PLC0415 - likewise

    if format_ in {"json", "yaml"}:
        raise Misuse(f"a procedure is shown as text or mermaid, not as {format_}")
    found = with_procedures_it_runs(path)[0]
    if found.procedure is None:
        show_diagnostics(found.diagnostics(found.verdicts), err=True)
        return FINDINGS
    if format_ == "mermaid":
        write(mermaid(found.procedure))
    else:
        show_text(plan(found.procedure))
    return 0


_KEYS = (
    "name", "title", "description", "parameters", "category", "version", "aliases",
    "deprecated", "replaced_by", "removed_in", "tags", "activation_phrases", "examples",
    "instructions", "output_schema", "annotations", "execution", "requires",
)  # fmt: skip


def _document(tool: ToolDefinition) -> dict[str, JSON]:
    """Return everything that is known of the tool and not empty."""
    known = manifest_values(tool, _KEYS)
    if tool.step_handlers:
        known["step_actions"] = list(tool.step_handlers)
    return {**known, **manifest_values(tool, ("metadata",)), "path": tool.source}


def _text(tool: ToolDefinition) -> str:
    lines = [
        f"{tool.name}  {plain(tool.source)}",
        "",
        *map(plain, tool.description.split("\n")),
        "",
    ]
    # what the prompt export says of them
    parameters = list(described(tool.parameters))
    lines.append("parameters:" if parameters else "no parameters")
    lines += chain.from_iterable(map(_lines, parameters))
    for key, value in _document(tool).items():
        if key not in {"name", "description", "parameters", "path", "instructions"}:
            lines.append(_value_line(key.replace("_", " "), value))
    if tool.instructions:
        lines += ["instructions:", *(f"  {plain(line)}" for line in tool.instructions.split("\n"))]
    return "\n".join(lines)


def _value_line(key: str, value: JSON) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{key}: {plain(text)}"


def _lines(parameter: Described) -> Iterator[str]:
    kind = "anything" if parameter.type == "any" else parameter.type
    mark = "" if parameter.mark == "optional" else f", {parameter.mark}"
    yield plain(f"  {parameter.name}  {kind}{mark}")
    for text in filter(None, (parameter.meaning, " ".join(parameter.notes))):
        yield from (f"      {plain(line)}" for line in text.split("\n") if line)
    yield from (f"      {plain(line)}" for line in parameter.inner)
