"""The tools that a command works on."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from sovl_tools.cli import option
from sovl_tools.cli.command import Misuse, note, refuse_unlisted, settings
from sovl_tools.configuration import Configuration, load_configuration
from sovl_tools.configured import add_code, open_registry
from sovl_tools.loading.sources import collect, tool_folder
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean, nearest_tool, question
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.schema.dynamic import without_functions


def all_tools(tools: option.ToolOptions, *, lazy: bool = False) -> ToolRegistry:
    """Load all tools, and return the tools that the options select.

    Note the number of rejected tools on the error output.

    Raises:
        Misuse: a directory does not exist or can't be listed, or a view isn't configured.
    """
    found = tools.settings()
    criteria = _criteria(tools, found)
    registry = open_registry(settings=found, code=False, lazy=lazy)
    refuse_unlisted(registry.errors)
    rejected = [each for each in registry.catalog.candidates if each.status == "rejected"]
    _add_code(registry, found)
    if not found.plugins and not registry.catalog.candidates:
        # with no tool anywhere, a missing ./tools is misuse
        settings(tools.directories)
    if rejected:
        note(f"{counted(len(rejected), 'tool')} did not load; sovl-tools validate shows the reason")
    return registry.select(*criteria) if criteria else registry


def _criteria(tools: option.ToolOptions, found: Configuration) -> list[Mapping[str, Any]]:
    """Return the criteria of ``ToolRegistry.select`` that options mean.

    Raises:
        Misuse: the configuration has no view of a name.
    """
    criteria: list[Mapping[str, Any]] = []
    for name in tools.views:
        if name not in found.views:
            known = ", ".join(map(plain, found.views))
            known = f"the views are {known}" if known else "the configuration doesn't have one"
            raise Misuse(f"there's no view {name!r}; {did_you_mean(name, found.views) or known}")
        criteria.append(found.views[name])
    given = {"tags": tools.tags, "category": tools.category, "name_pattern": tools.patterns}
    criteria += [{key: value} for key, value in given.items() if value or value == ""]
    return criteria


def _add_code(registry: ToolRegistry, found: Configuration) -> None:
    """Add the tools in code, and note the errors in them."""
    before = registry.errors
    add_code(registry, found)
    for each in registry.errors:
        if each not in before:
            note(str(each))


def one_tool(tools: option.ToolOptions, name: str, *, lazy: bool = False) -> ToolRegistry:
    """Load only the tool of that name if a sound folder has it; otherwise the tools in code, too.

    Raises:
        Misuse: there's no tool of that name.
    """
    found = tools.settings()
    there = filter(os.path.exists, found.paths)
    collected = collect(there, exclude=found.exclude)
    registry = open_registry(settings=found, names={name}, code=False, lazy=lazy)
    if name not in registry:
        _add_code(registry, found)
        catalog = registry.catalog
        if name not in registry and catalog.named(name) not in catalog.unavailable:
            if not found.plugins and not catalog.candidates:
                # a missing ./tools explains more than an unknown name
                settings(tools.directories)
            refuse_unlisted(collected.diagnostics)
            known = [*(folder.name for folder in collected.folders), *catalog.tools]
            near = nearest_tool(name, known)
            hint = (near and question(repr(near))) or "sovl-tools list shows the tools"
            raise Misuse(f"there's no tool {name!r}; {hint}")
    return registry


def named_folders(folders: Iterable[ToolFolder], names: Collection[str]) -> list[ToolFolder]:
    """Return the first folder of each of some names; without names, of all.

    Raises:
        Misuse: there's no folder of a name.
    """
    first: dict[str, ToolFolder] = {}
    for each in folders:
        first.setdefault(each.name, each)
    for name in names:
        if name not in first:
            hint = did_you_mean(name, first) or "a tool in code doesn't have one"
            raise Misuse(f"there's no tool folder {name!r}; {hint}")
    return [each for each in first.values() if not names or each.name in names]


def target_directory(tools: Sequence[str], output: str | None = None) -> str:
    """Return the directory for the folders of new tools; by default the first tools directory.

    Raises:
        Misuse: it can't have folders of tools.
    """
    directory = load_configuration(tools).paths[0] if output is None else output
    if not directory:
        raise Misuse("there's no directory ''")
    if tool_folder(directory, os.path.abspath(directory)) is not None:
        raise Misuse(f"{directory!r} is a tool; name the directory around it")
    return directory.rstrip("/") or "/"


def parameters_of(registry: ToolRegistry, name: str) -> dict[str, JSON]:
    """Return the schema of a tool's arguments without its functions; {} if it is not loaded."""
    tool = registry.get(name)
    return without_functions(tool.parameters) if tool else {}


def complete_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of tools for the shell, from their folders alone."""
    # the shell would show an error in the middle of the typed line
    try:
        found = settings(ctx.params.get("tools") or (), imports=False)
    except (SovlToolsError, click.ClickException):
        return []
    names = sorted({folder.name for folder in collect(found.paths, exclude=found.exclude).folders})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
