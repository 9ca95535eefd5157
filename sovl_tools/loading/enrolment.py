"""Registering tools by hand: what comes of it, or why it can't be."""

from __future__ import annotations

from typing import Any

from sovl_tools.authoring.offering import offered
from sovl_tools.loading.reloader import Reloader
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import DuplicateToolError, ToolLoadError


def enrolled(
    reloader: Reloader, tool: Any, *, override: bool, strict: bool
) -> ToolDefinition | list[ToolDefinition]:
    """Enter whatever was handed over, and return the definitions that are in force now.

    Raises:
        TypeError: there is no tool in it, or its parameters can't be expressed.
        ToolLoadError: a definition is unsound.
        DuplicateToolError: another tool of its name is in force, and ``strict`` is set.
    """
    found = offered(tool)
    many = found if isinstance(found, list) else [found]
    made = [_enrolled(reloader, each, override=override, strict=strict) for each in many]
    return made if isinstance(found, list) else made[0]


def _enrolled(
    reloader: Reloader, definition: ToolDefinition, *, override: bool, strict: bool
) -> ToolDefinition:
    known = reloader.catalog.tools.get(definition.name)
    if strict and known is not None and known is not definition and not override:
        raise DuplicateToolError(definition.name, known.source)
    candidate = reloader.register(definition, override=override)
    if candidate.status != "loaded":
        raise ToolLoadError([each for each in candidate.diagnostics if each.severity == "error"])
    return reloader.catalog.tools.get(definition.name, definition)
