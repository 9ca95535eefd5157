"""Registering tools by hand: what comes of it, or why it can't be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sovl_tools.authoring.offering import offered
from sovl_tools.loading.reloader import Reloader
from sovl_tools.loading.succeeding import is_same_tool
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import DuplicateToolError, ToolLoadError


def enrolled(
    reloader: Reloader, tool: Any, *, override: bool, strict: bool
) -> ToolDefinition | list[ToolDefinition]:
    """Enter whatever was handed over, and return the definitions that are in force now.

    Of an object the sound tools are entered even if others are unsound.

    Raises:
        TypeError: there is no tool in it, or its parameters can't be expressed.
        ToolLoadError: definitions are unsound.
        DuplicateToolError: another tool of its name is in force, and ``strict`` is set; then
            nothing is entered.
    """
    found = offered(tool)
    many = found if isinstance(found, list) else [found]
    if strict and not override:
        _check_new(reloader, many)
    candidates = reloader.register(many, override=override)
    rejected = [each for each in candidates if each.status != "loaded"]
    if rejected:
        every = [found for each in rejected for found in each.diagnostics]
        raise ToolLoadError([each for each in every if each.severity == "error"])
    made = [reloader.catalog.tools.get(each.name, each) for each in many]
    return made if isinstance(found, list) else made[0]


def _check_new(reloader: Reloader, definitions: Iterable[ToolDefinition]) -> None:
    for each in definitions:
        known = reloader.catalog.tools.get(each.name)
        if known is not None and not is_same_tool(known, each):
            raise DuplicateToolError(each.name, known.source)
