"""Strict where a provider can enforce the schema, and otherwise as loose as it may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.formats.dialect import UnfitError
from sovl_tools.formats.easing import Rules, eased, misnamed
from sovl_tools.formats.shape import Loss, Undo
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON


class Schema(NamedTuple):
    """The arguments of a tool as a provider is told of them; see Shape."""

    parameters: dict[str, JSON]
    losses: tuple[Loss, ...] = ()
    undo: Undo | None = None
    is_strict: bool = False
    cost: tuple[tuple[str, int], ...] = ()


Strict = Callable[[dict[str, JSON]], Schema]
"""From the parameters of a tool to a strict schema; raises an UnfitError where there is none."""


def schema_of(tool: ToolDefinition, strict: Strict | None, rules: Rules) -> Schema:
    """Return the schema of a tool's arguments, a strict one if ``strict`` can make it."""
    if strict is None:
        return Schema(*eased(tool.parameters, rules))
    try:
        found = strict(tool.parameters)
    except UnfitError as error:
        loss = Loss("loose", error.path, f"not strict: {error.message}", error.help)
        parameters, losses = eased(tool.parameters, rules)
        return Schema(parameters, (loss, *losses))
    names = misnamed(tool.parameters, found.parameters, rules=rules)
    return found._replace(losses=(*found.losses, *names)) if names else found
