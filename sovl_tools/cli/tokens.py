"""How many tokens the definitions of tools take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from sovl_tools.cli.command import write
from sovl_tools.cli.documents import serialized
from sovl_tools.formats.tokens import estimate
from sovl_tools.loading.exporting import Target, exported
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.reporting.plain import plain

USUAL = ("openai", "openai-strict", "anthropic", "gemini", "mcp", "prompt")
"""What is told of unless somebody asks for other targets."""

_WORDS = "estimated from the number of characters: up to half too many, hardly ever too few"
_GAP = "  "


def show_tokens(
    tools: Sequence[ToolDefinition], targets: Sequence[str], *, format_: str, quiet: bool
) -> None:
    """Write an estimate for each tool and target, and for all tools together."""
    counts = {target: _counts(tools, target) for target in targets or USUAL}
    if format_ == "table":
        write(_table(tools, counts))
    else:
        write(serialized(_document(tools, counts), format_))
    if not quiet:
        click.echo(f"tokens are {_WORDS}", err=True)


def _counts(tools: Sequence[ToolDefinition], target: str) -> dict[str, int]:
    wanted = Target.of(target)
    shapes = exported(tools, wanted).shapes
    return {name: estimate(shape.definition) for name, shape in shapes.items()}


def _document(tools: Sequence[ToolDefinition], counts: Mapping[str, Mapping[str, int]]) -> JSON:
    names = [tool.name for tool in tools]
    return {
        "estimate": True,
        "tools": [
            {
                "tool": name,
                "tokens": {key: each[name] for key, each in counts.items() if name in each},
            }
            for name in names
        ],
        "total": {key: sum(each.values()) for key, each in counts.items()},
    }


def _table(tools: Sequence[ToolDefinition], counts: Mapping[str, Mapping[str, int]]) -> str:
    names = [tool.name for tool in tools]
    columns = [
        [target.upper(), *(_shown(each.get(name)) for name in names), f"{sum(each.values()):,}"]
        for target, each in counts.items()
    ]
    first = ["TOOL", *map(plain, names), "all"]
    width = max(map(len, first))
    lines = zip(first, *columns, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(
        _GAP.join([name.ljust(width), *map(str.rjust, cells, widths)]) for name, *cells in lines
    )


def _shown(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"
