"""The tools that a command works on."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from sovl_tools.cli.command import Misuse, settings
from sovl_tools.configured import add_code, folders_of
from sovl_tools.loading.collecting import collect
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.plain import plain


def all_tools(tools: Sequence[str], *, entry_points: bool) -> ToolRegistry:
    """Load every tool there is; say on the error output how many did not load.

    ``entry_points`` tells whether those of installed distributions count.
    """
    found = settings(tools, needs_tools=False)
    registry = folders_of(found)
    rejected = [each for each in registry.report.folders if each.status == "rejected"]
    add_code(registry, found, entry_points=entry_points)
    if not registry.catalog.candidates and not any(map(os.path.exists, found.paths)):
        settings(tools)
    if not click.get_current_context().ensure_object(dict).get("quiet"):
        _tell(registry, len(rejected))
    return registry


def _tell(registry: ToolRegistry, rejected: int) -> None:
    """Say what did not load: of folders how many, of the others why, as validate does not."""
    if rejected:
        count = f"{rejected} tool{'s' * (rejected != 1)}"
        click.echo(f"{count} did not load; sovl-tools validate says why", err=True)
    for each in registry.report.diagnostics:
        if each.code.startswith("ST7") and each.severity == "error":
            click.echo(plain(str(each)), err=True)


def one_tool(tools: Sequence[str], name: str, *, entry_points: bool) -> ToolRegistry:
    """Load the tool of that name alone, if it is a folder's; otherwise look at all others.

    Raises:
        Misuse: there is no tool of that name.
    """
    found = settings(tools, needs_tools=False)
    names = [folder.name for folder in collect(filter(os.path.exists, found.paths)).folders]
    wanted = {name} & set(names)
    registry = folders_of(found, wanted)
    if not wanted:
        add_code(registry, found, entry_points=entry_points)
        if name not in registry and name not in registry.catalog.unavailable:
            settings(tools)
            known = [*names, *registry.catalog.tools]
            hint = did_you_mean(name, known) or "sovl-tools list shows the tools"
            raise Misuse(f"there is no tool {name!r}; {hint}")
    return registry


def complete_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of tools for the shell, from their folders alone."""
    try:
        paths = settings(ctx.params.get("tools") or ()).paths
    except (SovlToolsError, click.ClickException):
        return []
    names = sorted({folder.name for folder in collect(paths).folders})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
