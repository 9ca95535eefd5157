"""The tools that a command works on."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.loading.collecting import collect
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.registry import ToolRegistry


def all_tools(tools: Sequence[str]) -> ToolRegistry:
    """Load every tool of the directories; say on the error output how many did not load."""
    found = settings(tools)
    registry = ToolRegistry.from_directory(*found.paths, import_timeout=found.import_timeout)
    rejected = [each for each in registry.report.folders if each.status == "rejected"]
    if rejected and not click.get_current_context().ensure_object(dict).get("quiet"):
        count = f"{len(rejected)} tool{'s' * (len(rejected) != 1)}"
        click.echo(f"{count} did not load; sovl-tools validate says why", err=True)
    return registry


def one_tool(tools: Sequence[str], name: str) -> ToolRegistry:
    """Load the tool of that name alone.

    Raises:
        Misuse: there is no folder of that name.
    """
    found = settings(tools)
    names = [folder.name for folder in collect(found.paths).folders]
    if name not in names:
        hint = did_you_mean(name, names) or "sovl-tools list shows the tools"
        raise Misuse(f"there is no tool {name!r}; {hint}")
    return ToolRegistry.from_directory(
        *found.paths, names={name}, import_timeout=found.import_timeout
    )


def complete_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of tools for the shell, from their folders alone."""
    try:
        paths = settings(ctx.params.get("tools") or ()).paths
    except (SovlToolsError, click.ClickException):
        return []
    names = sorted({folder.name for folder in collect(paths).folders})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
